//! Parameters in each wire format, and which of them a model accepts.

use super::*;
use crate::{
    registry::Registry,
    remote::{request_writer::RequestWriter, settings::ModelSettings},
};

fn params(value: Value) -> Params {
    value.as_object().cloned().unwrap()
}

fn body(format: WireFormat, params: Params) -> Value {
    let settings = ModelSettings::new("test/m", "http://127.0.0.1:1", "m");
    let request = ModelRequest { params: Arc::new(params), ..ModelRequest::default() };
    serde_json::from_slice(&RequestWriter::new(settings).body(format, &request).unwrap()).unwrap()
}

fn all() -> Params {
    params(json!({
        "temperature": 0.2, "topP": 0.9, "topK": 40, "maxOutputTokens": 500, "frequencyPenalty": 0.1,
        "presencePenalty": -0.1, "seed": 7, "stopSequences": ["END"], "reasoningEffort": "low", "thinkingBudget": 2048,
    }))
}

#[test]
fn every_wire_format_gets_what_it_has_a_word_for() {
    let openai = body(WireFormat::OpenAi, all());
    assert_eq!(
        (&openai["temperature"], &openai["top_p"], &openai["max_tokens"]),
        (&json!(0.2), &json!(0.9), &json!(500))
    );
    assert_eq!(
        (&openai["stop"], &openai["seed"], &openai["reasoning_effort"]),
        (&json!(["END"]), &json!(7), &json!("low"))
    );
    assert_eq!((openai.get("top_k"), openai.get("thinking"), openai.get("topK")), (None, None, None));

    let responses = body(WireFormat::OpenAiResponses, all());
    assert_eq!(
        (&responses["max_output_tokens"], &responses["reasoning"]),
        (&json!(500), &json!({ "effort": "low" }))
    );
    assert_eq!(responses["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!((responses.get("stop"), responses.get("seed")), (None, None));

    let anthropic = body(WireFormat::Anthropic, all());
    assert_eq!(anthropic["thinking"], json!({ "type": "enabled", "budget_tokens": 2048 }));
    assert_eq!(anthropic["max_tokens"], 2048 + 8192, "room for the thoughts and for the answer");
    assert_eq!((&anthropic["top_k"], &anthropic["stop_sequences"]), (&json!(40), &json!(["END"])));

    let google = body(WireFormat::Google, all());
    assert_eq!(
        google["generationConfig"],
        json!({ "temperature": 0.2, "topP": 0.9, "topK": 40, "maxOutputTokens": 500, "frequencyPenalty": 0.1,
                "presencePenalty": -0.1, "seed": 7, "stopSequences": ["END"],
                "thinkingConfig": { "thinkingBudget": 2048 } })
    );
}

#[test]
fn no_thinking_is_no_field_and_a_parameter_of_a_file_goes_under_its_own_name() {
    let none = body(WireFormat::Anthropic, params(json!({ "thinkingBudget": 0 })));
    assert_eq!((none.get("thinking"), &none["max_tokens"]), (None, &json!(8192)));
    let longer =
        body(WireFormat::Anthropic, params(json!({ "thinkingBudget": 1024, "maxOutputTokens": 4000 })));
    assert_eq!(longer["max_tokens"], 4000);
    assert_eq!(body(WireFormat::OpenAi, params(json!({ "enable_thinking": true })))["enable_thinking"], true);
}

#[test]
fn what_a_model_does_not_take_is_told_with_what_it_takes() {
    let registry = Registry::builtin().unwrap();
    let claude = registry.provider("anthropic").unwrap();
    let model = claude.models.first().unwrap();
    let wrong = params(
        json!({ "temperature": 3, "topK": 1.5, "reasoningEffort": "low", "thinkingBudget": 64000, "colour": 1 }),
    );
    let found = problems("claude", WireFormat::Anthropic, Some(model), &wrong);
    let keys: Vec<&str> = found.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["temperature", "topK", "reasoningEffort", "thinkingBudget", "colour"]);
    assert_eq!(found[0].fix, "Use a number from 0 to 2.");
    assert_eq!(found[3].fix, "Use a number from 0 to 32000.");
    assert!(found[4].fix.starts_with("Its parameters are: thinkingBudget, temperature"), "{}", found[4].fix);
    let fine = params(json!({ "temperature": 1, "thinkingBudget": 0, "stopSequences": ["x"] }));
    assert_eq!(problems("claude", WireFormat::Anthropic, Some(model), &fine), []);
    let unknown = params(json!({ "reasoningEffort": "low" }));
    assert_eq!(problems("own/m", WireFormat::OpenAi, None, &unknown), [], "nobody described it");
}

#[test]
fn a_parameter_that_a_file_wants_with_every_request_is_always_there() {
    let text = r#"{"id":"house","adapter":"openai","baseUrl":"http://127.0.0.1:1/v1","models":[{"id":"m","tags":["chat"],
        "capabilities":{"params":{"fields":[
            {"key":"tier","title":"Tier","type":"select","values":["a","b"],"default":"a","request":true},
            {"key":"seed","title":"Seed","type":"number","default":1}]}}}]}"#;
    let mut registry = Registry::builtin().unwrap();
    registry.add("house.json", text).unwrap();
    let model = registry.provider("house").unwrap().models[0].clone();
    assert_eq!(request_defaults(&model), params(json!({ "tier": "a" })));
    let settings = ModelSettings {
        params: request_defaults(&model),
        ..ModelSettings::new("house/m", "http://127.0.0.1:1", "m")
    };
    let writer = RequestWriter::new(settings);
    let sent = |request: &ModelRequest| -> Value {
        serde_json::from_slice(&writer.body(WireFormat::OpenAi, request).unwrap()).unwrap()
    };
    assert_eq!(sent(&ModelRequest::default())["tier"], "a");
    let own = Arc::new(params(json!({ "tier": "b" })));
    assert_eq!(sent(&ModelRequest { params: own, ..ModelRequest::default() })["tier"], "b");
    let wrong = problems("house/m", WireFormat::OpenAi, Some(&model), &params(json!({ "tier": "c" })));
    assert_eq!(wrong[0].fix, "Use one of: \"a\", \"b\".");
}
