//! When the model fails before its first token, the next model of the fallback chain answers, and the message says so.

use super::*;

#[tokio::test]
async fn the_next_model_answers_and_the_message_says_so() {
    let server = ModelServer::start().await;
    let app = app(&server, "custom/down", &["custom/key", "xai/grok-4", "custom/good"]).await;
    let mut turn = app.send("hello").await;
    assert_eq!(turn.text().await, "this is good");
    let metadata = turn.shown().metadata.unwrap();
    assert_eq!(metadata["model"], "custom/good");
    let fallbacks = metadata["fallbacks"].as_array().unwrap();
    let ways: Vec<_> = fallbacks.iter().map(|note| (&note["from"], &note["to"])).collect();
    let [down, key, good] = [json!("custom/down"), json!("custom/key"), json!("custom/good")];
    assert_eq!(ways, [(&down, &key), (&key, &good)]);
    assert!(fallbacks[0]["reason"].as_str().unwrap().contains("503"), "{fallbacks:?}");
    assert!(fallbacks[1]["reason"].as_str().unwrap().contains("CONCERTINO_CUSTOM_API_KEY"), "{fallbacks:?}");
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn who_names_a_model_gets_that_one_or_an_error() {
    let server = ModelServer::start().await;
    let app = app(&server, "custom/good", &["custom/other"]).await;
    let named = json!({ "chatModelId": "custom/down" });
    let text = error(&mut app.main.send_with("hello", named).await).await;
    assert!(text.contains("503"), "{text}");
    assert_eq!(server.calls(), 1);
}
