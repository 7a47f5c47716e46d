//! What "always" would allow: the smallest pattern that a person recognises and that covers the call.

use protocol::policy::CallPattern;

use crate::{check::check, pattern::literal_glob};

/// The tools that change files of the workspace.
pub const WRITING_TOOLS: [&str; 3] = ["write-file", "edit-file", "apply-patch"];
/// The tools that read files of the workspace.
pub const READING_TOOLS: [&str; 4] = ["read-file", "list-dir", "grep-files", "glob-files"];
/// The tools that run commands.
pub const COMMAND_TOOLS: [&str; 3] = ["shell", "shell-command", "exec-command"];

/// Proposes to allow these tools, and the one that was called, in the folder that all paths are in. At the top level it
/// proposes the one file instead of everything; `None` when there are several.
pub(crate) fn of_folder(tool: &str, tools: &[&str], paths: &[&str]) -> Option<CallPattern> {
    let folder = common_folder(paths)?;
    let path = match (folder.is_empty(), paths) {
        (false, _) => format!("{}/**", literal_glob(&folder)),
        (true, [only]) if !only.is_empty() => literal_glob(only),
        (true, _) => return None,
    };
    pattern(tool, tools, path)
}

/// Proposes to allow reading in the folder that a call lists or searches: also in the work directory itself, since reading
/// it is the least that a person can allow. Files that usually hold secrets are not part of it.
pub(crate) fn of_searched_folder(tool: &str, folder: &str) -> Option<CallPattern> {
    let path = if folder.is_empty() { "**".to_owned() } else { format!("{}/**", literal_glob(folder)) };
    pattern(tool, &READING_TOOLS, path)
}

/// Proposes to allow these tools, and the one that was called, for one file.
pub(crate) fn of_file(tool: &str, tools: &[&str], path: &str) -> Option<CallPattern> {
    pattern(tool, tools, literal_glob(path))
}

fn pattern(tool: &str, tools: &[&str], path: String) -> Option<CallPattern> {
    let mut tools: Vec<String> = tools.iter().map(|&tool| tool.to_owned()).collect();
    if !tools.iter().any(|listed| listed == tool) {
        tools = vec![tool.to_owned()];
    }
    let proposed = CallPattern { tools, path: Some(path), command: None };
    check(&proposed).is_ok().then_some(proposed)
}

/// Returns the deepest folder that all files are in; `""` is the top level. `None` without paths.
fn common_folder(paths: &[&str]) -> Option<String> {
    let folder = |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    let (first, others) = paths.split_first()?;
    let mut common = folder(first);
    for path in others {
        let other = folder(path);
        while !common.is_empty() && other != common && !other.starts_with(&format!("{common}/")) {
            common = folder(&common);
        }
    }
    Some(common)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposed(paths: &[&str]) -> Option<String> {
        of_folder("write-file", &WRITING_TOOLS, paths).and_then(|grant| grant.path)
    }

    #[test]
    fn always_covers_the_folder_but_never_the_whole_workspace() {
        assert_eq!(proposed(&["src/a.rs"]).as_deref(), Some("src/**"));
        assert_eq!(proposed(&["src/a.rs", "src/b.rs"]).as_deref(), Some("src/**"));
        assert_eq!(proposed(&["src/a/x.rs", "src/b/y.rs"]).as_deref(), Some("src/**"));
        assert_eq!(proposed(&["src/a/x.rs", "src/ab/y.rs"]).as_deref(), Some("src/**"));
        assert_eq!(proposed(&["src/a/x.rs", "src/a/b/y.rs"]).as_deref(), Some("src/a/**"));
        assert_eq!(proposed(&["README.md"]).as_deref(), Some("README.md"));
        assert_eq!(proposed(&["README.md", "LICENSE"]), None);
        assert_eq!(proposed(&["src/a.rs", "README.md"]), None);
        assert_eq!(proposed(&[""]), None);
        assert_eq!(proposed(&[]), None);
        assert_eq!(proposed(&["app/[id]/page.tsx"]).as_deref(), Some("app/[[]id[]]/**"));
    }

    #[test]
    fn another_tool_is_granted_for_itself_only() {
        let grant = of_folder("write_file", &WRITING_TOOLS, &["a/b"]).unwrap();
        assert_eq!(grant.tools, ["write_file"]);
    }
}
