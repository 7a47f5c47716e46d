//! The names that tools have in `main-agents.toml` files written for Snow CLI, and our tools that do the same.
//!
//! Aliases are accepted in that file only: the model, the log, the rules and the events always have our names.

/// A tool's name in Snow CLI, and ours. Tools of Snow CLI that are not listed have no counterpart here.
const ALIASES: [(&str, &str); 15] = [
    ("filesystem-read", "read-file"),
    ("filesystem-create", "write-file"),
    ("filesystem-edit", "edit-file"),
    ("filesystem-edit_search", "edit-file"),
    ("filesystem-replaceedit", "edit-file"),
    ("terminal-execute", "shell-command"),
    ("askuser-ask_question", "request-user-input"),
    ("ace-text_search", "grep-files"),
    ("ace-search", "grep-files"),
    // All of its to-do tools change or show the one list that `update-plan` replaces.
    ("todo-get", "update-plan"),
    ("todo-add", "update-plan"),
    ("todo-update", "update-plan"),
    ("todo-delete", "update-plan"),
    ("todo-manage", "update-plan"),
    ("todo-ultra", "update-plan"),
];

/// Our name of the tool; a name that is no alias is returned as it is.
pub(super) fn host_name(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alias_leads_to_a_tool_of_this_program() {
        let registry = tools::Registry::builtin(&[]).unwrap();
        // `request-user-input` may not be part of the catalogue yet.
        let exists = |host: &str| registry.get(host).is_some() || host == "request-user-input";
        for (alias, host) in ALIASES {
            assert!(exists(host), "{alias} leads to {host}");
            assert!(registry.get(alias).is_none(), "{alias} is the name of a tool");
            assert_eq!(host_name(host), host);
        }
        assert_eq!(host_name("filesystem-read"), "read-file");
        assert_eq!(host_name("Filesystem-Read"), "Filesystem-Read", "names are case-sensitive");
    }
}
