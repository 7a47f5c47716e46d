//! Adds advice to a model's error: which key, address or model of the provider to check.
//!
//! No text contains a key or a host; settings are named, their values are not shown.

use crate::model::{ModelError, TimeLimit};

/// The settings of a provider that error messages name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderFacts {
    /// The id of the provider.
    pub provider: String,
    pub label: String,
    /// What the server calls the model.
    pub model: String,
    /// The variable for the key.
    pub key_variable: Option<String>,
    pub has_key: bool,
    /// The variable that holds the address, if the user set one.
    pub address_variable: Option<String>,
    pub local: bool,
}

/// Adds advice to the error; an error that needs none is returned unchanged.
pub fn explain(facts: &ProviderFacts, error: ModelError) -> ModelError {
    match advice(facts, error.cause()) {
        Some(text) => ModelError::Explained { text, error: Box::new(error) },
        None => error,
    }
}

/// Whether another model may succeed. A request that is itself wrong fails everywhere.
pub fn another_may_succeed(error: &ModelError) -> bool {
    match error.cause() {
        ModelError::Refused { status: 400 | 413 | 422, message } => {
            names_the_model(message) || names_the_key(message)
        }
        _ => true,
    }
}

fn advice(facts: &ProviderFacts, error: &ModelError) -> Option<String> {
    let ProviderFacts { provider, label, model, .. } = facts;
    Some(match error {
        ModelError::Unauthorized => key(facts),
        ModelError::Refused { message, .. } if names_the_key(message) => key(facts),
        ModelError::Refused { status: 400 | 404 | 422, message } if names_the_model(message) => format!(
            "{label} does not know the model \"{model}\", or this key may not use it. Check the name: \
             `concertino models --provider {provider}` lists those known here."
        ),
        error if error.too_long().is_some() => format!(
            "This chat has become longer than the model \"{model}\" of {label} can read. Send /compact to summarise its \
             older part, choose a model with a larger context window, or start a new chat."
        ),
        ModelError::Refused { status: 300..=399 | 404 | 405, .. } => address(facts),
        ModelError::Garbage(what) if what.contains("web page") => address(facts),
        ModelError::Unreachable | ModelError::TimedOut(TimeLimit::Connect) if facts.local => format!(
            "{label} cannot be reached. Start it on this machine, or check {}; then `concertino doctor` tests it.",
            address_setting(facts)
        ),
        ModelError::Unreachable | ModelError::TimedOut(TimeLimit::Connect) => format!(
            "{label} cannot be reached. Check the network and {}; `concertino doctor` tests it.",
            address_setting(facts)
        ),
        ModelError::RateLimited { .. } => format!(
            "{label} is over its rate limit and did not accept the call in time. Wait a little, or choose another model."
        ),
        ModelError::TimedOut(TimeLimit::FirstByte) if facts.local => format!(
            "{label} did not start its answer in time. A large model may still be loading: send again, or choose a \
             smaller one."
        ),
        _ => return None,
    })
}

fn key(facts: &ProviderFacts) -> String {
    let ProviderFacts { label, has_key, key_variable, provider, .. } = facts;
    match (has_key, key_variable) {
        (true, Some(variable)) => format!(
            "{label} refused the key. Put a valid key in {variable} and start again; `concertino doctor` tests it."
        ),
        (false, Some(variable)) => {
            format!("{label} requires a key and none is set. Put one in {variable} and start again.")
        }
        (_, None) => format!(
            "{label} requires a key. Name the variable that holds it in providers/{provider}.json (\"keyVariables\")."
        ),
    }
}

fn address(facts: &ProviderFacts) -> String {
    format!(
        "{} answers, but not as a model server. Check {}: it is the part before the route, most end in /v1.",
        facts.label,
        address_setting(facts)
    )
}

/// The setting that holds the address of the provider.
fn address_setting(facts: &ProviderFacts) -> String {
    match &facts.address_variable {
        Some(variable) => format!("the base URL in {variable}"),
        None => format!("its base URL (\"baseUrl\" in providers/{}.json)", facts.provider),
    }
}

