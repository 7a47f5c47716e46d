//! A provider with the address and the key from the settings, its HTTP client, its limiter, and the endpoints of its
//! models, which are created when they are first used.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use parking_lot::{Mutex, RwLock};
use url::Url;

use super::explain::ProviderFacts;
use crate::{
    dispatch::Endpoint,
    http::{self, Client, SetupError},
    provider_limiter::{ProviderLimiter, ProviderLoad},
    registry::{
        ProviderDefinition,
        adapter::{self, Access, Adapter},
    },
};

/// The most endpoints that are kept for one provider; model names come from clients, so there must be a bound.
const MAX_ENDPOINTS: usize = 256;

pub struct Provider {
    pub definition: Arc<ProviderDefinition>,
    pub(super) remote: Option<Remote>,
    endpoints: Mutex<HashMap<String, Endpoint>>,
    /// What discovery found.
    status: RwLock<ServerStatus>,
}

/// The settings and the connection of a provider behind HTTP.
pub(super) struct Remote {
    base_url: Option<String>,
    /// The variable that holds the address.
    address_variable: Option<String>,
    key: Option<String>,
    key_variable: Option<String>,
    client: OnceLock<Client>,
    limiter: Arc<ProviderLimiter>,
}

/// What is known about the server of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServerStatus {
    #[default]
    NotProbed,
    /// The server answered with these models, in its own order.
    Running(Arc<[String]>),
    NotRunning,
}

impl Provider {
    pub fn new(definition: Arc<ProviderDefinition>, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let set = |names: &[String]| names.iter().find_map(|name| Some((name.clone(), variable(name)?)));
        let address = set(&definition.base_url_variables);
        let key = set(&definition.key_variables);
        let remote = Remote {
            base_url: match &address {
                Some((_, value)) => Some(full_address(value, &definition)),
                None => definition.base_url.clone(),
            },
            address_variable: address.map(|(name, _)| name),
            key_variable: key.as_ref().map(|(name, _)| name.clone()),
            key: key.map(|(_, value)| value),
            client: OnceLock::new(),
            limiter: ProviderLimiter::new(definition.max_concurrent),
        };
        Self { definition, remote: Some(remote), endpoints: Mutex::default(), status: RwLock::default() }
    }

    /// A model inside this process, with a definition for lists.
    pub fn in_process(definition: ProviderDefinition, model: &str, endpoint: Endpoint) -> Self {
        let endpoints = HashMap::from([(model.to_owned(), endpoint)]);
        Self {
            definition: Arc::new(definition),
            remote: None,
            endpoints: Mutex::new(endpoints),
            status: RwLock::default(),
        }
    }

    pub fn id(&self) -> &str {
        &self.definition.id
    }

    /// Whether the user set another address for this provider.
    pub fn is_own_server(&self) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.address_variable.is_some())
    }

    /// The wire format of its server.
    pub fn adapter(&self) -> Adapter {
        match (self.is_own_server(), self.definition.own_server_adapter) {
            (true, Some(adapter)) => adapter,
            _ => self.definition.adapter,
        }
    }

    pub fn key_variable(&self) -> Option<&str> {
        self.remote.as_ref()?.key_variable.as_deref()
    }

    pub fn address_variable(&self) -> Option<&str> {
        self.remote.as_ref()?.address_variable.as_deref()
    }

    /// Why it cannot be called: a sentence that says what to set.
    pub fn missing(&self) -> Option<String> {
        let remote = self.remote.as_ref()?;
        let definition = &self.definition;
        if remote.base_url.is_none() {
            return Some(match definition.base_url_variables.first() {
                Some(variable) => format!("no address is set; put the base URL in {variable}"),
                None => "no address is set".to_owned(),
            });
        }
        let needs_key =
            !definition.local && !definition.key_variables.is_empty() && remote.address_variable.is_none();
        match (needs_key, &remote.key, definition.key_variables.first()) {
            (true, None, Some(variable)) => Some(format!("no key is set; put one in {variable}")),
            _ => None,
        }
    }

    pub fn status(&self) -> ServerStatus {
        self.status.read().clone()
    }

    pub fn set_status(&self, status: ServerStatus) {
        *self.status.write() = status;
    }

    /// The models that discovery found.
    pub fn discovered_models(&self) -> Arc<[String]> {
        match &*self.status.read() {
            ServerStatus::Running(models) => Arc::clone(models),
            ServerStatus::NotProbed | ServerStatus::NotRunning => [].into(),
        }
    }

    pub fn load(&self) -> Option<ProviderLoad> {
        self.remote.as_ref().map(|remote| remote.limiter.load())
    }

    /// Whether the provider's file or its server lists this model.
    pub fn lists(&self, model: &str) -> bool {
        self.definition.model(model).is_some() || self.discovered_models().iter().any(|found| found == model)
    }

    /// The endpoint of a model. `None` when this provider is inside the process and has no such model.
    pub fn endpoint(&self, model: &str) -> Result<Option<Endpoint>, SetupError> {
        if let Some(endpoint) = self.endpoints.lock().get(model) {
            return Ok(Some(endpoint.clone()));
        }
        let Some(remote) = &self.remote else { return Ok(None) };
        let endpoint = self.build(remote, model)?;
        let mut endpoints = self.endpoints.lock();
        if endpoints.len() >= MAX_ENDPOINTS {
            endpoints.clear();
        }
        endpoints.insert(model.to_owned(), endpoint.clone());
        Ok(Some(endpoint))
    }

    fn build(&self, remote: &Remote, model: &str) -> Result<Endpoint, SetupError> {
        let definition = &self.definition;
        let no_url = || SetupError::BadUrl(definition.label.clone());
        let base_url = remote.base_url.clone().ok_or_else(no_url)?;
        let adapter = self.adapter();
        let access = Access { adapter, base_url: &base_url, api_key: remote.key.as_deref() };
        let model_of_adapter = adapter::build(definition, model, &access, self.client(remote)?)?;
        let facts = ProviderFacts {
            provider: definition.id.clone(),
            label: definition.label.clone(),
            model: model.to_owned(),
            key_variable: remote.key_variable.clone().or_else(|| definition.key_variables.first().cloned()),
            has_key: remote.key.is_some(),
            address_variable: remote.address_variable.clone(),
            local: definition.local,
        };
        Ok(Endpoint {
            model: model_of_adapter,
            limiter: Some(Arc::clone(&remote.limiter)),
            facts: Some(Arc::new(facts)),
        })
    }

    fn client(&self, remote: &Remote) -> Result<Client, SetupError> {
        if let Some(client) = remote.client.get() {
            return Ok(client.clone());
        }
        let url = self.address().ok_or_else(|| SetupError::BadUrl(self.definition.label.clone()))?;
        let client = http::client(&url, &self.definition.limits)?;
        Ok(remote.client.get_or_init(|| client).clone())
    }

    pub(crate) fn address(&self) -> Option<Url> {
        Url::parse(self.remote.as_ref()?.base_url.as_deref()?.trim()).ok()
    }

    pub(crate) fn key(&self) -> Option<&str> {
        self.remote.as_ref()?.key.as_deref()
    }
}

