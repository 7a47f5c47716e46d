//! Turns a server's error into a [`ModelError`] whose message is one short line without keys, links or control
//! characters. The same rules apply to HTTP errors and to `error` objects in a stream.

use std::time::Duration;

use serde_json::Value;

use crate::model::ModelError;

/// The longest message, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// The status of an error in a stream that has none.
const DEFAULT_STATUS: u16 = 500;

/// The status for the `code` or `type` of an error in a stream.
const STATUS_OF_CODE: [(&str, u16); 11] = [
    ("rate_limit", 429),
    ("authentication", 401),
    ("api_key", 401),
    ("permission", 403),
    ("invalid_request", 400),
    ("invalid_prompt", 400),
    ("context_length", 400),
    ("request_too_large", 413),
    ("not_found", 404),
    ("overloaded", 529),
    ("timeout", 504),
];

/// Reads an HTTP error. `reason` is used if the body has no message.
pub fn from_status(
    status: u16,
    body: &[u8],
    reason: &str,
    key: Option<&str>,
    retry_after: Option<Duration>,
) -> ModelError {
    let body: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    // Gemini wraps the error of a streamed call into a list.
    let body = match body {
        Value::Array(mut list) if list.len() == 1 => list.remove(0),
        body => body,
    };
    let said = sentence(&body);
    let message = clean(said.unwrap_or(reason), key);
    match status {
        401 | 403 => ModelError::Unauthorized,
        // An account without credit has the status of a rate limit, but waiting does not help.
        429 if names(&body, "insufficient_quota") => ModelError::Refused { status, message },
        429 => ModelError::RateLimited { retry_after },
        500.. => ModelError::Failed { status, message },
        _ => ModelError::Refused { status, message },
    }
}

/// Reads an `error` in a stream: an object, or its message.
pub fn in_stream(error: &Value, key: Option<&str>) -> ModelError {
    let text = |field| error.get(field).and_then(Value::as_str).unwrap_or_default();
    let number = |field| match error.get(field)? {
        Value::Number(number) => number.as_u64(),
        Value::String(digits) => digits.parse().ok(),
        _ => None,
    };
    let status = number("code")
        .or_else(|| number("status"))
        .and_then(|code| u16::try_from(code).ok())
        .filter(|code| (400..600).contains(code));
    let words = [text("code"), text("type")];
    let says = |(part, _): &&(&str, u16)| words.iter().any(|word| word.contains(part));
    let status = status
        .unwrap_or_else(|| STATUS_OF_CODE.iter().find(says).map_or(DEFAULT_STATUS, |(_, status)| *status));
    let message = error.as_str().or_else(|| error.get("message")?.as_str());
    let message = clean(message.unwrap_or("no explanation given"), key);
    match status {
        401 | 403 => ModelError::Unauthorized,
        429 if names(error, "insufficient_quota") => ModelError::Refused { status, message },
        429 => ModelError::RateLimited { retry_after: None },
        500.. => ModelError::Failed { status, message },
        _ => ModelError::Refused { status, message },
    }
}

fn sentence(body: &Value) -> Option<&str> {
    let error = body.get("error");
    error
        .and_then(|error| error.get("message"))
        .or(error)
        .and_then(Value::as_str)
        .or_else(|| body.get("message")?.as_str())
        .or_else(|| body.get("detail")?.as_str())
        .filter(|text| !text.trim().is_empty())
}

fn names(body: &Value, code: &str) -> bool {
    let error = body.get("error").unwrap_or(body);
    [error.get("code"), error.get("type")].into_iter().flatten().any(|word| word.as_str() == Some(code))
}

/// Shortens a text to one line of at most `MAX_MESSAGE_CHARS` characters and hides everything that looks like a key or a
/// link.
pub fn clean(text: &str, key: Option<&str>) -> String {
    let hidden;
    let text = match key {
        Some(key) if key.len() >= 4 && text.contains(key) => {
            hidden = text.replace(key, "[hidden]");
            &hidden
        }
        _ => text,
    };
    let mut line = String::new();
    let mut after_bearer = false;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        if after_bearer {
            line.push_str("[hidden]");
        } else if word.contains("://") {
            line.push_str("[link]");
        } else {
            push_word(&mut line, word);
        }
        after_bearer = word.trim_matches(|c: char| !c.is_alphanumeric()).eq_ignore_ascii_case("bearer");
    }
    match line.char_indices().nth(MAX_MESSAGE_CHARS) {
        None => line,
        Some(_) => line.chars().take(MAX_MESSAGE_CHARS - 1).chain(['…']).collect(),
    }
}

