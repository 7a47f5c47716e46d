//! A model server that says "too long", and summaries that fail: the conversation continues, or the person is told why not.
//! Nothing is retried forever.

use serde_json::{Value, json};
use std::sync::Arc;

use testkit::{
    Scripted, TestApp,
    models::{ModelMessage, ModelRequest},
    protocol::{Chunk, Usage},
    test_tools::TestTool,
    upstream::{Summaries, Upstream},
};

use super::{app, asks, assert_pairs_are_whole, compactions, is_summary, json_of, ordinary, says, users};

const WINDOW: u64 = 14_000;

fn kinds(upstream: &Upstream, after: usize) -> Vec<&'static str> {
    let bodies = upstream.bodies();
    bodies[after..].iter().map(|body| if is_summary(&json_of(body)) { "summary" } else { "answer" }).collect()
}

#[tokio::test]
async fn a_request_that_is_refused_as_too_long_is_compacted_and_sent_once_more() {
    let upstream = Upstream::counting(WINDOW).await;
    let app = app(&upstream, None).await;
    let mut refused = None;
    for turn in 1..40 {
        let before = upstream.calls();
        let words = if turn == 2 { "FACT[the cat is called Mo]" } else { "Go on." };
        let mut sent = app.send(&ordinary(turn, words)).await;
        assert_eq!(sent.text().await, format!("That was {turn}."));
        if kinds(&upstream, before).contains(&"summary") {
            let message = sent.message().await;
            refused = Some((kinds(&upstream, before), compactions(&message)));
            break;
        }
    }
    let (kinds, done) = refused.expect("the window was never full");
    // Refused, summarised, asked again; the other call of the turn went through.
    assert_eq!(kinds.iter().filter(|kind| **kind == "answer").count(), 3, "{kinds:?}");
    assert_eq!((kinds[0], *kinds.last().unwrap()), ("answer", "answer"), "{kinds:?}");
    assert_eq!(done.len(), 1);
    assert_eq!((&done[0]["trigger"], &done[0]["status"]), (&json!("refused"), &json!("done")));
    assert_eq!(done[0]["window"], WINDOW, "the server said how much it reads");
    let last = json_of(upstream.bodies().last().unwrap());
    assert!(users(&last)[0].contains("FACT[the cat is called Mo]"), "{last}");
    assert_pairs_are_whole(&last);
}

#[tokio::test]
async fn a_message_that_can_never_fit_is_refused_with_what_to_do_and_not_tried_again() {
    let upstream = Upstream::counting(WINDOW).await;
    let app = app(&upstream, Some(WINDOW)).await;
    app.send(&ordinary(1, "First.")).await.end().await;
    let before = upstream.calls();
    let mut turn = app.send(&asks(&"much too long ".repeat(8_000), vec![vec![says("never said")]])).await;
    let Chunk::Error { error_text } = turn.end().await else { panic!("no error") };
    assert!(error_text.contains("maximum context length"), "{error_text}");
    assert!(upstream.calls() - before <= 3, "{:?}", kinds(&upstream, before));
    // The chat is not lost: the long message can be left out.
    let mut edited = app.main.edit("u2", &ordinary(2, "Short.")).await;
    assert_eq!(edited.text().await, "That was 2.");
}

#[tokio::test]
async fn without_a_summary_the_chat_goes_on_while_there_is_room_and_from_a_digest_when_there_is_none() {
    let upstream = Upstream::counting(WINDOW).await;
    upstream.summaries(Summaries::Failing);
    let app = app(&upstream, Some(WINDOW)).await;
    let mut seen: Vec<Value> = Vec::new();
    for turn in 1..60 {
        let mut sent = app.send(&say_only(turn)).await;
        assert_eq!(sent.text().await, format!("That was {turn}."), "turn {turn}");
        seen.extend(compactions(&sent.message().await));
        if seen.iter().any(|one| one["method"] == "digest") {
            break;
        }
    }
    let failed = seen.iter().filter(|one| one["status"] == "failed").count();
    assert!(failed > 0, "there was room between the two limits: {seen:?}");
    let digest = seen.last().unwrap();
    assert_eq!((&digest["status"], &digest["method"]), (&json!("done"), &json!("digest")), "{digest}");
    assert!(digest["error"].as_str().unwrap().contains("no summaries today"), "{digest}");
    assert!(digest["summary"].as_str().unwrap().contains("What the person asked"), "{digest}");
    let last = json_of(upstream.bodies().last().unwrap());
    assert_pairs_are_whole(&last);

    // As soon as summaries can be had again, they are.
    upstream.summaries(Summaries::Written);
    let mut methods = Vec::new();
    for turn in 60..100 {
        let mut sent = app.send(&say_only(turn)).await;
        methods.extend(compactions(&sent.message().await));
    }
    assert!(methods.iter().any(|one| one["method"] == "summary" && one["status"] == "done"), "{methods:?}");
}

/// A turn without tools. The digest repeats how it begins, so the words come before what the server reads.
fn say_only(turn: usize) -> String {
    let words = format!("Question {turn}. {}", "Some words that take room. ".repeat(60));
    asks(&words, vec![vec![says(&format!("That was {turn}."))]])
}

#[tokio::test]
async fn results_that_do_not_fit_even_alone_are_shortened_for_the_model_and_whole_for_the_person() {
    const LETTERS: usize = 45_000;
    let read = TestTool::new("read", |_, _| async { Ok(json!("a line of a log ".repeat(LETTERS / 16))) });
    let letters = |request: &ModelRequest| format!("{:?}", request.messages).len() as u64;
    let script = Scripted::choosing(move |request| {
        let used = Usage { input_tokens: letters(request) / 3, output_tokens: 5, ..Usage::default() };
        match request
            .messages
            .iter()
            .filter(|message| matches!(***message, ModelMessage::Tool { .. }))
            .count()
        {
            0 => testkit::calls_many([("a", "read", json!({ "n": 1 })), ("b", "read", json!({ "n": 2 }))])
                .uses(used),
            _ => testkit::says("Read.").uses(used),
        }
    })
    .with_window(WINDOW);
    let app = TestApp::builder().script(script).tool(Arc::new(read)).start().await;
    let message = app.send("Read the logs.").await.message().await;
    assert_eq!(message.text(), "Read.");
    let done = compactions(&message);
    assert_eq!((&done[0]["status"], done[0].get("keep")), (&json!("done"), None), "{done:?}");
    assert!(done[0]["clip"].as_u64().unwrap() < LETTERS as u64, "{done:?}");
    let last = app.model.requests().pop().unwrap();
    let shortened = format!("{:?}", last.messages);
    assert_eq!(shortened.matches("characters are left out here").count(), 2);
    assert!((shortened.len() as u64) / 3 < WINDOW, "{}", shortened.len());
    let whole = message.tool_parts().filter(|part| format!("{:?}", part.state).len() > 40_000);
    assert_eq!(whole.count(), 2);
}
