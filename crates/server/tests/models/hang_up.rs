//! A stop closes the connection to the model's server at once.

use std::time::{Duration, Instant};

use super::*;

const AT_ONCE: Duration = Duration::from_millis(100);
/// The middle one counts: on a machine that does other things too, a single stop may have to wait for its turn.
const STOPS: usize = 7;

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_closes_the_upstream_connection_within_100_ms() {
    let server = ModelServer::start().await;
    let app = app(&server, "custom/stall", &[]).await;
    let mut waits = Vec::new();
    for number in 0..STOPS {
        let chat = app.chat(&format!("chat-{number}"));
        let mut turn = chat.send("hello").await;
        turn.until_text("One").await;
        let stopped = Instant::now();
        let (answer, hung_up) = tokio::join!(chat.stop(), server.hung_up(stopped));
        assert_eq!(answer.json()["stopped"], true);
        waits.push(hung_up.duration_since(stopped));
        assert_eq!(turn.end().await, Chunk::Abort);
    }
    waits.sort_unstable();
    println!("upstream connections were closed {waits:?} after the stop");
    assert!(waits[STOPS / 2] < AT_ONCE, "{waits:?}");
}