fn push_word(line: &mut String, word: &str) {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*');
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let in_key = is_of_key(first);
        let length = rest.find(|c| is_of_key(c) != in_key).unwrap_or(rest.len());
        let (run, tail) = rest.split_at(length);
        if in_key && looks_like_key(run) {
            line.push_str("[hidden]");
        } else {
            line.extend(run.chars().filter(|c| !changes_direction(*c)));
        }
        rest = tail;
    }
}

fn looks_like_key(run: &str) -> bool {
    const PREFIXES: [&str; 12] =
        ["sk-", "sk_", "pk-", "rk-", "gsk_", "xai-", "nvapi-", "hf_", "r8_", "ghp_", "AIza", "eyJ"];
    let unbroken = run.len() >= 32 && run.bytes().all(|b| b.is_ascii_alphanumeric());
    unbroken || (run.len() >= 8 && PREFIXES.iter().any(|prefix| run.starts_with(prefix)))
}

/// Whether the character changes the reading direction of the rest of the line.
fn changes_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refuse(status: u16, body: &str) -> ModelError {
        from_status(status, body.as_bytes(), "Some Reason", Some("secret-key"), None)
    }

    #[test]
    fn the_sentence_is_found_in_every_customary_shape() {
        for body in [
            r#"{"error":{"message":"no such model","type":"x"}}"#,
            r#"{"error":"no such model"}"#,
            r#"{"object":"error","message":"no such model"}"#,
            r#"{"detail":"no such model"}"#,
        ] {
            let expected = ModelError::Refused { status: 404, message: "no such model".to_owned() };
            assert_eq!(refuse(404, body), expected);
        }
        for body in ["", "<html>nginx</html>", r#"{"error":{}}"#, r#"{"error":{"message":" "}}"#, "[1]"] {
            let expected = ModelError::Failed { status: 502, message: "Some Reason".to_owned() };
            assert_eq!(refuse(502, body), expected, "{body}");
        }
    }

    #[test]
    fn the_status_decides_the_kind() {
        assert_eq!(refuse(401, "{}"), ModelError::Unauthorized);
        assert_eq!(refuse(403, "{}"), ModelError::Unauthorized);
        assert_eq!(refuse(429, "{}"), ModelError::RateLimited { retry_after: None });
        let empty = r#"{"error":{"message":"buy more","code":"insufficient_quota"}}"#;
        assert_eq!(refuse(429, empty), ModelError::Refused { status: 429, message: "buy more".to_owned() });
    }

    #[test]
    fn errors_in_a_stream_say_their_status_in_many_ways() {
        let kind = |error: Value| in_stream(&error, None);
        let failed = |status, message: &str| ModelError::Failed { status, message: message.to_owned() };
        assert_eq!(kind(json!({ "code": 502, "message": "down" })), failed(502, "down"));
        assert_eq!(kind(json!({ "code": "503", "message": "down" })), failed(503, "down"));
        assert_eq!(kind(json!("down")), failed(500, "down"));
        assert_eq!(kind(json!({ "code": 7 })), failed(500, "no explanation given"));
        assert_eq!(
            kind(json!({ "type": "rate_limit_exceeded" })),
            ModelError::RateLimited { retry_after: None }
        );
        assert_eq!(kind(json!({ "code": "invalid_api_key" })), ModelError::Unauthorized);
        assert_eq!(
            kind(json!({ "type": "invalid_request_error", "message": "too long" })),
            ModelError::Refused { status: 400, message: "too long".to_owned() }
        );
    }

    #[test]
    fn keys_and_links_are_hidden() {
        let cleaned = |text: &str| clean(text, Some("secret-key"));
        assert_eq!(cleaned("bad key secret-key."), "bad key [hidden].");
        assert_eq!(cleaned("key 'sk-proj-abc_DEF123' is wrong"), "key '[hidden]' is wrong");
        assert_eq!(cleaned("Authorization: Bearer abc.def, sorry"), "Authorization: Bearer [hidden] sorry");
        assert_eq!(cleaned("id=0123456789abcdef0123456789abcdef;"), "id=[hidden];");
        assert_eq!(cleaned("see https://example.com/docs now"), "see [link] now");
        assert_eq!(
            cleaned("use Llama-4-Maverick-17B-128E-Instruct-FP8"),
            "use Llama-4-Maverick-17B-128E-Instruct-FP8"
        );
    }

    #[test]
    fn the_line_is_short_and_plain() {
        assert_eq!(clean("a\r\n\u{1b}[31mred\0 \u{202e}b", None), "a [31mred b");
        let long = clean(&"ü ".repeat(400), None);
        assert_eq!(long.chars().count(), 300);
        assert!(long.ends_with('…'));
    }
}
