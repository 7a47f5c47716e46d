//! A wrong key, a wrong base URL, an unknown model and an unreachable server: each error says what to do.

use testkit::model_server::catalog;
use tokio::net::TcpListener;

use super::*;

#[tokio::test]
async fn a_wrong_key_names_the_variable_and_never_shows_the_key() {
    let server = ModelServer::start().await;
    let app = app(&server, "custom/key", &[]).await;
    let text = error(&mut app.send("hello").await).await;
    assert_eq!(
        text,
        "The test's server refused the key. Put a valid key in CONCERTINO_CUSTOM_API_KEY and start again; \
         `concertino doctor` tests it."
    );
}

#[tokio::test]
async fn an_unknown_model_says_where_the_names_are() {
    let server = ModelServer::start().await;
    let app = app(&server, "custom/nowhere", &[]).await;
    let text = error(&mut app.send("hello").await).await;
    assert!(text.contains("does not know the model \"nowhere\""), "{text}");
    assert!(text.contains("`concertino models --provider custom`"), "{text}");
}

#[tokio::test]
async fn a_wrong_base_url_names_the_setting() {
    let server = ModelServer::start().await;
    let without_v1 = server.base_url().trim_end_matches("/v1").to_owned();
    let app = TestApp::builder().catalog(catalog(&without_v1, "custom/any", &[])).start().await;
    let text = error(&mut app.send("hello").await).await;
    assert!(text.contains("answers, but not as a model server"), "{text}");
    assert!(text.contains("the base URL in CONCERTINO_CUSTOM_BASE_URL"), "{text}");
    assert!(!text.contains("127.0.0.1"), "{text}");
}

#[tokio::test]
async fn an_unreachable_server_says_what_to_check() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let app = TestApp::builder().catalog(catalog(&nobody, "custom/any", &[])).start().await;
    let mut turn = app.send("hello").await;
    let text = error(&mut turn).await;
    assert!(text.contains("cannot be reached") && text.contains("CONCERTINO_CUSTOM_BASE_URL"), "{text}");
    let metadata = turn.shown().metadata.unwrap();
    assert_eq!(metadata["errorCode"], ErrorCode::ModelUnavailable.as_str());
}
