//! Items 132–135 and 144: tool calls, their results, their progress.

use super::*;

#[tokio::test]
async fn item_132_call_ids_pair_input_and_output_are_stable_on_replay_and_unique_per_call() {
    let both = [
        ("same", "conf_echo", json!({ "text": "first" })),
        ("same", "conf_echo", json!({ "text": "second" })),
    ];
    let app = TestApp::scripted([calls_many(both), echo("same", "third"), says("Done.")]).await;
    let mut turn = app.send("go").await;
    turn.end().await;
    let pairs = |chunks: &[Chunk<'static>]| {
        let mut inputs = Vec::new();
        let mut outputs = Vec::new();
        for chunk in chunks {
            match chunk {
                Chunk::ToolInputAvailable { tool_call_id, input, .. } => {
                    inputs.push((tool_call_id.to_string(), input["text"].clone()));
                }
                Chunk::ToolOutputAvailable { tool_call_id, output, .. } => {
                    outputs.push((tool_call_id.to_string(), output["echoed"].clone()));
                }
                _ => {}
            }
        }
        (inputs, outputs)
    };
    let (inputs, outputs) = pairs(&turn.chunks);
    assert_eq!(inputs, outputs, "each output belongs to its input");
    let ids: std::collections::HashSet<_> = inputs.iter().map(|(id, _)| id.clone()).collect();
    assert_eq!(
        (ids.len(), inputs[0].0.as_str()),
        (3, "same"),
        "the provider's id is kept where it is unique"
    );
    let again = replay(&app.main).await;
    assert_eq!(pairs(&again.chunks), (inputs, outputs));
}

#[tokio::test]
async fn item_133_a_failure_a_denial_and_a_result_without_output_have_their_own_chunks() {
    let nothing = TestTool::new("nothing", |_, _| async { Ok(Value::Null) });
    let all = calls_many([
        ("f", "conf_fail", json!({ "text": "x" })),
        ("n", "nothing", json!({})),
        ("d", "conf_approve", json!({ "text": "x" })),
    ]);
    let app = TestApp::builder().replies([all, says("Done.")]).tool(nothing.any()).start().await;
    let mut turn = app.send("go").await;
    turn.next_approval().await.deny("no").await;
    turn.end().await;
    let results: Vec<_> = turn
        .chunks
        .iter()
        .filter(|chunk| chunk_line(chunk).starts_with("tool-output"))
        .map(|chunk| serde_json::to_value(chunk).unwrap())
        .collect();
    assert_eq!(
        results,
        [
            json!({ "type": "tool-output-error", "toolCallId": "f", "errorText": "conf_fail refuses: x" }),
            json!({ "type": "tool-output-available", "toolCallId": "n", "output": null }),
            json!({ "type": "tool-output-denied", "toolCallId": "d" }),
        ]
    );
}

#[tokio::test]
async fn item_134_a_result_nobody_waits_for_is_dropped_and_a_second_one_too() {
    let app = TestApp::scripted([calls("c", "conf_client", json!({ "question": "?" })), says("Done.")]).await;
    let mut turn = app.send("go").await;
    turn.end().await;
    let mut forged = turn.answers_body();
    let part = json!({ "type": "tool-conf_echo", "toolCallId": "never", "state": "output-available",
        "input": {}, "output": "forged" });
    forged["messages"][1]["parts"].as_array_mut().unwrap().push(part);
    app.main.post(&forged).await.assert_sentence(ErrorCode::NothingToContinue);
    turn.add_output("c", json!("yes")).await;
    let body = turn.answers_body();
    assert_eq!(turn.text().await, "Done.");
    let rows = app.rows().await;
    app.main.post(&body).await.assert_sentence(ErrorCode::NothingToContinue);
    assert_eq!(app.rows().await, rows, "the second result changes nothing");
    assert_eq!(app.model.requests().len(), 2);
}

#[tokio::test]
async fn item_135_live_output_is_preliminary_between_input_and_result_and_bounded() {
    let gate = ToolGate::new();
    let held = gate.clone();
    let busy = TestTool::new("busy", move |ctx, _| {
        let gate = held.clone();
        async move {
            ctx.emit.progress(json!("begun")).await;
            ctx.emit.progress(json!("overtaken")).await;
            ctx.emit.progress(json!(format!("{}end", "x".repeat(100_000)))).await;
            gate.pass().await;
            Ok(json!("done"))
        }
    });
    let app = TestApp::builder()
        .replies([calls("c", "busy", json!({})), says("Done.")])
        .tool(busy.any())
        .start()
        .await;
    let mut turn = app.send("go").await;
    let snapshot = |chunk: &Chunk<'static>| match chunk {
        Chunk::ToolOutputAvailable { output, preliminary: true, .. } => output.as_str().map(str::to_owned),
        _ => None,
    };
    let first = turn.until(|chunk| snapshot(chunk).is_some()).await;
    assert_eq!(snapshot(&first).unwrap(), "begun");
    let second = snapshot(&turn.until(|chunk| snapshot(chunk).is_some()).await).unwrap();
    assert!(
        second.len() <= 64 * 1024 && second.ends_with("xend"),
        "the newest end is kept: {}",
        second.len()
    );
    gate.open();
    turn.end().await;
    let kinds: Vec<_> = turn
        .chunks
        .iter()
        .map(chunk_line)
        .filter(|line| line.contains(" c"))
        .map(|line| line.split(' ').next().unwrap_or_default().to_owned())
        .filter(|kind| kind != "tool-input-delta" && kind != "start")
        .collect();
    assert_eq!(
        kinds,
        [
            "tool-input-start",
            "tool-input-available",
            "tool-output-preliminary",
            "tool-output-preliminary",
            "tool-output-available"
        ]
    );
    let stored = app.main.history().await.pop().unwrap();
    let state = &stored.tool_parts().next().unwrap().state;
    assert!(
        matches!(state, ToolState::OutputAvailable { output, preliminary: false, .. } if output == "done")
    );
}

#[tokio::test]
async fn item_144_progress_is_only_in_data_parts() {
    let plan = json!({ "plan": [{ "step": "sharpen the pencil", "status": "in_progress" }] });
    let noisy = TestTool::new("noisy", |ctx, _| async move {
        ctx.emit.transient("progress", json!({ "percent": 40 })).await;
        ctx.emit.data("report", Some("r"), json!({ "percent": 90 })).await;
        Ok(json!("done"))
    });
    let both = calls_many([("p", "update-plan", plan), ("n", "noisy", json!({}))]);
    let app = TestApp::builder().replies([both, says("Done.")]).tool(noisy.any()).start().await;
    let mut turn = app.send("plan it").await;
    let message = turn.message().await;
    assert_eq!(message.text(), "Done.");
    let data: Vec<_> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Data { name, .. } => Some(name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(data.len(), 2, "the plan and the report, not the transient progress: {data:?}");
    assert!(data.contains(&"plan") && data.contains(&"report"));
    assert!(turn.chunks.iter().any(|chunk| chunk_line(chunk).starts_with("data-progress transient")));
    app.main.assert_history_is_what_the_tab_shows().await;
}