/// Completes an address from a variable such as `OLLAMA_HOST`, which may lack the scheme, the port and the path and may
/// be the address that a server listens on (`0.0.0.0`).
fn full_address(value: &str, definition: &ProviderDefinition) -> String {
    let value = value.trim();
    let Some(path) = &definition.base_path else { return value.to_owned() };
    let with_scheme = if value.contains("://") { value.to_owned() } else { format!("http://{value}") };
    let Ok(mut url) = Url::parse(&with_scheme) else { return value.to_owned() };
    let ours = definition.base_url.as_deref().and_then(|url| Url::parse(url).ok());
    let fits = match &ours {
        Some(ours) if !value.contains("://") && url.port().is_none() => url.set_port(ours.port()).is_ok(),
        _ => true,
    };
    let fits = fits && (url.host_str() != Some("0.0.0.0") || url.set_host(Some("127.0.0.1")).is_ok());
    if !fits {
        return value.to_owned();
    }
    if matches!(url.path(), "" | "/") {
        url.set_path(path);
    }
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    fn provider(id: &str, variables: &[(&str, &str)]) -> Provider {
        let registry = Registry::builtin().unwrap();
        let value = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Provider::new(Arc::clone(registry.provider(id).unwrap()), &value)
    }

    #[test]
    fn an_address_in_a_variable_is_completed_where_that_is_customary() {
        let address = |id, name, value| provider(id, &[(name, value)]).address().unwrap().to_string();
        assert_eq!(address("ollama", "OLLAMA_HOST", "0.0.0.0"), "http://127.0.0.1:11434/v1");
        assert_eq!(address("ollama", "OLLAMA_HOST", "box:9"), "http://box:9/v1");
        assert_eq!(address("ollama", "OLLAMA_HOST", "https://box"), "https://box/v1");
        assert_eq!(address("openai", "OPENAI_BASE_URL", "http://box:9/"), "http://box:9/");
        assert_eq!(address("anthropic", "ANTHROPIC_BASE_URL", "http://box/x"), "http://box/x");
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(provider("anthropic", &[]).missing().unwrap().contains("ANTHROPIC_API_KEY"));
        assert_eq!(provider("anthropic", &[("ANTHROPIC_API_KEY", "k")]).missing(), None);
        assert!(provider("custom", &[]).missing().unwrap().contains("CONCERTINO_CUSTOM_BASE_URL"));
        assert_eq!(provider("custom", &[("CONCERTINO_CUSTOM_BASE_URL", "http://box")]).missing(), None);
        assert_eq!(provider("openai", &[("OPENAI_BASE_URL", "http://box")]).missing(), None);
        assert_eq!(provider("ollama", &[]).missing(), None);
    }

    #[test]
    fn a_provider_keeps_a_bounded_number_of_models_ready() {
        let own = provider("custom", &[("CONCERTINO_CUSTOM_BASE_URL", "http://127.0.0.1:1")]);
        for number in 0..MAX_ENDPOINTS * 2 {
            assert!(own.endpoint(&format!("m{number}")).unwrap().is_some());
        }
        assert!(own.endpoints.lock().len() <= MAX_ENDPOINTS);
    }
}
