//! The model server refuses, fails, closes the connection or sends nonsense.

use super::*;

/// Each way in which a model's server fails.
fn upstream_failures() -> Vec<(&'static str, ModelError)> {
    let message = || "the words of the server".to_owned();
    vec![
        ("4xx", ModelError::Refused { status: 400, message: message() }),
        ("401", ModelError::Unauthorized),
        ("429", ModelError::RateLimited { retry_after: None }),
        ("5xx", ModelError::Failed { status: 500, message: message() }),
        ("gone", ModelError::Unreachable),
        ("no connection", ModelError::TimedOut(TimeLimit::Connect)),
        ("no first byte", ModelError::TimedOut(TimeLimit::FirstByte)),
        ("silence", ModelError::TimedOut(TimeLimit::Idle)),
        ("cut", ModelError::Cut),
        ("garbage", ModelError::Garbage("not an answer".to_owned())),
    ]
}

/// One `error`, last, and the stored message is what the client has.
async fn ends_with_an_error(app: &TestApp, turn: &mut Turn) {
    let end = turn.end().await;
    let Chunk::Error { error_text } = &end else { panic!("{end:?}") };
    assert!(
        error_text.starts_with("The model's server ") && error_text.ends_with(['.', '?']),
        "{error_text}"
    );
    let metadata = turn.shown().metadata.unwrap();
    assert_eq!(metadata["status"], "failed");
    assert_eq!(metadata["error"], json!(error_text));
    let info = app.main.info().await;
    assert_eq!((&info["status"], &info["lastRun"]), (&json!("idle"), &json!("failed")));
    app.main.assert_history_is_what_the_tab_shows().await;
    assert!(app.main.resume().await.is_none(), "nothing hangs");
    assert_eq!(app.send("again").await.text().await, "Fine.");
}

#[tokio::test]
async fn a_model_that_fails_before_its_first_word_is_an_error_chunk_and_the_chat_goes_on() {
    for (name, error) in upstream_failures() {
        let app = TestApp::scripted([fails(error), says("Fine.")]).await;
        let mut turn = app.send("hello").await;
        ends_with_an_error(&app, &mut turn).await;
        assert_eq!(turn.shown().parts, [], "{name}: nothing was said");
    }
}

#[tokio::test]
async fn a_model_that_fails_in_the_middle_keeps_what_was_said_and_the_chat_goes_on() {
    for (name, error) in upstream_failures() {
        let app = TestApp::scripted([says("Half an ans").then(fails(error)), says("Fine.")]).await;
        let mut turn = app.send("hello").await;
        ends_with_an_error(&app, &mut turn).await;
        let said = Part::Text { text: "Half an ans".to_owned(), state: Some(TextState::Done) };
        assert_eq!(turn.shown().parts, [Part::StepStart, said], "{name}");
    }
}

#[tokio::test]
async fn a_failure_of_the_model_has_a_stable_code() {
    for reply in [Reply::default(), says("Half")] {
        let app = TestApp::scripted([reply.then(fails(ModelError::Unreachable))]).await;
        let mut turn = app.send("hello").await;
        turn.end().await;
        assert_eq!(turn.shown().metadata.unwrap()["errorCode"], ErrorCode::ModelUnavailable.as_str());
    }
}
