//! `GET /api/about`: the version of the server and its default model.

use axum::{Json, extract::State};
use protocol::wire::rest::About;

use crate::state::ServerState;

pub(crate) async fn show(State(state): State<ServerState>) -> Json<About> {
    Json(About { version: env!("CARGO_PKG_VERSION").to_owned(), model: state.engine.model_name().to_owned() })
}
