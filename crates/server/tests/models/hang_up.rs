//! A stop closes the connection to the model's server at once.

use std::time::{Duration, Instant};

use super::*;

const AT_ONCE: Duration = Duration::from_millis(100);

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_closes_the_upstream_connection_within_100_ms() {
    let server = ModelServer::start().await;
    let app = app(&server, "custom/stall", &[]).await;
    let mut turn = app.send("hello").await;
    turn.until_text("One").await;
    let stopped = Instant::now();
    let (answer, hung_up) = tokio::join!(app.main.stop(), server.hung_up());
    assert_eq!(answer.json()["stopped"], true);
    let took = hung_up.duration_since(stopped);
    println!("the upstream connection was closed {} µs after the stop", took.as_micros());
    assert!(took < AT_ONCE, "{took:?}");
    assert_eq!(turn.end().await, Chunk::Abort);
}
