//! One conversation with everything in it, for the tests of all writers.

use std::sync::Arc;

use protocol::{ProviderMetadata, ToolCall, ToolCallId, ToolSpec};
use serde_json::{Map, Value, json};

use super::{
    request_writer::RequestWriter,
    settings::{ModelSettings, WireFormat},
};
use crate::model::{AnswerSchema, AssistantContent, ModelMessage, ModelRequest, UserContent};

/// What each provider attached to the reasoning and to the first call; every writer must take only its own.
pub struct Attached {
    pub reasoning: ProviderMetadata,
    pub sealed: ProviderMetadata,
    pub call: ProviderMetadata,
}

fn file(media_type: &str, url: &str, filename: Option<&str>) -> UserContent {
    let filename = filename.map(str::to_owned);
    UserContent::File { media_type: media_type.to_owned(), url: url.to_owned(), filename }
}

/// Text and files, reasoning (signed, sealed and plain), two calls at once of which one fails, an answer, a question.
pub fn conversation(attached: Attached) -> ModelRequest {
    let call = |id: &str, city: &str, provider| AssistantContent::ToolCall {
        call: ToolCall {
            id: ToolCallId::new(id),
            name: "weather".to_owned(),
            input: json!({ "city": city }),
        },
        provider,
    };
    let reasoning = |text: &str, provider| AssistantContent::Reasoning { text: text.to_owned(), provider };
    let result = |id: &str, text: &str, is_error| ModelMessage::Tool {
        call: ToolCallId::new(id),
        tool: "weather".to_owned(),
        text: text.to_owned(),
        is_error,
    };
    let messages = vec![
        ModelMessage::User {
            content: vec![
                UserContent::Text("Look.".to_owned()),
                UserContent::Attached("<file>\n1,2\n</file>".to_owned()),
                file("image/png", "data:image/png;base64,AA==", None),
                file("image/png", "https://example.com/a.png", None),
                file("application/pdf", "data:application/pdf;base64,BB==", Some("plan.pdf")),
                file("text/csv", "data:text/csv;base64,CC==", Some("a.csv")),
            ],
        },
        ModelMessage::Assistant {
            content: vec![
                reasoning("Two cities.", Some(attached.reasoning)),
                reasoning("", Some(attached.sealed)),
                reasoning("of another model", None),
                AssistantContent::Text("One moment.".to_owned()),
                call("call_1", "Paris", Some(attached.call)),
                call("call:2", "London", None),
            ],
        },
        result("call_1", "sunny", false),
        result("call:2", "no such city", true),
        ModelMessage::Assistant { content: vec![AssistantContent::Text("Sunny.".to_owned())] },
        ModelMessage::User { content: vec![UserContent::Text("Thanks.".to_owned())] },
    ];
    ModelRequest {
        system: "Be brief.".into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: [ToolSpec {
            name: "weather".to_owned(),
            description: "The weather.".to_owned(),
            input_schema: json!({ "type": "object" }),
        }]
        .into(),
        answer: Some(Arc::new(AnswerSchema { name: "plan".to_owned(), schema: json!({ "type": "array" }) })),
        cache_key: Some("session-1".to_owned()),
        ..ModelRequest::default()
    }
}

/// The body for a model of this name, merged with `extra`.
pub fn written(format: WireFormat, model: &str, extra: Value, request: &ModelRequest) -> Value {
    let extra = extra.as_object().cloned().unwrap_or_else(Map::new);
    let settings = ModelSettings { body: extra, ..ModelSettings::new("test/m", "http://localhost", model) };
    serde_json::from_slice(&RequestWriter::new(settings).body(format, request).unwrap()).unwrap()
}