/// Whether the message is about an unknown model. Servers use many forms: "The model `x` does not exist", "model: x",
/// "Model Not Exist", "x is not a valid model ID", "models/x is not found".
fn names_the_model(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    let about_model = message.contains("model");
    let missing =
        ["not found", "not exist", "does not", "unknown", "invalid model", "not a valid", "no such"];
    about_model && (missing.iter().any(|word| message.contains(word)) || message.starts_with("model:"))
}

fn names_the_key(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    message.contains("api key") || message.contains("api_key")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> ProviderFacts {
        ProviderFacts {
            provider: "deepseek".to_owned(),
            label: "DeepSeek".to_owned(),
            model: "deepseek-x".to_owned(),
            key_variable: Some("DEEPSEEK_API_KEY".to_owned()),
            has_key: true,
            address_variable: None,
            local: false,
        }
    }

    fn refused(status: u16, message: &str) -> ModelError {
        ModelError::Refused { status, message: message.to_owned() }
    }

    #[test]
    fn a_wrong_key_names_the_variable() {
        let text = explain(&facts(), ModelError::Unauthorized).to_string();
        assert!(text.contains("refused the key") && text.contains("DEEPSEEK_API_KEY"), "{text}");
        let gemini = refused(400, "API key not valid. Please pass a valid API key.");
        assert!(explain(&facts(), gemini).to_string().contains("DEEPSEEK_API_KEY"));
        let none = ProviderFacts { has_key: false, ..facts() };
        assert!(explain(&none, ModelError::Unauthorized).to_string().contains("none is set"));
    }

    #[test]
    fn an_unknown_model_is_told_however_the_server_says_it() {
        for (status, message) in [
            (404, "The model `deepseek-x` does not exist or you do not have access to it."),
            (404, "model: deepseek-x"),
            (400, "Model Not Exist"),
            (400, "deepseek-x is not a valid model ID"),
            (400, "Invalid model: deepseek-x"),
            (404, "models/deepseek-x is not found for API version v1beta"),
            (404, "model \"deepseek-x\" not found, try pulling it first"),
        ] {
            let text = explain(&facts(), refused(status, message)).to_string();
            assert!(text.contains("does not know the model \"deepseek-x\""), "{message}: {text}");
            assert!(text.contains("concertino models --provider deepseek"), "{text}");
        }
    }

    #[test]
    fn a_wrong_address_and_a_server_that_is_not_there_name_the_setting() {
        let own = ProviderFacts { address_variable: Some("OPENAI_BASE_URL".to_owned()), ..facts() };
        for error in [
            refused(404, "Not Found"),
            refused(405, "Method Not Allowed"),
            refused(301, "it points to another address; check the base URL"),
            ModelError::Garbage("a web page; check the base URL".to_owned()),
        ] {
            let text = explain(&own, error).to_string();
            assert!(text.contains("not as a model server") && text.contains("OPENAI_BASE_URL"), "{text}");
        }
        let text = explain(&facts(), ModelError::Unreachable).to_string();
        assert!(text.contains("cannot be reached") && text.contains("providers/deepseek.json"), "{text}");
        let local = ProviderFacts { local: true, ..facts() };
        assert!(explain(&local, ModelError::Unreachable).to_string().contains("Start it on this machine"));
    }

    #[test]
    fn what_needs_no_advice_stays_as_it_is_and_a_wrong_request_is_wrong_everywhere() {
        assert_eq!(explain(&facts(), ModelError::Cut), ModelError::Cut);
        let long = refused(400, "This request is longer than the context of the model");
        assert_eq!(explain(&facts(), long.clone()), long);
        assert!(!another_may_succeed(&long));
        assert!(another_may_succeed(&explain(&facts(), ModelError::Unauthorized)));
        assert!(another_may_succeed(&refused(400, "Model Not Exist")));
    }
}
