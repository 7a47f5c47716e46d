//! Prompt templates that once overflowed the stack, the memory or the time of the server.
