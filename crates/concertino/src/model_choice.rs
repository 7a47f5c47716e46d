//! Which model answers, and why: what the person chose, what the environment names, else the demo model.

use std::sync::Arc;

use anyhow::{Result, bail};
use models::{
    Model, ModelSettings, RemoteModel, WireFormat,
    demo::{Demo, Pace},
};

use crate::config::ModelConfig;

const OPENAI_URL: &str = "https://api.openai.com/v1";
const OPENAI_MODEL: &str = "gpt-4.1-mini";

pub(crate) struct ModelChoice {
    pub(crate) model: Arc<dyn Model>,
    /// For the start-up line.
    pub(crate) why: String,
}

pub(crate) fn choose(config: &ModelConfig) -> Result<ModelChoice> {
    match config.chosen.as_deref() {
        Some(chosen) => match chosen.split_once('/') {
            Some(("demo", _)) => Ok(demo("you chose it")),
            Some(("openai", model)) if !model.is_empty() => openai(config, Some(model), "you chose it"),
            _ => bail!("the model must be demo/rules or openai/<name>, not \"{chosen}\""),
        },
        None if config.openai_base_url.is_some() => openai(config, None, "OPENAI_BASE_URL is set"),
        None if config.openai_api_key.is_some() => openai(config, None, "OPENAI_API_KEY is set"),
        None => Ok(demo(
            "no key and no model server is set; set OPENAI_API_KEY or OPENAI_BASE_URL for a real one",
        )),
    }
}

fn demo(why: &str) -> ModelChoice {
    ModelChoice { model: Arc::new(Demo::new(Pace::default())), why: why.to_owned() }
}

fn openai(config: &ModelConfig, model: Option<&str>, why: &str) -> Result<ModelChoice> {
    let own_server = config.openai_base_url.is_some();
    let model = model.or(config.openai_model.as_deref());
    let model = model.unwrap_or(if own_server { "default" } else { OPENAI_MODEL });
    let base_url = config.openai_base_url.as_deref().unwrap_or(OPENAI_URL);
    let mut settings = ModelSettings::new(format!("openai/{model}"), base_url, model);
    settings.api_key = config.openai_api_key.clone();
    let model = RemoteModel::new(WireFormat::OpenAi, settings)?;
    Ok(ModelChoice { model: Arc::new(model), why: why.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(config: &ModelConfig) -> String {
        choose(config).unwrap().model.name().to_owned()
    }

    #[test]
    fn the_choice_wins_then_the_environment_then_the_demo() {
        let mut config = ModelConfig::default();
        assert_eq!(name(&config), "demo/rules");
        config.openai_api_key = Some("key".to_owned());
        assert_eq!(name(&config), format!("openai/{OPENAI_MODEL}"));
        config.openai_base_url = Some("http://127.0.0.1:1/v1".to_owned());
        config.openai_model = Some("local".to_owned());
        assert_eq!(name(&config), "openai/local");
        config.chosen = Some("demo/rules".to_owned());
        assert_eq!(name(&config), "demo/rules");
        config.chosen = Some("nonsense".to_owned());
        assert!(choose(&config).is_err());
    }
}
