//! Another process opens the data: nothing is lost, and nothing with an effect runs twice.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

#[tokio::test]
async fn a_restart_keeps_everything() {
    let app = TestApp::scripted([says("One."), says("Two.")]).await;
    app.send("first").await.end().await;
    app.main.regenerate().await.end().await;
    let (history, info) = (app.main.history().await, app.main.info().await);
    let app = app.restart([says("Three.")]).await;
    assert_eq!((app.main.history().await, app.main.info().await), (history, info));
    app.main.reload().await;
    app.main.set_messages(|messages| messages.push(testkit::user("u9", "second")));
    let body = app.main.body(json!({}), json!({}));
    assert_eq!(app.main.post(&body).await.status, 200);
    assert_eq!(last_sent(&app), ["user: first", "assistant: Two.", "user: second"]);
}

#[tokio::test]
async fn a_run_that_was_on_goes_on_after_a_restart_in_the_same_message() {
    let shut = Gate::new();
    let half = says("Half a ").then(call_in_pieces("c", "conf_echo", &["{\"te"])).then(waits(&shut));
    let app = TestApp::scripted([half]).await;
    let mut turn = app.send("go").await;
    turn.until(|chunk| matches!(chunk, Chunk::ToolInputDelta { .. })).await;
    let last = *turn.seqs.last().unwrap();
    let gate = Gate::new();
    let app = app.restart([waits(&gate).then(says("sentence."))]).await;
    gate.reached().await;
    let mut resumed = app.main.resume().await.unwrap();
    gate.open();
    let message = resumed.message().await;
    assert_eq!(message.id.as_str(), "msg_1");
    assert_eq!(message.text(), "Half a sentence.");
    assert!(*resumed.seqs.last().unwrap() > last, "numbers are never used again");
    assert!(matches!(message.tool_parts().next().unwrap().state, ToolState::OutputError { .. }));
    assert_eq!(app.main.history().await.pop().unwrap(), message);
}

#[tokio::test]
async fn after_a_restart_a_read_only_call_runs_again_and_a_side_effect_does_not() {
    // These gates stay shut: the calls of the first process never continue.
    let (read_gate, write_gate) = (ToolGate::new(), ToolGate::new());
    let (held, calls_of_read) = (read_gate.clone(), AtomicUsize::new(0));
    let read = TestTool::new("read", move |_, input| {
        let (gate, is_first) = (held.clone(), calls_of_read.fetch_add(1, Ordering::Relaxed) == 0);
        async move {
            if is_first {
                gate.pass().await;
            }
            Ok(input)
        }
    });
    let write = gated("write", &write_gate).with_side_effect();
    let done = TestTool::new("done", |_, input| async { Ok(input) });
    let three = calls_many([
        ("d", "done", json!({ "n": 0 })),
        ("r", "read", json!({ "n": 1 })),
        ("w", "write", json!({ "n": 2 })),
    ]);
    let app =
        TestApp::builder().replies([three]).tool(done.any()).tool(read.any()).tool(write.any()).start().await;
    let mut turn = app.send("go").await;
    turn.until(|chunk| matches!(chunk, Chunk::ToolOutputAvailable { .. })).await;
    read_gate.reached().await;
    write_gate.reached().await;
    let gate = Gate::new();
    let app = app.restart([waits(&gate).then(says("Done."))]).await;
    gate.reached().await;
    let mut resumed = app.main.resume().await.unwrap();
    gate.open();
    let message = resumed.message().await;
    assert_eq!((done.runs(), read.runs(), write.runs()), (1, 2, 1));
    let states: Vec<_> = message.tool_parts().map(|tool| tool.state.clone()).collect();
    assert!(matches!(&states[0], ToolState::OutputAvailable { .. }), "{states:?}");
    assert!(matches!(&states[1], ToolState::OutputAvailable { .. }), "{states:?}");
    assert!(
        matches!(&states[2], ToolState::OutputError { error_text, .. } if error_text.contains("unknown")),
        "{states:?}"
    );
    assert_eq!(message.text(), "Done.");
}

#[tokio::test]
async fn a_question_waits_across_a_restart() {
    let app = TestApp::scripted([calls("c", "conf_approve", json!({ "text": "x" }))]).await;
    let mut turn = app.send("go").await;
    turn.end().await;
    let app = app.restart([says("Thanks.")]).await;
    assert!(app.main.resume().await.is_none());
    assert_eq!(app.main.info().await["status"], "waiting");
    app.main.reload().await;
    let message = app.main.messages().pop().unwrap();
    assert_eq!(message.role, Role::Assistant);
    let answer = app.caller.post_json("/api/approvals/apr_1", &json!({ "approved": true })).await;
    assert_eq!(answer.json()["status"], "approved");
    wait_until_idle(&app.main).await;
    assert_eq!(app.main.history().await.pop().unwrap().text(), "Thanks.");
}

async fn wait_until_idle(chat: &Chat) {
    while chat.info().await["status"] != "idle" {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_server_that_ends_takes_nothing_new() {
    let app = TestApp::scripted([says("One.")]).await;
    app.send("first").await.end().await;
    app.engine.shut_down(std::time::Duration::from_secs(5)).await;
    let rows = app.rows().await;
    assert_eq!(rows["clean_end"], 1, "the next process knows that this one was asked to end");
    let body = json!({ "id": "chat", "messages": [testkit::user("x", "second")] });
    app.main.post(&body).await.assert_sentence(ErrorCode::ShuttingDown);
    assert_eq!(app.rows().await, rows);
    assert_eq!(app.main.history().await.len(), 2, "what is kept can still be read");
}

#[tokio::test]
async fn the_crashes_of_a_run_are_forgotten_when_it_pauses() {
    let (shut, faults) = (Gate::new(), Faults::new());
    let app = TestApp::builder().replies([waits(&shut)]).faults(&faults).start().await;
    let _turn = app.send("go").await;
    shut.reached().await;
    // An end that nobody asked for, as far as the next process knows.
    faults.on(Method::NoteCleanEnd, When::Always, Effect::Fail);
    let gate = Gate::new();
    let app = app.restart([waits(&gate).then(calls("c", "conf_approve", json!({ "text": "x" })))]).await;
    gate.reached().await;
    assert_eq!(app.rows().await["recovery_attempts"], 1);
    gate.open();
    let began = std::time::Instant::now();
    while app.rows().await["recovery_attempts"] > 0 {
        assert!(began.elapsed() < std::time::Duration::from_secs(20), "a crash is counted for ever");
        tokio::task::yield_now().await;
    }
    assert_eq!(app.main.info().await["status"], "waiting");
}
