//! What changed since the branch left `main`, and which crates that concerns.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use anyhow::Result;
use serde_json::Value;

use crate::{command, project::Project};

/// Branches that a change is compared with, the first that exists.
const BASES: [&str; 3] = ["origin/HEAD", "origin/main", "main"];
/// Files that concern every crate.
const FOR_ALL: [&str; 5] =
    ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "clippy.toml", ".cargo/config.toml"];
/// Files outside of a crate that a crate compiles or embeds.
const COMPILED_ELSEWHERE: [(&str, &[&str]); 3] = [
    ("fuzz/src/", &["protocol", "models", "tools", "engine", "patch", "commands"]),
    ("web/dist/", &["server"]),
    ("CONTRIBUTING.md", &["tools"]),
];

/// The files that differ from a commit, untracked ones included, relative to the repository.
pub fn changed_files(project: &Project, since: Option<&str>) -> Result<Vec<String>> {
    let git = |arguments: &[&str]| {
        let text = command::output_of(Command::new("git").args(arguments).current_dir(&project.root))?;
        Ok::<_, anyhow::Error>(text.lines().map(str::to_owned).collect::<Vec<_>>())
    };
    let base = match since {
        Some(since) => since.to_owned(),
        None => {
            let mut bases = BASES.iter().filter_map(|base| git(&["merge-base", "HEAD", base]).ok());
            bases.next().and_then(|lines| lines.first().cloned()).unwrap_or_else(|| "HEAD".to_owned())
        }
    };
    let mut files: BTreeSet<String> = git(&["diff", "--name-only", &base])?.into_iter().collect();
    files.extend(git(&["ls-files", "--others", "--exclude-standard"])?);
    Ok(files.into_iter().collect())
}

/// The crates of the workspace and how they depend on each other.
pub struct Workspace {
    /// Each crate with the crates it depends on.
    dependencies: BTreeMap<String, BTreeSet<String>>,
    /// The same for tests, benchmarks and examples.
    test_dependencies: BTreeMap<String, BTreeSet<String>>,
}

/// The crates that a change concerns.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Affected {
    /// Crates with changed files.
    pub changed: BTreeSet<String>,
    /// The changed crates, all crates whose library or binary depends on one, and the crates whose tests depend on those.
    pub dependent: BTreeSet<String>,
}

impl Workspace {
    /// Reads the output of `cargo metadata`.
    pub fn of(metadata: &Value) -> Self {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let members = list(&metadata["workspace_members"]);
        let packages: Vec<Value> =
            list(&metadata["packages"]).into_iter().filter(|it| members.contains(&it["id"])).collect();
        let ours: BTreeSet<String> = packages.iter().map(|package| text(&package["name"])).collect();
        let mut workspace = Self { dependencies: BTreeMap::new(), test_dependencies: BTreeMap::new() };
        for package in &packages {
            let name = text(&package["name"]);
            let (mut normal, mut for_tests) = (BTreeSet::new(), BTreeSet::new());
            for dependency in list(&package["dependencies"]) {
                let to = text(&dependency["name"]);
                if ours.contains(&to) {
                    let is_for_tests = dependency["kind"] == "dev";
                    if is_for_tests { &mut for_tests } else { &mut normal }.insert(to);
                }
            }
            workspace.dependencies.insert(name.clone(), normal);
            workspace.test_dependencies.insert(name, for_tests);
        }
        workspace
    }

    pub fn all(&self) -> Affected {
        let names: BTreeSet<String> = self.dependencies.keys().cloned().collect();
        Affected { changed: names.clone(), dependent: names }
    }

