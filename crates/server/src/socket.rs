//! HTTP/1.1 on sockets that we own: hyper reads the requests, we write the answers of chat routes ourselves.
//!
//! ADR 16 has the reason: hyper keeps two buffers of 8 KiB for each open connection, and a chat stream may be open for
//! hours. ADR 22 has the deadlines and the detection of clients that have closed their connection. Everything that is
//! written by hand for this is in this folder; the rest of the crate sees only [`serve_connection`] and the mark
//! [`EndsWithClient`].
//!
//! - `connection.rs`: the life of one connection, request after request.
//! - `request_service.rs`: the router as hyper calls it, and what is known about the current request.
//! - `write_response.rs`: a response as bytes on the socket.
//! - `client_socket.rs`: the socket with bytes read ahead and a deadline for writes.
//! - `client_closed.rs`: notices that the client closed its connection while its request is pending.

mod client_closed;
mod client_socket;
mod connection;
mod request_service;
mod write_response;

pub(crate) use connection::serve_connection;
pub(crate) use write_response::EndsWithClient;
