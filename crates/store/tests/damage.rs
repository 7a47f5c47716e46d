//! A whole database is verified and copied: what is damaged, and what differs in the copy, is named.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "conformance/script.rs"]
#[allow(dead_code, reason = "these tests need a part of it")]
mod script;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rusqlite::Connection;
use script::{Script, accepted};
use store::{BackupProgress, Durability, SqliteStore, Store, copy_database, verify_database};

/// A database with these chats, each with one message.
async fn database(folder: &Path, chats: &[&str]) -> PathBuf {
    let path = folder.join("test.db");
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open_with(&path, Durability::Process).unwrap());
    for chat in chats {
        Script::new(&store, chat).append(vec![accepted("u", 0, None)]).await;
    }
    path
}

fn change(path: &Path, statements: &str) {
    Connection::open(path).unwrap().execute_batch(statements).unwrap();
}

fn problems(path: &Path) -> Vec<String> {
    verify_database(path, &mut |_| {}).unwrap().problems
}

#[tokio::test]
async fn a_row_of_any_table_that_is_not_what_the_log_says_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), &["one"]).await;
    assert_eq!(problems(&path), Vec::<String>::new());
    for (statement, named) in [
        (
            "UPDATE messages SET body = replace(body, 'version', 'vision')",
            "message u revision 0 is not what the log says",
        ),
        ("DELETE FROM messages", "message u revision 0 is missing"),
        (
            "INSERT INTO runs (session, message, id, answers, status, first_seq, options, started_at)
             VALUES (1, 'm', 'r', 1, 'finished', 1, '{}', 1)",
            "run of m is not in the log",
        ),
        (
            "INSERT INTO frames (session, message, parent, call, root, chat, task, status, first_seq, opened_at)
             VALUES (1, 'f', 'm', 'c', 'm', 'chat', 't', 'finished', 1, 1)",
            "sub-agent f is not in the log",
        ),
        (
            "INSERT INTO interactions (id, session, run, message, tool_call, tool, input, status, asked_at, asked_seq)
             VALUES ('q', 1, 'r', 'm', 'c', 't', '{}', 'pending', 1, 1)",
            "question q is not in the log",
        ),
        (
            "INSERT INTO change_sets (session, id, seq, message, tool, agent, status, created_at)
             VALUES (1, 'x', 1, 'm', 't', '[]', 'applied', 1)",
            "change set x is not in the log",
        ),
        (
            "INSERT INTO changed_files (session, change_set, place, path) VALUES (1, 'x', 0, 'p')",
            "changed file x revision 0 is not in the log",
        ),
        (
            "INSERT INTO known_files (session, path, version) VALUES (1, '/workspace/a', '1')",
            "version of the file /workspace/a is not in the log",
        ),
        ("INSERT INTO notes (session, name, data) VALUES (1, 'plan', '{}')", "note plan is not in the log"),
        (
            "INSERT INTO usage (session, seq, at, message, model, input_tokens, output_tokens, total_tokens,
               cached_input_tokens, reasoning_tokens, duration_ms)
             VALUES (1, 9, 1, 'm', 'x', 1, 1, 2, 0, 0, 1)",
            "model call 9 is not in the log",
        ),
        (
            "INSERT INTO queue (session, seq, id, body) VALUES (1, 9, 'w', '{}')",
            "queued message w is not in the log",
        ),
        (
            "INSERT INTO artifacts (id, workspace, session, message, name, media_type, bytes, created_at)
             VALUES ('a', 'default', 1, 'm', 'a.txt', 'text/plain', 5, 1)",
            "file a is not in the log",
        ),
        ("UPDATE sessions SET message_count = 9", "the chat's own row"),
        (
            "PRAGMA ignore_check_constraints = ON; INSERT INTO clean_end (one) VALUES (2)",
            "CHECK constraint failed in clean_end",
        ),
        ("UPDATE log SET body = replace(body, 'version', 'vision')", "do not match their checksum"),
        ("DELETE FROM sessions", "chat number 1: it is missing in the list of chats"),
    ] {
        change(&path, statement);
        let found = problems(&path);
        assert!(found.iter().any(|problem| problem.contains(named)), "{statement}: {found:?}");
    }
}

#[tokio::test]
async fn a_copy_is_compared_with_its_source_chat_by_chat() {
    let folder = tempfile::tempdir().unwrap();
    let source = database(folder.path(), &["one", "two"]).await;
    // The copy is changed as soon as it is there, before it is compared.
    let copied = |name: &str, statements: &str| {
        let target = folder.path().join(name);
        let mut is_changed = false;
        let mut once = |progress: BackupProgress| {
            if matches!(progress, BackupProgress::Verifying { .. }) && !is_changed {
                change(&target, statements);
                is_changed = true;
            }
        };
        copy_database(&source, &target, &mut once).unwrap().problems
    };
    assert_eq!(copied("same.db", ""), Vec::<String>::new());
    // No log has a title: only the comparison with the source finds this.
    let found = copied("title.db", "UPDATE sessions SET title = 'another' WHERE id = 'two'");
    assert_eq!(found, ["chat number 2 differs in the copy"]);
    let fewer = "DELETE FROM sessions WHERE key = 2; DELETE FROM log WHERE session = 2;
         DELETE FROM messages WHERE session = 2";
    let found = copied("fewer.db", fewer);
    assert!(found.contains(&"the copy does not have the same chats as the source".to_owned()), "{found:?}");
    // What is damaged in the source is damaged in the copy, and is named.
    change(&source, "UPDATE log SET body = replace(body, 'version', 'vision') WHERE session = 1");
    let found = copied("damaged.db", "");
    assert!(found.len() == 1 && found[0].contains("chat one of workspace default"), "{found:?}");
}

#[tokio::test]
async fn what_an_older_version_stored_as_allowed_is_the_same_as_the_rule_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open_with(&path, Durability::Process).unwrap());
    let mut script = Script::new(&store, "one");
    script.ask("u", None, "m").await;
    let given = |scope| protocol::SessionEvent::GrantGiven {
        message: script::id("m"),
        approval: protocol::ApprovalId::new("p"),
        grant: protocol::CallPattern::tool("shell"),
        rule: None,
        scope,
    };
    script.append(vec![given(protocol::GrantScope::Session), given(protocol::GrantScope::Workspace)]).await;
    change(&path, "UPDATE sessions SET rules = '[{\"tool\":\"shell\"}]'");
    assert_eq!(problems(&path), Vec::<String>::new());
    change(&path, "DELETE FROM rules");
    assert_eq!(problems(&path), Vec::<String>::new(), "a rule of the workspace can be revoked");
    change(&path, "UPDATE sessions SET rules = '[{\"tool\":\"other\"}]'");
    assert_eq!(
        problems(&path),
        ["chat one of workspace default: the chat's own row  is not what the log says"]
    );
}
