//! `concertino agents` as a person uses it: the real binary, on the data folder and through a running server.

#![expect(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "cli/home.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod home;

use std::{fs, path::Path};

use home::{Home, Said};
use serde_json::Value;

/// Calls `concertino agents`.
fn agents(home: &Home, arguments: &[&str]) -> Said {
    home.run("agents", arguments)
}

fn path(home: &Home, name: &str) -> String {
    home.folder.path().join(name).to_string_lossy().into_owned()
}

fn write(home: &Home, name: &str, text: &str) -> String {
    let file = home.folder.path().join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    path(home, name)
}

fn width(line: &str) -> usize {
    line.chars().map(|letter| if letter.is_ascii() || letter == '─' { 1 } else { 2 }).sum()
}

fn fits_80_columns(text: &str) {
    for line in text.lines() {
        // The two marks of a line may count double here.
        assert!(width(line) <= 84, "{line}");
    }
}

fn team(home: &Home) -> String {
    write(
        home,
        "team/lead/agent.toml",
        "description = \"Leads.\"\ntools = [\"time-now\"]\nallowedSubAgents = [\"helper\"]\n",
    );
    write(home, "team/lead/prompt.md", "You lead {{ project }}.\n");
    write(
        home,
        "team/helper.json",
        "{\"name\": \"helper\", \"description\": \"Helps.\", \"systemPrompt\": \"You help.\", \"toolKeys\": [\"time-now\"]}",
    );
    path(home, "team")
}

