//! Capability groups: names for sets of tools, so that a definition can say what an agent should be able to do.

/// A group and the keys of its tools.
pub type Group = (&'static str, &'static [&'static str]);

pub const GROUPS: [Group; 17] = [
    ("system", &["time-now", "update-plan", "jsx-create"]),
    ("agent", &["spawn-agent", "send-input", "wait-agent", "abort-agent"]),
    (
        "browser",
        &[
            "open-url",
            "browser-snapshot",
            "browser-observe",
            "browser-extract",
            "browser-act",
            "browser-wait",
        ],
    ),
    ("web", &["open-url"]),
    ("file-read", &["read-file", "list-dir", "grep-files"]),
    ("file-write", &["apply-patch", "edit-document"]),
    ("shell", &["shell", "shell-command", "exec-command", "write-stdin"]),
    ("email", &["email-query", "email-mutate"]),
    ("calendar", &["calendar-query", "calendar-mutate"]),
    ("office", &["office-execute"]),
    ("image-generate", &["image-generate"]),
    ("video-generate", &["video-generate"]),
    ("chart", &["chart-render"]),
    ("widget", &["generate-widget", "widget-init", "widget-list", "widget-get", "widget-check"]),
    ("project", &["project-query", "project-mutate"]),
    ("code-interpreter", &["js-repl", "js-repl-reset"]),
    ("approval", &["request-user-input"]),
];

/// The tool keys of a group; `None` for a name that is no group.
pub fn tools_of(group: &str) -> Option<&'static [&'static str]> {
    GROUPS.iter().find(|(name, _)| *name == group).map(|(_, tools)| *tools)
}

/// Tools that a mode takes away from every agent.
pub fn is_allowed_in(mode: Option<&str>, tool: &str) -> bool {
    const NOT_IN_SETTINGS: [&str; 3] = ["open-url", "project-query", "project-mutate"];
    !(mode == Some("settings") && NOT_IN_SETTINGS.contains(&tool))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_mode_opens_no_addresses() {
        assert!(!is_allowed_in(Some("settings"), "open-url"));
        assert!(is_allowed_in(Some("project"), "open-url") && is_allowed_in(None, "open-url"));
        assert_eq!(tools_of("web"), Some(&["open-url"][..]));
        assert_eq!(tools_of("nonsense"), None);
    }
}
