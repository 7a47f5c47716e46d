//! `GET /api/models`: lists the models, their abilities and prices, and the default model.
//!
//! Filters: `?tag=` (separated by commas; a model must have all), `?provider=`, `?available=true`.

use axum::{
    Json,
    extract::{Query, State},
};
use engine::{ModelFilter, ModelList};
use serde::Deserialize;

use crate::{error::ApiError, state::ServerState};

#[derive(Deserialize)]
pub(crate) struct ModelsQuery {
    tag: Option<String>,
    provider: Option<String>,
    available: Option<String>,
}

pub(crate) async fn list(
    State(state): State<ServerState>,
    Query(query): Query<ModelsQuery>,
) -> Result<Json<ModelList>, ApiError> {
    let tags: Vec<String> = query
        .tag
        .iter()
        .flat_map(|tags| tags.split(','))
        .map(|tag| tag.trim().to_owned())
        .filter(|tag| !tag.is_empty())
        .collect();
    let available_only = match query.available.as_deref() {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(ApiError::invalid("The field available must be true or false.")),
    };
    let provider = query.provider.as_deref().filter(|provider| !provider.is_empty());
    Ok(Json(state.engine.models(&ModelFilter { tags: &tags, provider, available_only })))
}
