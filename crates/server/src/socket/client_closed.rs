//! Notices that a client closed its connection while its request is pending; ADR 22.
//!
//! A client that closes its connection and one that only has nothing more to send look alike: the bytes from it end. They
//! differ when something is sent to them: the system of a client that closed the connection answers with a reset. What is
//! sent is an interim response, which a client that still reads must skip.

use std::{io, time::Duration};

use tokio::{io::Interest, net::TcpStream};

/// How many bytes a client may send ahead of its answer. More stays in the system's buffer, and then only a reset of the
/// connection is noticed, not its end.
pub(super) const MAX_READ_AHEAD: usize = 64 << 10;
/// How long after the end of the client's bytes it is probed. Most responses have begun by then.
const PROBE_DELAY: Duration = Duration::from_millis(250);
const PROBE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// Resolves when the client has closed its connection. Bytes that it sends meanwhile are appended to `read_ahead`.
pub(super) async fn client_closed(stream: &TcpStream, read_ahead: &mut Vec<u8>) {
    if read_to_end(stream, read_ahead).await == Connection::Broken {
        return;
    }
    tokio::time::sleep(PROBE_DELAY).await;
    match stream.try_write(PROBE) {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => {}
        // A reset arrives as an error; a client that still reads sends nothing, and this never resolves.
        _ => drop(stream.ready(Interest::ERROR).await),
    }
}

#[derive(PartialEq, Eq)]
enum Connection {
    /// The client sends nothing more; it may still read.
    HalfClosed,
    Broken,
}

async fn read_to_end(stream: &TcpStream, read_ahead: &mut Vec<u8>) -> Connection {
    loop {
        if read_ahead.len() >= MAX_READ_AHEAD {
            drop(stream.ready(Interest::ERROR).await);
            return Connection::Broken;
        }
        if stream.readable().await.is_err() {
            return Connection::Broken;
        }
        let mut bytes = [0; 1024];
        match stream.try_read(&mut bytes) {
            Ok(0) => return Connection::HalfClosed,
            Ok(length) => read_ahead.extend_from_slice(&bytes[..length]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return Connection::Broken,
        }
    }
}
