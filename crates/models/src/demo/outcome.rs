//! The outcome of a tool call, read from the text of its result.
//!
//! A note that a tool echoes must not be mistaken for a decision: words such as "denied" are recognised only in an error,
//! in plain text or in a field for the decision.

use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// The result as JSON; plain text is a JSON string.
    Done(Value),
    Failed(String),
    Denied {
        reason: Option<String>,
    },
    /// The call has no result.
    Missing,
}

impl Outcome {
    pub(super) fn read(text: &str, is_error: bool) -> Self {
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        let verdict = Verdict::of(&value);
        let plain = value.as_str();
        if is_error && has_code(text) {
            return Self::Failed(short(text));
        }
        if verdict == Verdict::Denied || ((is_error || plain.is_some()) && says_denied(plain.unwrap_or(text)))
        {
            let reason = field(&value, &["reason", "note", "comment"]).filter(|_| verdict == Verdict::Denied);
            return Self::Denied { reason: reason.or_else(|| reason_in(&message_of(&value)?)) };
        }
        if is_error || verdict == Verdict::Failed {
            return Self::Failed(short(message_of(&value).as_deref().unwrap_or(text)));
        }
        Self::Done(value)
    }
}

/// Whether an error begins with a code, such as `access_denied: …`: the tool refused it, not a person.
fn has_code(text: &str) -> bool {
    let code = text.split_once(": ").map_or(text, |(code, _)| code);
    !code.is_empty()
        && (code.contains('_') || matches!(code, "conflict" | "timeout" | "cancelled" | "internal"))
        && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// The server writes a line above the result when the person changed the input of a call before it ran. Returns the changed
/// input and the result without that line.
pub(super) fn split_edit_note(text: &str) -> (Option<Value>, &str) {
    const NOTE: &str = "The person changed the input before this ran";
    match text.split_once('\n') {
        Some((note, rest)) if note.starts_with(NOTE) => {
            let input = note.find('{').and_then(|at| serde_json::from_str(note.get(at..)?).ok());
            (Some(input.unwrap_or(Value::Null)), rest)
        }
        _ => (None, text),
    }
}

/// A short quotation of any result.
pub(super) fn quote(value: &Value) -> String {
    match value {
        Value::String(text) => short(text),
        other => short(&other.to_string()),
    }
}

/// One line of at most 200 characters.
pub(super) fn short(text: &str) -> String {
    const LONGEST: usize = 200;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    let cut: String = line.chars().take(LONGEST - 1).collect();
    format!("{}…", cut.trim_end())
}

#[derive(PartialEq)]
enum Verdict {
    Denied,
    Failed,
    None,
}

impl Verdict {
    fn of(value: &Value) -> Self {
        let is = |key: &str, wanted: bool| value[key] == Value::Bool(wanted);
        let states =
            ["status", "decision", "outcome", "code", "state"].iter().filter_map(|key| value[*key].as_str());
        if is("denied", true) || is("approved", false) || states.into_iter().any(says_denied) {
            return Self::Denied;
        }
        let error = value.get("error").is_some_and(|error| !error.is_null() && *error != Value::Bool(false));
        if is("ok", false) || is("success", false) || is("isError", true) || error {
            return if field(value, &["error"]).is_some_and(|text| says_denied(&text)) {
                Self::Denied
            } else {
                Self::Failed
            };
        }
        Self::None
    }
}

fn says_denied(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "denied",
        "declined",
        "refused by",
        "rejected",
        "not approved",
        "not approve",
        "did not allow",
        "not permitted by",
        "withdrawn",
        "disapproved",
        "拒绝",
        "不同意",
        "未批准",
        "没有批准",
        "驳回",
        "不允许",
        "撤回",
    ];
    let text = text.to_lowercase();
    WORDS.iter().any(|word| text.contains(word))
}

fn message_of(value: &Value) -> Option<String> {
    field(value, &["message", "error", "errorText", "detail", "text", "reason"])
        .or_else(|| value.as_str().map(str::to_owned))
}

/// The first of the fields that contains text, also one level down: `{"error": {"message": …}}`.
fn field(value: &Value, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| match &value[*name] {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Object(inner) => {
            ["message", "text", "reason"].iter().find_map(|name| Some(inner.get(*name)?.as_str()?.to_owned()))
        }
        _ => None,
    })
}

/// The text after "reason:", or after the first colon.
fn reason_in(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let marked = ["reason:", "reason：", "reason given:", "because", "原因：", "理由：", "原因:", "理由:"];
    let found = marked.iter().find_map(|mark| Some(lower.find(mark)? + mark.len()));
    let colon =
        || text.char_indices().find(|(_, c)| matches!(c, ':' | '：')).map(|(at, c)| at + c.len_utf8());
    let reason = text.get(found.or_else(colon)?..)?.trim();
    let reason = reason.trim_matches(['"', '“', '”', '「', '」', ' ']).trim_end_matches(['.', '。']);
    (!reason.is_empty()).then(|| short(reason))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn denied(reason: Option<&str>) -> Outcome {
        Outcome::Denied { reason: reason.map(str::to_owned) }
    }

    #[test]
    fn denials_are_recognised_in_many_shapes() {
        assert_eq!(
            Outcome::read("The user denied this call. Reason: keep it.", true),
            denied(Some("keep it"))
        );
        assert_eq!(Outcome::read("denied: too risky", false), denied(Some("too risky")));
        assert_eq!(Outcome::read("The person did not approve this call.", true), denied(None));
        assert_eq!(
            Outcome::read(r#"{"approved":false,"reason":"not today"}"#, false),
            denied(Some("not today"))
        );
        assert_eq!(Outcome::read(r#"{"ok":false,"error":"denied by the user"}"#, true), denied(None));
        assert_eq!(Outcome::read(r#"{"status":"denied"}"#, false), denied(None));
        assert_eq!(Outcome::read("用户拒绝了这次调用。原因：先别动", true), denied(Some("先别动")));
    }

    #[test]
    fn an_error_with_a_code_is_no_decision_of_a_person() {
        let error = "access_denied: the file belongs to the server";
        assert_eq!(Outcome::read(error, true), Outcome::Failed(error.into()));
    }

    #[test]
    fn an_echoed_note_is_not_a_verdict() {
        let text = r#"{"ok":true,"data":{"note":"delete the denied requests"}}"#;
        assert_eq!(Outcome::read(text, false), Outcome::Done(serde_json::from_str(text).unwrap()));
    }

    #[test]
    fn failures_keep_their_sentence() {
        assert_eq!(Outcome::read("no such zone", true), Outcome::Failed("no such zone".into()));
        let nested = json!({ "ok": false, "error": { "message": "no such zone" } }).to_string();
        assert_eq!(Outcome::read(&nested, false), Outcome::Failed("no such zone".into()));
        assert_eq!(Outcome::read("plain", false), Outcome::Done("plain".into()));
    }

    #[test]
    fn quotations_are_short() {
        assert_eq!(quote(&json!({ "a": 1 })), r#"{"a":1}"#);
        assert_eq!(quote(&"x".repeat(500).into()).chars().count(), 200);
    }
}
