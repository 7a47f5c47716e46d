//! Token rotation and revocation, from the command line and in the settings.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_concertino");
/// Far more than the second within which a stream must end.
const SOON: Duration = Duration::from_secs(20);

/// A data folder, an address, and a model server that never answers: a stream that began stays open.
struct World {
    folder: tempfile::TempDir,
    address: String,
    silent: TcpListener,
    variables: Vec<(&'static str, String)>,
    server: Option<Child>,
}

impl World {
    fn new() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        Self {
            folder: tempfile::tempdir().unwrap(),
            address: free.local_addr().unwrap().to_string(),
            silent: TcpListener::bind("127.0.0.1:0").unwrap(),
            variables: Vec::new(),
            server: None,
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("CONCERTINO_DATA_DIR", self.data())
            .env("CONCERTINO_LISTEN", &self.address)
            .env("CONCERTINO_DISCOVER", "off")
            .env("OPENAI_BASE_URL", format!("http://{}/v1", self.silent.local_addr().unwrap()))
            .env("OPENAI_API_KEY", "none")
            .env("OPENAI_MODEL", "silent")
            .env_remove("CONCERTINO_TOKEN")
            .env_remove("CONCERTINO_AUTH")
            .env_remove("CONCERTINO_MODEL")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Runs a command, which must come to its end.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> Output {
        let mut child =
            self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let began = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if began.elapsed() > SOON {
                child.kill().unwrap();
                panic!("{arguments:?} does not end: {}", text(&child.wait_with_output().unwrap().stdout));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        child.wait_with_output().unwrap()
    }

    /// What a command that succeeds prints.
    #[track_caller]
    fn said(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// What a command that fails complains about.
    #[track_caller]
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(!output.status.success(), "{arguments:?} succeeded: {}", text(&output.stdout));
        text(&output.stderr)
    }

    /// Starts the server and returns the token of the link that it prints.
    fn start(&mut self) -> String {
        let mut child = self.command(&["serve"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let link = lines.find(|line| line.contains("open:"));
        self.server = Some(child);
        link.expect("the server prints its link").split("token=").nth(1).unwrap().to_owned()
    }

    fn stop(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill().unwrap();
            server.wait().unwrap();
        }
    }

    /// Sends a request and reads nothing yet.
    fn open(&self, line: &str, credentials: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        write!(
            stream,
            "{line} HTTP/1.1\r\nhost: {}\r\n{credentials}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        stream
    }

    fn answer(&self, line: &str, credentials: &str) -> String {
        let mut text = String::new();
        self.open(line, credentials, "").read_to_string(&mut text).unwrap();
        text
    }

    /// The status that these credentials get.
    fn status(&self, credentials: &str) -> String {
        self.answer("GET /api/sessions", credentials).split(' ').nth(1).unwrap().to_owned()
    }

    /// A stream that is open: its model has been asked.
    fn stream(&self, credentials: &str) -> TcpStream {
        let body = r#"{"id":"c","messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"x"}]}]}"#;
        let mut stream = self.open("POST /api/chat", credentials, body);
        let mut seen = String::new();
        while !seen.contains("\"type\":\"start\"") {
            let mut buffer = [0; 1024];
            let count = stream.read(&mut buffer).unwrap();
            assert!(count > 0, "closed: {seen}");
            seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        stream
    }

    /// Opens the sign-in link as a browser; returns its cookie.
    fn browser(&self, token: &str) -> String {
        let answer = self.answer(&format!("GET /?token={token}"), "user-agent: A browser of tests");
        let set = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect(&answer);
        format!("cookie: {}", set.split(';').next().unwrap())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop();
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn bearer(token: &str) -> String {
    format!("authorization: Bearer {token}")
}

/// Reads a stream to its end, which must come.
#[track_caller]
fn ends(mut stream: TcpStream) -> String {
    let mut text = String::new();
    if let Err(error) = stream.read_to_string(&mut text) {
        panic!("the stream goes on although it was revoked: {error}");
    }
    text
}

const OWN: &str = "a-token-that-a-person-chose-0123456789";
const NEXT: &str = "another-token-of-the-same-person-98765";

#[test]
fn another_variable_or_file_and_a_restart_revoke_the_token_before() {
    let mut world = World::new();
    world.variables = vec![("CONCERTINO_TOKEN", OWN.to_owned())];
    assert_eq!(world.start(), OWN);
    let cookie = world.browser(OWN);
    assert_eq!(world.status(&cookie), "200");
    world.stop();
    world.variables = vec![("CONCERTINO_TOKEN", NEXT.to_owned())];
    assert_eq!(world.start(), NEXT);
    assert_eq!((world.status(&bearer(OWN)), world.status(&bearer(NEXT))), ("401".into(), "200".into()));
    assert_eq!(world.status(&cookie), "401", "a sign-in ends with its token");
    world.stop();
    world.variables.clear();
    let kept = world.start();
    assert_eq!((world.status(&bearer(NEXT)), world.status(&bearer(&kept))), ("401".into(), "200".into()));
    world.stop();
    std::fs::write(world.data().join("token"), format!("{OWN}-of-the-file\n")).unwrap();
    assert_eq!(world.start(), format!("{OWN}-of-the-file"));
    assert_eq!(world.status(&bearer(&kept)), "401");
}

#[test]
fn a_revoked_token_does_not_come_back_by_a_restart() {
    let mut world = World::new();
    let first = world.start();
    let guest = world.said(&["token", "add", "--name", "guest"]).trim().to_owned();
    assert_eq!(world.status(&bearer(&guest)), "200");
    let list: Value = serde_json::from_str(&world.said(&["token", "list", "--json"])).unwrap();
    let number =
        list["tokens"].as_array().unwrap().iter().find(|token| token["principal"] == "guest").unwrap();
    world.said(&["token", "remove", &number["id"].to_string()]);
    assert_eq!(world.status(&bearer(&guest)), "401");
    world.said(&["token", "rotate"]);
    world.stop();
    for revoked in [guest, first] {
        world.variables = vec![("CONCERTINO_TOKEN", revoked)];
        let refused = world.refused(&["serve"]);
        assert!(refused.contains("was revoked") && refused.contains("CONCERTINO_TOKEN"), "{refused}");
        assert!(world.refused(&["link"]).contains("was revoked"));
    }
}

#[test]
fn the_owners_token_cannot_be_removed_but_rotated() {
    let mut world = World::new();
    let token = world.start();
    let refused = world.refused(&["token", "remove", "1"]);
    assert!(refused.contains("concertino token rotate"), "{refused}");
    assert_eq!(world.status(&bearer(&token)), "200");
    assert!(world.refused(&["token", "remove", "7"]).contains("there is no token 7"));
    assert!(world.refused(&["token", "add", "--name", "owner"]).contains("another name"));
}

#[test]
fn rotating_revokes_at_once_while_the_server_runs() {
    let mut world = World::new();
    let old = world.start();
    let cookie = world.browser(&old);
    let stream = world.stream(&bearer(&old));
    let began = Instant::now();
    let link = world.said(&["token", "rotate"]);
    let new = link.trim().split("token=").nth(1).unwrap();
    assert_eq!((world.status(&bearer(&old)), world.status(&cookie)), ("401".into(), "401".into()));
    assert_eq!(world.status(&bearer(new)), "200");
    assert_eq!(world.status(&world.browser(new)), "200");
    assert!(ends(stream).contains("sign in again"));
    assert!(began.elapsed() < SOON);
    assert_eq!(world.said(&["link"]), link, "the link is the new one");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(world.data().join("token")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    world.stop();
    assert_eq!(world.start(), new);
    assert_eq!(world.status(&bearer(&old)), "401");
}

#[test]
fn a_token_that_is_set_from_outside_is_rotated_where_it_is_set() {
    let mut world = World::new();
    world.variables = vec![("CONCERTINO_TOKEN", OWN.to_owned())];
    world.start();
    assert!(world.refused(&["token", "rotate"]).contains("CONCERTINO_TOKEN"));
    assert_eq!(world.status(&bearer(OWN)), "200");
}

#[test]
fn a_browser_is_signed_out_from_the_command_line() {
    let mut world = World::new();
    let token = world.start();
    let (one, two) = (world.browser(&token), world.browser(&token));
    let stream = world.stream(&one);
    let table = world.said(&["sign-ins", "list"]);
    assert!(
        table.contains("A browser of tests") && table.lines().all(|line| line.chars().count() <= 80),
        "{table}"
    );
    let list: Value = serde_json::from_str(&world.said(&["sign-ins", "list", "--json"])).unwrap();
    let mut ids: Vec<i64> =
        list["signIns"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids.len(), 2);
    world.said(&["sign-ins", "revoke", &ids[0].to_string()]);
    assert!(ends(stream).contains("sign in again"));
    assert_eq!((world.status(&one), world.status(&two)), ("401".into(), "200".into()));
    assert!(world.refused(&["sign-ins", "revoke", &ids[0].to_string()]).contains("sign-ins list"));
    world.said(&["sign-ins", "revoke", "--all"]);
    assert_eq!((world.status(&two), world.status(&bearer(&token))), ("401".into(), "200".into()));
}

#[test]
fn a_token_that_can_be_guessed_is_refused_at_the_start() {
    let mut world = World::new();
    for weak in ["x", "short", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "with a space in the middle of it"] {
        world.variables = vec![("CONCERTINO_TOKEN", weak.to_owned())];
        let refused = world.refused(&["serve"]);
        assert!(refused.contains("CONCERTINO_TOKEN") && refused.contains("20 characters"), "{refused}");
        assert!(!refused.contains(weak) || weak.len() < 2, "a token is never shown: {refused}");
    }
    world.variables.clear();
    std::fs::write(world.data().join("token"), "x\n").unwrap();
    let refused = world.refused(&["serve"]);
    assert!(refused.contains("remove the file"), "{refused}");
}

#[test]
fn neither_a_token_that_was_added_nor_a_sign_in_can_be_read_from_the_data_folder() {
    let mut world = World::new();
    let token = world.start();
    let cookie = world.browser(&token);
    let secret = cookie.split('=').nth(1).unwrap().to_owned();
    let guest = world.said(&["token", "add"]).trim().to_owned();
    assert!(secret.len() >= 64, "256 bits: {secret}");
    let mut files = 0;
    for entry in std::fs::read_dir(world.data()).unwrap() {
        let path = entry.unwrap().path();
        let Ok(bytes) = std::fs::read(&path) else { continue };
        files += 1;
        for secret in [&secret, &guest] {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{} holds a secret", path.display());
        }
    }
    assert!(files >= 2);
}
