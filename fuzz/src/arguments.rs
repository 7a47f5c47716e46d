//! The argument text of a tool call: any text.

use serde_json::Value;

/// Strict JSON is never changed, and repaired JSON reads back as itself.
pub fn repair(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let strict: Option<Value> = serde_json::from_str(text.trim_start_matches('\u{feff}').trim()).ok();
    match tools::parse_arguments(text) {
        Ok(value) => {
            if let Some(Value::Object(_)) = &strict {
                assert_eq!(strict.as_ref(), Some(&value), "strict JSON stays as it is");
            }
            if strict.is_none() && !text.trim().is_empty() {
                assert!(value.is_object(), "only objects are repaired");
            }
            let again = tools::parse_arguments(&value.to_string());
            if value.is_object() {
                assert_eq!(again.as_ref(), Ok(&value), "what was read can be read again");
            }
        }
        Err(error) => assert!(!error.is_empty()),
    }
}
