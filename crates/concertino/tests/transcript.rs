//! `export` and `import` as a person runs them, on the data of two servers.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "crash/process.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod process;

use std::{
    path::Path,
    process::{Command, Output},
};

use testkit::Rng;

use process::Process;
use serde_json::json;
use testkit::upstream::{Act, Script, Upstream};
use tokio::task::block_in_place;

fn concertino(data: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_concertino"));
    command.arg("--data-dir").arg(data).args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chat_is_exported_beside_its_running_server_and_imported_elsewhere() {
    let upstream = Upstream::start().await;
    let mut process = Process::new(upstream.base_url(), &mut Rng::new(77));
    block_in_place(|| process.start());
    let task = Script::new(vec![vec![Act::Text { text: "下面的代理说".to_owned() }]]).text();
    let delegate =
        Act::Call { tool: "conf_delegate".to_owned(), input: json!({ "agent": "worker", "task": task }) };
    let script = Script::new(vec![vec![delegate], vec![Act::Text { text: "上面的代理说".to_owned() }]]);
    let message = json!({ "id": "u", "role": "user", "parts": [{ "type": "text", "text": script.text() }] });
    models::install_tls();
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let body = json!({ "id": "a chat", "messages": [message] }).to_string();
    let request =
        client.post(format!("{}/api/chat", process.url())).header("content-type", "application/json");
    let answer = request.body(body).send().await.unwrap().text().await.unwrap();
    assert!(answer.contains("[DONE]"), "{answer}");

    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let (here, there) = (process.folder().join("data"), folder.path().join("other"));
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let exported = concertino(&here, &["export", "a chat", &path(&first)]);
    assert!(exported.status.success(), "{}", said(&exported));
    assert!(said(&exported).contains("2 messages, 1 sub-agents, 0 files"), "{}", said(&exported));
    let again = concertino(&here, &["export", "a chat", &path(&first)]);
    assert!(!again.status.success() && said(&again).contains("name another folder"), "{}", said(&again));
    let imported = concertino(&there, &["import", &path(&first)]);
    assert!(imported.status.success(), "{}", said(&imported));
    let taken = concertino(&there, &["import", &path(&first)]);
    assert!(!taken.status.success() && said(&taken).contains("--new-ids"), "{}", said(&taken));
    let twice = concertino(&there, &["import", &path(&first), "--new-ids"]);
    assert!(twice.status.success(), "{}", said(&twice));
    let exported = concertino(&there, &["export", "a chat", &path(&second)]);
    assert!(exported.status.success(), "{}", said(&exported));
    let read = |folder: &Path, name: &str| std::fs::read(folder.join(name)).unwrap();
    for name in ["messages.jsonl", "session.json"] {
        assert_eq!(read(&first, name), read(&second, name), "{name}");
    }
}
