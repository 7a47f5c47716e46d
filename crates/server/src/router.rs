//! The whole URL table.

use axum::{
    Router,
    http::Method,
    middleware::{from_fn, from_fn_with_state},
    response::IntoResponse,
    routing::{any, delete, get, post},
};
use protocol::ErrorCode;

use crate::{auth, chat, error, error::ApiError, events, guard, rest, state::ServerState, web_ui};

pub fn router(state: ServerState) -> Router {
    let api = Router::new()
        .route("/api/chat", post(chat::post::post).fallback(wrong_method))
        // Old clients do not escape the slashes of a chat id, so the id is everything before the last segment:
        //   GET  …/{id}/stream    chat/resume.rs     GET  …/{id}/messages  chat/history.rs
        //   POST …/{id}/stop      chat/stop.rs       POST …/{id}/branch    chat/branch.rs
        //   POST …/{id}/message   chat/message.rs    GET  …/{id}/queue     chat.rs
        //   POST …/{id}/compact   chat/compact.rs    GET  …/{id}/branches  chat/branch.rs
        //   POST …/{id}/title     chat/title.rs      GET  …/{id}/changes, …/changes/diff, POST …/changes/revert  chat/changes.rs
        .route("/api/chat/{*rest}", any(chat::dispatch))
        .route(
            "/api/approvals/{id}",
            get(rest::approvals::show).post(rest::approvals::answer).fallback(wrong_method),
        )
        .route("/api/approvals", get(rest::approvals::list).fallback(wrong_method))
        .route("/api/about", get(rest::about::show).fallback(wrong_method))
        .route("/api/agents", get(rest::agents::list).post(rest::agents::define).fallback(wrong_method))
        .route(
            "/api/agents/{id}",
            get(rest::agents::show)
                .put(rest::agents::replace)
                .patch(rest::agents::amend)
                .delete(rest::agents::remove)
                .fallback(wrong_method),
        )
        .route("/api/jobs", get(rest::jobs::list).fallback(wrong_method))
        .route("/api/jobs/{id}", get(rest::jobs::show).delete(rest::jobs::stop).fallback(wrong_method))
        .route("/api/jobs/{id}/output", get(rest::jobs::output).fallback(wrong_method))
        .route("/api/jobs/{id}/input", post(rest::jobs::input).fallback(wrong_method))
        .route("/api/rules", get(rest::rules::list).post(rest::rules::add).fallback(wrong_method))
        .route("/api/rules/{id}", delete(rest::rules::revoke).fallback(wrong_method))
        .route("/api/sessions", get(rest::sessions::list).fallback(wrong_method))
        .route(
            "/api/sessions/{id}",
            get(rest::sessions::show)
                .patch(rest::sessions::change)
                .delete(rest::sessions::delete)
                .fallback(wrong_method),
        )
        .route("/api/sign-ins", get(rest::access::sign_ins).fallback(wrong_method))
        .route("/api/sign-ins/{id}", delete(rest::access::revoke_sign_in).fallback(wrong_method))
        .route("/api/tokens", get(rest::access::tokens).fallback(wrong_method))
        .route("/api/tokens/{id}", delete(rest::access::revoke_token).fallback(wrong_method))
        .route("/api/artifacts", get(rest::artifacts::list).fallback(wrong_method))
        .route("/api/artifacts/{id}", get(rest::artifacts::download).fallback(wrong_method))
        .route("/api/files", get(rest::files::folder).fallback(wrong_method))
        .route("/api/files/content", get(rest::files::content).fallback(wrong_method))
        .route("/api/diagnostics", get(rest::diagnostics::show).fallback(wrong_method))
        .route("/api/usage", get(rest::usage::show).fallback(wrong_method))
        .route("/api/models", get(rest::models::list).fallback(wrong_method))
        .route("/api/tools", get(rest::tools::list).fallback(wrong_method))
        // The events surface; `GET /events` also accepts a ticket.
        .route("/events/ticket", post(events::ticket::create).fallback(wrong_method))
        .route("/message", post(events::message::post).fallback(wrong_method))
        .route("/session/create", post(events::sessions::create).fallback(wrong_method))
        .route("/session/load", post(events::sessions::load).fallback(wrong_method))
        .route("/session/list", get(events::sessions::list).fallback(wrong_method))
        .route("/session/rollback-points", get(events::sessions::rollback_points).fallback(wrong_method))
        .route("/session/{id}", delete(events::sessions::delete).fallback(wrong_method))
        .route("/context/compress", post(events::sessions::compress).fallback(wrong_method))
        .layer(from_fn_with_state(state.clone(), auth::require));
    Router::new()
        .merge(api)
        .route("/events", get(events::connect).fallback(wrong_method))
        .route("/health", get(rest::health::show).fallback(wrong_method))
        .fallback(web_ui::page_or_asset)
        .layer(from_fn_with_state(state.clone(), guard::guard))
        .layer(from_fn(error::finish_api_response))
        .with_state(state)
}

pub(crate) async fn wrong_method(method: Method) -> axum::response::Response {
    ApiError::new(ErrorCode::MethodNotAllowed, format!("{method} is not allowed at this address."))
        .into_response()
}
