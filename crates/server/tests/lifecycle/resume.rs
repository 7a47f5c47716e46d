//! Follows a run: from its beginning, or after `Last-Event-ID`.

use super::*;

#[tokio::test]
async fn several_readers_follow_one_run_and_none_disturbs_another() {
    let gate = Gate::new();
    let app = TestApp::scripted([says("One. ").then(waits(&gate)).then(says("Two."))]).await;
    let mut first = app.send("go").await;
    gate.reached().await;
    let (one, two) = (app.chat("chat"), app.chat("chat"));
    let mut second = one.resume().await.unwrap();
    let dropped = two.resume().await.unwrap();
    drop(dropped);
    gate.open();
    assert_eq!(first.message().await, second.message().await);
    assert!(app.main.resume().await.is_none(), "idle");
    assert!(app.chat("unknown").resume().await.is_none(), "unknown");
    assert_eq!(app.caller.session_ids().await, ["chat"], "looking makes no session");
}

#[tokio::test]
async fn the_history_leaves_out_the_message_of_a_run_in_progress() {
    let gate = Gate::new();
    let app = TestApp::scripted([says("Half").then(waits(&gate)).then(says(" done."))]).await;
    let mut turn = app.send("go").await;
    turn.until_text("Half").await;
    assert_eq!(shown(&app.main.history().await), ["u1 go"]);
    assert_eq!(app.main.info().await["status"], "running");
    gate.open();
    turn.end().await;
    assert_eq!(shown(&app.main.history().await), ["u1 go", "msg_1 Half done."]);
}

#[tokio::test]
async fn a_continued_run_is_resumed_as_a_whole() {
    let gate = Gate::new();
    let ask = says("May I? ").then(calls("c", "conf_approve", json!({ "text": "x" })));
    let app = TestApp::scripted([ask, says("Thank ").then(waits(&gate)).then(says("you."))]).await;
    let mut turn = app.send("go").await;
    turn.next_approval().await.approve().await;
    turn.until_text("Thank ").await;
    let tab = app.chat("chat");
    let mut resumed = tab.resume().await.unwrap();
    let fresh = app.chat("chat");
    fresh.reload().await;
    let mut reloaded = fresh.resume().await.unwrap();
    gate.open();
    turn.end().await;
    let approved = |mut message: UiMessage| {
        // That a person approved cannot be said in the common profile; everything else is the same.
        for part in &mut message.parts {
            if let Part::Tool(tool) = part
                && let ToolState::OutputAvailable { approval: Some(approval), .. } = &mut tool.state
            {
                approval.approved = None;
            }
        }
        message
    };
    assert_eq!(resumed.message().await, approved(turn.shown()));
    assert_eq!(reloaded.message().await, approved(turn.shown()));
    app.main.assert_history_is_what_the_tab_shows().await;
}

/// What a client gets that has everything up to this number; `None` when there is nothing more.
async fn after(app: &TestApp, last: &str) -> Option<String> {
    let answer = app.caller.request("GET", "/api/chat/chat/stream", &[("last-event-id", last)], "").await;
    (answer.status == 200).then_some(answer.body)
}

#[tokio::test]
async fn after_last_event_id_only_the_rest_is_sent() {
    let gate = Gate::new();
    let app =
        TestApp::scripted([says("One. ").then(waits(&gate)).then(says("Two.")).then(says("Three."))]).await;
    let mut turn = app.send("go").await;
    turn.until_text("One. ").await;
    let last = turn.seqs.last().unwrap().to_string();
    let opening = async {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        gate.open();
    };
    let (live, ()) = tokio::join!(after(&app, &last), opening);
    turn.end().await;
    let ended = after(&app, &last).await;
    for rest in [live.unwrap(), ended.unwrap()] {
        assert!(!rest.contains("One. ") && !rest.contains("\"start\""), "{rest}");
        assert!(rest.contains("Two.") && rest.ends_with("data: [DONE]\n\n"), "{rest}");
    }
    let end = turn.seqs.last().unwrap().to_string();
    assert_eq!(after(&app, &end).await, None, "nothing is left");
    assert_eq!(after(&app, "999999999").await, None, "a number of nobody, and nothing is on");
}

#[tokio::test]
async fn a_last_event_id_that_is_not_in_the_log_gets_the_whole_message() {
    let gate = Gate::new();
    let app = TestApp::scripted([says("One. ").then(waits(&gate)).then(says("Two."))]).await;
    let mut turn = app.send("go").await;
    turn.until_text("One. ").await;
    let opening = async {
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        gate.open();
    };
    let (far, odd, zero, ()) =
        tokio::join!(after(&app, "40000"), after(&app, "nonsense"), after(&app, "0"), opening);
    for whole in [far, odd, zero] {
        let whole = whole.unwrap();
        assert!(whole.contains("\"start\"") && whole.contains("One. ") && whole.contains("Two."), "{whole}");
    }
    turn.end().await;
}

#[tokio::test]
async fn a_cursor_at_every_chunk_gives_exactly_the_chunks_after_it() {
    let ask = reasons("Hm.").then(says("May I? ")).then(calls("c", "conf_approve", json!({ "text": "x" })));
    let app = TestApp::scripted([ask, says("Thank you.")]).await;
    let mut turn = app.send("go").await;
    turn.end().await;
    let seqs = turn.seqs.clone();
    for (place, seq) in seqs.iter().enumerate() {
        let expected = turn.chunks.len() - place - 1;
        let rest = after(&app, &seq.to_string()).await;
        let count = rest.map_or(0, |rest| rest.matches("\ndata: {").count());
        assert_eq!(count, expected, "after chunk {place}");
    }
}
