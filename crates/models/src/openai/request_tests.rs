//! Whole bodies, compared as JSON.

use std::sync::Arc;

use protocol::{ProviderMetadata, ToolCall, ToolCallId};
use serde_json::json;

use super::*;
use crate::remote::{
    sample::{Attached, conversation},
    settings::ModelSettings,
};

fn written(system: &str, messages: Vec<ModelMessage>) -> Value {
    let messages = messages.into_iter().map(Arc::new).collect();
    write(&writer(), &ModelRequest { system: system.into(), messages, ..ModelRequest::default() })
}

fn writer() -> RequestWriter {
    RequestWriter::new(ModelSettings::new("test/some-model", "http://localhost", "some-model"))
}

fn write(writer: &RequestWriter, request: &ModelRequest) -> Value {
    serde_json::from_slice(&body(writer, request).unwrap()).unwrap()
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

fn thought(text: &str) -> AssistantContent {
    AssistantContent::Reasoning { text: text.to_owned(), provider: None }
}

fn call(id: &str, name: &str, input: Value) -> AssistantContent {
    let call = ToolCall { id: ToolCallId::new(id), name: name.to_owned(), input };
    AssistantContent::ToolCall { call, provider: None }
}

#[test]
fn a_whole_conversation_is_written_in_order() {
    let request = ModelRequest {
        system: "Be brief.".into(),
        messages: vec![
            user(vec![text("What time is it?")]),
            ModelMessage::Assistant {
                content: vec![
                    thought("I need the clock."),
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
        ..ModelRequest::default()
    };
    let written = write(&writer(), &request);
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
            UserContent::Attached("<file>".to_owned()),
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
            { "type": "text", "text": "<file>" },
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
            ModelMessage::Assistant { content: vec![thought("hm"), AssistantContent::Text(String::new())] },
        ],
    );
    assert_eq!(
        written["messages"],
        json!([{ "role": "assistant", "content": null, "tool_calls": [
            { "id": "call_1", "type": "function", "function": { "name": "x", "arguments": "{}" } },
        ] }])
    );
}

#[test]
fn what_the_settings_ask_for_is_written() {
    let mut settings = ModelSettings::new("test/m", "http://localhost", "m");
    settings.max_output_tokens = Some(100);
    settings.prompt_cache = PromptCache::Key;
    let request = ModelRequest {
        messages: vec![user(vec![text("hi")]).into()],
        answer: Some(Arc::new(AnswerSchema { name: "plan".to_owned(), schema: json!({ "type": "object" }) })),
        cache_key: Some("session-1".to_owned()),
        ..ModelRequest::default()
    };
    let written = write(&RequestWriter::new(settings), &request);
    assert_eq!(written["max_tokens"], 100);
    assert_eq!(written["prompt_cache_key"], "session-1");
    assert_eq!(
        written["response_format"],
        json!({ "type": "json_schema",
                "json_schema": { "name": "plan", "schema": { "type": "object" }, "strict": true } })
    );
}

#[test]
fn cache_marks_stand_after_the_system_text_and_the_last_question() {
    let mut settings = ModelSettings::new("test/m", "http://localhost", "m");
    settings.prompt_cache = PromptCache::Marks;
    let messages = vec![user(vec![text("a")]).into(), user(vec![text("b"), text("c")]).into()];
    let request = ModelRequest { system: "s".into(), messages, ..ModelRequest::default() };
    let mark = json!({ "type": "ephemeral" });
    assert_eq!(
        write(&RequestWriter::new(settings), &request)["messages"],
        json!([
            { "role": "system", "content": [{ "type": "text", "text": "s", "cache_control": mark }] },
            { "role": "user", "content": "a" },
            { "role": "user", "content": [{ "type": "text", "text": "b\nc", "cache_control": mark }] },
        ])
    );
}

#[test]
fn reasoning_goes_back_the_way_the_server_wants_it() {
    let details = json!([{ "type": "reasoning.text", "text": "hm", "signature": "s" }]);
    let provider =
        ProviderMetadata::one(reasoning_details::PROVIDER, reasoning_details::FIELD, details.clone());
    let reasoning = AssistantContent::Reasoning { text: "hm".to_owned(), provider: Some(provider) };
    let mut call = call("call_1", "x", json!({}));
    let extra = json!({ "google": { "thought_signature": "t" } });
    if let AssistantContent::ToolCall { provider, .. } = &mut call {
        *provider = Some(ProviderMetadata::one(EXTRA_PROVIDER, EXTRA_FIELD, extra.clone()));
    }
    let messages = vec![ModelMessage::Assistant { content: vec![reasoning, call] }.into()];
    let request = ModelRequest { messages, ..ModelRequest::default() };
    let sent = |replay| {
        let mut settings = ModelSettings::new("test/m", "http://localhost", "m");
        settings.reasoning_replay = replay;
        write(&RequestWriter::new(settings), &request)["messages"][0].clone()
    };
    let plain = sent(ReasoningReplay::Never);
    assert_eq!((plain.get("reasoning_content"), plain.get("reasoning_details")), (None, None));
    assert_eq!(plain["tool_calls"][0]["extra_content"], extra);
    assert_eq!(sent(ReasoningReplay::Content)["reasoning_content"], "hm");
    assert_eq!(sent(ReasoningReplay::Details)["reasoning_details"], details);
}

fn sample() -> ModelRequest {
    let kept = || ProviderMetadata::one("other", "signature", json!("s"));
    conversation(Attached { reasoning: kept(), sealed: kept(), call: kept() })
}

#[test]
fn messages_that_were_prepared_change_no_byte() {
    let request = sample();
    let plain = body(&writer(), &request).unwrap();
    for count in 0..=request.messages.len() {
        let writer = writer();
        writer.prepare(&request.messages[..count]);
        assert_eq!(writer.prepared.count(&request.messages), count);
        assert_eq!(body(&writer, &request).unwrap(), plain, "{count} prepared");
        assert_eq!(body(&writer, &request).unwrap(), plain, "{count} prepared and used");
    }
}

#[test]
fn messages_that_were_prepared_for_another_request_are_not_used() {
    let request = sample();
    let plain = body(&writer(), &request).unwrap();
    let others: Vec<_> = request.messages.iter().rev().cloned().collect();
    let writer = writer();
    writer.prepare(&others);
    assert_eq!(body(&writer, &request).unwrap(), plain);
}

#[test]
fn plain_text_is_written_to_the_byte_as_everything_else_is() {
    let said = |text: &str| AssistantContent::Text(text.to_owned());
    let messages = [
        user(vec![text("a \"b\"\n")]),
        user(vec![text("")]),
        ModelMessage::Assistant { content: vec![said("é\\")] },
        ModelMessage::Assistant { content: vec![said("")] },
    ];
    for sent in messages {
        let mut out = Vec::new();
        let replay = ReasoningReplay::Never;
        let is_sent = write_message(&mut out, &sent, replay).unwrap();
        let whole = message(&sent, replay).map(|message| serde_json::to_vec(&message).unwrap());
        assert_eq!(is_sent.then_some(out), whole);
    }
}
