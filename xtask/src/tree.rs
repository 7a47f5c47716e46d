//! Checks the shape of the tree: which crate may depend on which, which module may import which, how files are named,
//! and that each file says what it is for.
//!
//! `concertino → server → engine → {models, tools, store} → protocol`; the three in the middle do not depend on each
//! other. `tools → {files, patch, policy, process}`, which do not depend on each other either; `policy → commands`. `testkit` may depend on everything, `test-support` and `powerloss` on none of our crates; only tests use them.
//! The layers of modules inside a crate are in `layers.rs`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use toml::{Table, Value};

use crate::{layers, project::Project, steps::Notes};

/// Every crate, and the crates of this workspace that it may depend on.
const EDGES: [(&str, &[&str]); 14] = [
    ("protocol", &[]),
    ("files", &["protocol"]),
    ("patch", &[]),
    ("policy", &["commands", "protocol"]),
    ("commands", &[]),
    ("process", &[]),
    ("store", &["protocol"]),
    ("models", &["protocol"]),
    ("tools", &["files", "patch", "policy", "commands", "process", "protocol"]),
    ("engine", &["models", "tools", "store", "files", "patch", "policy", "commands", "process", "protocol"]),
    ("server", &["engine", "files", "protocol"]),
    (
        "concertino",
        &[
            "server", "engine", "store", "models", "tools", "files", "patch", "policy", "commands",
            "process", "protocol",
        ],
    ),
    ("test-support", &[]),
    ("powerloss", &[]),
];
/// Crates that only tests may depend on.
const FOR_TESTS: [&str; 3] = ["testkit", "test-support", "powerloss"];
/// Depends on every crate, so no table limits it.
const TESTKIT: &str = "testkit";
/// Names that say nothing; files with such names collect everything.
const FORBIDDEN_NAMES: [&str; 5] = ["core", "common", "utils", "types", "manager"];
const LONG_FILE: usize = 500;

pub fn check(project: &Project, notes: &mut Notes) -> Result<()> {
    let crates = project.root.join("crates");
    let mut problems = edge_problems(&manifests(&crates)?);
    problems.extend(layers::problems(&project.root)?);
    for file in rust_files(&crates)?.into_iter().chain(rust_files(&project.root.join("xtask"))?) {
        let name = file.strip_prefix(&project.root).unwrap_or(&file).display().to_string();
        let text = fs::read_to_string(&file).with_context(|| format!("{name} cannot be read"))?;
        problems.extend(file_problems(&name, &text));
        let lines = text.lines().count();
        if lines > LONG_FILE {
            notes.warn(&format!("{name} has {lines} lines: can it be split?"));
        }
    }
    if !problems.is_empty() {
        bail!("{}", problems.join("\n"));
    }
    Ok(())
}

/// Every `.rs` file below a folder, target folders left out, in a fixed order.
pub fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("{} cannot be read", folder.display()))? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                if entry.file_name() != "target" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The crates of the workspace with their folders, `xtask` last.
pub fn crate_folders(root: &Path) -> Result<Vec<(String, String)>> {
    let mut folders: Vec<(String, String)> = manifests(&root.join("crates"))?
        .into_iter()
        .map(|manifest| (manifest.name.clone(), format!("crates/{}", manifest.name)))
        .collect();
    folders.push(("xtask".to_owned(), "xtask".to_owned()));
    Ok(folders)
}

struct Manifest {
    name: String,
    /// Names of all dependencies, ours and others'.
    dependencies: Vec<String>,
    for_tests: Vec<String>,
}

fn manifests(crates: &Path) -> Result<Vec<Manifest>> {
    let mut manifests = Vec::new();
    for entry in fs::read_dir(crates).with_context(|| format!("{} cannot be read", crates.display()))? {
        let file = entry?.path().join("Cargo.toml");
        if file.is_file() {
            let text = fs::read_to_string(&file)?;
            manifests.push(Manifest::parse(&text).with_context(|| file.display().to_string())?);
        }
    }
    manifests.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(manifests)
}

impl Manifest {
    fn parse(text: &str) -> Result<Self> {
        let manifest: Table = text.parse()?;
        let name = manifest.get("package").and_then(|package| package.get("name")).and_then(Value::as_str);
        let mut sections = vec![&manifest];
        if let Some(Value::Table(targets)) = manifest.get("target") {
            sections.extend(targets.values().filter_map(Value::as_table));
        }
        let named_in = |kinds: &[&str]| -> Vec<String> {
            let tables =
                sections.iter().flat_map(|section| kinds.iter().filter_map(|kind| section.get(*kind)));
            let entries = tables.filter_map(Value::as_table).flatten();
            entries
                .map(|(key, value)| value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned())
                .collect()
        };
        Ok(Self {
            name: name.context("no package name")?.to_owned(),
            dependencies: named_in(&["dependencies", "build-dependencies"]),
            for_tests: named_in(&["dev-dependencies"]),
        })
    }
}

