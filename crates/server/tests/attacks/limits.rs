//! Clients that send slowly, read slowly, send too much or leave.
