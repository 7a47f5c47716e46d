//! Every adapter against an independent implementation of its wire format: LiteLLM's proxy stands between us and the
//! scripted upstream, and speaks Chat Completions, Responses, Messages and Gemini with us. One scripted conversation
//! (text, reasoning, two tools at once, an image, an error) must fold to the same message through all four, but for
//! what LiteLLM itself loses: `docs/litellm.md` is the table, `Losses` the same in code.
//!
//! `cargo xtask test` installs the proxy and names it in `CONCERTINO_TEST_LITELLM`; without it the test says that it
//! was skipped.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a step that fails fails the test")]

#[path = "litellm/proxy.rs"]
mod proxy;

use std::sync::Arc;

use proxy::Proxy;
use serde_json::{Value, json};
use testkit::protocol::{Part, UiMessage};
use testkit::{
    TestApp,
    models::{Limits, Model, ModelSettings, RemoteModel, WireFormat},
    test_tools::TestTool,
    upstream::{Act, Script, Upstream},
};

const IMAGE: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// What LiteLLM does not pass on. A loss that is not there any more fails the test as well.
struct Losses {
    reasoning: bool,
    reasoning_tokens: bool,
    usage: bool,
    image: bool,
    /// The status of an error: everything becomes 500.
    status: bool,
}

const NOTHING: Losses =
    Losses { reasoning: false, reasoning_tokens: false, usage: false, image: false, status: false };

/// How each wire format is reached through the proxy.
fn routes() -> [(WireFormat, &'static str, Losses); 4] {
    [
        (WireFormat::OpenAi, "/v1", NOTHING),
        (WireFormat::OpenAiResponses, "/v1", NOTHING),
        (WireFormat::Anthropic, "/v1", Losses { reasoning_tokens: true, ..NOTHING }),
        (
            WireFormat::Google,
            "/v1beta",
            Losses { reasoning: true, usage: true, image: true, status: true, ..NOTHING },
        ),
    ]
}

fn conversation() -> Script {
    let call = |tool: &str, input| Act::Call { tool: tool.to_owned(), input };
    let text = |text: &str| Act::Text { text: text.to_owned() };
    let reason = |text: &str| Act::Reason { text: text.to_owned() };
    Script::new(vec![
        vec![
            reason("Two things have to be found out."),
            text("Let me look at both: ☀ and 🕐."),
            call("weather", json!({ "city": "Zürich", "days": 3 })),
            call("clock", json!({ "zone": "UTC" })),
        ],
        vec![reason("Both are known now."), text("It is sunny, and it is noon.")],
    ])
}

fn model(format: WireFormat, base_url: &str) -> RemoteModel {
    let limits = Limits { attempts: 1, ..Limits::default() };
    let settings = ModelSettings { limits, ..ModelSettings::new("test/scripted", base_url, "scripted") };
    RemoteModel::new(format, settings).unwrap()
}

async fn app(model: impl Model + 'static) -> TestApp {
    let weather = TestTool::new("weather", |_, _| async { Ok(json!({ "sky": "clear" })) });
    let clock = TestTool::new("clock", |_, _| async { Ok(json!("12:00")) });
    TestApp::builder().model(model).tool(Arc::new(weather)).tool(Arc::new(clock)).start().await
}

/// The message of a chat with an image in its question.
async fn message(model: RemoteModel, script: &Script) -> UiMessage {
    let app = app(model).await;
    let image = Part::File { media_type: "image/png".to_owned(), url: IMAGE.to_owned(), filename: None };
    app.chat("c").send_files(&script.text(), vec![image]).await.message().await
}

/// What must be equal whoever stands in between: the parts without ids, how it ended, and what it cost.
fn essence(message: &UiMessage) -> Value {
    let mut message = json!(message);
    let mut parts = message["parts"].take();
    for part in parts.as_array_mut().into_iter().flatten() {
        for name in ["id", "toolCallId", "providerMetadata", "callProviderMetadata"] {
            part.as_object_mut().map(|part| part.remove(name));
        }
    }
    let metadata = &message["metadata"];
    json!({ "parts": parts, "status": metadata["status"], "finishReason": metadata["finishReason"],
            "usage": metadata["usage"] })
}

fn without(losses: &Losses, mut essence: Value) -> Value {
    if losses.reasoning {
        essence["parts"].as_array_mut().unwrap().retain(|part| part["type"] != "reasoning");
    }
    if losses.reasoning_tokens {
        essence["usage"]["reasoningTokens"] = json!(0);
    }
    if losses.usage {
        essence["usage"] = Value::Null;
    }
    essence
}

#[tokio::test(flavor = "multi_thread")]
async fn one_conversation_folds_to_the_same_message_through_all_four_wire_formats() {
    let upstream = Upstream::start().await;
    let Some(proxy) = Proxy::start(&upstream.base_url()).await else { return };
    let script = conversation();
    let direct = essence(&message(model(WireFormat::OpenAi, &upstream.base_url()), &script).await);
    assert_eq!(direct["status"], "finished", "{direct}");
    assert_eq!(upstream.images(), 2, "both calls of the chat showed the image");
    for (format, path, losses) in routes() {
        let images = upstream.images();
        let through = essence(&message(model(format, &proxy.url(path)), &script).await);
        assert_eq!(through, without(&losses, direct.clone()), "{}", format.name());
        let shown = upstream.images() - images;
        assert_eq!(shown, if losses.image { 0 } else { 2 }, "images of {}", format.name());
    }
    let refused = Script::new(vec![vec![Act::Fail { status: 400, first: 100 }]]);
    for (format, path, losses) in routes() {
        let failed = message(model(format, &proxy.url(path)), &refused).await;
        let metadata = failed.metadata.unwrap();
        assert_eq!(metadata["status"], "failed", "{}", format.name());
        let error = metadata["error"].as_str().unwrap();
        let said = if losses.status { "failed (500)" } else { "refused the request (400)" };
        assert!(error.contains(said), "{}: {error}", format.name());
        assert!(error.contains("the script says so"), "{}: {error}", format.name());
    }
}
