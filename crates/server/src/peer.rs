//! Whether the client of a request that waits for its answer is still there; ADR 22.
//!
//! A client that closes its connection and one that only has nothing more to send look alike: the stream of bytes from it
//! ends. They differ when something is sent to them: the system of the first one answers with a reset. What is sent is an
//! interim answer, which a client that still reads must skip.

use std::{io, time::Duration};

use tokio::{io::Interest, net::TcpStream};

/// How much a client may send ahead while it waits; more is left in the system's buffer and ends the watch for its end.
const AHEAD: usize = 64 << 10;
/// How long after the end of the client's bytes it is asked. Most answers have begun by then.
const BEFORE_ASKING: Duration = Duration::from_millis(250);
const STILL_THERE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// Resolves when the client has closed its connection. What it sends ahead meanwhile comes into `ahead`.
pub(crate) async fn gone(stream: &TcpStream, ahead: &mut Vec<u8>) {
    if !until_end(stream, ahead).await {
        return;
    }
    tokio::time::sleep(BEFORE_ASKING).await;
    match stream.try_write(STILL_THERE) {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => {}
        // The answer, if there is one, is a reset.
        _ => drop(stream.ready(Interest::ERROR).await),
    }
}

/// `false`: the connection is already broken.
async fn until_end(stream: &TcpStream, ahead: &mut Vec<u8>) -> bool {
    loop {
        if ahead.len() >= AHEAD {
            return stream.ready(Interest::ERROR).await.is_ok_and(|_| false);
        }
        if stream.readable().await.is_err() {
            return false;
        }
        let mut some = [0; 1024];
        match stream.try_read(&mut some) {
            Ok(0) => return true,
            Ok(length) => ahead.extend_from_slice(&some[..length]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return false,
        }
    }
}
