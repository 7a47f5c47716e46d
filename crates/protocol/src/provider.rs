//! Data that a model's provider attaches to its output and wants back in later calls, such as signatures and encrypted
//! reasoning. Provider → field → JSON, as in the clients' `providerMetadata`. Only the provider's adapter reads it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProviderMetadata(Box<Map<String, Value>>);

impl ProviderMetadata {
    pub fn new(provider: &str, fields: Map<String, Value>) -> Self {
        let mut fields = Value::Object(fields);
        crate::json::disarm(&mut fields);
        Self(Box::new(Map::from_iter([(provider.to_owned(), fields)])))
    }

    /// One field of one provider.
    pub fn one(provider: &str, field: &str, value: impl Into<Value>) -> Self {
        let mut fields = Map::new();
        fields.insert(field.to_owned(), value.into());
        Self::new(provider, fields)
    }

    pub fn field(&self, provider: &str, field: &str) -> Option<&Value> {
        self.0.get(provider)?.get(field)
    }

    pub fn text(&self, provider: &str, field: &str) -> Option<&str> {
        self.field(provider, field)?.as_str()
    }

    /// Approximate size in memory.
    pub fn size(&self) -> usize {
        self.0.values().map(|fields| fields.to_string().len()).sum()
    }
}

/// A source that an answer cites, as the provider names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Source {
    Url {
        url: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    Document {
        media_type: String,
        title: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filename: Option<String>,
    },
}
