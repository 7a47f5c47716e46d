//! The model of the request, of the session, the default, and the list to choose from.

use super::*;

#[tokio::test]
async fn a_request_names_its_model_and_the_chat_goes_on_with_it() {
    let server = ModelServer::start().await;
    let app = app(&server, "custom/usual", &[]).await;
    assert_eq!(app.send("hello").await.text().await, "this is usual");
    let named = json!({ "chatModelId": "custom/other" });
    let mut turn = app.main.send_with("and now", named).await;
    assert_eq!(turn.text().await, "this is other");
    assert_eq!(turn.shown().metadata.unwrap()["model"], "custom/other");
    assert_eq!(app.send("still").await.text().await, "this is other", "the session keeps its choice");
    let info = app.main.info().await;
    assert_eq!(info["chatModelId"], "custom/other");
    let by_source = json!({ "chatModelId": "third", "chatModelSource": "custom" });
    assert_eq!(app.main.send_with("by source", by_source).await.text().await, "this is third");
    let automatic = json!({ "chatModelId": "auto" });
    assert_eq!(app.main.send_with("back", automatic).await.text().await, "this is usual");
    assert_eq!(app.send("and stays").await.text().await, "this is usual");
    assert_eq!(app.chat("another").send("hello").await.text().await, "this is usual");
}

#[tokio::test]
async fn a_model_nobody_has_is_refused_before_anything_is_stored() {
    let server = ModelServer::start().await;
    let app = app(&server, "custom/usual", &[]).await;
    let ask = |fields| {
        app.main.add_user("hello");
        app.main.body(json!({ "trigger": "submit-message" }), fields)
    };
    let nobody = json!({ "chatModelId": "any", "chatModelSource": "nobody" });
    app.caller.post_json("/api/chat", &ask(nobody)).await.assert_sentence(ErrorCode::UnknownModel);
    let no_key = json!({ "chatModelId": "anthropic/claude-sonnet-4-5" });
    let answer = app.caller.post_json("/api/chat", &ask(no_key)).await;
    answer.assert_sentence(ErrorCode::ModelNotReady);
    assert!(answer.body.contains("ANTHROPIC_API_KEY"), "{}", answer.body);
    assert!(app.caller.session_ids().await.is_empty());
    assert_eq!(server.calls(), 0);
}

#[tokio::test]
async fn a_run_whose_model_is_gone_after_a_restart_ends_with_the_reason() {
    let server = ModelServer::start().await;
    let app = app(&server, "custom/usual", &[]).await;
    let named = json!({ "chatModelId": "custom/stall" });
    let mut turn = app.main.send_with("wait", named).await;
    turn.until_text("One").await;
    // The next process knows the scripted model alone.
    let app = app.restart([]).await;
    let mut turn = app.chat("chat").resume().await.unwrap();
    let text = error(&mut turn).await;
    assert!(text.contains("custom/stall") && text.contains("concertino models"), "{text}");
}

#[tokio::test]
async fn the_list_tells_what_can_be_chosen() {
    let server = ModelServer::start().await;
    let app = app(&server, "custom/usual", &["custom/other"]).await;
    let list = app.get("/api/models").await.json();
    assert_eq!(
        list["default"],
        json!({ "id": "custom/usual", "reason": "you chose it", "fallback": ["custom/other"] })
    );
    let models = list["models"].as_array().unwrap();
    let find = |id: &str| models.iter().find(|model| model["id"] == id).unwrap();
    assert_eq!(find("custom/usual")["default"], true);
    let claude = find("anthropic/claude-sonnet-4-5");
    assert_eq!((&claude["available"], &claude["default"]), (&json!(false), &json!(false)));
    assert!(claude["reason"].as_str().unwrap().contains("ANTHROPIC_API_KEY"));
    assert_eq!(claude["familyId"], "Claude");
    assert_eq!(
        claude["price"],
        json!({ "input": 3.0, "output": 15.0, "cachedInput": 0.3, "cacheWrite": 3.75 })
    );
    let some = app.get("/api/models?tag=reasoning,code&provider=deepseek").await.json();
    let ids: Vec<_> =
        some["models"].as_array().unwrap().iter().map(|model| model["model"].as_str().unwrap()).collect();
    assert_eq!(ids, ["deepseek-reasoner"]);
    let ready = app.get("/api/models?available=true").await.json();
    assert!(ready["models"].as_array().unwrap().iter().all(|model| model["available"] == true));
    app.get("/api/models?available=maybe").await.assert_problem(ErrorCode::InvalidMessage);
}
