//! `concertino rules` as a person uses it: the real binary, on the data folder and through a running server.

#![expect(clippy::unwrap_used, reason = "a step that fails fails the test")]

use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Child, ChildStdout, Command, Stdio},
};

use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_concertino");

struct Home {
    folder: tempfile::TempDir,
    address: String,
}

struct Said {
    code: i32,
    out: String,
    err: String,
}

struct Server {
    process: Child,
    _lines: BufReader<ChildStdout>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Home {
    fn new() -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        Self { folder: tempfile::tempdir().unwrap(), address }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(BINARY);
        command
            .env_clear()
            .env("CONCERTINO_DATA_DIR", self.folder.path().join("data"))
            .env("CONCERTINO_LISTEN", &self.address)
            .env("CONCERTINO_DISCOVER", "off")
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Said {
        let output = self.command().args(arguments).output().unwrap();
        Said {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn rules(&self, arguments: &[&str]) -> Said {
        self.run(&[&["rules"], arguments].concat())
    }

    /// Starts a server; returns it and the work directory that it announces.
    fn serve(&self) -> (Server, String) {
        let mut process = self.command().arg("serve").stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        let workdir = loop {
            let mut line = String::new();
            assert_ne!(lines.read_line(&mut line).unwrap(), 0, "the server announces its work directory");
            if let Some(workdir) = line.trim_end().strip_prefix("  files: ") {
                break workdir.to_owned();
            }
        };
        (Server { process, _lines: lines }, workdir)
    }

    fn ids(&self) -> Vec<String> {
        let list: Value = serde_json::from_str(&self.rules(&["--json"]).out).unwrap();
        let rules = list["rules"].as_array().unwrap();
        let own = rules.iter().filter(|rule| rule["layer"] == "workspace");
        own.map(|rule| rule["id"].as_str().unwrap().to_owned()).collect()
    }
}

fn add_list_and_remove(home: &Home) {
    let added = home.rules(&["add", "refuse", "--path", "vendor/**", "--note", "generated files"]);
    assert_eq!(added.code, 0, "{}", added.err);
    assert!(added.err.starts_with("Refuse reading and changing below vendor/. rul_"), "{}", added.err);
    let added =
        home.rules(&["add", "allow", "--tool", "edit-file", "--tool", "write-*", "--path", "docs/**"]);
    assert_eq!(added.code, 0, "{}", added.err);

    let list = home.rules(&[]);
    assert_eq!(list.code, 0, "{}", list.err);
    assert!(list.out.starts_with("Mode: auto-read-only"), "{}", list.out);
    assert!(list.out.lines().all(|line| line.chars().count() <= 80), "{}", list.out);
    assert!(list.out.contains("Allow calls of edit-file and write-* below docs/."), "{}", list.out);
    assert!(list.out.contains("built-in"), "{}", list.out);

    let ids = home.ids();
    assert_eq!(ids.len(), 2, "{ids:?}");
    let short: String = ids[0].chars().take(12).collect();
    let removed = home.rules(&["remove", &short]);
    assert_eq!((removed.code, removed.err.starts_with("Removed: ")), (0, true), "{}", removed.err);
    assert_eq!(home.ids(), ids[1..]);
    let again = home.rules(&["remove", &ids[0]]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("`concertino rules list` shows all rules"), "{}", again.err);
    assert_eq!(home.rules(&["remove", &ids[1]]).code, 0);

    for (wrong, expected) in [
        (&["add", "allow"][..], "The rule does not say which calls it covers."),
        (&["add", "allow", "--path", "/etc/passwd"], "The path is not inside the work directory."),
        (&["list", "--chat", "none"], "There is no such chat."),
        (&["remove", "rul_built-in-secrets-read"], "is built in and cannot be removed"),
    ] {
        let said = home.rules(wrong);
        assert_eq!(said.code, 1, "{wrong:?}");
        assert!(said.err.contains(expected), "{wrong:?}: {}", said.err);
    }
}

#[test]
fn rules_are_added_listed_and_removed_in_the_data_folder() {
    add_list_and_remove(&Home::new());
}

#[test]
fn rules_are_added_listed_and_removed_through_a_running_server() {
    let home = Home::new();
    let (_server, workdir) = home.serve();
    let here = home.folder.path().canonicalize().unwrap();
    assert_eq!(std::path::Path::new(&workdir).canonicalize().unwrap(), here);
    add_list_and_remove(&home);
}

#[test]
fn settings_that_the_server_cannot_follow_keep_it_from_starting() {
    let home = Home::new();
    let said = home.run(&["serve", "--workdir", "no-such-folder"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("does not exist") && said.err.contains("--workdir"), "{}", said.err);
    std::fs::write(home.folder.path().join("concertino.toml"), "forbid_yolo = true\n").unwrap();
    let said = home.run(&["serve", "--approvals", "yolo"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("forbid_yolo is set"), "{}", said.err);
}
