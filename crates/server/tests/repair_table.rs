//! Calls that models get wrong, each through the whole server: what is repaired, what the model is asked for once more, what
//! it is told. The table in `docs/tool-call-repair.md` is what these runs showed.
//!
//! `CONCERTINO_WRITE_DOCS=1` writes the table anew.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[path = "repair_table/rows.rs"]
mod rows;
#[path = "repair_table/tools.rs"]
mod tools;

use rows::{Expect, ROWS, Row};
use serde_json::{Value, json};
use testkit::{
    TestApp, calls,
    models::ModelMessage,
    protocol::{SessionEvent, SessionId, ToolPart, ToolState, UiMessage, WorkspaceId},
    raw_call, says,
    store::{Log, Sessions},
};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tool-call-repair.md");
const BEGIN: &str = "<!-- table: written by crates/server/tests/repair_table.rs -->\n";
const END: &str = "<!-- end of table -->";

/// What a run showed.
struct Shown {
    /// The tool's result, or the error that the model reads.
    result: Result<Value, String>,
    tool: String,
    asked_again: bool,
}

/// Sends one broken call; when the model is asked again, `correction` is what it answers.
async fn run(row: &Row, correction: Option<Value>) -> Shown {
    let again = match correction {
        Some(input) => calls("again", row.meant, input),
        None => says("I do not know."),
    };
    let app = TestApp::builder()
        .replies([raw_call("c", row.written, row.arguments), again, says("Done.")])
        .tool(tools::make_note())
        .tool(tools::move_file())
        .tool(tools::run_text())
        .start()
        .await;
    let message: UiMessage = app.send("go").await.message().await;
    app.main.assert_history_is_what_the_tab_shows().await;
    let requests = app.model.requests();
    let asked_again = requests.get(1).is_some_and(|request| {
        request.messages.iter().any(|message| {
            matches!(&**message, ModelMessage::Tool { text, .. } if text.contains("once more with corrected arguments"))
        })
    });
    let [part] = message.tool_parts().collect::<Vec<_>>()[..] else { panic!("one part, whatever happened") };
    let ToolPart { tool, state, .. } = part;
    let result = match state {
        ToolState::OutputAvailable { output, .. } => Ok(output.clone()),
        ToolState::OutputError { error_text, .. } => Err(error_text.clone()),
        other => panic!("{other:?}"),
    };
    Shown { result, tool: tool.clone(), asked_again }
}

#[tokio::test]
async fn every_broken_call_ends_as_the_table_says() {
    assert!(ROWS.len() >= 40, "{} rows", ROWS.len());
    let mut table = String::from(
        "| # | what is wrong | the model wrote | what happens | result |\n|---|---|---|---|---|\n",
    );
    for (number, row) in ROWS.iter().enumerate() {
        let place = format!("row {}, {}: {} {}", number + 1, row.wrong, row.written, row.arguments);
        let shown = run(row, None).await;
        let (happens, gets) = match &row.expect {
            Expect::Made(input) => {
                let input: Value = serde_json::from_str(input).unwrap();
                assert_eq!(shown.result, Ok(input.clone()), "{place}");
                assert_eq!((shown.tool.as_str(), shown.asked_again), (row.meant, false), "{place}");
                ("repaired, made at once".to_owned(), format!("`{input}`"))
            }
            Expect::AskedAgain { error } => {
                let told = shown.result.clone().unwrap_err();
                assert!(told.contains(error), "{place}: {told}");
                assert!(shown.asked_again, "{place}");
                let right: Value = serde_json::from_str(row.right()).unwrap();
                let corrected = run(row, Some(right.clone())).await;
                assert!(corrected.asked_again, "{place}");
                assert!(corrected.result.is_ok(), "{place}: {:?}", corrected.result);
                (
                    format!("asked once for a right one; else: *{told}*"),
                    "the corrected call, or nothing".to_owned(),
                )
            }
            Expect::Refused { error } => {
                let told = shown.result.clone().unwrap_err();
                assert!(told.contains(error), "{place}: {told}");
                assert!(!shown.asked_again, "{place}");
                (format!("refused: *{}*", told.split(" The tools are").next().unwrap()), "nothing".to_owned())
            }
        };
        let wrote = format!("`{}` {}", row.written, code(row.arguments));
        let cells =
            [row.wrong, &wrote, &happens, &gets].map(|cell| cell.replace('|', "\\|").replace('\n', " "));
        table.push_str(&format!("| {} | {} |\n", number + 1, cells.join(" | ")));
    }
    compare(&table);
}

fn code(arguments: &str) -> String {
    match arguments {
        "" => "(nothing)".to_owned(),
        text if text.contains('`') => format!("`` {} ``", text.replace('\n', "⏎")),
        text => format!("`{}`", text.replace('\n', "⏎")),
    }
}

