//! Which code speaks with a provider: the one table from an adapter's name to its constructor.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    http::{Client, SetupError},
    model::Model,
    openai::{OpenAi, OpenAiSettings},
    retry::Limits,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adapter {
    /// Chat completions: what most servers understand.
    #[serde(rename = "openai")]
    OpenAi,
}

impl Adapter {
    pub const ALL: [Self; 1] = [Self::OpenAi];

    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|adapter| adapter.name() == name)
    }
}

/// What every adapter is told.
pub struct AdapterSettings {
    pub name: String,
    pub base_url: String,
    pub api_key: Option<String>,
    pub model: String,
    pub limits: Limits,
}

pub fn build(
    adapter: Adapter,
    settings: AdapterSettings,
    client: Client,
) -> Result<Arc<dyn Model>, SetupError> {
    let AdapterSettings { name, base_url, api_key, model, limits } = settings;
    match adapter {
        Adapter::OpenAi => {
            let settings = OpenAiSettings { name, base_url, api_key, model, limits };
            Ok(Arc::new(OpenAi::with_client(settings, client)?))
        }
    }
}
