//! Which files are protected, and how.

use super::*;
use crate::pattern::compile_glob;

#[test]
fn built_in_rules_are_listed_with_ids_notes_and_patterns_that_are_accepted_or_long() {
    let rules = built_in();
    assert_eq!(rules.len(), ProtectedFiles::built_in().groups().count() + 1);
    let ids: std::collections::BTreeSet<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!(ids.len(), rules.len());
    for rule in &rules {
        assert!(rule.note.is_some());
        let path = rule.calls.path.as_deref().unwrap();
        assert!(compile_glob(path, true).is_ok(), "{path}");
    }
}

#[test]
fn spellings_that_some_file_systems_take_for_the_same_file_are_recognised() {
    for path in [
        ".git/config",
        ".GIT/config",
        "a/.Git/hooks/pre-commit",
        ".git",
        ".git./config",
        ".git /config",
        ".g\u{200c}it/config",
        ".git::$INDEX_ALLOCATION/config",
        "GIT~1/config",
        "a\\.git\\config",
        ".hg/hgrc",
    ] {
        assert!(matches!(write_of(path), BuiltInWrite::Refused(_)), "{path}");
    }
    for path in [".ENV", ".env.", ".Env.Local", "deploy/ID_RSA", "a/b/Server.PEM", ".env:stream"] {
        assert!(is_secret(path), "{path}");
    }
}

#[test]
fn ordinary_files_are_free() {
    for path in [
        "",
        "src/main.rs",
        ".gitignore",
        ".gitattributes",
        ".github/CODEOWNERS",
        ".github/ISSUE_TEMPLATE/bug.md",
        "docs/agents/intro.md",
        "git/config",
        "environment.ts",
        "src/env.rs",
        "keys.rs",
        "package.json",
        "Makefile",
        "profile.md",
        "x.git",
        "src/credentials.rs",
        "docs/credentials.md",
        ".env.example",
        "a/.env.sample",
        ".env.template",
        ".env.local.example",
        "id_rsa.pub",
        "keyboard.rs",
        "monkey",
    ] {
        assert_eq!(write_of(path), BuiltInWrite::Free, "{path}");
        assert!(!is_secret(path), "{path}");
    }
}

#[test]
fn files_that_are_executed_or_trusted_later_are_sensitive() {
    for path in [
        ".github/workflows/ci.yml",
        "sub/.github/workflows/deep/ci.yml",
        ".gitlab-ci.yml",
        ".husky/pre-commit",
        ".vscode/tasks.json",
        ".npmrc",
        "packages/a/.npmrc",
        ".envrc",
        "AGENTS.md",
        "docs/AGENTS.md",
        ".snow/main-agents.toml",
        "main-agents.toml",
        "CLAUDE.md",
        ".mcp.json",
        ".concertino/agents/a/agent.toml",
        ".bashrc",
        ".zshrc",
        ".profile",
        "Jenkinsfile",
        ".cargo/config.toml",
        "mise.toml",
        ".mise.local.toml",
        "lefthook.yml",
        ".lefthook-local.yml",
        "gradle/wrapper/gradle-wrapper.properties",
        "site/sitecustomize.py",
        "bare.git/config",
        ".env",
        ".env.local",
        "prod.env",
        "tls/server.key",
        "id_ed25519",
        ".ssh/config",
        "credentials.json",
        "credentials",
        "vault.kdbx",
        "Microsoft.PowerShell_profile.ps1",
        "appveyor.yml",
        ".appveyor.yml",
    ] {
        assert!(matches!(write_of(path), BuiltInWrite::Sensitive(_)), "{path}");
    }
}

#[test]
fn the_reason_names_the_file_and_the_cause() {
    assert_eq!(
        write_of(".github/workflows/ci.yml"),
        BuiltInWrite::Sensitive(
            "It changes .github/workflows/ci.yml, which a build server executes.".to_owned()
        )
    );
    assert_eq!(
        write_of(".git/config"),
        BuiltInWrite::Refused(
            ".git/config belongs to the version control system. Use its commands instead, for example git."
                .to_owned()
        )
    );
}
