//! Bodies of this surface: JSON objects whose known fields must have the right type, while unknown fields are ignored.

use axum::{body::Body, http::HeaderMap};
use serde_json::{Map, Value};

use super::refusal::Refusal;
use crate::{body, state::ServerState};

/// The longest name that a client gives its request.
const MAX_REQUEST_ID: usize = 200;

/// The fields of a body.
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    /// Reads the body; an empty one counts as `{}` where `empty_allowed`.
    pub(super) async fn read(
        state: &ServerState,
        headers: &HeaderMap,
        body: Body,
        empty_allowed: bool,
    ) -> Result<Self, Refusal> {
        if empty_allowed && !headers.contains_key("content-type") && is_empty(headers) {
            return Ok(Self(Map::new()));
        }
        let bytes = body::read(state, headers, body).await?;
        if bytes.is_empty() && empty_allowed {
            return Ok(Self(Map::new()));
        }
        match body::parse::<Value>(&bytes)? {
            Value::Object(fields) => Ok(Self(fields)),
            _ => Err(Refusal::invalid("The body must be a JSON object.")),
        }
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    /// A field that is a string; `None` if it is absent or `null`.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(wrong(name, "a string")),
        }
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>, Refusal> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(wrong(name, "true or false")),
        }
    }

    /// Whether the field is present and `null`.
    pub(super) fn is_null(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(Value::is_null)
    }

    /// The client's own name for its request.
    pub(super) fn request_id(&mut self) -> Result<Option<String>, Refusal> {
        let id = self.text("requestId")?;
        if id.as_ref().is_some_and(|id| id.is_empty() || id.len() > MAX_REQUEST_ID) {
            return Err(Refusal::invalid(format!("requestId must have 1 to {MAX_REQUEST_ID} bytes.")));
        }
        Ok(id)
    }
}

fn is_empty(headers: &HeaderMap) -> bool {
    let length = headers.get("content-length").and_then(|length| length.to_str().ok());
    length.is_none_or(|length| length == "0") && !headers.contains_key("transfer-encoding")
}

pub(super) fn wrong(name: &str, wanted: &str) -> Refusal {
    Refusal::invalid(format!("The field {name} must be {wanted}."))
}
