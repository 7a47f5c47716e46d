//! Reading a JSON body: bounded in size and time, with an error that says what is wrong.

use std::error::Error;

use axum::{
    body::{Body, to_bytes},
    http::{HeaderMap, header},
};
use bytes::Bytes;
use protocol::ErrorCode;
use serde::Deserialize;

use crate::{error::ApiError, state::ServerSettings};

pub(crate) async fn read(
    settings: &ServerSettings,
    headers: &HeaderMap,
    body: Body,
) -> Result<Bytes, ApiError> {
    require_json(headers)?;
    let limit = settings.max_body_bytes;
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok())
        .and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(too_large(limit));
    }
    match tokio::time::timeout(settings.body_time, to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_over_limit(&error) => Err(too_large(limit)),
        Ok(Err(_)) => Err(ApiError::new(ErrorCode::InvalidJson, "The body broke off.")),
        Err(_) => Err(ApiError::new(ErrorCode::RequestTimeout, "The body did not arrive in time.")),
    }
}

pub(crate) fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, ApiError> {
    serde_json::from_slice(bytes).map_err(|error| {
        if error.is_data() {
            ApiError::invalid(format!("The body is not what this route takes: {error}."))
        } else {
            ApiError::new(ErrorCode::InvalidJson, format!("The body is not valid JSON: {error}."))
        }
    })
}

fn require_json(headers: &HeaderMap) -> Result<(), ApiError> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        Ok(())
    } else {
        Err(ApiError::new(
            ErrorCode::UnsupportedMediaType,
            "The body must be JSON: send the header content-type: application/json.",
        ))
    }
}

fn too_large(limit: usize) -> ApiError {
    ApiError::new(ErrorCode::BodyTooLarge, format!("The body is larger than {limit} bytes."))
}

fn is_over_limit(error: &axum::Error) -> bool {
    let mut source: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = source {
        if error.to_string().contains("length limit exceeded") {
            return true;
        }
        source = error.source();
    }
    false
}
