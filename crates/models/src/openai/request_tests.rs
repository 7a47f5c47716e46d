//! Whole bodies, compared as JSON.

use std::sync::Arc;

use protocol::{ToolCall, ToolCallId};
use serde_json::json;

use super::*;

fn written(system: &str, messages: Vec<ModelMessage>) -> Value {
    let messages = messages.into_iter().map(Arc::new).collect();
    let request = ModelRequest { system: system.to_owned(), messages, tools: [].into() };
    serde_json::from_slice(&body("some-model", &request).unwrap()).unwrap()
}

fn user(content: Vec<UserContent>) -> ModelMessage {
    ModelMessage::User { content }
}

fn text(text: &str) -> UserContent {
    UserContent::Text(text.to_owned())
}

fn file(media_type: &str, url: &str, filename: Option<&str>) -> UserContent {
    UserContent::File {
        media_type: media_type.to_owned(),
        url: url.to_owned(),
        filename: filename.map(str::to_owned),
    }
}

fn call(id: &str, name: &str, input: Value) -> AssistantContent {
    AssistantContent::ToolCall(ToolCall { id: ToolCallId::new(id), name: name.to_owned(), input })
}

#[test]
fn a_whole_conversation_is_written_in_order() {
    let request = ModelRequest {
        system: "Be brief.".to_owned(),
        messages: vec![
            user(vec![text("What time is it?")]),
            ModelMessage::Assistant {
                content: vec![
                    AssistantContent::Reasoning("I need the clock.".to_owned()),
                    AssistantContent::Text("One ".to_owned()),
                    AssistantContent::Text("moment.".to_owned()),
                    call("call_1", "time-now", json!({ "zone": "a \"b\"\n" })),
                    call("call_2", "time-now", Value::Null),
                ],
            },
            ModelMessage::Tool {
                call: ToolCallId::new("call_1"),
                tool: "time-now".to_owned(),
                text: "12:00".to_owned(),
                is_error: false,
            },
        ]
        .into_iter()
        .map(Arc::new)
        .collect(),
        tools: [ToolSpec {
            name: "time-now".to_owned(),
            description: "The time.".to_owned(),
            input_schema: json!({ "type": "object", "properties": {} }),
        }]
        .into(),
    };
    let written: Value = serde_json::from_slice(&body("some-model", &request).unwrap()).unwrap();
    assert_eq!(
        written,
        json!({
            "model": "some-model",
            "messages": [
                { "role": "system", "content": "Be brief." },
                { "role": "user", "content": "What time is it?" },
                { "role": "assistant", "content": "One moment.", "tool_calls": [
                    { "id": "call_1", "type": "function",
                      "function": { "name": "time-now", "arguments": "{\"zone\":\"a \\\"b\\\"\\n\"}" } },
                    { "id": "call_2", "type": "function",
                      "function": { "name": "time-now", "arguments": "{}" } },
                ] },
                { "role": "tool", "tool_call_id": "call_1", "content": "12:00" },
            ],
            "tools": [{ "type": "function", "function": {
                "name": "time-now", "description": "The time.",
                "parameters": { "type": "object", "properties": {} },
            } }],
            "stream": true,
            "stream_options": { "include_usage": true },
        })
    );
}

#[test]
fn without_system_text_and_tools_neither_is_written() {
    let written = written("", vec![user(vec![text("hi")])]);
    assert_eq!(written["messages"], json!([{ "role": "user", "content": "hi" }]));
    assert_eq!(written.get("tools"), None);
}

#[test]
fn several_texts_of_a_user_stay_a_plain_string() {
    let written = written("", vec![user(vec![text("a"), text("b")]), user(vec![])]);
    assert_eq!(
        written["messages"],
        json!([{ "role": "user", "content": "a\nb" }, { "role": "user", "content": "" }])
    );
}

#[test]
fn images_and_pdfs_become_parts_and_other_files_are_named() {
    let written = written(
        "",
        vec![user(vec![
            text("look"),
            file("image/png", "data:image/png;base64,AA==", None),
            file("application/pdf", "data:application/pdf;base64,AA==", Some("plan.pdf")),
            file("application/pdf", "data:application/pdf;base64,AA==", None),
            file("application/pdf", "https://example.com/a.pdf", Some("a.pdf")),
            file("text/csv", "data:text/csv;base64,AA==", Some("a.csv")),
        ])],
    );
    assert_eq!(
        written["messages"][0]["content"],
        json!([
            { "type": "text", "text": "look" },
            { "type": "image_url", "image_url": { "url": "data:image/png;base64,AA==" } },
            { "type": "file", "file":
                { "filename": "plan.pdf", "file_data": "data:application/pdf;base64,AA==" } },
            { "type": "file", "file":
                { "filename": "document.pdf", "file_data": "data:application/pdf;base64,AA==" } },
            { "type": "text", "text": "[attached file a.pdf (application/pdf) at https://example.com/a.pdf: \
                its content cannot be shown here]" },
            { "type": "text", "text": "[attached file a.csv (text/csv): its content cannot be shown here]" },
        ])
    );
}

#[test]
fn an_assistant_without_text_has_null_content_and_one_without_anything_is_dropped() {
    let written = written(
        "",
        vec![
            ModelMessage::Assistant { content: vec![call("call_1", "x", json!({}))] },
            ModelMessage::Assistant {
                content: vec![
                    AssistantContent::Reasoning("hm".to_owned()),
                    AssistantContent::Text(String::new()),
                ],
            },
        ],
    );
    assert_eq!(
        written["messages"],
        json!([{ "role": "assistant", "content": null, "tool_calls": [
            { "id": "call_1", "type": "function", "function": { "name": "x", "arguments": "{}" } },
        ] }])
    );
}