fn edge_problems(manifests: &[Manifest]) -> Vec<String> {
    let mut problems = Vec::new();
    let is_ours = |name: &str| FOR_TESTS.contains(&name) || EDGES.iter().any(|(ours, _)| *ours == name);
    for manifest in manifests {
        let name = manifest.name.as_str();
        if name == TESTKIT {
            continue;
        }
        let Some((_, allowed)) = EDGES.iter().find(|(ours, _)| *ours == name) else {
            problems.push(format!("crate `{name}` is not in EDGES: add it in xtask/src/tree.rs"));
            continue;
        };
        for to in manifest.dependencies.iter().filter(|to| is_ours(to)) {
            if !allowed.contains(&to.as_str()) {
                problems.push(format!("`{name}` must not depend on `{to}`"));
            }
        }
        for to in manifest.for_tests.iter().filter(|to| is_ours(to)) {
            if !FOR_TESTS.contains(&to.as_str()) && !allowed.contains(&to.as_str()) {
                problems.push(format!("the tests of `{name}` must not depend on `{to}` (use testkit)"));
            }
        }
    }
    problems
}

fn file_problems(name: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let forbidden = |part: &str| FORBIDDEN_NAMES.contains(&part.trim_end_matches(".rs"));
    if let Some(part) = name.split(['/', '\\']).find(|part| forbidden(part)) {
        problems.push(format!("{name}: `{part}` says nothing; name the file after what is in it"));
    }
    let in_src = name.split(['/', '\\']).any(|part| part == "src");
    if in_src && !text.starts_with("//!") {
        problems.push(format!("{name}: does not begin with a `//!` comment that says what the file is for"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(manifests: &[&str]) -> Vec<String> {
        let manifests: Vec<_> = manifests.iter().map(|text| Manifest::parse(text).unwrap()).collect();
        edge_problems(&manifests)
    }

    #[test]
    fn the_edges_of_the_table_are_fine() {
        let engine = "[package]\nname = \"engine\"\n[dependencies]\nstore.workspace = true\nserde = \"1\"\n\
                      [dev-dependencies]\ntestkit.workspace = true";
        let testkit = "[package]\nname = \"testkit\"\n[dependencies]\nserver = { path = \"../server\" }";
        assert_eq!(problems(&[engine, testkit]), Vec::<String>::new());
    }

    #[test]
    fn a_wrong_edge_is_noticed_however_it_is_written() {
        let wrong = "[package]\nname = \"tools\"\n[dependencies]\nkept = { package = \"store\", path = \"../store\" }\n\
                     [target.'cfg(unix)'.dependencies]\nmodels.workspace = true\n\
                     [dev-dependencies]\nengine.workspace = true";
        assert_eq!(
            problems(&[wrong]),
            [
                "`tools` must not depend on `store`",
                "`tools` must not depend on `models`",
                "the tests of `tools` must not depend on `engine` (use testkit)"
            ]
        );
        let server = "[package]\nname = \"server\"\n[dependencies]\ntestkit.workspace = true";
        assert_eq!(problems(&[server]), ["`server` must not depend on `testkit`"]);
    }

    #[test]
    fn a_crate_that_is_not_in_the_table_is_noticed() {
        let found = problems(&["[package]\nname = \"shared\""]);
        assert!(found[0].contains("is not in EDGES"), "{found:?}");
    }

    #[test]
    fn support_for_tests_depends_on_no_crate_of_ours() {
        let found =
            problems(&["[package]\nname = \"test-support\"\n[dependencies]\nprotocol.workspace = true"]);
        assert_eq!(found, ["`test-support` must not depend on `protocol`"]);
    }

    #[test]
    fn file_names_and_headers_are_checked() {
        assert_eq!(file_problems("crates/store/src/open.rs", "//! Opens.\n"), Vec::<String>::new());
        assert_eq!(file_problems("crates/store/src/utils.rs", "//! x\n").len(), 1);
        assert_eq!(file_problems("crates/store/src/common/open.rs", "//! x\n").len(), 1);
        assert_eq!(file_problems("crates/store/src/open.rs", "use std::fs;\n").len(), 1);
        assert_eq!(file_problems("crates/store/tests/open.rs", "use std::fs;\n"), Vec::<String>::new());
    }
}
