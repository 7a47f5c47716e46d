//! Two hundred turns in a window that fits a fraction of them.

use serde_json::{Value, json};
use testkit::upstream::Upstream;

use super::{
    app, asks, assert_pairs_are_whole, call, compactions, is_summary, json_of, ordinary, says, users,
};

const TURNS: usize = 200;
const WINDOW: u64 = 20_000;
const FACT: &str = "FACT[the code of the harbour gate is 4711]";

fn plan(status: &str) -> Value {
    json!({ "mode": "full", "plan": [{ "step": "survey the harbour", "status": status },
                                     { "step": "paint the gate", "status": "pending" }] })
}

#[tokio::test]
async fn two_hundred_turns_keep_the_plan_open_approvals_whole_pairs_and_a_fact_of_turn_three() {
    let upstream = Upstream::counting(WINDOW).await;
    let app = app(&upstream, Some(WINDOW)).await;
    let chat = &app.main;
    for turn in 1..TURNS {
        let text = match turn {
            3 => ordinary(turn, &format!("Remember: {FACT}.")),
            5 => asks("Plan.", vec![vec![call("update-plan", plan("pending"))], vec![says("Planned.")]]),
            60 => asks("Plan.", vec![vec![call("update-plan", plan("in_progress"))], vec![says("Begun.")]]),
            _ => ordinary(turn, "Go on."),
        };
        let mut sent = chat.send(&text).await;
        let said = sent.text().await;
        assert!(!said.is_empty(), "turn {turn}");
    }
    // The last turn waits for the person, and continues afterwards.
    let work = vec![
        vec![
            call("echo", json!({ "text": "before" })),
            call("conf_approve", json!({ "text": "paint it red" })),
        ],
        vec![says("Painted.")],
    ];
    let mut last = chat.send(&asks("Paint.", work)).await;
    let asked = last.approvals().await;
    assert_eq!(asked.len(), 1);
    let before = upstream.calls();
    last.respond(&asked[0], true, None).await;
    assert_eq!(last.text().await, "Painted.");
    assert_eq!(upstream.calls(), before + 1);

    let bodies: Vec<Value> = upstream.bodies().iter().map(|body| json_of(body)).collect();
    let (summaries, answers): (Vec<&Value>, Vec<&Value>) = bodies.iter().partition(|body| is_summary(body));
    println!("{} calls, {} of them for summaries", bodies.len(), summaries.len());
    assert!((5..40).contains(&summaries.len()), "{}", summaries.len());
    let sizes: Vec<u64> = answers.iter().map(|body| size(body)).collect();
    let largest = sizes.iter().max().unwrap();
    println!("the largest request has {largest} tokens of {WINDOW}");
    assert!(*largest <= WINDOW, "{largest}");
    answers.iter().for_each(|body| assert_pairs_are_whole(body));
    // Summaries were written from measured usage, not from guesses: before each, the window was really nearly full.
    let fullest = answers
        .windows(2)
        .filter(|two| users(two[1])[0].contains("<earlier>") && users(two[0])[0] != users(two[1])[0]);
    for two in fullest {
        assert!(size(two[0]) > WINDOW * 70 / 100, "compacted at {} of {WINDOW}", size(two[0]));
    }

    let final_request = answers.last().unwrap();
    let first = &users(final_request)[0];
    assert!(first.contains("<earlier>") && first.contains(FACT), "{first}");
    assert!(first.contains("1. [in_progress] survey the harbour\n2. [pending] paint the gate"), "{first}");
    let results = final_request["messages"].as_array().unwrap();
    assert!(
        results.iter().any(|message| message["role"] == "tool"
            && message["content"].as_str().unwrap().contains("paint it red")),
        "{results:?}"
    );

    // What the person has is whole, and says where the model's memory was replaced.
    chat.assert_history_is_what_the_tab_shows().await;
    let history = chat.history().await;
    assert_eq!(history.len(), 2 * TURNS);
    let done: Vec<Value> = history.iter().flat_map(compactions).collect();
    assert_eq!(done.len(), summaries.len());
    for one in &done {
        assert_eq!(
            (&one["status"], &one["method"], &one["trigger"]),
            (&json!("done"), &json!("summary"), &json!("window")),
            "{one}"
        );
        assert!(one["summary"].as_str().unwrap().contains(FACT), "{one}");
    }

    before_the_compaction(&app, &upstream).await;
}

/// The session can still be edited, branched and answered anew before the point where it was compacted.
async fn before_the_compaction(app: &testkit::TestApp, upstream: &Upstream) {
    let chat = &app.main;
    chat.reload().await;
    let leaf = chat.messages().last().unwrap().id.clone();
    let mut edited = chat.edit("u4", &ordinary(4, "Another way.")).await;
    assert_eq!(edited.text().await, "That was 4.");
    let body = json_of(upstream.bodies().last().unwrap());
    let said = users(&body);
    assert_eq!(said.len(), 4, "the four questions, word for word");
    assert!(!body.to_string().contains("<earlier>") && said[2].contains("Remember: FACT["), "{said:?}");
    assert_eq!(chat.regenerate().await.text().await, "That was 4.");
    assert_eq!(users(&json_of(upstream.bodies().last().unwrap())), said);

    // And back: the model continues from the summary.
    assert_eq!(chat.branch(leaf.as_str()).await.status, 200);
    chat.reload().await;
    assert_eq!(chat.send(&ordinary(999, "Back again.")).await.text().await, "That was 999.");
    let body = json_of(upstream.bodies().last().unwrap());
    assert!(users(&body)[0].contains(FACT));
    assert_pairs_are_whole(&body);
}

/// As the model server counts.
fn size(body: &Value) -> u64 {
    let length = |field: &str| body[field].to_string().chars().count();
    (length("messages") + length("tools")) as u64 / 4
}

#[tokio::test]
async fn within_the_window_nothing_is_summarised_and_a_window_nobody_knows_is_not_guessed_at() {
    let upstream = Upstream::counting(1_000_000).await;
    let app = app(&upstream, Some(200_000)).await;
    for turn in 1..20 {
        app.send(&ordinary(turn, "Go on.")).await.end().await;
    }
    assert!(!upstream.bodies().iter().any(|body| is_summary(&json_of(body))));

    // Far more than the assumed window by any estimate, but nobody has counted it: a chat that arrives as it is.
    let upstream = Upstream::recording().await;
    let app = super::app(&upstream, None).await;
    let mut messages: Vec<Value> = (0..2_000)
        .map(|number| {
            let role = if number % 2 == 0 { "user" } else { "assistant" };
            json!({ "id": format!("p{number}"), "role": role, "parts": [{ "type": "text", "text": "a long story ".repeat(50) }] })
        })
        .collect();
    messages.push(json!(testkit::user("u1", &ordinary(1, "Go on."))));
    let answer = app.main.post(&json!({ "id": "chat", "messages": messages })).await;
    assert!(answer.body.contains("That was 1."), "{answer:?}");
    assert!(!upstream.bodies().iter().any(|body| is_summary(&json_of(body))));
}
