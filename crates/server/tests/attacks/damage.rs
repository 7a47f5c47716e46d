//! A damaged database: what is detected, named, and still works.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{
    Scripted, TestApp, calls,
    protocol::{ErrorCode, SessionId, WorkspaceId},
    says,
    store::{Health, SessionIndex},
};

async fn app_with_chats(chats: &[&str]) -> TestApp {
    let app = TestApp::builder().script(Scripted::choosing(|_| says("A fine answer."))).start().await;
    for chat in chats {
        app.chat(chat).send("a question of mine").await.end().await;
    }
    app
}

/// Turns one bit of a text over, so that it stays valid JSON: `fine` becomes `fime`.
const FLIP: &str = "replace(body, 'fine', 'fime')";

fn of_chat(chat: &str) -> String {
    format!("session = (SELECT key FROM sessions WHERE id = '{chat}')")
}

#[tokio::test]
async fn a_damaged_message_is_read_from_the_log_and_the_damage_is_counted() {
    let app = app_with_chats(&["one", "two"]).await;
    let before = app.chat("one").history().await;
    assert_eq!(app.get("/health").await.json()["damage"], Value::Null);
    assert_eq!(
        app.tamper(&format!(
            "UPDATE messages SET body = {FLIP} WHERE {} AND body LIKE '%fine%'",
            of_chat("one")
        )),
        1
    );
    assert_eq!(app.chat("one").history().await, before, "the log still has it");
    let health = app.get("/health").await;
    assert_eq!(health.status, 200);
    assert_eq!(health.json()["damage"], 1);
    let named = app.store.health().await.damage;
    assert!(named[0].contains("chat one of workspace default"), "{named:?}");
    assert_eq!(app.chat("two").history().await.len(), 2);
}

#[tokio::test]
async fn a_message_that_is_damaged_everywhere_says_so_and_its_neighbours_stay() {
    let app = app_with_chats(&["one"]).await;
    app.chat("one").reload().await;
    let before = app.chat("one").history().await;
    for table in ["messages", "log"] {
        let changed = app.tamper(&format!("UPDATE {table} SET body = {FLIP} WHERE body LIKE '%fine%'"));
        assert!(changed > 0, "{table}");
    }
    let after = app.chat("one").history().await;
    assert_eq!(after[0], before[0]);
    assert_eq!((after.len(), &after[1].id), (2, &before[1].id));
    assert!(after[1].text().contains("damaged in the database"), "{:?}", after[1]);
}

#[tokio::test]
async fn a_message_that_was_put_in_the_place_of_another_is_noticed() {
    let app = app_with_chats(&["one", "two"]).await;
    let before = app.chat("one").history().await;
    let other = "SELECT body, crc FROM messages WHERE node = 4";
    assert_eq!(app.tamper(&format!("UPDATE messages SET (body, crc) = ({other}) WHERE node = 2")), 1);
    assert_eq!(app.chat("one").history().await, before, "the log still has it");
    assert_eq!(app.get("/health").await.json()["damage"], 1);
}

#[tokio::test]
async fn a_damaged_message_of_a_sub_agent_says_so() {
    let delegate = calls("c", "conf_delegate", json!({ "agent": "a", "task": "t" }));
    let app = TestApp::scripted([delegate, says("A fine answer."), says("Done.")]).await;
    app.send("go").await.end().await;
    let chat = app.frames("chat").await[0].chat.to_string();
    assert_eq!(app.chat(&chat).history().await[1].text(), "A fine answer.");
    assert_eq!(app.tamper(&format!("UPDATE frames SET body = {FLIP}")), 1);
    let after = app.chat(&chat).history().await;
    assert!(after[1].text().contains("damaged in the database"), "{after:?}");
    assert_eq!(app.get("/health").await.json()["damage"], 1);
    assert_eq!(app.main.history().await.len(), 2, "the chat itself is whole");
}

#[tokio::test]
async fn a_message_whose_row_is_gone_does_not_hide_the_others() {
    let app = app_with_chats(&[]).await;
    let chat = app.chat("one");
    for text in ["first", "second", "third"] {
        chat.send(text).await.end().await;
    }
    let before = chat.history().await;
    // In the middle, and then the last one as well.
    for (node, gone) in [(3, &[2][..]), (6, &[2, 5])] {
        assert_eq!(app.tamper(&format!("DELETE FROM messages WHERE node = {node}")), 1);
        let after = chat.history().await;
        assert!(after.iter().any(|message| message.text().contains("damaged in the database")), "{after:?}");
        for (place, message) in before.iter().enumerate().filter(|(place, _)| !gone.contains(place)) {
            assert!(after.contains(message), "message {place} is hidden");
        }
    }
}

