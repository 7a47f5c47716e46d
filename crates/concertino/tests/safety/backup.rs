//! Backup, restore, the checkpoint at shutdown, and damage in the data folder.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use reqwest::Client;
use serde_json::{Value, json};
use testkit::Rng;

const BINARY: &str = env!("CARGO_BIN_EXE_concertino");

struct Place {
    folder: tempfile::TempDir,
    address: String,
    client: Client,
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        self.0.wait().unwrap();
    }
}

impl Place {
    fn new() -> Self {
        testkit::models::install_tls();
        let client = Client::builder()
            .pool_max_idle_per_host(0)
            .no_proxy()
            .tls_certs_only([])
            .timeout(Duration::from_secs(30))
            .build()
            .unwrap();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        Self { folder: tempfile::tempdir().unwrap(), address, client }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, data: &Path) -> Command {
        let mut command = Command::new(BINARY);
        command
            .current_dir(self.folder.path())
            .env("CONCERTINO_DATA_DIR", data)
            .env("CONCERTINO_LISTEN", &self.address)
            .env("CONCERTINO_AUTH", "off")
            .env("CONCERTINO_MODEL", "demo/rules")
            .env("CONCERTINO_DISCOVER", "off")
            .env("CONCERTINO_AUTO_TITLE", "off")
            .env("CONCERTINO_DURABILITY", "process")
            .env_remove("CONCERTINO_TOKEN")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, data: &Path, arguments: &[&str]) -> Output {
        self.command(data).args(arguments).output().unwrap()
    }

    /// Starts and waits until it listens; `None` when it ends instead, with what it said.
    fn start(&self, data: &Path) -> Result<Server, String> {
        let mut child =
            self.command(data).arg("serve").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line.contains("listening") {
            return Ok(Server(child));
        }
        let said = child.wait_with_output().unwrap();
        Err(String::from_utf8_lossy(&said.stderr).into_owned())
    }

    async fn get(&self, path: &str) -> (u16, String) {
        let answer = self.client.get(format!("http://{}{path}", self.address)).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    async fn say(&self, chat: &str, text: &str) {
        let message = json!({ "id": format!("{chat}-{text}"), "role": "user", "parts": [{ "type": "text", "text": text }] });
        let body = json!({ "id": chat, "message": message });
        let url = format!("http://{}/api/chat", self.address);
        let request = self.client.post(url).header("content-type", "application/json").body(body.to_string());
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 200);
        assert!(answer.text().await.unwrap().contains("[DONE]"));
    }

    async fn chat(&self, id: &str) -> (u16, String) {
        self.get(&format!("/api/chat/{id}/messages")).await
    }
}