#[test]
fn the_list_shows_every_agent_in_80_columns_and_as_json() {
    let home = Home::new();
    let said = agents(&home, &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    fits_80_columns(&said.out);
    let general = said.out.lines().find(|line| line.starts_with("general ")).unwrap();
    assert!(general.contains("main") && general.contains("built-in"), "{general}");
    let calendar = said.out.lines().find(|line| line.starts_with("calendar ")).unwrap();
    assert!(calendar.contains("✗ the tools calendar-query"), "{calendar}");
    let list: Value = serde_json::from_str(&agents(&home, &["list", "--json"]).out).unwrap();
    assert!(list["agents"].as_array().unwrap().len() >= 15);
}

#[test]
fn show_tells_what_an_agent_is_made_of_and_an_unknown_name_is_an_error() {
    let home = Home::new();
    let said = agents(&home, &["show", "agent_search"]);
    assert_eq!(said.code, 0, "{}", said.err);
    fits_80_columns(&said.out);
    assert!(said.out.contains("name          search\n") && said.out.contains("prompt\n  "), "{}", said.out);
    let unknown = agents(&home, &["show", "nobody"]);
    assert_eq!(unknown.code, 1);
    assert!(unknown.err.contains("`concertino agents list`"), "{}", unknown.err);
}

#[test]
fn check_prints_every_problem_with_file_and_line() {
    let home = Home::new();
    let toml = write(
        &home,
        "wrong/a/agent.toml",
        "displayName = \"A\"\ntools = [\n  \"time-now\",\n  \"fly\",\n]\nmaxSteps = 0\ncolour = \"red\"\n",
    );
    let prompt = write(&home, "wrong/a/prompt.md", "Hello\n{{ weather }}\n");
    let json = write(
        &home,
        "wrong/b.json",
        "[{\"name\": \"b\",\n  \"systemPrompt\": \"p\",\n  \"toolKeys\": [\"jump\"]}]",
    );
    let broken = write(&home, "wrong/c.toml", "prompt = \"p\"\ntools = [\n");
    let said = agents(&home, &["check", &path(&home, "wrong")]);
    assert_eq!(said.code, 1);
    for expected in [
        format!("{toml}:4: tools[1]: There is no tool named \"fly\"."),
        format!("{toml}:6: maxSteps: maxSteps is 0."),
        format!("{toml}:7: colour: There is no field colour."),
        format!(
            "{prompt}:2: prompt: systemPrompt uses the variable weather in line 2, which does not exist."
        ),
        format!("{json}:3: toolKeys[0]: There is no tool named \"jump\"."),
        format!("✗ {broken}:"),
    ] {
        assert!(said.out.contains(&expected), "{expected}\n\n{}", said.out);
    }
    assert!(said.out.ends_with("6 problems found.\n"), "{}", said.out);
    let right = agents(&home, &["check", &team(&home)]);
    assert_eq!((right.code, right.out.as_str()), (0, "All 2 agents are valid.\n"), "{}", right.err);
}

fn imports(home: &Home) {
    let folder = team(home);
    let tried = agents(home, &["import", "--dry-run", &folder]);
    assert_eq!(tried.out, "would be added: helper\nwould be added: lead\n", "{}", tried.err);
    let first = agents(home, &["import", &folder]);
    assert_eq!((first.code, first.out.as_str()), (0, "added: helper\nadded: lead\n"), "{}", first.err);
    let again = agents(home, &["import", &folder]);
    assert_eq!(again.out, "unchanged: helper\nunchanged: lead\n", "{}", again.err);
    // The helper may have more only once its caller has: the order of the files does not matter.
    write(
        home,
        "team/lead/agent.toml",
        "tools = [\"time-now\", \"update-plan\"]\nallowedSubAgents = [\"helper\"]\n",
    );
    write(
        home,
        "team/helper.json",
        "{\"name\": \"helper\", \"systemPrompt\": \"You help.\", \"toolKeys\": [\"update-plan\"]}",
    );
    let changed = agents(home, &["import", &folder]);
    assert_eq!(changed.out, "changed: lead\nchanged: helper\n", "{}", changed.err);
    let shown: Value = serde_json::from_str(&agents(home, &["show", "--json", "helper"]).out).unwrap();
    assert_eq!((&shown["version"], &shown["source"]), (&2.into(), &"database".into()));
    // A saved list can be imported again.
    let list = write(home, "saved.json", &agents(home, &["list", "--json"]).out);
    assert_eq!(agents(home, &["import", &list]).out, "unchanged: helper\nunchanged: lead\n");
    write(
        home,
        "team/helper.json",
        "{\"name\": \"helper\", \"systemPrompt\": \"\", \"toolKeys\": [\"fly\"]}",
    );
    let refused = agents(home, &["import", &folder]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.out.contains("helper.json:1: toolKeys[0]") && refused.out.contains("not imported"),
        "{}",
        refused.out
    );
}

#[test]
fn files_are_imported_into_the_data_folder_and_again_without_change() {
    imports(&Home::new());
}

#[test]
fn files_are_imported_through_a_running_server() {
    let home = Home::new();
    let server = home.serve();
    imports(&home);
    drop(server);
    assert!(agents(&home, &["list"]).out.contains("helper "));
}

#[test]
fn agents_of_the_data_folder_are_there_and_a_wrong_one_is_left_out_with_the_reason() {
    let home = Home::new();
    write(&home, "data/agents/tutor/agent.toml", "description = \"Teaches.\"\ntools = [\"time-now\"]\n");
    write(&home, "data/agents/tutor/prompt.md", "You teach.");
    write(&home, "data/agents/wrong.toml", "prompt = \"p\"\ntools = [\"fly\"]\n");
    let said = agents(&home, &[]);
    let tutor = said.out.lines().find(|line| line.starts_with("tutor ")).unwrap();
    assert!(tutor.contains("file") && tutor.ends_with("Teaches."), "{tutor}");
    assert!(!said.out.contains("wrong"), "{}", said.out);
    assert!(said.err.contains("wrong.toml:2: tools[0]: There is no tool named \"fly\"."), "{}", said.err);
    let checked = agents(&home, &["check"]);
    assert_eq!(checked.code, 1);
    assert!(checked.out.contains("1 problem found."), "{}", checked.out);
    assert!(Path::new(&path(&home, "data/concertino.db")).exists());
}

#[test]
fn a_server_that_does_not_answer_is_told() {
    let home = Home::new();
    let server = home.serve();
    let output = home.command().env("CONCERTINO_LISTEN", "127.0.0.1:1").arg("agents").output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("--url"), "{err}");
    drop(server);
}
