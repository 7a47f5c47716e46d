//! Which model answers: what the settings say, what a request names, and what the list shows.

use super::*;
use crate::{
    Scripted,
    catalog::{list::Filter, provider::ServerStatus},
};

fn catalog(chosen: Option<&str>, variables: &[(&str, &str)]) -> Result<Catalog, ChoiceError> {
    let registry = Registry::builtin().unwrap();
    let variable =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    Catalog::new(CatalogSettings {
        registry: &registry,
        variable: &variable,
        chosen,
        fallback: Vec::new(),
        last_resort: Arc::new(Scripted::new([])),
    })
}

fn default(chosen: Option<&str>, variables: &[(&str, &str)]) -> (String, String, DefaultStatus) {
    let default = catalog(chosen, variables).unwrap().default_model();
    (default.name, default.why, default.status)
}

fn resolved(catalog: &Catalog, id: &str, source: Option<&str>) -> Result<String, ChoiceError> {
    let wanted = ModelSelection { id: Some(id), source, ..ModelSelection::default() };
    catalog.resolve(&wanted, 1).map(|model| model.name().to_owned())
}

#[test]
fn the_choice_wins_then_an_own_server_then_the_first_key_then_the_last_resort() {
    let key = ("ANTHROPIC_API_KEY", "k");
    let own = ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    assert_eq!(default(None, &[]).0, "scripted/script");
    assert_eq!(
        default(None, &[]).2,
        DefaultStatus::LastResort,
        "a server that is found later takes its place"
    );
    assert_eq!(
        default(None, &[key]),
        (
            "anthropic/claude-sonnet-4-5".to_owned(),
            "ANTHROPIC_API_KEY is set".to_owned(),
            DefaultStatus::Final
        )
    );
    assert_eq!(default(None, &[key, ("ANTHROPIC_MODEL", "claude-x")]).0, "anthropic/claude-x");
    assert_eq!(default(None, &[key, own]).0, "openai/default");
    assert_eq!(default(None, &[own]).2, DefaultStatus::ServerOnly, "its own list may name the model");
    assert_eq!(
        default(None, &[own, ("MODEL", "local")]),
        ("openai/local".into(), "OPENAI_BASE_URL is set".into(), DefaultStatus::Final)
    );
    assert_eq!(default(Some("deepseek"), &[key, ("DEEPSEEK_API_KEY", "k")]).0, "deepseek/deepseek-chat");
    assert_eq!(default(Some("scripted/script"), &[key]).0, "scripted/script");
    assert_eq!(default(Some("auto"), &[key]).0, "anthropic/claude-sonnet-4-5");
}

#[test]
fn a_choice_that_cannot_be_asked_says_what_to_set() {
    let error = catalog(Some("xai/grok-4"), &[]).err().unwrap();
    assert!(matches!(&error, ChoiceError::NotReady(text) if text.contains("XAI_API_KEY")), "{error}");
    let error = catalog(Some("nobody/knows"), &[]).err().unwrap();
    assert!(matches!(&error, ChoiceError::Unknown(text) if text.contains("concertino models")), "{error}");
    let error = catalog(None, &[("OPENAI_BASE_URL", "nonsense")]).err().unwrap();
    assert!(matches!(&error, ChoiceError::NotReady(text) if text.contains("OPENAI_BASE_URL")), "{error}");
    let error = catalog(Some("ollama"), &[]).err().unwrap();
    assert!(matches!(&error, ChoiceError::Unknown(text) if text.contains("ollama/")), "{error}");
}

