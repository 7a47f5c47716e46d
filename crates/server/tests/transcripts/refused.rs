//! Folders that were tampered with: refused with file and line, and nothing is stored.

use std::{
    fs,
    path::{Path, PathBuf},
};

use testkit::TestApp;

use super::world::{export_to, import_from, start, turn};

struct Tampered {
    _folder: tempfile::TempDir,
    session: PathBuf,
    app: TestApp,
}

async fn exported(text: &str, answer: Option<bool>) -> Tampered {
    let app = start().await;
    turn(&app, text, answer).await;
    let folder = tempfile::tempdir().unwrap();
    let session = folder.path().join("session");
    export_to(&app, &session).await.unwrap();
    Tampered { session, _folder: folder, app: start().await }
}

impl Tampered {
    fn edit(&self, file: &str, change: impl FnOnce(String) -> String) {
        let path = self.session.join(file);
        let text = fs::read_to_string(&path).unwrap();
        let changed = change(text.clone());
        assert_ne!(text, changed, "nothing was changed in {file}");
        fs::write(path, changed).unwrap();
    }

    /// Refused with these words, and the database has no session.
    async fn refused(&self, words: &[&str]) {
        let error = import_from(&self.app, &self.session, false).await.unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "{word:?} is not in: {error}");
        }
        let rows = self.app.rows().await;
        assert_eq!(
            (rows["sessions"], rows["messages"], rows["log"], rows["frames"]),
            (0, 0, 0, 0),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_broken_line_is_named_by_its_number() {
    let tampered = exported("echo", None).await;
    tampered.edit("messages.jsonl", |text| text.replacen("\"role\":\"assistant\"", "\"role\":", 1));
    tampered.refused(&["messages.jsonl", "line 2"]).await;
}

#[tokio::test]
async fn messages_that_no_agent_can_have_written_are_refused() {
    for (file, from, to, words) in [
        ("messages.jsonl", "\"output-available\"", "\"input-streaming\"", vec!["line 2"]),
        ("messages.jsonl", "\"state\":\"done\"", "\"state\":\"streaming\"", vec!["line 2", "parts["]),
        ("messages.jsonl", "\"parentMessageId\":\"u1\"", "\"parentMessageId\":\"u9\"", vec!["line 2", "u9"]),
        ("messages.jsonl", "\"role\":\"user\"", "\"role\":\"system\"", vec!["line 1", "system"]),
        ("session.json", "\"version\": 1", "\"version\": 2", vec!["session.json", "version 2"]),
        ("session.json", "\"id\": \"chat\"", "\"id\": \"a\\u0000b\"", vec!["control characters"]),
        (
            "agents/sub_1/session.json",
            "\"task\": \"do: echo\"",
            "\"task\": \"rm -r\"",
            vec!["sub_1", "line 1"],
        ),
        (
            "agents/sub_1/session.json",
            "\"id\": \"sub_1\"",
            "\"id\": \"../up\"",
            vec!["sub_1", "name of its folder"],
        ),
        (
            "agents/sub_1/session.json",
            "\"parentToolCallId\": \"c1\"",
            "\"parentToolCallId\": \"c7\"",
            vec!["agents/sub_1", "no message calls this agent"],
        ),
    ] {
        let tampered = exported("zh nest(echo)", None).await;
        tampered.edit(file, |text| text.replacen(from, to, 1));
        tampered.refused(&words).await;
    }
}

#[tokio::test]
async fn nothing_runs_because_a_file_says_that_it_was_allowed() {
    let tampered = exported("ask", None).await;
    tampered.edit("messages.jsonl", |text| {
        let text = text.replacen("\"approval-requested\"", "\"approval-responded\"", 1);
        text.replacen(
            "\"approval\":{\"id\":\"apr_1\"}",
            "\"approval\":{\"id\":\"apr_1\",\"approved\":true}",
            1,
        )
    });
    tampered.refused(&["line 2", "was allowed or denied but has no result"]).await;
}

#[tokio::test]
async fn files_must_be_there_whole_and_plain() {
    let artifact =
        |session: &Path| fs::read_dir(session.join("artifacts")).unwrap().next().unwrap().unwrap().path();
    let missing = exported("long", None).await;
    fs::remove_file(artifact(&missing.session)).unwrap();
    missing.refused(&["artifacts/"]).await;
    let short = exported("long", None).await;
    fs::write(artifact(&short.session), "short").unwrap();
    short.refused(&["artifacts/", "5 bytes"]).await;
    let elsewhere = exported("long", None).await;
    elsewhere.edit("messages.jsonl", |text| text.replace("art_", "../art_"));
    elsewhere.refused(&["cannot be the name of a file"]).await;
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    for name in ["messages.jsonl", "session.json", "agents", "agents/sub_1"] {
        let tampered = exported("zh nest(echo)", None).await;
        let path = tampered.session.join(name);
        let moved = outside.path().join(name.replace('/', "-"));
        fs::rename(&path, &moved).unwrap();
        symlink(&moved, &path).unwrap();
        tampered.refused(&[name]).await;
    }
}

#[tokio::test]
async fn a_folder_that_is_not_empty_is_not_written_over() {
    let app = start().await;
    turn(&app, "echo", None).await;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.txt"), "mine").unwrap();
    let error = export_to(&app, folder.path()).await.unwrap_err().to_string();
    assert!(error.contains("not empty"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let unknown = super::world::export_session(&app, "nobody", &folder.path().join("x")).await;
    assert!(unknown.unwrap_err().to_string().contains("no session \"nobody\""));
}
