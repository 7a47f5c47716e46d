//! Retries, edits, other branches, and the history in pages.

use super::*;

#[tokio::test]
async fn a_retry_answers_the_same_message_anew_and_keeps_the_old_answer_as_a_branch() {
    let app = TestApp::scripted([says("One."), says("Two."), says("Next.")]).await;
    app.send("say").await.end().await;
    let mut again = app.main.regenerate().await;
    assert_eq!(again.message().await.id.as_str(), "msg_2");
    assert_eq!(last_sent(&app), ["user: say"], "the old answer is not shown to the model");
    app.main.assert_history_is_what_the_tab_shows().await;
    assert_eq!(app.main.branch("msg_1").await.json(), json!({ "activeLeaf": "msg_1" }));
    assert_eq!(shown(&app.main.history().await), ["u1 say", "msg_1 One."]);
    app.main.reload().await;
    app.send("and?").await.end().await;
    assert_eq!(last_sent(&app), ["user: say", "assistant: One.", "user: and?"]);
    assert_eq!(app.main.branch("msg_2").await.status, 200);
    assert_eq!(shown(&app.main.history().await), ["u1 say", "msg_2 Two."]);
    assert_eq!(app.main.branch("msg_1").await.json(), json!({ "activeLeaf": "msg_3" }), "to the newest leaf");
}

#[tokio::test]
async fn a_retry_of_an_older_answer_drops_what_followed_it() {
    let app = TestApp::scripted([says("One."), says("Two."), says("Other.")]).await;
    app.send("first").await.end().await;
    app.send("second").await.end().await;
    let kept = app.main.messages()[..1].to_vec();
    app.main.set_messages(|messages| *messages = kept);
    let body = app.main.body(json!({ "trigger": "regenerate-message", "messageId": "msg_1" }), json!({}));
    assert_eq!(app.main.post(&body).await.status, 200);
    assert_eq!(shown(&app.main.history().await), ["u1 first", "msg_3 Other."]);
}

#[tokio::test]
async fn an_edit_takes_the_id_and_keeps_the_old_version_with_its_answer() {
    let app = TestApp::scripted([says("One."), says("More."), says("Two.")]).await;
    app.send("first").await.end().await;
    app.send("then").await.end().await;
    let mut edited = app.main.edit("u1", "first, better").await;
    edited.end().await;
    assert_eq!(last_sent(&app), ["user: first, better"]);
    assert_eq!(shown(&app.main.history().await), ["u1 first, better", "msg_3 Two."]);
    app.main.assert_history_is_what_the_tab_shows().await;
    assert_eq!(app.main.branch("msg_1").await.json(), json!({ "activeLeaf": "msg_2" }));
    let old = ["u1 first", "msg_1 One.", "u2 then", "msg_2 More."];
    assert_eq!(shown(&app.main.history().await), old);
}

#[tokio::test]
async fn a_message_may_name_its_parent() {
    let app = TestApp::scripted([says("One."), says("Two."), says("Three.")]).await;
    app.send("first").await.end().await;
    app.send("second").await.end().await;
    let tab = app.chat("chat");
    tab.set_messages(|messages| messages.push(testkit::user("branch", "instead")));
    let body = tab.body(json!({}), json!({ "parentMessageId": "msg_1" }));
    assert_eq!(tab.post(&body).await.status, 200);
    let history = ["u1 first", "msg_1 One.", "branch instead", "msg_3 Three."];
    assert_eq!(shown(&app.main.history().await), history);
}

#[tokio::test]
async fn the_history_is_given_in_pages() {
    let app = TestApp::builder().script(Scripted::choosing(|_| says("Yes."))).start().await;
    for number in 0..5 {
        app.send(&format!("{number}")).await.end().await;
    }
    let page = |query: &str| {
        let path = format!("/api/chat/chat/messages{query}");
        let caller = app.caller.clone();
        async move {
            let list = caller.get(&path).await.json();
            list.as_array()
                .unwrap()
                .iter()
                .map(|message| message["id"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        }
    };
    assert_eq!(page("").await.len(), 10);
    assert_eq!(page("?limit=3").await, ["msg_4", "u5", "msg_5"]);
    assert_eq!(page("?limit=3&before=msg_4").await, ["u3", "msg_3", "u4"]);
    assert_eq!(page("?before=u1").await, Vec::<String>::new());
    assert_eq!(page("?limit=0").await, Vec::<String>::new());
    let link = app.get("/api/chat/chat/messages?limit=4").await.header("link").to_owned();
    assert_eq!(link, "</api/chat/chat/messages?before=u4&limit=4>; rel=\"next\"");
    let last = app.get("/api/chat/chat/messages?limit=4&before=u3").await;
    assert_eq!(last.header("link"), "", "the first message is on this page");
}

#[tokio::test]
async fn a_retry_of_a_message_that_was_refused_sends_it() {
    // The usual button after an error calls `regenerate()`, whether or not the server has the message.
    let gate = Gate::new();
    let app = TestApp::scripted([waits(&gate).then(says("One.")), says("Two."), says("Three.")]).await;
    let mut first = app.send("first").await;
    first.until(|chunk| matches!(chunk, Chunk::Start { .. })).await;
    gate.reached().await;
    app.main.add_user("second");
    let body = app.main.body(json!({ "trigger": "submit-message" }), json!({}));
    app.main.post(&body).await.assert_sentence(ErrorCode::SessionBusy);
    gate.open();
    first.end().await;

    let retry = app.main.body(json!({ "trigger": "regenerate-message" }), json!({}));
    let answer = app.main.post(&retry).await;
    assert_eq!(answer.status, 200, "in a chat the server knows: {answer:?}");
    assert_eq!(shown(&app.main.history().await), ["u1 first", "msg_1 One.", "u2 second", "msg_2 Two."]);
    let new =
        json!({ "id": "new", "messages": [testkit::user("u", "hello")], "trigger": "regenerate-message" });
    let answer = app.main.post(&new).await;
    assert_eq!(answer.status, 200, "in a chat it does not: {answer:?}");
}
