//! The layers of modules inside a crate: a module imports from its own layer and from lower ones, never from a higher
//! one, and modules of one layer do not import each other in a circle.
//!
//! Edit [`LAYERS`] to change the rule. Tests (`#[cfg(test)]` and `*_tests.rs`) are exempt.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use crate::{
    imports::{ForeignImpl, Graph, Import, ROOT},
    modules::Crate,
};

/// The layers of the modules directly below one module.
pub struct Layers {
    /// The crate, or a module in it: `engine`, `engine::run`.
    pub inside: &'static str,
    /// From the lowest to the highest.
    pub layers: &'static [&'static [&'static str]],
}

pub const LAYERS: &[Layers] = &[Layers {
    inside: "engine",
    layers: &[
        &["error", "hooks", "secrets", "session_name", "session_title", "system", "token_estimate"],
        &["agents", "attachments", "files"],
        &["jobs"],
        &["context", "model_choice"],
        &["transcript"],
        &["admission", "settings"],
        &["log", "mailbox"],
        &["services"],
        &["session"],
        &["run"],
        &["engine"],
    ],
}];

/// Entries of [`LAYERS`] that fail the check. The others are only shown by `cargo xtask tree`.
pub const ENFORCED: &[&str] = &["engine"];

/// Everything in the enforced crates that goes against their layers.
pub fn problems(root: &Path) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for layers in LAYERS.iter().filter(|layers| ENFORCED.contains(&layers.inside)) {
        problems.extend(layers.problems(&graph(root, layers.inside)?));
    }
    Ok(problems)
}

/// The imports between the modules directly below `inside`: a crate (`engine`) or a module of one (`engine::run`).
pub fn graph(root: &Path, inside: &str) -> Result<Graph> {
    let mut names = inside.split("::").map(str::to_owned);
    let name = names.next().unwrap_or_default();
    let inside: Vec<String> = names.collect();
    let parsed = parse(root, &name)?;
    if !parsed.modules.iter().any(|module| module.path == inside) {
        anyhow::bail!("the crate `{name}` has no module `{}`", inside.join("::"));
    }
    Ok(Graph::of(&parsed, &inside))
}

fn parse(root: &Path, name: &str) -> Result<Crate> {
    let folder = if name == "xtask" { Path::new(name).into() } else { Path::new("crates").join(name) };
    let file = ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file));
    let file = file.iter().find(|file| root.join(file).is_file());
    let file = file.with_context(|| format!("there is no crate `{name}`"))?;
    // Relative paths, so that messages name files as the reader would.
    Crate::read(file, &|file| fs::read_to_string(root.join(file)).ok())
}

impl Layers {
    fn layer_of(&self, module: &str) -> Option<usize> {
        self.layers.iter().position(|layer| layer.contains(&module))
    }

    pub fn problems(&self, graph: &Graph) -> Vec<String> {
        let mut problems = Vec::new();
        for module in graph.modules.iter().filter(|module| *module != ROOT) {
            if self.layer_of(module).is_none() {
                problems.push(format!(
                    "`{}::{module}` has no layer: add it to LAYERS in xtask/src/layers.rs",
                    self.inside
                ));
            }
        }
        problems.extend(graph.imports.iter().filter_map(|import| self.import_problem(import)));
        for cycle in graph.cycles() {
            let imports = cycle.windows(2).filter_map(|pair| graph.example(pair[0], pair[1]));
            let imports: Vec<String> = imports.map(|import| format!("\n  {}", written(import))).collect();
            problems.push(format!(
                "modules of `{}` import each other in a circle: {}{}",
                self.inside,
                cycle.join(" → "),
                imports.concat()
            ));
        }
        // Methods for a type of a higher layer need an import of that layer, which is reported above.
        let is_hidden =
            |found: &&ForeignImpl| self.layer_of(&found.module) >= self.layer_of(&found.defined_in);
        problems.extend(graph.foreign_impls.iter().filter(is_hidden).map(|found| {
            format!(
                "{}:{}: `{}` adds methods to `{}`, a type of `{}`: `{}` could call them without an import. Write a \
                 function that takes the type, or move the methods to the type.",
                found.file.display(),
                found.line,
                found.module,
                found.type_name,
                found.defined_in,
                found.defined_in,
            )
        }));
        problems
    }

    fn import_problem(&self, import: &Import) -> Option<String> {
        let (from, to) = (self.layer_of(&import.from)?, self.layer_of(&import.to)?);
        (to > from).then(|| {
            format!(
                "{}. `{}` is a lower layer than `{}` and must not import it ({}). Pass the value in from above, or \
                 move what both need to a lower layer.",
                written(import),
                import.from,
                import.to,
                self.in_words(),
            )
        })
    }

    /// `error, system < agents < run`
    pub fn in_words(&self) -> String {
        self.layers.iter().map(|layer| layer.join(", ")).collect::<Vec<_>>().join(" < ")
    }
}

/// Where an import is and what it says.
pub fn written(import: &Import) -> String {
    let Import { file, line, path, defined_in, .. } = import;
    let origin = if path.contains(defined_in.as_str()) {
        String::new()
    } else {
        format!(", which is defined in `{defined_in}`")
    };
    format!("{}:{line}: names `{path}`{origin}", file.display())
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
