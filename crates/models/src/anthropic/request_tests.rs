//! Whole bodies, compared as JSON.

use serde_json::json;

use super::*;
use crate::remote::{
    sample::{Attached, conversation, written},
    settings::WireFormat,
};

fn attached() -> Attached {
    Attached {
        reasoning: ProviderMetadata::one(PROVIDER, SIGNATURE, "sig"),
        sealed: ProviderMetadata::one(PROVIDER, REDACTED, "secret"),
        call: ProviderMetadata::one("google", "thoughtSignature", "not ours"),
    }
}

#[test]
fn a_whole_conversation_is_written_in_turns_with_its_signatures() {
    let mark = json!({ "type": "ephemeral" });
    assert_eq!(
        written(WireFormat::Anthropic, "claude-x", json!({}), &conversation(attached())),
        json!({
            "model": "claude-x",
            "max_tokens": 8192,
            "system": [{ "type": "text", "text": "Be brief.", "cache_control": mark }],
            "messages": [
                { "role": "user", "content": [
                    { "type": "text", "text": "Look." },
                    { "type": "text", "text": "<file>\n1,2\n</file>" },
                    { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AA==" } },
                    { "type": "image", "source": { "type": "url", "url": "https://example.com/a.png" } },
                    { "type": "document", "title": "plan.pdf", "source":
                        { "type": "base64", "media_type": "application/pdf", "data": "BB==" } },
                    { "type": "text",
                      "text": "[attached file a.csv (text/csv): its content cannot be shown here]" },
                ] },
                { "role": "assistant", "content": [
                    { "type": "thinking", "thinking": "Two cities.", "signature": "sig" },
                    { "type": "redacted_thinking", "data": "secret" },
                    { "type": "text", "text": "One moment." },
                    { "type": "tool_use", "id": "call_1", "name": "weather", "input": { "city": "Paris" } },
                    { "type": "tool_use", "id": "id_call_2", "name": "weather", "input": { "city": "London" } },
                ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "call_1", "content": "sunny" },
                    { "type": "tool_result", "tool_use_id": "id_call_2", "content": "no such city",
                      "is_error": true, "cache_control": mark },
                ] },
                { "role": "assistant", "content": [{ "type": "text", "text": "Sunny." }] },
                { "role": "user", "content": [{ "type": "text", "text": "Thanks.", "cache_control": mark }] },
            ],
            "tools": [{ "name": "weather", "description": "The weather.", "input_schema": { "type": "object" } }],
            "output_config": { "format": { "type": "json_schema", "schema": { "type": "array" } } },
            "stream": true,
        })
    );
}

#[test]
fn the_settings_turn_thinking_on() {
    let thinking = json!({ "thinking": { "type": "enabled", "budget_tokens": 1024 }, "max_tokens": 2048 });
    let body = written(WireFormat::Anthropic, "claude-x", thinking.clone(), &conversation(attached()));
    assert_eq!((&body["thinking"], &body["max_tokens"]), (&thinking["thinking"], &json!(2048)));
}

#[test]
fn an_empty_question_is_still_a_question() {
    let content = vec![UserContent::Text(" ".to_owned())];
    let request =
        ModelRequest { messages: vec![ModelMessage::User { content }.into()], ..ModelRequest::default() };
    let body = written(WireFormat::Anthropic, "claude-x", json!({}), &request);
    assert_eq!(body["messages"][0]["content"][0]["text"], "(nothing)");
}
