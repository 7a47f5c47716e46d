//! `main-agents.toml` with the real binary: where it is found, that it is read again, and what is said when it is broken.

#![expect(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "cli/home.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod home;

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use home::{Home, Said};
use serde_json::Value;

fn write(home: &Home, name: &str, text: &str) {
    let file = home.folder.path().join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
}

fn agent(name: &str) -> String {
    format!("[agents.{name}]\nmainAgentRole = \"You are {name}.\"\nbasicInfo.name = \"{name}\"\n")
}

/// The agents of files, as the running server or the data folder lists them.
fn listed(home: &Home) -> Vec<String> {
    let said = home.run("agents", &["list", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let list: Value = serde_json::from_str(&said.out).unwrap();
    let of_files = list["agents"].as_array().unwrap().iter().filter(|agent| agent["source"] == "file");
    of_files.map(|agent| agent["name"].as_str().unwrap().to_owned()).collect()
}

/// The server notices within a second; a machine that is busy takes longer.
fn eventually(home: &Home, expected: &[&str]) {
    let end = Instant::now() + Duration::from_secs(20);
    while listed(home) != expected {
        assert!(Instant::now() < end, "{:?} instead of {expected:?}", listed(home));
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn health(home: &Home) -> String {
    let mut stream = TcpStream::connect(&home.address).unwrap();
    write!(stream, "GET /health HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", home.address).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn doctor(home: &Home) -> Said {
    home.run("doctor", &[])
}

#[test]
fn a_named_file_that_cannot_be_read_keeps_the_server_from_starting() {
    let home = Home::new();
    for (text, place) in [(Some("[agents.a]\ntools = [\n  3 4\n]\n"), ":3:3: "), (None, ":1:1: ")] {
        if let Some(text) = text {
            write(&home, "mine.toml", text);
        } else {
            fs::remove_file(home.folder.path().join("mine.toml")).unwrap();
        }
        let said = home.run("serve", &["--main-agents", "mine.toml"]);
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains(&format!("mine.toml{place}")), "{}", said.err);
        assert!(!said.out.contains("listening"), "{}", said.out);
    }
}

#[test]
fn the_server_reads_the_file_again_and_keeps_the_last_version_of_a_broken_one() {
    let home = Home::new();
    write(&home, ".snow/main-agents.toml", &agent("a"));
    let _server = home.serve();
    assert_eq!(listed(&home), ["a"]);
    write(&home, ".snow/main-agents.toml", &format!("{}{}", agent("a"), agent("b")));
    eventually(&home, &["a", "b"]);
    // The other place comes first.
    write(&home, ".concertino/main-agents.toml", &agent("c"));
    eventually(&home, &["c"]);
    write(&home, ".concertino/main-agents.toml", "[agents.c");
    let health = || health(&home);
    let end = Instant::now() + Duration::from_secs(20);
    while !health().contains("warnings") {
        assert!(Instant::now() < end, "{}", health());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(listed(&home), ["c"], "the last version stays in use");
    assert!(!health().contains("concertino/") && !health().contains(".toml"), "{}", health());
    let said = doctor(&home);
    assert_ne!(said.code, 0);
    assert!(said.out.contains(".concertino/main-agents.toml:1:10: "), "{}", said.out);
    assert!(said.out.contains("keeps the last version that it could read"), "{}", said.out);
    fs::remove_file(home.folder.path().join(".concertino/main-agents.toml")).unwrap();
    eventually(&home, &["a", "b"]);
    // Agents of the folder are read again in the same way.
    write(&home, "data/agents/d.toml", "description = \"d\"\nprompt = \"You are d.\"\n");
    eventually(&home, &["a", "b", "d"]);
}

#[test]
fn doctor_lists_agents_that_were_left_out_and_names_that_have_no_effect() {
    let home = Home::new();
    let text =
        format!("{}tools = [\"no-such\"]\n[agents.Bad]\n", agent("a").replace("basicInfo", "\nbasicInfo"));
    write(&home, ".concertino/main-agents.toml", &text);
    for _ in 0..2 {
        let said = doctor(&home);
        assert!(said.out.contains("main-agents.toml:6:9: the agent \"Bad\" is left out"), "{}", said.out);
        assert!(said.out.contains("warning: "), "{}", said.out);
        assert!(
            said.out.contains("main-agents.toml:5:10: agent \"a\": there is no tool \"no-such\""),
            "{}",
            said.out
        );
        // The second time there is a database.
        assert_eq!(listed(&home), ["a"]);
    }
}