fn compare(table: &str) {
    let docs = std::fs::read_to_string(DOCS).unwrap();
    let (before, rest) = docs.split_once(BEGIN).expect("the docs hold the table");
    let (_, after) = rest.split_once(END).unwrap();
    let now = format!("{before}{BEGIN}{table}{END}{after}");
    if std::env::var_os("CONCERTINO_WRITE_DOCS").is_some() {
        std::fs::write(DOCS, &now).unwrap();
    }
    assert!(
        docs == now || std::env::var_os("CONCERTINO_WRITE_DOCS").is_some(),
        "the table changed; see the header"
    );
}

#[tokio::test]
async fn the_model_is_asked_with_its_words_the_error_and_the_schema() {
    let app = TestApp::scripted([
        raw_call("good", "conf_echo", "{\"text\": \"one\"}").then(raw_call(
            "bad",
            "conf_echo",
            "{\"txt\": \"two\"}",
        )),
        says("Sorry: ").then(calls("again", "conf_echo", json!({ "text": "two" }))),
        says("Done."),
    ])
    .await;
    let mut turn = app.send("go").await;
    assert_eq!(turn.text().await, "Done.", "what it says beside the corrected call is not for the person");
    let [first, again, last] = &app.model.requests()[..] else { panic!("three calls") };
    assert_eq!((&again.system, &again.tools), (&first.system, &first.tools));
    assert_eq!(
        again.messages[..first.messages.len()],
        first.messages[..],
        "it goes on from the same beginning"
    );
    let told = |request: &testkit::models::ModelRequest| -> Vec<String> {
        let texts = request.messages.iter().filter_map(|message| match &**message {
            ModelMessage::Tool { text, .. } => Some(text.clone()),
            _ => None,
        });
        texts.collect()
    };
    let asked = told(again);
    assert!(asked[0].contains("Do not repeat it"), "{asked:?}");
    for part in ["is required and missing", "You wrote: {\"txt\": \"two\"}", "\"additionalProperties\":false"]
    {
        assert!(asked[1].contains(part), "{part}: {asked:?}");
    }
    assert_eq!(told(last), ["{\"echoed\":\"one\"}", "{\"echoed\":\"two\"}"], "no trace of the attempt");
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn the_log_keeps_the_name_as_it_was_written() {
    let app = TestApp::scripted([raw_call("c", "Conf-Echo", "{\"text\": \"hi\"}"), says("Done.")]).await;
    app.send("go").await.end().await;
    let session =
        app.store.session(&WorkspaceId::default_workspace(), &SessionId::new("chat")).await.unwrap().unwrap();
    let log = app.store.read_log(session.key, 0, usize::MAX).await.unwrap();
    let began = log.iter().find_map(|entry| match &entry.event {
        SessionEvent::ToolInputStarted { tool, written, .. } => Some((tool.as_str(), written.as_deref())),
        _ => None,
    });
    assert_eq!(began, Some(("conf_echo", Some("Conf-Echo"))));
}

#[tokio::test]
async fn a_model_that_fails_when_asked_again_does_not_end_the_run() {
    let fails = testkit::fails(testkit::models::ModelError::Unreachable);
    let app = TestApp::scripted([raw_call("c", "conf_echo", "{}"), fails, says("Then not.")]).await;
    assert_eq!(app.send("go").await.text().await, "Then not.");
}

#[tokio::test]
async fn a_stop_while_the_model_is_asked_again_ends_the_run() {
    let gate = testkit::Gate::new();
    let app =
        TestApp::scripted([raw_call("c", "conf_echo", "{}"), testkit::waits(&gate).then(says("late"))]).await;
    let mut turn = app.send("go").await;
    gate.reached().await;
    assert_eq!(app.main.stop().await.status, 200);
    turn.end().await;
    assert_eq!(app.main.info().await["status"], "idle");
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn a_tool_that_fails_three_times_with_the_same_input_stops_the_loop() {
    let again = |id: &str| calls(id, "conf_fail", json!({ "text": "x" }));
    let app = TestApp::scripted([again("a"), again("b"), again("c"), says("never asked")]).await;
    let message = app.send("go").await.message().await;
    assert!(
        message.text().contains("\"conf_fail\" failed 3 times with the same input"),
        "{}",
        message.text()
    );
    let metadata = message.metadata.unwrap();
    assert_eq!(metadata["stopped"], json!({ "reason": "repeated_failure", "tool": "conf_fail", "times": 3 }));
    assert_eq!((&metadata["status"], &metadata["finishReason"]), (&json!("finished"), &json!("other")));
    assert_eq!(app.model.requests().len(), 3);
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn other_inputs_and_successes_do_not_stop_the_loop() {
    let fail = |id: &str, text: &str| calls(id, "conf_fail", json!({ "text": text }));
    let app = TestApp::scripted([
        fail("a", "x"),
        fail("b", "y"),
        fail("c", "x"),
        fail("d", "z"),
        says("I give up."),
    ])
    .await;
    assert_eq!(app.send("go").await.text().await, "I give up.");
}
