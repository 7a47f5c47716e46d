//! `GET /api/models`: the models that can be chosen, what they can do and cost, and which one is the default.
//!
//! `?tag=` (several, separated by commas: all must fit), `?provider=`, `?available=true`.

use axum::{
    Json,
    extract::{Query, State},
};
use engine::{ModelFilter, ModelList};
use serde::Deserialize;

use crate::{error::ApiError, state::ServerState};

#[derive(Deserialize)]
pub(crate) struct Wanted {
    tag: Option<String>,
    provider: Option<String>,
    available: Option<String>,
}

pub(crate) async fn list(
    State(state): State<ServerState>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<ModelList>, ApiError> {
    let tags: Vec<String> = wanted
        .tag
        .iter()
        .flat_map(|tags| tags.split(','))
        .map(|tag| tag.trim().to_owned())
        .filter(|tag| !tag.is_empty())
        .collect();
    let available_only = match wanted.available.as_deref() {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(ApiError::invalid("available must be true or false.")),
    };
    let provider = wanted.provider.as_deref().filter(|provider| !provider.is_empty());
    Ok(Json(state.engine.models(&ModelFilter { tags: &tags, provider, available_only })))
}
