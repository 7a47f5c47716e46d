//! A run that is longer than the tail in memory: a late client reads from the store and gets the same message.

use axum::{
    body::{Body, to_bytes},
    http::Request,
};
use serde_json::{Value, json};
use testkit::{
    Gate, TestApp, calls,
    faults::{Faults, Method},
    join_all,
    protocol::Chunk,
    reasons, says, says_in_pieces, user, waits,
};

use crate::{
    bounded,
    sse::{Recorded, fold},
};

const PIECES: usize = 6_000;

#[tokio::test]
async fn a_late_viewer_of_a_long_run_gets_the_same_message() {
    let gate = Gate::new();
    let words: Vec<String> = (0..PIECES).map(|number| format!("word number {number}, 会议; ")).collect();
    let pieces: Vec<&str> = words.iter().map(String::as_str).collect();
    // The call makes sure that all before it is stored when the run waits.
    let talk = reasons("Long. ").then(says_in_pieces(&pieces));
    let talk = talk.then(calls("c", "conf_echo", json!({ "text": "x" })));
    let end = waits(&gate).then(says("The end."));
    let counts = Faults::new();
    let app = TestApp::builder().replies([talk, end]).faults(&counts).start().await;
    let body = json!({ "id": "chat", "messages": [user("u1", "go")] });
    let first = bounded("the request", app.main.open(&body)).await;
    bounded("the gate", gate.reached()).await;
    // Only a part of what was sent is still in memory.
    let far = PIECES as u64 * 9 / 10;
    let numbers = [None, Some(1), Some(5), Some(100), Some(far / 2), Some(far)];
    let mut open = Vec::new();
    for after in numbers {
        let mut request = Request::get("/api/chat/chat/stream");
        if let Some(after) = after {
            request = request.header("last-event-id", after.to_string());
        }
        let response = bounded("a viewer", app.caller.open(request.body(Body::empty()).unwrap())).await;
        open.push((after, response));
    }
    gate.open();
    let read = |response: axum::response::Response| async {
        let bytes = bounded("a stream", to_bytes(response.into_body(), usize::MAX)).await.unwrap();
        Recorded::of(String::from_utf8(bytes.to_vec()).unwrap())
    };
    let (first, rest) = tokio::join!(
        read(first),
        join_all(open.into_iter().map(|(after, response)| async move { (after, read(response).await) }))
    );
    let kept: Value = json!(app.main.history().await.pop().unwrap());
    assert_eq!(json!(fold(None, &first.chunks)), kept);
    let sent: String = words.concat() + "The end.";
    assert_eq!(fold(None, &first.chunks).text(), sent);
    for (after, stream) in &rest {
        assert!(stream.is_done);
        match after {
            Some(after) if stream.seqs[0] > *after => {
                let told = |chunk: &Chunk<'_>| json!(chunk)["delta"].as_str().map(str::to_owned);
                let tail: String = stream.chunks.iter().filter_map(told).collect();
                // Which number each word has: before the first word there are nine events.
                let expected = match usize::try_from(*after).unwrap().checked_sub(9) {
                    Some(skipped) => words[skipped..].concat() + "The end.",
                    None => format!("Long. {sent}"),
                };
                assert!(tail == expected, "after {after}: {} bytes, not {}", tail.len(), expected.len());
            }
            _ => assert_eq!(json!(fold(None, &stream.chunks)), kept, "after {after:?}"),
        }
    }
    let reads = counts.counts().get(&Method::ReadLog).map_or(0, |count| count.calls);
    assert!(reads > 0, "nothing had to be read from the store");
    println!("{} late viewers of {} bytes got the same message", rest.len(), sent.len());
}
