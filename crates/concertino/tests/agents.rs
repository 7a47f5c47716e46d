//! `concertino agents` as a person uses it: the real binary, on the data folder and through a running server.

#![expect(clippy::unwrap_used, reason = "a step that fails fails the test")]

use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::Path,
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

impl Home {
    fn new() -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        Self { folder: tempfile::tempdir().unwrap(), address }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        self.path(name)
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

    fn agents(&self, arguments: &[&str]) -> Said {
        let output = self.command().arg("agents").args(arguments).output().unwrap();
        Said {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn serve(&self) -> Server {
        let mut process = self.command().arg("serve").stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        assert!(line.contains(&self.address), "{line}");
        Server { process, _lines: lines }
    }
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
    home.write(
        "team/lead/agent.toml",
        "description = \"Leads.\"\ntools = [\"time-now\"]\nallowedSubAgents = [\"helper\"]\n",
    );
    home.write("team/lead/prompt.md", "You lead {{ project }}.\n");
    home.write(
        "team/helper.json",
        "{\"name\": \"helper\", \"description\": \"Helps.\", \"systemPrompt\": \"You help.\", \"toolKeys\": [\"time-now\"]}",
    );
    home.path("team")
}

#[test]
fn the_list_shows_every_agent_in_80_columns_and_as_json() {
    let home = Home::new();
    let said = home.agents(&[]);
    assert_eq!(said.code, 0, "{}", said.err);
    fits_80_columns(&said.out);
    let general = said.out.lines().find(|line| line.starts_with("general ")).unwrap();
    assert!(general.contains("main") && general.contains("built-in"), "{general}");
    let calendar = said.out.lines().find(|line| line.starts_with("calendar ")).unwrap();
    assert!(calendar.contains("✗ the tools calendar-query"), "{calendar}");
    let list: Value = serde_json::from_str(&home.agents(&["list", "--json"]).out).unwrap();
    assert!(list["agents"].as_array().unwrap().len() >= 15);
}

#[test]
fn show_tells_what_an_agent_is_made_of_and_an_unknown_name_is_an_error() {
    let home = Home::new();
    let said = home.agents(&["show", "agent_search"]);
    assert_eq!(said.code, 0, "{}", said.err);
    fits_80_columns(&said.out);
    assert!(said.out.contains("name          search\n") && said.out.contains("prompt\n  "), "{}", said.out);
    let unknown = home.agents(&["show", "nobody"]);
    assert_eq!(unknown.code, 1);
    assert!(unknown.err.contains("`concertino agents list`"), "{}", unknown.err);
}

#[test]
fn check_prints_every_problem_with_file_and_line() {
    let home = Home::new();
    let toml = home.write(
        "wrong/a/agent.toml",
        "displayName = \"A\"\ntools = [\n  \"time-now\",\n  \"fly\",\n]\nmaxSteps = 0\ncolour = \"red\"\n",
    );
    let prompt = home.write("wrong/a/prompt.md", "Hello\n{{ weather }}\n");
    let json = home.write(
        "wrong/b.json",
        "[{\"name\": \"b\",\n  \"systemPrompt\": \"p\",\n  \"toolKeys\": [\"jump\"]}]",
    );
    let broken = home.write("wrong/c.toml", "prompt = \"p\"\ntools = [\n");
    let said = home.agents(&["check", &home.path("wrong")]);
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
    let right = home.agents(&["check", &team(&home)]);
    assert_eq!((right.code, right.out.as_str()), (0, "All 2 agents are valid.\n"), "{}", right.err);
}

fn imports(home: &Home) {
    let folder = team(home);
    let tried = home.agents(&["import", "--dry-run", &folder]);
    assert_eq!(tried.out, "would be added: helper\nwould be added: lead\n", "{}", tried.err);
    let first = home.agents(&["import", &folder]);
    assert_eq!((first.code, first.out.as_str()), (0, "added: helper\nadded: lead\n"), "{}", first.err);
    let again = home.agents(&["import", &folder]);
    assert_eq!(again.out, "unchanged: helper\nunchanged: lead\n", "{}", again.err);
    // The helper may have more only once its caller has: the order of the files does not matter.
    home.write(
        "team/lead/agent.toml",
        "tools = [\"time-now\", \"update-plan\"]\nallowedSubAgents = [\"helper\"]\n",
    );
    home.write(
        "team/helper.json",
        "{\"name\": \"helper\", \"systemPrompt\": \"You help.\", \"toolKeys\": [\"update-plan\"]}",
    );
    let changed = home.agents(&["import", &folder]);
    assert_eq!(changed.out, "changed: lead\nchanged: helper\n", "{}", changed.err);
    let shown: Value = serde_json::from_str(&home.agents(&["show", "--json", "helper"]).out).unwrap();
    assert_eq!((&shown["version"], &shown["source"]), (&2.into(), &"database".into()));
    // A saved list can be imported again.
    let list = home.write("saved.json", &home.agents(&["list", "--json"]).out);
    assert_eq!(home.agents(&["import", &list]).out, "unchanged: helper\nunchanged: lead\n");
    home.write("team/helper.json", "{\"name\": \"helper\", \"systemPrompt\": \"\", \"toolKeys\": [\"fly\"]}");
    let refused = home.agents(&["import", &folder]);
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
    assert!(home.agents(&["list"]).out.contains("helper "));
}

#[test]
fn agents_of_the_data_folder_are_there_and_a_wrong_one_is_left_out_with_the_reason() {
    let home = Home::new();
    home.write("data/agents/tutor/agent.toml", "description = \"Teaches.\"\ntools = [\"time-now\"]\n");
    home.write("data/agents/tutor/prompt.md", "You teach.");
    home.write("data/agents/wrong.toml", "prompt = \"p\"\ntools = [\"fly\"]\n");
    let said = home.agents(&[]);
    let tutor = said.out.lines().find(|line| line.starts_with("tutor ")).unwrap();
    assert!(tutor.contains("file") && tutor.ends_with("Teaches."), "{tutor}");
    assert!(!said.out.contains("wrong"), "{}", said.out);
    assert!(said.err.contains("wrong.toml:2: tools[0]: There is no tool named \"fly\"."), "{}", said.err);
    let checked = home.agents(&["check"]);
    assert_eq!(checked.code, 1);
    assert!(checked.out.contains("1 problem found."), "{}", checked.out);
    assert!(Path::new(&home.path("data/concertino.db")).exists());
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
