//! Providers and models as data: `providers/*.json`, ours in the binary, the user's next to the database.
//!
//! A provider has an adapter (its wire format), an address and the variable for its key; a model has its abilities and
//! prices. Filters and labels use `tags`; `capabilities` only lists the parameters that can be adjusted. A user's file
//! is merged over ours: its fields replace our fields, its models replace models of the same id.

pub mod adapter;
mod check;
pub mod definition;
pub mod read;

use std::sync::Arc;

use self::read::ProviderFile;
pub use self::{
    adapter::Adapter,
    definition::{Capabilities, ModelDefinition, Price, ProviderDefinition},
    read::RegistryError,
};

/// In the order in which keys are searched for.
const BUILTIN: [(&str, &str); 16] = [
    ("openai.json", include_str!("../providers/openai.json")),
    ("anthropic.json", include_str!("../providers/anthropic.json")),
    ("google.json", include_str!("../providers/google.json")),
    ("deepseek.json", include_str!("../providers/deepseek.json")),
    ("moonshot.json", include_str!("../providers/moonshot.json")),
    ("qwen.json", include_str!("../providers/qwen.json")),
    ("xai.json", include_str!("../providers/xai.json")),
    ("mistral.json", include_str!("../providers/mistral.json")),
    ("groq.json", include_str!("../providers/groq.json")),
    ("openrouter.json", include_str!("../providers/openrouter.json")),
    ("vercel.json", include_str!("../providers/vercel.json")),
    ("custom.json", include_str!("../providers/custom.json")),
    ("ollama.json", include_str!("../providers/ollama.json")),
    ("lm-studio.json", include_str!("../providers/lm-studio.json")),
    ("llama.cpp.json", include_str!("../providers/llama.cpp.json")),
    ("vllm.json", include_str!("../providers/vllm.json")),
];

#[derive(Clone, Debug, Default)]
pub struct Registry {
    providers: Vec<Arc<ProviderDefinition>>,
}

impl Registry {
    /// The built-in providers.
    pub fn builtin() -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        for (file, text) in BUILTIN {
            registry.add(file, text)?;
        }
        Ok(registry)
    }

    /// Merges a file into the registry. A file with an error changes nothing.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), RegistryError> {
        let file = ProviderFile::read(file, text)?;
        match self.providers.iter_mut().find(|provider| provider.id == file.id()) {
            Some(provider) => *provider = Arc::new(file.apply_to(ProviderDefinition::clone(provider))?),
            None => self.providers.push(Arc::new(file.into_provider()?)),
        }
        Ok(())
    }

    /// All providers that are not disabled.
    pub fn providers(&self) -> impl Iterator<Item = &Arc<ProviderDefinition>> {
        self.providers.iter().filter(|provider| !provider.disabled)
    }

    pub fn provider(&self, id: &str) -> Option<&Arc<ProviderDefinition>> {
        self.providers().find(|provider| provider.id == id)
    }

    pub fn model(&self, provider: &str, model: &str) -> Option<&ModelDefinition> {
        self.provider(provider)?.model(model)
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