/// SIGTERM, and the end.
fn terminate(mut server: Server) {
    let pid = server.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let patience = Instant::now() + Duration::from_secs(20);
    while server.0.try_wait().unwrap().is_none() {
        assert!(Instant::now() < patience, "the server does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

#[tokio::test]
async fn after_sigterm_the_database_file_alone_holds_every_chat() {
    let place = Place::new();
    let server = place.start(&place.data()).unwrap();
    let mut before = Vec::new();
    for chat in ["a", "b", "c"] {
        place.say(chat, "what time is it?").await;
        before.push(place.chat(chat).await);
    }
    terminate(server);
    let alone = place.folder.path().join("alone");
    fs::create_dir(&alone).unwrap();
    fs::copy(place.data().join("concertino.db"), alone.join("concertino.db")).unwrap();
    let _server = place.start(&alone).unwrap();
    for (chat, before) in ["a", "b", "c"].into_iter().zip(before) {
        assert_eq!(place.chat(chat).await, before, "{chat}");
    }
}

#[tokio::test]
async fn a_backup_under_load_is_whole_and_can_be_restored() {
    let place = Place::new();
    fs::create_dir_all(place.data().join("agents")).unwrap();
    fs::write(place.data().join("agents/mine.md"), "---\nname: mine\n---\nYou are mine.\n").unwrap();
    let server = place.start(&place.data()).unwrap();
    for chat in 0..12 {
        place.say(&format!("before-{chat}"), "what time is it?").await;
    }
    let target = place.folder.path().join("backup");
    let mut backup = place
        .command(&place.data())
        .args(["backup", "--json"])
        .arg(&target)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut more = 0;
    while backup.try_wait().unwrap().is_none() {
        place.say(&format!("during-{more}"), "what can you do?").await;
        more += 1;
    }
    let output = backup.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["sessions"].as_u64().unwrap() >= 12 && report["problems"] == json!([]), "{report}");
    assert!(!target.join("token").exists(), "the token is a secret");
    let again = place.run(&place.data(), &["backup", target.to_str().unwrap()]);
    assert!(!again.status.success() && said(&again).contains("not empty"), "{}", said(&again));

    let mut kept = Vec::new();
    for chat in 0..12 {
        kept.push(place.chat(&format!("before-{chat}")).await);
    }
    let target = target.to_str().unwrap();
    let busy = place.run(&place.data(), &["restore", "--force", target]);
    assert!(!busy.status.success() && said(&busy).contains("another concertino uses"), "{}", said(&busy));
    terminate(server);
    let full = place.run(&place.data(), &["restore", target]);
    assert!(!full.status.success() && said(&full).contains("--force"), "{}", said(&full));

    let new = place.folder.path().join("new");
    for (data, arguments) in
        [(&new, &["restore", target][..]), (&place.data(), &["restore", "--force", target][..])]
    {
        let restored = place.run(data, arguments);
        assert!(restored.status.success(), "{}", said(&restored));
        assert!(data.join("agents/mine.md").is_file());
        let _server = place.start(data).unwrap();
        for (chat, before) in kept.iter().enumerate() {
            assert_eq!(place.chat(&format!("before-{chat}")).await, *before);
        }
    }
    // A backup that was changed since is not believed.
    let database = Path::new(target).join("concertino.db");
    let mut bytes = fs::read(&database).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(&database, bytes).unwrap();
    let other = place.folder.path().join("other");
    let damaged = place.run(&other, &["restore", target]);
    assert!(!damaged.status.success(), "{}", said(&damaged));
    assert!(said(&damaged).contains("concertino.db is not as it was backed up"), "{}", said(&damaged));
}

#[tokio::test]
async fn what_is_damaged_is_backed_up_and_restored_as_it_is_and_named_each_time() {
    let place = Place::new();
    let server = place.start(&place.data()).unwrap();
    for chat in ["a", "b"] {
        place.say(chat, "what time is it?").await;
    }
    let whole = place.chat("a").await;
    terminate(server);
    let database = rusqlite::Connection::open(place.data().join("concertino.db")).unwrap();
    database
        .execute_batch(
            "UPDATE log SET body = replace(body, 'time', 'tine')
               WHERE session = (SELECT key FROM sessions WHERE id = 'b');
             INSERT INTO artifacts (id, workspace, session, message, name, media_type, bytes, created_at)
               SELECT 'art_0', 'default', key, 'm', 'a.txt', 'text/plain', 5, 1 FROM sessions WHERE id = 'a'",
        )
        .unwrap();
    drop(database);
    let target = place.folder.path().join("backup");
    let named = |output: &Output| {
        let said = said(output);
        assert!(!output.status.success(), "{said}");
        assert!(said.contains("damaged: chat b of workspace default: "), "{said}");
        assert!(said.contains("of a chat do not match their checksum"), "{said}");
        assert!(said.contains("damaged: the file") && said.contains("is missing"), "{said}");
        assert!(said.contains("not everything could be verified"), "{said}");
    };
    named(&place.run(&place.data(), &["backup", target.to_str().unwrap()]));
    let new = place.folder.path().join("new");
    named(&place.run(&new, &["restore", target.to_str().unwrap()]));
    let server = place.start(&new).unwrap();
    assert_eq!(place.chat("a").await, whole);
    drop(server);

    // A manifest leads nowhere but into the backup.
    let manifest = target.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    for name in ["../token", "token", "agents/../../token", "/etc/passwd"] {
        fs::write(&manifest, text.replace("\"concertino.db\"", &format!("\"{name}\""))).unwrap();
        let refused = place.run(&place.folder.path().join("other"), &["restore", target.to_str().unwrap()]);
        assert!(!refused.status.success(), "{name}: {}", said(&refused));
        assert!(said(&refused).contains("names a file that no backup has"), "{name}: {}", said(&refused));
    }
}

#[tokio::test]
async fn one_flipped_bit_anywhere_is_never_a_silent_loss() {
    const CHATS: usize = 8;
    let place = Place::new();
    let server = place.start(&place.data()).unwrap();
    for chat in 0..CHATS {
        place.say(&format!("chat-{chat}"), "what time is it?").await;
        place.say(&format!("chat-{chat}"), "what can you do?").await;
    }
    let mut before = Vec::new();
    for chat in 0..CHATS {
        before.push(place.chat(&format!("chat-{chat}")).await);
    }
    // As a crash leaves it, most of it in the write-ahead log; and after an orderly end, all of it in the database.
    let crashed = place.folder.path().join("crashed");
    drop(server);
    copy_folder(&place.data(), &crashed);
    let server = place.start(&place.data()).unwrap();
    terminate(server);

    // More of them, and others, for a longer look: FLIPS=200 SEED=7.
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let mut rng = Rng::new(number("SEED").unwrap_or(0));
    let (mut lost, mut named) = (0, 0);
    let rounds = number("FLIPS").unwrap_or(16);
    for round in 0..rounds {
        let (from, file) = if round % 2 == 0 {
            (place.data(), "concertino.db")
        } else {
            (crashed.clone(), "concertino.db-wal")
        };
        let data = place.folder.path().join(format!("flipped-{round}"));
        copy_folder(&from, &data);
        let path = data.join(file);
        let mut bytes = fs::read(&path).unwrap();
        let bit = rng.below(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, bytes).unwrap();
        // Looked at with a copy: it must name what the server then cannot show.
        let looked = place.folder.path().join(format!("looked-{round}"));
        copy_folder(&data, &looked);
        let doctor = said(&place.run(&looked, &["doctor"]));
        let is_named = doctor.contains("damaged:");
        named += usize::from(is_named);
        let server = match place.start(&data) {
            Ok(server) => server,
            Err(why) => {
                assert!(
                    why.contains("damaged") || why.contains("start the newer program"),
                    "bit {bit} of {file}: {why}"
                );
                assert!(is_named || doctor.contains("cannot be read"), "bit {bit} of {file}: {doctor}");
                continue;
            }
        };
        if doctor.contains("damaged: the write-ahead log") {
            let health = place.get("/health").await.1;
            assert!(health.contains("\"damage\":"), "bit {bit} of {file}: {health}: {doctor}");
        }
        let mut whole = 0;
        for (chat, before) in before.iter().enumerate() {
            let now = place.chat(&format!("chat-{chat}")).await;
            if now == *before {
                whole += 1;
                continue;
            }
            lost += 1;
            let says_so = now.1.contains("damaged");
            assert!(
                says_so || is_named,
                "bit {bit} of {file}: chat-{chat} is {now:?}, and nobody says so: {doctor}"
            );
        }
        // So few chats can share a page of the file; then all of them are named.
        assert!(whole > 0 || is_named, "bit {bit} of {file}: no chat is left: {doctor}");
        drop(server);
    }
    println!("{named} of {rounds} were named, {lost} chats were not whole");
}
