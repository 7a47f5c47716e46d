//! Checks the dependencies of the workspace: every licence is accepted, and every direct dependency is named in the sources
//! of the crate that declares it.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use toml::Table;

use crate::{licence, project::Project, tree::rust_files};

pub fn check(project: &Project) -> Result<()> {
    let file = project.root.join("xtask/dependencies.toml");
    let rules = Rules::parse(&fs::read_to_string(&file)?).with_context(|| file.display().to_string())?;
    let packages = list(&project.metadata, "packages")?;
    let members = list(&project.metadata, "workspace_members")?;
    let mut problems = Vec::new();
    let mut foreign = 0;
    for package in packages {
        if members.contains(&package["id"]) {
            problems.extend(unnamed_dependencies(package, &rules)?);
        } else {
            foreign += 1;
            problems.extend(licence_problem(package, &rules));
        }
    }
    if !problems.is_empty() {
        bail!("{}", problems.join("\n"));
    }
    println!("{foreign} crates, all licences accepted; every direct dependency is used");
    Ok(())
}

struct Rules {
    licences: Vec<String>,
    /// Crate and dependency.
    unnamed: Vec<(String, String)>,
}

impl Rules {
    fn parse(text: &str) -> Result<Self> {
        let table: Table = text.parse()?;
        let entries =
            |key: &str| table.get(key).and_then(toml::Value::as_array).with_context(|| format!("no `{key}`"));
        let text = |value: &toml::Value| value.as_str().map(str::to_owned).context("a text is expected");
        let field = |entry: &toml::Value, key: &str| {
            entry
                .get(key)
                .and_then(toml::Value::as_str)
                .map(str::to_owned)
                .with_context(|| format!("no `{key}`"))
        };
        let mut unnamed = Vec::new();
        for entry in entries("unnamed")? {
            field(entry, "reason")?;
            unnamed.push((field(entry, "crate")?, field(entry, "dependency")?));
        }
        Ok(Self { licences: entries("licences")?.iter().map(text).collect::<Result<_>>()?, unnamed })
    }
}

fn licence_problem(package: &Value, rules: &Rules) -> Option<String> {
    let name = format!("{} {}", text(&package["name"]), text(&package["version"]));
    match package["license"].as_str() {
        None => Some(format!("{name}: declares no licence")),
        Some(expression) => match licence::is_met(expression, &rules.licences) {
            Ok(true) => None,
            Ok(false) => Some(format!(
                "{name}: the licence `{expression}` is not accepted: see xtask/dependencies.toml"
            )),
            Err(error) => Some(format!("{name}: {error:#}")),
        },
    }
}

fn unnamed_dependencies(package: &Value, rules: &Rules) -> Result<Vec<String>> {
    let name = text(&package["name"]);
    let manifest = Path::new(text(&package["manifest_path"]));
    let folder = manifest.parent().context("a manifest without a folder")?;
    let mut sources = String::new();
    for file in rust_files(folder)? {
        sources.push_str(&fs::read_to_string(&file).with_context(|| file.display().to_string())?);
        sources.push('\n');
    }
    let sources = without_comments(&sources);
    let mut problems = Vec::new();
    for dependency in list(package, "dependencies")? {
        let known = text(&dependency["name"]).to_owned();
        let called = dependency["rename"].as_str().unwrap_or(&known).replace('-', "_");
        let excused = rules.unnamed.contains(&(name.to_owned(), known.clone()));
        if !excused && !is_named(&sources, &called) {
            problems.push(format!("`{name}` depends on `{known}` and never uses it: remove the dependency"));
        }
    }
    Ok(problems)
}

fn without_comments(text: &str) -> String {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

/// `name::…` anywhere, or `use name;`.
fn is_named(sources: &str, name: &str) -> bool {
    let ends_word = |before: &str| !before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
    sources.match_indices(name).any(|(place, _)| {
        let (before, after) = (&sources[..place], &sources[place + name.len()..]);
        let used = before.ends_with("use ") && after.starts_with([';', ' ']);
        ends_word(before) && (after.starts_with("::") || used)
    })
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    value[key].as_array().with_context(|| format!("cargo metadata has no `{key}`"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_counts_only_as_a_path() {
        assert!(is_named("use serde::Serialize;", "serde"));
        assert!(is_named("#[tokio::test]", "tokio"));
        assert!(is_named("use anyhow;", "anyhow"));
        assert!(!is_named("let bytes = 1;", "bytes"));
        assert!(!is_named("use serde_json::Value;", "json"));
        assert!(!is_named(&without_comments("    // bytes::Bytes would do"), "bytes"));
    }

    #[test]
    fn a_foreign_licence_is_noticed() {
        let rules = Rules::parse("licences = [\"MIT\"]\nunnamed = []").unwrap();
        let package = |licence| json!({"name": "x", "version": "1.0.0", "license": licence});
        assert_eq!(licence_problem(&package("MIT OR GPL-3.0"), &rules), None);
        assert!(licence_problem(&package("GPL-3.0"), &rules).unwrap().contains("x 1.0.0"));
        assert!(licence_problem(&json!({"name": "x"}), &rules).unwrap().contains("declares no licence"));
    }

    #[test]
    fn an_excuse_needs_a_reason() {
        let rules = "licences = []\nunnamed = [{ crate = \"a\", dependency = \"b\" }]";
        assert!(Rules::parse(rules).is_err());
    }
}
