//! What one long answer costs in memory, as the allocator counts it: a run holds a small multiple of its own text at its
//! peak, nothing once it has ended, and a reader that cannot keep up adds next to nothing.
//!
//! A binary of its own, because every byte of its process counts: the model's server makes its text as it sends it, and
//! the readers keep nothing of what they read. SQLite allocates elsewhere; its page caches are bounded by their settings.
//! Live bytes are counted, not resident ones: those depend on what the allocator and other processes did before.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "run_heap/endless.rs"]
mod endless;

use std::{alloc::System, time::Duration};

use cap::Cap;
use endless::Endless;
use serde_json::json;
use testkit::{LoopbackServer, TestApp, protocol::WorkspaceId};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    task::JoinSet,
};

#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

/// How often a run may hold its own text: docs/performance.md says so too.
const COPIES: f64 = 2.5;
/// What a run holds beside its text, the test's own buffers included.
const REST: f64 = 2.0;
/// What may be left of a run that has ended.
const LEFT: f64 = 1.0;

/// How many runs without a slow reader the one with it is compared with.
const ALONE: usize = 6;

/// The text of a run; `cargo xtask soak memory` takes 20 MiB.
fn text() -> usize {
    std::env::var("RUN_HEAP_MIB").ok().and_then(|mib| mib.parse().ok()).unwrap_or(4) << 20
}

fn mib(bytes: usize) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

async fn send(server: &LoopbackServer, chat: &str, bytes: usize) -> TcpStream {
    let parts = json!([{ "type": "text", "text": format!("bytes: {bytes}") }]);
    let body = json!({ "id": chat, "messages": [{ "id": "u", "role": "user", "parts": parts }] }).to_string();
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = format!(
        "POST /api/chat HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    stream
}

/// Reads to the end and keeps nothing but the last bytes, which must be those of a proper end.
async fn read_to_the_end(mut stream: TcpStream) -> usize {
    let mut buffer = vec![0; 16 << 10];
    let (mut read, mut tail) = (0, Vec::new());
    loop {
        let length = stream.read(&mut buffer).await.unwrap();
        if length == 0 {
            break;
        }
        read += length;
        tail.extend_from_slice(&buffer[length.saturating_sub(64)..length]);
        tail.drain(..tail.len().saturating_sub(64));
    }
    let tail = String::from_utf8_lossy(&tail);
    assert!(tail.ends_with("data: [DONE]\n\n\r\n0\r\n\r\n"), "{tail}");
    read
}

/// Follows a chat at a thousand bytes a second, forever, and keeps nothing.
async fn read_slowly(address: std::net::SocketAddr, chat: &str) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let request = format!("GET /api/chat/{chat}/stream HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut piece = [0; 100];
    loop {
        stream.read_exact(&mut piece).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Until a run has given back what it had, as far as it does: its reader sees the end a moment before its task is done.
async fn left_over(app: &TestApp, before: usize) -> usize {
    let left = || HEAP.allocated().saturating_sub(before);
    let settled = async {
        let workspace = WorkspaceId::default_workspace();
        while app.engine.load(&workspace).live_sessions > 0 || mib(left()) > LEFT {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    // What is still there afterwards stays, and fails the test.
    drop(tokio::time::timeout(Duration::from_secs(5), settled).await);
    left()
}

/// One test: two at once would count each other's bytes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_holds_a_small_multiple_of_its_text_and_a_slow_reader_nothing_of_it() {
    let upstream = Endless::start().await;
    let app = TestApp::builder().model(upstream.model()).start().await;
    let server = app.over_http().await;
    let bytes = text();
    // What is made once, for all runs, is no run's.
    let empty = HEAP.allocated();
    read_to_the_end(send(&server, "warm", 1 << 20).await).await;
    left_over(&app, empty).await;

    let before = HEAP.allocated();
    let mut left = 0;
    // How much is on its way between the tasks at the peak differs from run to run, so the most of several is taken.
    for round in 0..ALONE {
        assert!(read_to_the_end(send(&server, &format!("alone-{round}"), bytes).await).await >= bytes);
        left = left_over(&app, before).await;
    }
    // The most there ever was: the warm-up was shorter, so it is of these runs.
    let alone = HEAP.max_allocated() - before;
    println!(
        "heap: a run of {} MiB held {:.1} MiB at most, {:.2} times its text; {:.2} MiB are left",
        bytes >> 20,
        mib(alone),
        alone as f64 / bytes as f64,
        mib(left)
    );

    let mut stream = send(&server, "beside", bytes).await;
    // The answer has begun, so there is something to follow.
    stream.read_exact(&mut [0; 64]).await.unwrap();
    let mut readers = JoinSet::new();
    let address = server.address;
    readers.spawn(async move { read_slowly(address, "beside").await });
    assert!(read_to_the_end(stream).await >= bytes);
    assert!(readers.try_join_next().is_none(), "the slow reader was cut off");
    let beside = HEAP.max_allocated() - before;
    drop(readers);
    println!("heap: with a slow reader {:.1} MiB at most", mib(beside));

    assert!(mib(alone) <= COPIES * mib(bytes) + REST, "{:.1} MiB for {:.1} MiB", mib(alone), mib(bytes));
    assert!(mib(left) <= LEFT, "{:.2} MiB are left of a run that has ended", mib(left));
    assert!(mib(beside) <= mib(alone) + 1.0, "the slow reader costs {:.2} MiB", mib(beside) - mib(alone));
}
