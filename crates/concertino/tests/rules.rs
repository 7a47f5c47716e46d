//! `concertino rules` as a person uses it: the real binary, on the data folder and through a running server.

#![expect(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "cli/home.rs"]
mod home;

use home::{Home, Said};
use serde_json::Value;

/// Calls `concertino rules`.
fn rules(home: &Home, arguments: &[&str]) -> Said {
    home.run("rules", arguments)
}

/// The ids of the workspace's own rules.
fn own_rules(home: &Home) -> Vec<String> {
    let list: Value = serde_json::from_str(&rules(home, &["--json"]).out).unwrap();
    let rules = list["rules"].as_array().unwrap();
    let own = rules.iter().filter(|rule| rule["layer"] == "workspace");
    own.map(|rule| rule["id"].as_str().unwrap().to_owned()).collect()
}

fn add_list_and_remove(home: &Home) {
    let added = rules(home, &["add", "refuse", "--path", "vendor/**", "--note", "generated files"]);
    assert_eq!(added.code, 0, "{}", added.err);
    assert!(added.err.starts_with("Refuse reading and changing below vendor/. rul_"), "{}", added.err);
    let added =
        rules(home, &["add", "allow", "--tool", "edit-file", "--tool", "write-*", "--path", "docs/**"]);
    assert_eq!(added.code, 0, "{}", added.err);

    let list = rules(home, &[]);
    assert_eq!(list.code, 0, "{}", list.err);
    assert!(list.out.starts_with("Mode: auto-read-only"), "{}", list.out);
    assert!(list.out.lines().all(|line| line.chars().count() <= 80), "{}", list.out);
    assert!(list.out.contains("Allow calls of edit-file and write-* below docs/."), "{}", list.out);
    assert!(list.out.contains("built-in"), "{}", list.out);

    let ids = own_rules(home);
    assert_eq!(ids.len(), 2, "{ids:?}");
    let short: String = ids[0].chars().take(12).collect();
    let removed = rules(home, &["remove", &short]);
    assert_eq!((removed.code, removed.err.starts_with("Removed: ")), (0, true), "{}", removed.err);
    assert_eq!(own_rules(home), ids[1..]);
    let again = rules(home, &["remove", &ids[0]]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("`concertino rules list` shows all rules"), "{}", again.err);
    assert_eq!(rules(home, &["remove", &ids[1]]).code, 0);

    for (wrong, expected) in [
        (&["add", "allow"][..], "The rule does not say which calls it covers."),
        (&["add", "allow", "--path", "/etc/passwd"], "The path is not inside the work directory."),
        (&["list", "--chat", "none"], "There is no such chat."),
        (&["remove", "rul_built-in-secrets-read"], "is built in and cannot be removed"),
    ] {
        let said = rules(home, wrong);
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
    let server = home.serve();
    let here = home.folder.path().canonicalize().unwrap();
    assert_eq!(std::path::Path::new(&server.workdir).canonicalize().unwrap(), here);
    add_list_and_remove(&home);
}

#[test]
fn settings_that_the_server_cannot_follow_keep_it_from_starting() {
    let home = Home::new();
    let said = home.run("serve", &["--workdir", "no-such-folder"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("does not exist") && said.err.contains("--workdir"), "{}", said.err);
    std::fs::write(home.folder.path().join("concertino.toml"), "forbid_yolo = true\n").unwrap();
    let said = home.run("serve", &["--approvals", "yolo"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("forbid_yolo is set"), "{}", said.err);
}