    /// Which crates these files concern.
    pub fn affected(&self, files: &[String]) -> Affected {
        if files.iter().any(|file| FOR_ALL.contains(&file.as_str())) {
            return self.all();
        }
        let mut changed = BTreeSet::new();
        for file in files {
            let mut parts = file.split('/');
            match (parts.next(), parts.next()) {
                (Some("crates"), Some(name)) => drop(changed.insert(name.to_owned())),
                (Some("xtask"), Some(_)) => drop(changed.insert("xtask".to_owned())),
                _ => {}
            }
            for (place, crates) in COMPILED_ELSEWHERE {
                if file.starts_with(place) {
                    changed.extend(crates.iter().map(|name| (*name).to_owned()));
                }
            }
        }
        changed.retain(|name| self.dependencies.contains_key(name));
        let mut dependent = changed.clone();
        loop {
            let more: Vec<String> = needing(&self.dependencies, &dependent);
            if more.is_empty() {
                break;
            }
            dependent.extend(more);
        }
        let for_tests = needing(&self.test_dependencies, &dependent);
        dependent.extend(for_tests);
        Affected { changed, dependent }
    }
}

/// The crates outside of `known` that depend on one inside.
fn needing(dependencies: &BTreeMap<String, BTreeSet<String>>, known: &BTreeSet<String>) -> Vec<String> {
    let outside = dependencies.iter().filter(|(name, _)| !known.contains(*name));
    outside.filter(|(_, needs)| !needs.is_disjoint(known)).map(|(name, _)| name.clone()).collect()
}

/// The integration tests among changed files, as crate and test: `crates/server/tests/agents/plan.rs` is `agents`.
pub fn changed_integration_tests(files: &[String]) -> BTreeSet<(String, String)> {
    let tests = files.iter().filter_map(|file| {
        let (name, test) = file.strip_prefix("crates/")?.split_once("/tests/")?;
        let test = test.split('/').next()?.trim_end_matches(".rs");
        Some((name.to_owned(), test.to_owned()))
    });
    tests.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn workspace() -> Workspace {
        let package = |name: &str, needs: Value, for_tests: Value| {
            let dependency = |kind: Value| move |name: &Value| json!({ "name": name, "kind": kind.clone() });
            let needs = needs.as_array().unwrap().iter().map(dependency(Value::Null));
            let for_tests = for_tests.as_array().unwrap().iter().map(dependency(json!("dev")));
            json!({ "id": name, "name": name, "dependencies": needs.chain(for_tests).collect::<Vec<_>>() })
        };
        Workspace::of(&json!({
            "workspace_members": ["protocol", "tools", "engine", "server", "testkit", "xtask"],
            "packages": [
                package("protocol", json!(["serde"]), json!([])),
                package("tools", json!(["protocol"]), json!([])),
                package("engine", json!(["tools", "protocol"]), json!([])),
                package("server", json!(["engine"]), json!(["testkit"])),
                package("testkit", json!(["server", "tools"]), json!([])),
                package("xtask", json!(["protocol"]), json!([])),
                package("serde", json!([]), json!([])),
            ],
        }))
    }

    fn affected(files: &[&str]) -> [String; 2] {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        let affected = workspace().affected(&files);
        [affected.changed, affected.dependent].map(|names| names.into_iter().collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_changed_crate_concerns_those_that_depend_on_it() {
        assert_eq!(affected(&["crates/engine/src/run.rs"]), ["engine", "engine server testkit"]);
        assert_eq!(affected(&["crates/testkit/src/lib.rs"]), ["testkit", "server testkit"]);
        assert_eq!(affected(&["xtask/src/main.rs"]), ["xtask", "xtask"]);
    }

    #[test]
    fn files_outside_of_crates_concern_those_that_compile_them() {
        assert_eq!(affected(&["README.md", "docs/agents.md"]), ["", ""]);
        assert_eq!(affected(&["web/dist/index.html"])[0], "server");
        assert_eq!(affected(&["CONTRIBUTING.md"])[0], "tools");
        assert_eq!(affected(&["Cargo.lock"])[0], "engine protocol server testkit tools xtask");
        assert_eq!(affected(&["crates/removed/src/lib.rs"])[0], "");
    }

    #[test]
    fn changed_integration_tests_are_named() {
        let files =
            ["crates/server/tests/agents/plan.rs", "crates/server/tests/text.rs", "crates/x/src/a.rs"];
        let found = changed_integration_tests(&files.map(str::to_owned));
        let expected = [("server", "agents"), ("server", "text")];
        assert_eq!(found, expected.map(|(name, test)| (name.to_owned(), test.to_owned())).into());
    }
}
