//! Images that come with a message: checked before anything is stored.

use axum::http::StatusCode;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use protocol::Part;
use serde_json::Value;

use super::refusal::Refusal;

const MAX_IMAGES: usize = 6;
const MAX_BYTES: usize = 5 << 20;
const MAX_ALL_BYTES: usize = 20 << 20;

/// The media types that are accepted, and how their files begin.
const KINDS: [(&str, &[u8]); 4] = [
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
    ("image/webp", b"RIFF"),
];

pub(super) fn parts(images: Option<Value>) -> Result<Vec<Part>, Refusal> {
    let images = match images {
        None => return Ok(Vec::new()),
        Some(Value::Array(images)) => images,
        Some(_) => return Err(super::body::wrong("images", "a list")),
    };
    if images.len() > MAX_IMAGES {
        return Err(refuse(format!("A message can have at most {MAX_IMAGES} images.")));
    }
    let mut all = 0;
    let mut parts = Vec::with_capacity(images.len());
    for (index, image) in images.iter().enumerate() {
        let (part, bytes) = part(image).map_err(|wrong| refuse(format!("images[{index}]: {wrong}")))?;
        all += bytes;
        parts.push(part);
    }
    if all > MAX_ALL_BYTES {
        return Err(refuse(format!(
            "The images have {all} bytes together; at most {MAX_ALL_BYTES} are allowed."
        )));
    }
    Ok(parts)
}

/// The part, and how many bytes the image has.
fn part(image: &Value) -> Result<(Part, usize), String> {
    let text = |name: &str| image.get(name).and_then(Value::as_str);
    let data = text("data").ok_or("data must be a data URI")?;
    let (media_type, encoded) = data
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"))
        .ok_or("data must be a data URI in base64")?;
    let named = text("mimeType").ok_or("mimeType is missing")?;
    if !named.eq_ignore_ascii_case(media_type) {
        return Err(format!("mimeType says {named}, the data URI says {media_type}"));
    }
    let kind = KINDS.iter().find(|(name, _)| media_type.eq_ignore_ascii_case(name));
    let (media_type, begins) = kind.ok_or("only PNG, JPEG, GIF and WebP images are accepted")?;
    let bytes = STANDARD.decode(encoded).map_err(|_| "the base64 text is not valid".to_owned())?;
    if bytes.len() > MAX_BYTES {
        return Err(format!("it has {} bytes; at most {MAX_BYTES} are allowed", bytes.len()));
    }
    let is_webp = *media_type != "image/webp" || bytes.get(8..12) == Some(b"WEBP");
    if !bytes.starts_with(begins) || !is_webp {
        return Err(format!("the data is not an image of the type {media_type}"));
    }
    let file = Part::File { media_type: (*media_type).to_owned(), url: data.to_owned(), filename: None };
    Ok((file, bytes.len()))
}

fn refuse(message: String) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, "invalid_image", message)
}