#[tokio::test]
async fn one_damaged_row_never_hides_the_other_rows_of_a_list() {
    let app = app_with_chats(&["one", "two", "three"]).await;
    assert_eq!(app.tamper("UPDATE sessions SET rules = 'not json' WHERE id = 'two'"), 1);
    assert_eq!(app.caller.session_ids().await, ["three", "one"]);
    let found = app.get("/api/sessions?q=fine").await.json();
    let found: Vec<_> =
        found["sessions"].as_array().unwrap().iter().map(|found| found["id"].clone()).collect();
    assert_eq!(found, ["three", "one"]);
    let refused = app.get("/api/sessions/two").await;
    refused.assert_problem(ErrorCode::StoreDamaged);
    assert!(
        refused.body.contains("concertino restore") && !refused.body.contains("send again"),
        "{refused:?}"
    );
    let body = json!({ "id": "two", "messages": [testkit::user("x", "again")] });
    let refused = app.chat("two").post(&body).await;
    refused.assert_sentence(ErrorCode::StoreDamaged);
    let body = json!({ "id": "one", "messages": [testkit::user("more", "more")] });
    assert_eq!(app.chat("one").post(&body).await.status, 200);
    assert_eq!(app.get("/health").await.status, 200);

    // A text that is no JSON any more does not end a search.
    assert!(app.tamper("UPDATE messages SET body = 'fine {' WHERE node = 2") == 1);
    assert_eq!(app.get("/api/sessions?q=fine").await.status, 200);
}

#[tokio::test]
async fn damaged_questions_and_files_leave_the_others_in_their_lists() {
    let app = app_with_chats(&["one"]).await;
    let question = |id: &str, input: &str| {
        app.tamper(&format!(
            "INSERT INTO interactions (id, session, run, message, tool_call, tool, input, status, asked_at, asked_seq)
             VALUES ('{id}', 1, 'r', 'm', 'c', 't', '{input}', 'pending', 1, 1)"
        ));
    };
    question("ok", "{}");
    question("damaged", "{ no");
    let workspace = WorkspaceId::default_workspace();
    let waiting = app.store.pending_interactions(&workspace, 10).await.unwrap();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].session, SessionId::new("one"));
    for (id, bytes) in [("art_1", "5"), ("art_2", "'many'")] {
        app.tamper(&format!(
            "INSERT INTO artifacts (id, workspace, session, message, name, media_type, bytes, created_at)
             VALUES ('{id}', 'default', 1, 'm', 'a.txt', 'text/plain', {bytes}, 1)"
        ));
    }
    let files = app.get("/api/artifacts").await.json();
    assert_eq!(files["artifacts"].as_array().unwrap().len(), 1, "{files}");
}

#[tokio::test]
async fn health_says_that_the_store_cannot_write_until_it_can() {
    let app = app_with_chats(&["one"]).await;
    assert_eq!(app.get("/health").await.json()["status"], "ok");
    app.break_log();
    let body = json!({ "id": "one", "messages": [testkit::user("x", "more")] });
    app.chat("one").post(&body).await.assert_sentence(ErrorCode::StoreUnavailable);
    let health = app.get("/health").await;
    assert_eq!(health.status, 503);
    let reason = health.json()["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("cannot be written"), "{reason}");
    app.mend_log();
    assert_eq!(app.chat("one").post(&body).await.status, 200);
    assert_eq!(app.get("/health").await.json()["status"], "ok");
}

/// A disk that was full and has room again.
#[tokio::test]
async fn health_finds_out_that_the_store_can_write_again_although_nobody_writes() {
    let app = app_with_chats(&["one"]).await;
    app.break_log();
    let body = json!({ "id": "one", "messages": [testkit::user("x", "more")] });
    app.chat("one").post(&body).await.assert_sentence(ErrorCode::StoreUnavailable);
    assert_eq!(app.get("/health").await.status, 503);
    app.mend_log();
    let began = Instant::now();
    while app.get("/health").await.status != 200 {
        assert!(began.elapsed() < Duration::from_secs(20), "it is failing for ever");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_search_counts_only_the_messages_of_its_own_workspace() {
    let app = app_with_chats(&["mine"]).await;
    // Another workspace writes more than a search ever looks at, all of it newer.
    app.tamper(
        "INSERT INTO sessions (key, workspace, id, created_at, updated_at, high_water, message_count)
         VALUES (1000, 'noisy', 'loud', 1, 9000000000000, 1, 60000)",
    );
    app.tamper(
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 60000)
         INSERT INTO messages (session, id, revision, created_at, body, place)
         SELECT 1000, 'm' || x, 0, 1, '{\"parts\":[{\"type\":\"text\",\"text\":\"A fine noise.\"}]}', x FROM n",
    );
    let found = app.get("/api/sessions?q=fine%20answer").await.json();
    assert_eq!(found["sessions"][0]["id"], "mine", "{found}");
    let loud = app.store.search_sessions(&WorkspaceId::new("noisy"), "noise", 10).await.unwrap();
    assert_eq!(loud.len(), 1);
}
