//! What a call of a command reports, asks and records.

use std::fs;

use serde_json::json;

use crate::server::Server;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_only_reads_runs_unasked_in_a_sandbox_that_cannot_write() {
    let server = Server::start(101, &[]).await;
    fs::write(server.work().join("a.txt"), "one\ntwo\n").unwrap();
    let input = json!({ "command": "wc -l a.txt; cat no-such-file" });
    let report = server.output("read", "shell-command", input).await;
    assert_eq!(report["exitCode"], 1, "{report}");
    let output = report["output"].as_str().unwrap();
    assert!(output.starts_with("2 a.txt\n") && output.contains("no-such-file"), "{report}");
    assert!(report["sandbox"].as_str().unwrap().contains("landlock"), "{report}");
    assert!(report.get("sessionId").is_none() && report.get("artifact").is_none(), "{report}");
    // The same through argv, where the shell's characters mean nothing.
    let report = server.output("argv", "shell", json!({ "command": ["echo", "$HOME", "*"] })).await;
    assert_eq!((&report["exitCode"], &report["output"]), (&json!(0), &json!("$HOME *\n")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_writes_asks_and_always_covers_the_same_words() {
    let server = Server::start(102, &[]).await;
    let touch = |name: &str| json!({ "command": format!("touch {name}") });
    server.begin("write", &[("shell-command", touch("a"))]).await;
    let asked = server.answer("write", &json!({ "approved": false, "reason": "not now" })).await;
    assert!(asked["question"]["why"].as_str().unwrap().contains('a'), "{asked}");
    server.idle("write").await;
    assert_eq!(server.tools("write").await[0]["state"], "output-denied");
    assert!(!server.work().join("a").exists());

    server.begin("write", &[("shell-command", touch("b"))]).await;
    server.answer("write", &json!({ "approved": true })).await;
    server.idle("write").await;
    assert!(server.work().join("b").exists(), "{:?}", server.tools("write").await);

    let git = json!({ "command": "git init -q ." });
    server.begin("write", &[("shell-command", git.clone())]).await;
    let asked = server.answer("write", &json!({ "approved": true, "always": "session" })).await;
    assert_eq!(asked["question"]["always"]["command"], "git init", "{asked}");
    server.idle("write").await;
    let report = server.output("write", "shell-command", git).await;
    assert_eq!(report["exitCode"], 0, "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_of_an_agent_that_is_limited_to_some_files_cannot_write() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("main-agents.toml");
    let agents =
        "[agents.general]\ntools = [\"shell-command\", \"write-file\"]\neditableFileSuffixes = [\".md\"]\n";
    fs::write(&file, agents).unwrap();
    let settings = [("CONCERTINO_APPROVALS", "yolo"), ("CONCERTINO_MAIN_AGENTS", file.to_str().unwrap())];
    let server = Server::start(109, &settings).await;
    let line = json!({ "command": "touch a.md a.rs; echo x > b.md" });
    let report = server.output("limited", "shell-command", line).await;
    assert_ne!(report["exitCode"], 0, "{report}");
    let write = json!({ "path": "c.md", "content": "x" });
    server.output("limited", "write-file", write).await;
    let exists = |name: &str| server.work().join(name).exists();
    assert_eq!(["a.md", "a.rs", "b.md", "c.md"].map(exists), [false, false, false, true]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_line_never_runs_and_says_why() {
    let server = Server::start(103, &[("CONCERTINO_APPROVALS", "yolo")]).await;
    let parts = server.call("no", &[("shell-command", json!({ "command": "sudo ls" }))]).await;
    assert_eq!(parts[0]["state"], "output-error", "{parts:?}");
    assert!(parts[0]["errorText"].as_str().unwrap().starts_with("access_denied: "), "{parts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_servers_own_files_and_secrets_are_out_of_reach() {
    let server = Server::start(
        104,
        &[("CONCERTINO_APPROVALS", "yolo"), ("OPENAI_API_KEY", "sk-secret-of-the-server")],
    )
    .await;
    let data = server.process.folder().join("data");
    let line = format!("env; cat {0}/token {0}/concertino.db; ls {0}", data.display());
    let report = server.output("secret", "shell-command", json!({ "command": line })).await;
    let output = report["output"].as_str().unwrap();
    assert!(!output.contains("sk-secret"), "{output}");
    assert!(!output.contains("SQLite format"), "{output}");
    assert_ne!(report["exitCode"], 0, "{output}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_output_is_cut_in_the_middle_and_kept_as_a_file() {
    let server = Server::start(105, &[("CONCERTINO_APPROVALS", "yolo")]).await;
    let report = server.output("long", "shell-command", json!({ "command": "seq 1 200000" })).await;
    let output = report["output"].as_str().unwrap();
    assert!(output.starts_with("1\n2\n") && output.ends_with("199999\n200000\n"), "{report}");
    assert!(output.len() < 40_000 && report["leftOutBytes"].as_u64().unwrap() > 1_000_000);
    let url = format!("{}{}", server.process.url(), report["artifact"]["url"].as_str().unwrap());
    let whole = reqwest::get(url).await.unwrap().text().await.unwrap();
    let expected: String = (1..=200_000).map(|number| format!("{number}\n")).collect();
    assert!(whole == expected, "{} bytes", whole.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_takes_too_long_is_stopped_and_says_so() {
    let server = Server::start(106, &[("CONCERTINO_APPROVALS", "yolo")]).await;
    let input = json!({ "command": "echo begun; sleep 4711.25", "timeoutMs": 700 });
    let report = server.output("slow", "shell-command", input).await;
    assert_eq!((&report["timedOut"], &report["output"]), (&json!(true), &json!("begun\n")), "{report}");
    assert!(report["note"].as_str().unwrap().contains("time was over"), "{report}");
    crate::server::gone("sleep 4711.25").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_command_changes_is_listed_and_can_be_reverted() {
    let server = Server::start(107, &[("CONCERTINO_APPROVALS", "yolo")]).await;
    let work = server.work();
    fs::write(work.join("kept.txt"), "same\n").unwrap();
    fs::write(work.join("changed.txt"), "old\n").unwrap();
    fs::write(work.join("gone.txt"), "gone\n").unwrap();
    let line =
        "echo new >> changed.txt; mkdir -p made && echo m > made/a.txt; mv gone.txt moved.txt; cat kept.txt";
    server.output("changes", "shell-command", json!({ "command": line })).await;
    let (_, list) = server.http.get("/api/chat/changes/changes").await;
    let files = list["runs"][0]["files"].as_array().unwrap();
    let mut seen: Vec<_> = files
        .iter()
        .map(|file| (file["path"].as_str().unwrap().to_owned(), file["revertible"].as_bool().unwrap()))
        .collect();
    seen.sort();
    let expected = ["changed.txt", "gone.txt", "made/a.txt", "moved.txt"].map(|name| (name.to_owned(), true));
    assert_eq!(seen, expected, "{list}");
    // The agent has not read what the command wrote.
    let overwrite = json!({ "path": "changed.txt", "content": "x" });
    let parts = server.call("changes", &[("write-file", overwrite)]).await;
    assert!(parts[0]["errorText"].as_str().unwrap().starts_with("conflict: "), "{parts:?}");
    let (_, result) = server.http.post("/api/chat/changes/changes/revert", &json!({})).await;
    assert_eq!(result["refused"], json!([]), "{result}");
    let mut left: Vec<_> = fs::read_dir(&work).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["changed.txt", "gone.txt", "kept.txt"]);
    assert_eq!(fs::read_to_string(work.join("changed.txt")).unwrap(), "old\n");
    assert_eq!(fs::read_to_string(work.join("gone.txt")).unwrap(), "gone\n");
    // A line that only reads changes nothing and lists nothing.
    server.output("reads", "shell-command", json!({ "command": "cat kept.txt" })).await;
    let (_, list) = server.http.get("/api/chat/reads/changes").await;
    assert_eq!(list["runs"], json!([]), "{list}");
}

/// Git may change the repository; another program may not, and the report says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_cannot_leave_a_hook_in_the_repository() {
    let server = Server::start(107, &[("CONCERTINO_APPROVALS", "yolo")]).await;
    let run = |line: &'static str| server.output("git", "shell-command", json!({ "command": line }));
    let made = run("git init -q . && git add -A").await;
    assert_eq!(made["exitCode"], 0, "{made}");
    let hook = server.work().join(".git/hooks/pre-commit");
    fs::write(server.work().join("build.sh"), "echo evil > .git/hooks/pre-commit; echo built > out\n")
        .unwrap();
    let built = run("bash build.sh").await;
    let protected = built["sandbox"].as_str().unwrap().contains("read-only: .git");
    // Without namespaces the report does not claim it.
    assert_eq!(protected, !hook.exists(), "{built}");
    assert_eq!(fs::read_to_string(server.work().join("out")).unwrap(), "built\n");
    let added = run("git add build.sh").await;
    assert_eq!(added["exitCode"], 0, "{added}");
}
