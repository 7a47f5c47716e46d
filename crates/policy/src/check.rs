//! Whether a rule can be accepted.

use protocol::policy::CallPattern;

use crate::pattern::{compile_glob, plain_glob};

/// The most tools that one rule names.
pub const MAX_TOOLS: usize = 32;
/// The longest path or command of a rule, in bytes.
pub const MAX_PATTERN_BYTES: usize = 1024;
/// The longest note of a rule, in characters.
pub const MAX_NOTE_CHARS: usize = 500;
/// The longest name of a tool in a rule, in bytes.
const MAX_TOOL_BYTES: usize = 128;

/// Why a rule is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message} {fix}")]
pub struct RuleError {
    /// The field of the rule: `tools`, `path`, `command` or `note`.
    pub field: &'static str,
    /// In lower snake case, as in `too_long`.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub fix: String,
}

fn error(field: &'static str, code: &'static str, message: impl Into<String>, fix: &str) -> RuleError {
    RuleError { field, code, message: message.into(), fix: fix.to_owned() }
}

/// Checks the calls that a rule covers: a pattern that is accepted can be compiled, is short, and covers something.
///
/// A pattern without any field would cover every call, which nobody should write by leaving things out; `tools: ["*"]`
/// says it.
pub fn check(calls: &CallPattern) -> Result<(), RuleError> {
    if calls.tools.is_empty() && calls.path.is_none() && calls.command.is_none() {
        let message = "The rule does not say which calls it covers.";
        return Err(error("tools", "missing", message, "Name tools or a path; \"*\" stands for every tool."));
    }
    if calls.tools.len() > MAX_TOOLS {
        let message = format!("The rule names more than {MAX_TOOLS} tools.");
        return Err(error("tools", "too_many", message, "Use \"*\" in a name, or write two rules."));
    }
    calls.tools.iter().try_for_each(|tool| check_tool(tool))?;
    if let Some(path) = &calls.path {
        check_path(path)?;
    }
    if let Some(command) = &calls.command {
        check_text("command", command)?;
    }
    if calls.path.is_some() && calls.command.is_some() {
        let message = "A rule covers files or commands, not both.";
        return Err(error(
            "command",
            "covers_nothing",
            message,
            "Write one rule for the path and one for the command.",
        ));
    }
    Ok(())
}

/// Checks the note of a rule.
pub fn check_note(note: Option<&str>) -> Result<(), RuleError> {
    let Some(note) = note else { return Ok(()) };
    if note.chars().count() > MAX_NOTE_CHARS {
        let message = format!("The note is longer than {MAX_NOTE_CHARS} characters.");
        return Err(error("note", "too_long", message, "Shorten it."));
    }
    if note.chars().any(char::is_control) {
        return Err(error(
            "note",
            "control_character",
            "The note contains control characters.",
            "Write it in one line.",
        ));
    }
    Ok(())
}

fn check_tool(tool: &str) -> Result<(), RuleError> {
    if tool.is_empty() {
        return Err(error("tools", "empty", "The name of a tool is empty.", "\"*\" stands for every tool."));
    }
    if tool.len() > MAX_TOOL_BYTES {
        let message = format!("The name of a tool is longer than {MAX_TOOL_BYTES} bytes.");
        return Err(error("tools", "too_long", message, "Use \"*\" for a part of it."));
    }
    if tool.chars().any(|c| c.is_control() || c.is_whitespace()) {
        let message = "The name of a tool contains a space or a control character.";
        return Err(error("tools", "invalid_name", message, "Give each tool its own entry."));
    }
    Ok(())
}

fn check_text(field: &'static str, text: &str) -> Result<(), RuleError> {
    if text.trim().is_empty() {
        return Err(error(
            field,
            "empty",
            format!("The {field} is empty."),
            "Leave it out, or say what it covers.",
        ));
    }
    if text.len() > MAX_PATTERN_BYTES {
        let message = format!("The {field} is longer than {MAX_PATTERN_BYTES} bytes.");
        return Err(error(field, "too_long", message, "Use `*` or `**` for a part of it."));
    }
    if text.chars().any(char::is_control) {
        let message = format!("The {field} contains control characters.");
        return Err(error(field, "control_character", message, "Remove them."));
    }
    Ok(())
}

fn check_path(path: &str) -> Result<(), RuleError> {
    check_text("path", path)?;
    let Some(glob) = plain_glob(path) else {
        let message = "The path is not inside the work directory.";
        return Err(error(
            "path",
            "outside",
            message,
            "Write it relative to the work directory, like `src/**`.",
        ));
    };
    compile_glob(&glob, false).map(|_| ()).map_err(|problem| {
        let message = format!("The path is not a pattern: {}.", problem.kind());
        error(
            "path",
            "invalid_pattern",
            message,
            "`**` stands for folders, `*` for any characters of a name.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str) -> CallPattern {
        CallPattern { path: Some(path.to_owned()), ..CallPattern::default() }
    }

    fn field_of(calls: &CallPattern) -> Option<&'static str> {
        check(calls).err().map(|error| error.field)
    }

    #[test]
    fn patterns_that_cover_something_are_accepted() {
        for accepted in [
            "src/**",
            "**",
            "**/*.rs",
            "src/",
            "a b/ü.txt",
            "/workspace/src/**",
            "./src",
            "{a,b}/*.[ch]",
            "[[]id[]]/**",
        ] {
            assert_eq!(check(&path(accepted)), Ok(()), "{accepted}");
        }
        assert_eq!(check(&CallPattern::tool("*")), Ok(()));
        assert_eq!(check(&CallPattern::tool("mcp__*__read")), Ok(()));
        assert_eq!(
            check(&CallPattern { command: Some("git status".to_owned()), ..CallPattern::default() }),
            Ok(())
        );
    }

    #[test]
    fn a_pattern_that_is_left_empty_does_not_cover_every_call() {
        let error = check(&CallPattern::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "tools: The rule does not say which calls it covers. Name tools or a path; \"*\" stands for every tool."
        );
        assert_eq!(field_of(&path("")), Some("path"));
        assert_eq!(field_of(&path("  ")), Some("path"));
        assert_eq!(field_of(&CallPattern::tool("")), Some("tools"));
    }

    #[test]
    fn patterns_that_cover_nothing_or_are_malformed_are_refused() {
        for refused in ["/etc/**", "../x", "a/../../b", "a/..", "[", "{a", "a\nb", "//x", "."] {
            assert_eq!(field_of(&path(refused)), Some("path"), "{refused}");
        }
        let both = CallPattern {
            path: Some("a".to_owned()),
            command: Some("ls".to_owned()),
            ..CallPattern::default()
        };
        assert_eq!(field_of(&both), Some("command"));
    }

    #[test]
    fn lengths_are_bounded() {
        assert_eq!(field_of(&path(&"x".repeat(MAX_PATTERN_BYTES))), None);
        assert_eq!(field_of(&path(&"x".repeat(MAX_PATTERN_BYTES + 1))), Some("path"));
        assert_eq!(field_of(&CallPattern::tool(&"x".repeat(129))), Some("tools"));
        assert_eq!(
            field_of(&CallPattern { tools: vec!["a".to_owned(); 33], ..CallPattern::default() }),
            Some("tools")
        );
        assert_eq!(field_of(&CallPattern::tool("read file")), Some("tools"));
        assert!(check_note(Some(&"字".repeat(500))).is_ok());
        assert!(check_note(Some(&"字".repeat(501))).is_err());
        assert!(check_note(Some("two\nlines")).is_err());
        assert!(check_note(None).is_ok());
    }
}
