//! Capability groups: names for sets of tools, so that a definition can say what an agent should be able to do.
//!
//! A group has only tools that exist. What is planned stands in [`PLANNED`] and is neither offered nor grouped.

/// A group and the keys of its tools.
pub type Group = (&'static str, &'static [&'static str]);

pub const GROUPS: [Group; 6] = [
    ("system", &["time-now", "update-plan"]),
    ("agent", &["spawn-agent", "send-input", "wait-agent", "abort-agent"]),
    ("file-read", &["read-file", "list-dir", "grep-files", "glob-files"]),
    ("file-write", &["write-file", "edit-file", "apply-patch"]),
    ("shell", &["shell", "shell-command", "exec-command", "write-stdin"]),
    ("approval", &["request-user-input"]),
];

/// Tools that are not built yet, by the group or the agent that they are for. Built-in agents may name them; such an agent
/// is not available until they exist.
pub const PLANNED: [Group; 18] = [
    ("system", &["jsx-create"]),
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
    ("file-write", &["edit-document"]),
    ("email", &["email-query", "email-mutate"]),
    ("calendar", &["calendar-query", "calendar-mutate"]),
    ("office", &["office-execute"]),
    ("image-generate", &["image-generate"]),
    ("video-generate", &["video-generate"]),
    ("chart", &["chart-render"]),
    ("widget", &["generate-widget", "widget-init", "widget-list", "widget-get", "widget-check"]),
    ("project", &["project-query", "project-mutate"]),
    ("code-interpreter", &["js-repl", "js-repl-reset"]),
    ("search", &["search_google", "search_bing", "search_sogou", "search_github", "search_wiki"]),
    ("viewer", &["viewer_fetch", "http_download"]),
    (
        "automation",
        &[
            "browser_navigate",
            "browser_snapshot",
            "browser_screenshot",
            "browser_click",
            "browser_type",
            "browser_wait",
        ],
    ),
    (
        "file",
        &[
            "list_allowed_directories",
            "list_directory",
            "get_file_info",
            "read_text_file",
            "write_file",
            "edit_file",
            "delete_file",
            "csv_read",
            "csv_write",
            "pdf_read_text",
            "xlsx_read_cells",
            "xlsx_write_cells",
            "pptx_read_outline",
            "pptx_write",
            "image_qa",
        ],
    ),
    ("generate", &["generate_markdown", "generate_html", "generate_pptx", "generate_pdf"]),
];

/// The tool keys of a group; `None` for a name that is no group.
pub fn tools_of(group: &str) -> Option<&'static [&'static str]> {
    GROUPS.iter().find(|(name, _)| *name == group).map(|(_, tools)| *tools)
}

/// The group that a tool belongs to.
pub fn group_of(tool: &str) -> Option<&'static str> {
    GROUPS.iter().find(|(_, tools)| tools.contains(&tool)).map(|(name, _)| *name)
}

/// Tools that a mode takes away from every agent.
pub fn is_allowed_in(mode: Option<&str>, tool: &str) -> bool {
    const NOT_IN_SETTINGS: [&str; 3] = ["open-url", "project-query", "project-mutate"];
    !(mode == Some("settings") && NOT_IN_SETTINGS.contains(&tool))
}

#[cfg(test)]
#[path = "groups_tests.rs"]
mod tests;
