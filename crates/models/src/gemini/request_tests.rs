//! Whole bodies, compared as JSON.

use serde_json::{Map, json};

use super::*;
use crate::remote::{
    sample::{Attached, conversation, written},
    settings::WireFormat,
};

fn kept(fields: Value) -> ProviderMetadata {
    ProviderMetadata::new(PROVIDER, fields.as_object().cloned().unwrap_or_else(Map::new))
}

fn attached() -> Attached {
    Attached {
        reasoning: kept(json!({ SIGNATURE: "sig" })),
        sealed: ProviderMetadata::one("anthropic", "redactedData", "not ours"),
        call: kept(json!({ SIGNATURE: "call-sig", CALL_ID: "fc-1" })),
    }
}

#[test]
fn a_whole_conversation_is_written_with_its_signatures_and_ids() {
    assert_eq!(
        written(WireFormat::Google, "gemini-2.5-flash", json!({}), &conversation(attached())),
        json!({
            "systemInstruction": { "parts": [{ "text": "Be brief." }] },
            "contents": [
                { "role": "user", "parts": [
                    { "text": "Look." },
                    { "text": "<file>\n1,2\n</file>" },
                    { "inlineData": { "mimeType": "image/png", "data": "AA==" } },
                    { "fileData": { "mimeType": "image/png", "fileUri": "https://example.com/a.png" } },
                    { "inlineData": { "mimeType": "application/pdf", "data": "BB==" } },
                    { "text": "[attached file a.csv (text/csv): its content cannot be shown here]" },
                ] },
                { "role": "model", "parts": [
                    { "text": "Two cities.", "thought": true, "thoughtSignature": "sig" },
                    { "text": "One moment." },
                    { "functionCall": { "id": "fc-1", "name": "weather", "args": { "city": "Paris" } },
                      "thoughtSignature": "call-sig" },
                    { "functionCall": { "name": "weather", "args": { "city": "London" } } },
                ] },
                { "role": "user", "parts": [
                    { "functionResponse":
                        { "id": "fc-1", "name": "weather", "response": { "output": "sunny" } } },
                    { "functionResponse": { "name": "weather", "response": { "error": "no such city" } } },
                ] },
                { "role": "model", "parts": [{ "text": "Sunny." }] },
                { "role": "user", "parts": [{ "text": "Thanks." }] },
            ],
            "tools": [{ "functionDeclarations": [
                { "name": "weather", "description": "The weather.",
                  "parametersJsonSchema": { "type": "object" } },
            ] }],
            "generationConfig":
                { "responseMimeType": "application/json", "responseJsonSchema": { "type": "array" } },
        })
    );
}

#[test]
fn the_signature_of_a_text_goes_back_to_the_text() {
    let provider = Some(kept(json!({ SIGNATURE: "sig", OF_TEXT: true })));
    let signed = AssistantContent::Reasoning { text: String::new(), provider };
    let alone = assistant_parts(std::slice::from_ref(&signed));
    assert_eq!(serde_json::to_value(&alone).unwrap(), json!([{ "text": "", "thoughtSignature": "sig" }]));
    let content = [AssistantContent::Text("Yes.".to_owned()), signed];
    assert_eq!(
        serde_json::to_value(assistant_parts(&content)).unwrap(),
        json!([{ "text": "Yes.", "thoughtSignature": "sig" }])
    );
}

#[test]
fn calls_of_other_models_are_excused_where_signatures_are_demanded() {
    let mut attached = attached();
    attached.call = ProviderMetadata::one("anthropic", "x", "not ours");
    let extra = json!({ "generationConfig": { "thinkingConfig": { "includeThoughts": true } } });
    let body = written(WireFormat::Google, "models/gemini-3-pro-preview", extra, &conversation(attached));
    assert_eq!(body["contents"][1]["parts"][2]["thoughtSignature"], UNSIGNED);
    assert_eq!(body["contents"][1]["parts"][3].get("thoughtSignature"), None);
    assert_eq!(body["generationConfig"]["thinkingConfig"]["includeThoughts"], true);
    assert_eq!(body["generationConfig"]["responseMimeType"], "application/json");
    assert!(
        !needs_signatures("gemini-2.5-pro")
            && !needs_signatures("gemini-pro")
            && needs_signatures("gemini-3.1-x")
    );
}
