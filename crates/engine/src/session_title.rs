//! The rules for a title that a person gives a session.

/// The longest title, in characters.
const LONGEST: usize = 200;

/// Trims a title; `None` if nothing is left of it. The error continues the sentence "The title …".
pub(crate) fn validate(title: &str) -> Result<Option<String>, String> {
    let title = title.trim();
    if title.chars().count() > LONGEST {
        return Err(format!("is longer than {LONGEST} characters"));
    }
    if title.chars().any(char::is_control) {
        return Err("has control characters".to_owned());
    }
    Ok((!title.is_empty()).then(|| title.to_owned()))
}
