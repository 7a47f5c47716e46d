//! The fast lane: sub-agents' own chunks or text, and bytes in proportion at any depth.

use std::collections::HashMap;

use serde_json::{Value, json};
use testkit::{
    Reply, TestApp, calls,
    protocol::{Chunk, MessageFold, MessageId, UiMessage, wire::chat::write_unnumbered},
    says, says_in_pieces,
};

use super::cast::{Cast, define, hands, nested, sub};

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

/// Bytes of the chunks an agent would write if it were alone.
fn own_bytes(message: &UiMessage, words: usize, word: &str) -> usize {
    let mut out = Vec::new();
    for _ in 0..words {
        write_unnumbered(&mut out, &Chunk::TextDelta { id: "s0".into(), delta: word.into() }).unwrap();
    }
    out.len() + serde_json::to_string(&message.metadata).unwrap().len()
}

/// A chain of agents, each of which speaks, calls two tools and delegates once.
async fn chain(depth: usize) -> (TestApp, usize) {
    const WORD: &str = "twenty bytes of text ";
    const WORDS: usize = 1000;
    let pieces = vec![WORD; WORDS];
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
    let app = cast.start().await;
    let names: Vec<String> = (1..=depth).map(|level| format!("a{level}")).collect();
    let subs = (0..depth)
        .map(|place| {
            sub(&names[place], &names.get(place + 1).map(String::as_str).into_iter().collect::<Vec<_>>())
        })
        .collect();
    define(&app, subs);
    let empty = UiMessage {
        id: MessageId::new("m"),
        role: testkit::protocol::Role::Assistant,
        metadata: None,
        parts: vec![],
    };
    (app, own_bytes(&empty, WORDS, WORD))
}

#[tokio::test]
async fn wire_bytes_stay_in_proportion_at_every_depth() {
    for depth in 1..=4 {
        let (app, own) = chain(depth).await;
        let body = app.main.body_of("level 0", json!({ "subAgentStream": "chunks" }));
        let answer = app.caller.post_json("/api/chat", &body).await;
        assert_eq!(answer.status, 200);
        let sum = own * (depth + 1);
        let ratio = answer.body.len() as f64 / sum as f64;
        println!(
            "depth {depth}: {} bytes on the wire, {sum} of the agents' own, ratio {ratio:.2}",
            answer.body.len()
        );
        assert!(ratio <= 1.3, "depth {depth}: {ratio}");
    }
}
