//! The fast lane: sub-agents' own chunks or text, with bytes in proportion at any depth.

use std::{collections::HashMap, time::Duration};

use futures::StreamExt;
use serde_json::{Value, json};
use testkit::{
    Reply, Scripted, TestApp, calls, join_all,
    models::{Model, ModelRequest, ModelStream},
    protocol::{Chunk, MessageFold, MessageId, project::chat::chunk_of, wire::chat::write_sse_event},
    says, says_in_pieces,
};

use super::{
    cast::{Cast, define, hands, nested, sub},
    left_over::number,
};

fn data<'a>(chunk: &'a Chunk<'static>, name: &str) -> Option<&'a Value> {
    match chunk {
        Chunk::Data(data) if data.kind.0 == name => Some(&data.data),
        _ => None,
    }
}

#[tokio::test]
async fn chunks_fold_to_the_message_that_comes_at_the_end() {
    let app = Cast::new()
        .with("go", [hands("c", "a", "outer"), says("done")])
        .with("outer", [says("looking ").then(hands("d", "b", "inner")), says("out")])
        .with("inner", [calls("x", "conf_echo", json!({"text": "e"})), says_in_pieces(&["i", "n"])])
        .start()
        .await;
    define(&app, vec![sub("a", &["b"]), sub("b", &[])]);
    let mut turn = app.main.send_with("go", json!({ "subAgentStream": "chunks" })).await;
    let message = turn.message().await;
    let mut folds: HashMap<String, MessageFold> = HashMap::new();
    let mut ends = 0;
    for chunk in &turn.chunks {
        assert!(!matches!(chunk, Chunk::ToolOutputAvailable { preliminary: true, .. }), "no snapshots");
        if let Some(part) = data(chunk, "sub-agent-chunk") {
            let id = part["messageId"].as_str().unwrap();
            let chunk: Chunk<'_> = serde_json::from_value(part["chunk"].clone()).unwrap();
            let fold = folds.entry(id.to_owned()).or_insert_with(|| MessageFold::new(MessageId::new(id)));
            fold.apply(&chunk).unwrap();
        }
        ends += usize::from(data(chunk, "sub-agent-end").is_some());
    }
    assert_eq!((folds.len(), ends), (2, 2));
    let outer = nested(&message, "c");
    let inner = nested(&outer, "d");
    assert_eq!(folds[inner.id.as_str()].message(), &inner);
    assert_eq!(folds[outer.id.as_str()].message().text(), outer.text());
}

#[tokio::test]
async fn text_comes_as_deltas() {
    let app = Cast::new()
        .with("go", [hands("c", "a", "talk"), says("done")])
        .with("talk", [says_in_pieces(&["one ", "two ", "three"])])
        .start()
        .await;
    define(&app, vec![sub("a", &[])]);
    let mut turn = app.main.send_with("go", json!({ "subAgentStream": "text" })).await;
    turn.end().await;
    let text: String =
        turn.chunks.iter().filter_map(|chunk| data(chunk, "sub-agent-delta")?["delta"].as_str()).collect();
    assert_eq!(text, "one two three");
    assert!(turn.chunks.iter().any(|chunk| data(chunk, "sub-agent-start").is_some()));
}

/// The bytes of every agent's own chunks, as its own stream would have them: one for each piece the model sent.
async fn own_bytes(app: &TestApp, agents: usize, words: usize) -> usize {
    let mut out = Vec::new();
    for entry in app.log("chat").await {
        // The log keeps neighbouring pieces together.
        if let Some(chunk) = chunk_of(&entry.event).filter(|chunk| !matches!(chunk, Chunk::TextDelta { .. }))
        {
            write_sse_event(&mut out, entry.seq, &chunk).unwrap();
        }
    }
    for _ in 0..agents * words {
        write_sse_event(&mut out, 1_000, &Chunk::TextDelta { id: "s0".into(), delta: WORD.into() }).unwrap();
    }
    out.len()
}

const WORD: &str = "twenty bytes of text ";

/// A model that takes its time for each piece.
struct Paced {
    script: Scripted,
    pause: Duration,
}

impl Model for Paced {
    fn name(&self) -> &str {
        self.script.name()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let pause = self.pause;
        let slow = self.script.stream(request).then(move |event| async move {
            tokio::time::sleep(pause).await;
            event
        });
        slow.boxed()
    }
}

/// A chain of agents, each of which speaks, calls two tools and delegates once.
async fn chain(depth: usize, words: usize, pause: Option<Duration>) -> TestApp {
    let pieces = vec![WORD; words];
    let mut cast = Cast::new();
    for level in 0..=depth {
        let task = format!("level {level}");
        let echo = |call: &str| calls(call, "conf_echo", json!({ "text": "small" }));
        let tools = echo("x").then(echo("y"));
        let first: Reply = match level {
            level if level == depth => tools,
            level => tools.then(hands("d", &format!("a{}", level + 1), &format!("level {}", level + 1))),
        };
        cast = cast.with(&task, [first, says_in_pieces(&pieces)]);
    }
    let app = match pause {
        Some(pause) => TestApp::builder().model(Paced { script: cast.model(), pause }).start().await,
        None => cast.start().await,
    };
    let names: Vec<String> = (1..=depth).map(|level| format!("a{level}")).collect();
    let subs = (0..depth)
        .map(|place| {
            sub(&names[place], &names.get(place + 1).map(String::as_str).into_iter().collect::<Vec<_>>())
        })
        .collect();
    define(&app, subs);
    app
}

/// What the fast lane's stream is to the agents' own chunks.
async fn ratio(depth: usize, words: usize, pause: Option<Duration>) -> f64 {
    let app = chain(depth, words, pause).await;
    let body = app.main.body_of("level 0", json!({ "subAgentStream": "chunks" }));
    let answer = app.caller.post_json("/api/chat", &body).await;
    assert_eq!(answer.status, 200);
    let (wire, own) = (answer.body.len(), own_bytes(&app, depth + 1, words).await);
    let ratio = wire as f64 / own as f64;
    println!(
        "depth {depth}, {pause:?} a delta: {wire} bytes on the wire, {own} of the agents' own, ratio {ratio:.2}"
    );
    ratio
}

#[tokio::test]
async fn wire_bytes_stay_in_proportion_at_every_depth() {
    for depth in 1..=4 {
        let ratio = ratio(depth, 1_000, None).await;
        assert!(ratio <= 1.3, "depth {depth}: {ratio}");
    }
}

#[tokio::test]
async fn wire_bytes_stay_in_proportion_at_the_pace_of_a_model() {
    // Two hundred, fifty and twenty pieces a second; the slow ones only in the soak.
    let paces: &[u64] = if number("AGENT_STOPS", 0) >= 100 { &[5, 20, 50] } else { &[5] };
    for pause in paces.iter().map(|pause| Duration::from_millis(*pause)) {
        let ratios = join_all((1..=4).map(|depth| ratio(depth, 200, Some(pause)))).await;
        assert!(ratios.iter().all(|ratio| *ratio <= 1.3), "{pause:?} a delta: {ratios:?}");
    }
}
