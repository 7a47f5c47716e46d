//! Our provider files, the user's files merged over them, and the messages for errors.

use super::*;

const PROVIDERS: [&str; 16] = [
    "openai",
    "anthropic",
    "google",
    "deepseek",
    "moonshot",
    "qwen",
    "xai",
    "mistral",
    "groq",
    "openrouter",
    "vercel",
    "custom",
    "ollama",
    "lm-studio",
    "llama.cpp",
    "vllm",
];

fn mistake(text: &str) -> (usize, usize, String) {
    let mut registry = Registry::builtin().unwrap();
    let error = registry.add("mine.json", text).unwrap_err();
    assert_eq!(error.file, "mine.json");
    (error.line, error.column, error.message)
}

#[test]
fn our_files_are_whole() {
    let registry = Registry::builtin().unwrap();
    assert_eq!(registry.providers().map(|provider| provider.id.as_str()).collect::<Vec<_>>(), PROVIDERS);
    for provider in registry.providers() {
        if let Some(default) = &provider.default_model {
            assert!(provider.model(default).is_some(), "{}: {default} is not listed", provider.id);
        }
        assert!(provider.local || !provider.key_variables.is_empty(), "{}", provider.id);
        for model in &provider.models {
            let name = format!("{}/{}", provider.id, model.id);
            assert!(model.has_tag("chat") && model.family_id.is_some(), "{name}");
            if let (Some(window), Some(limit)) = (model.context_window, model.output_limit) {
                assert!(u64::from(limit) <= window, "{name}");
            }
            if let Some(price) = model.price {
                assert!(price.output >= price.input, "{name}: answers never cost less than questions");
                assert!(price.cached_input.is_none_or(|cached| cached <= price.input), "{name}");
            }
        }
    }
}

#[test]
fn a_users_file_adds_a_provider_or_changes_one() {
    let mut registry = Registry::builtin().unwrap();
    registry
        .add(
            "house.json",
            r#"{"id":"house","adapter":"openai","baseUrl":"http://10.0.0.7/v1","models":[{"id":"m"}]}"#,
        )
        .unwrap();
    let house = registry.provider("house").unwrap();
    assert_eq!((house.label.as_str(), house.models.len()), ("house", 1));

    let before = registry.provider("openai").unwrap().models.len();
    let text = r#"{"id":"openai","maxConcurrent":3,"limits":{"idleMs":5000},
        "models":[{"id":"gpt-4o","tags":["chat"]},{"id":"gpt-new","tags":["chat","house_tag"]}]}"#;
    registry.add("openai.json", text).unwrap();
    let openai = registry.provider("openai").unwrap();
    assert_eq!(openai.base_url.as_deref(), Some("https://api.openai.com/v1"), "what is not named stays");
    assert_eq!((openai.max_concurrent, openai.limits.idle.as_secs()), (Some(3), 5));
    assert_eq!(openai.models.len(), before + 1);
    assert_eq!(registry.model("openai", "gpt-4o").unwrap().price, None, "a model is replaced as a whole");
    assert!(registry.model("openai", "gpt-new").unwrap().has_tag("house_tag"));

    registry.add("xai.json", r#"{"id":"xai","disabled":true}"#).unwrap();
    assert!(registry.provider("xai").is_none());
}

#[test]
fn every_mistake_has_its_line_and_says_what_to_do() {
    let (line, _, message) = mistake("{\n  \"id\": \"x\",\n  \"adaptr\": \"openai\"\n}");
    assert_eq!(line, 3);
    assert!(message.contains("unknown field `adaptr`") && message.contains("`adapter`"), "{message}");

    let (line, column, message) = mistake("{\n  \"id\": \"x\",\n  \"adapter\": \"opnai\"\n}");
    assert_eq!((line, column), (3, 20));
    assert!(message.contains("no adapter \"opnai\"; the adapters are openai"), "{message}");

    let (line, _, message) = mistake("{\n\"id\": \"openai\",\n\"keyVariables\": [\n\"sk-secret-key\"]}");
    assert_eq!(line, 4);
    assert!(message.contains("never the key itself") && !message.contains("secret"), "{message}");

    let (line, _, message) = mistake("{\"id\": \"x\", \"adapter\": \"openai\",\n\"baseUrl\": \"10.0.0.7\"}");
    assert_eq!(line, 2);
    assert!(message.contains("http://"), "{message}");

    let (line, _, message) = mistake("{\n\"id\": \"x\"\n\"models\": []}");
    assert_eq!(line, 3);
    assert!(message.contains("expected `,`"), "{message}");

    let (_, _, message) = mistake(r#"{"id":"house","baseUrl":"http://x"}"#);
    assert!(message.contains("needs \"adapter\""), "{message}");
    let (_, _, message) = mistake(r#"{"id":"house","adapter":"openai"}"#);
    assert!(message.contains("needs \"baseUrl\""), "{message}");
    let (_, _, message) = mistake(r#"{"id":"demo","adapter":"openai","baseUrl":"http://x"}"#);
    assert!(message.contains("choose another id"), "{message}");
}

#[test]
fn a_mistake_in_a_model_is_found_at_its_own_place() {
    let models = |model: &str| {
        format!("{{\n  \"id\": \"openai\",\n  \"models\": [\n    {{\"id\": \"a\"}},\n    {model}\n  ]\n}}")
    };
    let (line, column, message) = mistake(&models(r#"{"id": "b", "tags": ["Chat!"]}"#));
    assert_eq!((line, column), (5, 32));
    assert!(message.contains("\"Chat!\" is not a valid tag"), "{message}");
    let (line, _, message) = mistake(&models(r#"{"id": "a"}"#));
    assert_eq!(line, 5);
    assert!(message.contains("twice"), "{message}");
    let (line, _, message) =
        mistake(&models("{\"id\": \"b\",\n     \"price\": {\"input\": -1, \"output\": 2}}"));
    assert_eq!(line, 6);
    assert!(message.contains("not below zero"), "{message}");
    let (line, _, message) = mistake(&models(r#"{"name": "B"}"#));
    assert_eq!(line, 5);
    assert!(message.contains("missing field `id`"), "{message}");
    let (line, _, message) = mistake(&models(r#"{"id": "two words"}"#));
    assert_eq!(line, 5);
    assert!(message.contains("without spaces"), "{message}");
}