#[test]
fn a_request_names_a_model_in_any_customary_way() {
    let catalog = catalog(None, &[("OPENAI_API_KEY", "k"), ("OPENROUTER_API_KEY", "k")]).unwrap();
    let name = |id, source| resolved(&catalog, id, source).unwrap();
    assert_eq!(name("openai/gpt-5", None), "openai/gpt-5");
    assert_eq!(name("openai:gpt-5", None), "openai/gpt-5");
    assert_eq!(name("gpt-5", Some("openai")), "openai/gpt-5");
    assert_eq!(name("openai/gpt-5", Some("openai")), "openai/gpt-5");
    assert_eq!(name("gpt-5", None), "openai/gpt-5");
    assert_eq!(name("gpt-5", Some("cloud")), "openai/gpt-5");
    assert_eq!(name("auto", None), "openai/gpt-4.1-mini");
    assert_eq!(name("openai/not-listed-yet", None), "openai/not-listed-yet");
    assert_eq!(name("openrouter/auto", Some("openrouter")), "openrouter/openrouter/auto");
    assert_eq!(name("ollama/llama3:8b", None), "ollama/llama3:8b");
    // Listed by groq and openrouter alike; only one of them has its key.
    assert_eq!(name("openai/gpt-5-mini", Some("openrouter")), "openrouter/openai/gpt-5-mini");
    assert!(matches!(resolved(&catalog, "grok-4", None), Err(ChoiceError::NotReady(_))));
    assert!(matches!(resolved(&catalog, "gpt-5", Some("local")), Err(ChoiceError::Unknown(_))));
    assert!(matches!(resolved(&catalog, "gpt-5", Some("nobody")), Err(ChoiceError::Unknown(_))));
    assert!(matches!(resolved(&catalog, "openai/", None), Err(ChoiceError::Unknown(_))));
    assert!(matches!(resolved(&catalog, "something", None), Err(ChoiceError::Unknown(_))));
}

#[test]
fn the_agents_model_comes_before_the_default_and_after_the_request() {
    let catalog = catalog(None, &[("OPENAI_API_KEY", "k")]).unwrap();
    let wanted = ModelSelection { agent: Some("openai/gpt-5"), ..ModelSelection::default() };
    assert_eq!(catalog.resolve(&wanted, 1).unwrap().name(), "openai/gpt-5");
    let wanted = ModelSelection { id: Some("openai/o3"), ..wanted };
    assert_eq!(catalog.resolve(&wanted, 1).unwrap().name(), "openai/o3");
}

#[test]
fn a_found_model_becomes_the_default_only_if_nobody_chose_one() {
    let undecided = catalog(None, &[]).unwrap();
    let ollama = undecided.provider("ollama").unwrap();
    let settled =
        undecided.replace_default(ollama, "llama3", "Ollama runs on this machine".to_owned()).unwrap();
    assert_eq!(settled.name, "ollama/llama3");
    assert!(undecided.replace_default(ollama, "other", String::new()).is_none(), "once");
    let decided = catalog(None, &[("OPENAI_API_KEY", "k")]).unwrap();
    assert!(decided.replace_default(decided.provider("ollama").unwrap(), "llama3", String::new()).is_none());
    let own = catalog(None, &[("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")]).unwrap();
    assert!(
        own.replace_default(own.provider("ollama").unwrap(), "llama3", String::new()).is_none(),
        "a server was named"
    );
    assert!(own.replace_default(own.provider("openai").unwrap(), "theirs", String::new()).is_some());
}

#[test]
fn the_list_says_what_is_available_and_why_not() {
    let catalog = catalog(None, &[("OPENAI_API_KEY", "k")]).unwrap();
    let list = catalog.list(&Filter::default());
    assert_eq!(list.default.id, "openai/gpt-4.1-mini");
    assert_eq!(list.models.iter().filter(|model| model.default).count(), 1);
    let grok = list.models.iter().find(|model| model.id == "xai/grok-4").unwrap();
    assert!(!grok.available && grok.reason.as_ref().unwrap().contains("XAI_API_KEY"));
    let json = serde_json::to_value(&list).unwrap();
    let shown =
        json["models"].as_array().unwrap().iter().find(|model| model["id"] == "openai/gpt-5").unwrap();
    assert_eq!(shown["model"], "gpt-5");
    assert_eq!(shown["available"], true);
    assert_eq!(shown["price"]["input"], 1.25);
    assert_eq!(shown["capabilities"]["params"]["fields"][0]["key"], "reasoningEffort");

    let tags = ["image_input".to_owned(), "tool_call".to_owned()];
    let filter = Filter { tags: &tags, provider: Some("deepseek"), available_only: false };
    assert!(catalog.list(&filter).models.is_empty());
    let available = catalog.list(&Filter { available_only: true, ..Filter::default() });
    assert!(
        available
            .models
            .iter()
            .all(|model| model.available && ["openai", "scripted"].contains(&model.provider.as_str()))
    );

    let ollama = catalog.provider("ollama").unwrap();
    ollama.set_status(ServerStatus::Running(["llama3".to_owned()].into()));
    let list = catalog.list(&Filter { provider: Some("ollama"), ..Filter::default() });
    assert_eq!(list.models[0].id, "ollama/llama3");
    assert!(list.models[0].available && list.providers[0].available);
}
