//! Stops a run, and continues after it.

use super::*;

#[tokio::test]
async fn a_stopped_answer_is_kept_and_the_next_message_follows_it() {
    let gate = Gate::new();
    let app = TestApp::scripted([says("Once upon").then(waits(&gate)), says("Fine.")]).await;
    let mut turn = app.send("a story").await;
    gate.reached().await;
    assert_eq!(app.main.stop().await.json()["stopped"], true);
    assert_eq!(turn.end().await, Chunk::Abort);
    assert!(app.main.resume().await.is_none());
    app.main.assert_history_is_what_the_tab_shows().await;
    assert_eq!(app.send("stop that").await.text().await, "Fine.");
    assert_eq!(last_sent(&app), ["user: a story", "assistant: Once upon", "user: stop that"]);
}

#[tokio::test]
async fn a_stop_closes_the_models_connection() {
    let gate = Gate::new();
    let app = TestApp::scripted([waits(&gate)]).await;
    let _turn = app.send("go").await;
    gate.reached().await;
    assert_eq!(app.model.live(), 1);
    app.main.stop().await;
    app.model.idle().await;
}

#[tokio::test]
async fn a_call_that_had_finished_keeps_its_result_when_the_run_is_stopped() {
    let (gate, done) = (ToolGate::new(), ToolGate::new());
    let quick = gated("quick", &done).with_side_effect();
    let both = calls_many([("slow", "slow", json!({})), ("quick", "quick", json!({ "n": 1 }))]);
    let app =
        TestApp::builder().replies([both]).tool(endless("slow", &gate).any()).tool(quick.any()).start().await;
    let mut turn = app.send("go").await;
    gate.reached().await;
    done.open();
    done.reached().await;
    // Its result is handed over to the driver right after.
    while quick.finished() == 0 {
        tokio::task::yield_now().await;
    }
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    app.main.stop().await;
    assert_eq!(turn.end().await, Chunk::Abort);
    let message = turn.shown();
    let states: Vec<_> = message.tool_parts().map(|tool| (tool.call.as_str(), &tool.state)).collect();
    assert!(matches!(states[0], ("slow", ToolState::OutputError { .. })), "{states:?}");
    assert!(
        matches!(states[1], ("quick", ToolState::OutputAvailable { .. })),
        "its effect has happened: {states:?}"
    );
}

#[tokio::test]
async fn a_stopped_answer_can_be_continued_in_the_same_message() {
    let gate = Gate::new();
    let app = TestApp::scripted([says("Once upon").then(waits(&gate)), says(" a time.")]).await;
    let mut turn = app.send("a story").await;
    gate.reached().await;
    app.main.stop().await;
    turn.end().await;
    let mut more = app.main.resend_last().await;
    assert_eq!(more.text().await, "Once upon a time.");
    assert_eq!(more.shown().id, turn.shown().id);
    assert_eq!(more.shown().metadata.unwrap()["status"], "finished");
    app.main.assert_history_is_what_the_tab_shows().await;
    let finished = app.main.body(json!({ "messageId": "msg_1" }), json!({}));
    app.main.post(&finished).await.assert_sentence(ErrorCode::NothingToContinue);
}

#[tokio::test]
async fn an_answer_continued_after_a_retry_keeps_its_own_segments_and_usage() {
    let gate = Gate::new();
    let long =
        reasons("One.").then(says("Two.")).then(reasons("Three.")).then(says("Four.")).then(waits(&gate));
    let app = TestApp::scripted([long, says("Short."), says("Five.")]).await;
    let mut first = app.send("count").await;
    gate.reached().await;
    app.main.stop().await;
    first.end().await;
    app.main.regenerate().await.end().await;
    assert_eq!(app.main.branch("msg_1").await.status, 200);
    app.main.reload().await;
    let mut more = app.main.resend_last().await;
    more.end().await;
    let new: Vec<_> = more
        .chunks
        .iter()
        .filter_map(|chunk| match chunk {
            Chunk::TextStart { id } => Some(id.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(new, ["s4"], "s0 to s3 are taken in this message");
    assert_eq!(more.shown().text(), "Two.Four.Five.");
}

#[tokio::test]
async fn a_stop_that_meets_a_question_withdraws_it() {
    for tool in ["conf_approve", "conf_client"] {
        let gate = Gate::new();
        let input = json!({ "text": "x", "question": "x" });
        let input = json!({ (if tool == "conf_client" { "question" } else { "text" }): input["text"] });
        let app = TestApp::scripted([waits(&gate).then(calls("c", tool, input))]).await;
        let mut turn = app.send("go").await;
        gate.reached().await;
        // The call is on its way to the store, which answers only after the stop has come.
        let held = app.hold_writes();
        gate.open();
        app.model.idle().await;
        let releasing = async {
            for _ in 0..200 {
                tokio::task::yield_now().await;
            }
            drop(held);
        };
        let (stopped, ()) = tokio::join!(app.main.stop(), releasing);
        assert_eq!(stopped.json(), json!({ "stopped": true, "status": "cancelled" }), "{tool}");
        turn.end().await;
        assert_eq!(app.main.info().await["status"], "idle", "{tool}: what was stopped does not wait");
    }
}

#[tokio::test]
async fn stop_drops_the_messages_that_wait() {
    let gate = Gate::new();
    let app = TestApp::scripted([waits(&gate), says("Never.")]).await;
    let mut turn = app.send("first").await;
    gate.reached().await;
    let tab = app.chat("chat");
    tab.set_messages(|messages| messages.push(testkit::user("w", "second")));
    let body = tab.body(json!({}), json!({ "whenBusy": "queue" }));
    let waiting = tab.open(&body).await;
    assert_eq!(app.main.stop().await.status, 200);
    let dropped = testkit::HttpResponse::of(waiting).await;
    assert!(dropped.body.contains("was taken back"), "{dropped:?}");
    assert_eq!(turn.end().await, Chunk::Abort);
    assert_eq!(app.model.requests().len(), 1);
}

#[tokio::test]
async fn a_tool_that_tidies_up_within_its_grace_keeps_its_result() {
    let gate = ToolGate::new();
    let arrived = gate.clone();
    let tidy = TestTool::new("tidy", move |ctx, _| {
        let arrived = arrived.clone();
        async move {
            arrived.arrive();
            ctx.cancel.cancelled().await;
            // Longer than anybody who does not know the tools' grace would wait.
            tokio::time::sleep(testkit::tools::GRACE * 9 / 10).await;
            Ok(json!("tidied up"))
        }
    });
    let app = TestApp::builder().replies([calls("c", "tidy", json!({}))]).tool(tidy.any()).start().await;
    let mut turn = app.send("go").await;
    gate.reached().await;
    app.main.stop().await;
    assert_eq!(turn.end().await, Chunk::Abort);
    let message = turn.shown();
    let state = &message.tool_parts().next().unwrap().state;
    assert!(matches!(state, ToolState::OutputAvailable { output, .. } if output == "tidied up"), "{state:?}");
}
