//! The real client folds our chunks to the message we store: `tests/client/fold.mjs` runs the published package.
//!
//! Needs Node and the installed packages of `tests/client` (`cargo xtask test` sees to both); without them the test
//! says loudly that it was skipped. The report is also left in the target folder, where `cargo xtask` reads it.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use protocol::{LogEntry, MessageFold, SessionEvent, ToolOutcome, wire::chat::Profile};
use serde_json::{Value, json};

use crate::{
    cases,
    log::{log, message_of},
    mix, reader, refused,
};

const EVERYDAY: u64 = 1_000;
/// So many conversations also go through the client's own chat class, pauses and answers included.
const CHATS: u64 = 50;

#[test]
fn the_real_client_folds_our_chunks_to_the_same_message() {
    let report = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fold-differential.txt");
    let project = project();
    let node = std::env::var("CONCERTINO_TEST_NODE").unwrap_or_else(|_| "node".to_owned());
    if let Err(reason) = ready(&node, &project) {
        let line = format!("SKIPPED: the differential test of the fold did not run: {reason}\n");
        eprintln!("{line}");
        fs::write(report, line).expect("the target folder is writable");
        return;
    }
    let count = cases("FOLD_STREAMS", EVERYDAY);
    let every = (count / CHATS).max(1);
    let mut child = Command::new(node)
        .arg("fold.mjs")
        .current_dir(&project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node starts");
    let mut input = child.stdin.take().expect("a pipe");
    let broken = refused::streams().into_iter().map(|stream| json!({ "refused": stream }));
    for line in broken.chain((0..count).map(|seed| case(seed, seed % every == 0))) {
        // The other end closes early only when it failed; its own words below say why.
        if writeln!(input, "{line}").is_err() {
            break;
        }
    }
    drop(input);
    let output = child.wait_with_output().expect("node ends");
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    fs::write(report, &*text).expect("the target folder is writable");
    assert!(output.status.success(), "{text}");
}

fn project() -> PathBuf {
    match std::env::var_os("CONCERTINO_TEST_CLIENT") {
        Some(path) => path.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/client"),
    }
}

fn ready(node: &str, project: &Path) -> Result<(), String> {
    if !project.join("node_modules/ai").is_dir() {
        return Err(
            "the packages of tests/client are not installed (cargo xtask test installs them)".to_owned()
        );
    }
    match Command::new(node).arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("`{node} --version` fails: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(format!("`{node}` cannot be started: {error}")),
    }
}

/// One line for the client: the replay in both profiles, what we make of each, and perhaps the conversation.
fn case(seed: u64, with_chat: bool) -> Value {
    let log = log(seed);
    let stream = |name: &str, profile| {
        let chunks = reader::replay(&log, profile);
        let mut fold = MessageFold::new(message_of(&log));
        for chunk in &chunks {
            fold.apply(chunk).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
        json!({ "profile": name, "chunks": chunks, "expected": fold.message() })
    };
    let v7 = stream("v7", Profile::V7);
    let stored = MessageFold::of(&message_of(&log), &log).expect("a legal log").into_message();
    assert_eq!(v7["expected"], json!(stored), "seed {seed}: the replay says all that the log says");
    let mut case = json!({
        "seed": seed,
        "kinds": mix::kinds(&log),
        "allKinds": BTreeSet::from(mix::KINDS),
        "streams": [v7, stream("common", Profile::Common)],
    });
    if with_chat {
        case["chat"] = chat(&log);
    }
    case
}

fn chat(log: &[LogEntry]) -> Value {
    let turns = reader::turns(log, Profile::Common);
    let expected = reader::message_after(log, &turns, Profile::Common);
    let turns: Vec<Value> = turns
        .iter()
        .map(|turn| {
            let answers: Vec<Value> = turn.answers.iter().map(|event| answer(event)).collect();
            json!({ "answers": answers, "chunks": turn.told.chunks })
        })
        .collect();
    json!({ "turns": turns, "expected": expected })
}

/// How the client's own methods record an answer.
fn answer(event: &SessionEvent) -> Value {
    match event {
        SessionEvent::ApprovalAnswered { approval, approved, reason, .. } => {
            json!({ "kind": "approval", "id": approval, "approved": approved, "reason": reason })
        }
        SessionEvent::ToolSettled { call, outcome: ToolOutcome::Done { output }, .. } => {
            json!({ "kind": "output", "toolCallId": call, "output": output })
        }
        SessionEvent::ToolSettled { call, outcome: ToolOutcome::Failed { message }, .. } => {
            json!({ "kind": "output-error", "toolCallId": call, "errorText": message })
        }
        other => panic!("not an answer of a client: {other:?}"),
    }
}
