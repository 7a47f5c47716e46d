//! Whole bodies, compared as JSON.

use serde_json::{Map, json};

use super::*;
use crate::remote::{
    sample::{Attached, conversation, written},
    settings::WireFormat,
};

fn attached() -> Attached {
    let sealed = json!({ ITEM_ID: "rs_1", ENCRYPTED: "sealed" });
    Attached {
        reasoning: ProviderMetadata::new(PROVIDER, sealed.as_object().cloned().unwrap_or_else(Map::new)),
        sealed: ProviderMetadata::one(PROVIDER, ENCRYPTED, "without text"),
        call: ProviderMetadata::one("google", "thoughtSignature", "not ours"),
    }
}

#[test]
fn a_whole_conversation_is_a_flat_list_with_sealed_reasoning() {
    assert_eq!(
        written(WireFormat::OpenAiResponses, "gpt-5-mini", json!({}), &conversation(attached())),
        json!({
            "model": "gpt-5-mini",
            "instructions": "Be brief.",
            "input": [
                { "type": "message", "role": "user", "content": [
                    { "type": "input_text", "text": "Look." },
                    { "type": "input_text", "text": "<file>\n1,2\n</file>" },
                    { "type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto" },
                    { "type": "input_image", "image_url": "https://example.com/a.png", "detail": "auto" },
                    { "type": "input_file", "filename": "plan.pdf",
                      "file_data": "data:application/pdf;base64,BB==" },
                    { "type": "input_text",
                      "text": "[attached file a.csv (text/csv): its content cannot be shown here]" },
                ] },
                { "type": "reasoning", "id": "rs_1", "encrypted_content": "sealed",
                  "summary": [{ "type": "summary_text", "text": "Two cities." }] },
                { "type": "reasoning", "encrypted_content": "without text", "summary": [] },
                { "type": "message", "role": "assistant",
                  "content": [{ "type": "output_text", "text": "One moment." }] },
                { "type": "function_call", "call_id": "call_1", "name": "weather",
                  "arguments": "{\"city\":\"Paris\"}" },
                { "type": "function_call", "call_id": "call:2", "name": "weather",
                  "arguments": "{\"city\":\"London\"}" },
                { "type": "function_call_output", "call_id": "call_1", "output": "sunny" },
                { "type": "function_call_output", "call_id": "call:2", "output": "no such city" },
                { "type": "message", "role": "assistant",
                  "content": [{ "type": "output_text", "text": "Sunny." }] },
                { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Thanks." }] },
            ],
            "tools": [{ "type": "function", "name": "weather", "description": "The weather.",
                        "parameters": { "type": "object" }, "strict": false }],
            "text": { "format":
                { "type": "json_schema", "name": "plan", "schema": { "type": "array" }, "strict": true } },
            "prompt_cache_key": "session-1",
            "include": ["reasoning.encrypted_content"],
            "store": false,
            "stream": true,
        })
    );
}

#[test]
fn only_models_that_reason_are_asked_to_seal_it() {
    let asks = |model: &str, extra| {
        let body = written(WireFormat::OpenAiResponses, model, extra, &conversation(attached()));
        body.get("include").is_some()
    };
    assert!(asks("o4-mini", json!({})) && asks("openai/gpt-5.1", json!({})));
    assert!(!asks("gpt-4.1-mini", json!({})) && !asks("olmo", json!({})));
    assert!(asks("some-model", json!({ "reasoning": { "effort": "low" } })));
}
