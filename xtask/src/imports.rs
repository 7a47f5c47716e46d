//! Imports between the modules of one crate: every path is resolved to the module that defines the item, and a
//! `pub use` is followed to where it points.
//!
//! An import counts for every module on the way: `use crate::facade::Run` where `facade` re-exports `run::Run` is an
//! import of `facade` and of `run`, so a re-export cannot hide a dependency.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::PathBuf,
};

use crate::modules::{Crate, ModuleId, Reference, ReferenceKind};

/// The name under which the crate root is listed.
pub const ROOT: &str = "(root)";

/// One place where a module names something of another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    pub from: String,
    pub to: String,
    pub file: PathBuf,
    pub line: usize,
    /// The path as it is written.
    pub path: String,
    /// The module that defines the item.
    pub defined_in: String,
}

/// Methods that a module adds to a type of another module. The type's own module can call them without an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignImpl {
    pub file: PathBuf,
    pub line: usize,
    pub type_name: String,
    pub module: String,
    pub defined_in: String,
}

/// The imports between the modules directly below one module, tests left out.
#[derive(Default)]
pub struct Graph {
    pub modules: BTreeSet<String>,
    pub imports: Vec<Import>,
    pub foreign_impls: Vec<ForeignImpl>,
}

impl Graph {
    /// The graph of the modules directly below `inside`; an empty path is the crate root.
    pub fn of(parsed: &Crate, inside: &[String]) -> Self {
        let mut graph = Self::default();
        let name_of = |module: ModuleId| group_of(&parsed.modules[module].path, inside);
        for (id, module) in parsed.modules.iter().enumerate() {
            let Some(from) = name_of(id) else { continue };
            if module.is_test {
                continue;
            }
            graph.modules.insert(from.clone());
            for reference in module.references.iter().filter(|reference| !reference.in_test) {
                let Some(found) = parsed.resolve(id, &reference.path) else { continue };
                if reference.kind == ReferenceKind::InherentImpl {
                    let defined_in = name_of(found.end);
                    if let Some(defined_in) = defined_in.filter(|name| *name != from) {
                        graph.foreign_impls.push(ForeignImpl {
                            file: module.file.clone(),
                            line: reference.line,
                            type_name: reference.path.join("::"),
                            module: from.clone(),
                            defined_in,
                        });
                    }
                    continue;
                }
                let defined_in = display(&parsed.modules[found.end].path);
                for to in targets(parsed, id, reference, &found, inside) {
                    if to != from {
                        graph.imports.push(Import {
                            from: from.clone(),
                            to,
                            file: module.file.clone(),
                            line: reference.line,
                            path: reference.path.join("::"),
                            defined_in: defined_in.clone(),
                        });
                    }
                }
            }
        }
        graph.imports.sort();
        graph.imports.dedup();
        graph
    }

    /// How many imports there are from one module to another.
    pub fn counts(&self) -> BTreeMap<(&str, &str), usize> {
        let mut counts = BTreeMap::new();
        for import in &self.imports {
            *counts.entry((import.from.as_str(), import.to.as_str())).or_default() += 1;
        }
        counts
    }

    /// Pairs of modules that import each other, with the number of imports each way.
    pub fn two_way(&self) -> Vec<(&str, &str, usize, usize)> {
        let counts = self.counts();
        let pairs = counts.iter().filter(|((from, to), _)| from < to);
        pairs
            .filter_map(|((from, to), there)| Some((*from, *to, *there, *counts.get(&(*to, *from))?)))
            .collect()
    }

    /// The shortest cycle through each module that is in one, every cycle once. The first module comes last again.
    pub fn cycles(&self) -> Vec<Vec<&str>> {
        let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for import in &self.imports {
            next.entry(&import.from).or_default().insert(&import.to);
        }
        let mut cycles: Vec<Vec<&str>> = Vec::new();
        let mut known: BTreeSet<BTreeSet<&str>> = BTreeSet::new();
        for start in next.keys() {
            if let Some(cycle) = shortest_cycle(start, &next)
                && known.insert(cycle.iter().copied().collect())
            {
                cycles.push(cycle);
            }
        }
        cycles
    }

    /// The first import from one module to another.
    pub fn example(&self, from: &str, to: &str) -> Option<&Import> {
        self.imports.iter().find(|import| import.from == from && import.to == to)
    }
}

fn shortest_cycle<'a>(start: &'a str, next: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Option<Vec<&'a str>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(module) = queue.pop_front() {
        for &to in next.get(module).into_iter().flatten() {
            if to == start {
                let mut cycle = vec![start, module];
                let mut at = module;
                while at != start {
                    at = before.get(at)?;
                    cycle.push(at);
                }
                // A module that imports itself was filtered out, so the walk back ends with the start.
                cycle.reverse();
                return Some(cycle);
            }
            if !before.contains_key(to) {
                before.insert(to, module);
                queue.push_back(to);
            }
        }
    }
    None
}

/// The name of a module directly below `inside`, [`ROOT`] for `inside` itself, `None` for what is elsewhere.
fn group_of(path: &[String], inside: &[String]) -> Option<String> {
    let rest = path.strip_prefix(inside)?;
    Some(rest.first().cloned().unwrap_or_else(|| ROOT.to_owned()))
}

fn display(path: &[String]) -> String {
    if path.is_empty() { ROOT.to_owned() } else { path.join("::") }
}

/// The modules below `inside` that a reference counts for.
fn targets(
    parsed: &Crate,
    from: ModuleId,
    reference: &Reference,
    found: &Found,
    inside: &[String],
) -> BTreeSet<String> {
    let mut targets = found.groups(parsed, inside);
    let first = reference.path.first().map_or("", String::as_str);
    if reference.kind == ReferenceKind::Path && !is_keyword(first) {
        // The name at the beginning was imported by a `use`, which counts on its own.
        if let Some(known) = parsed.resolve(from, &reference.path[..1])
            && !known.by_glob
        {
            let known = known.groups(parsed, inside);
            targets.retain(|target| !known.contains(target));
        }
    }
    targets
}

fn is_keyword(name: &str) -> bool {
    matches!(name, "crate" | "self" | "super")
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The module that defines the item, or the module itself when the path names one.
    pub end: ModuleId,
    /// The modules on the way, those of re-exports included.
    through: Vec<ModuleId>,
    names_a_module: bool,
    by_glob: bool,
}

impl Found {
    /// The modules below `inside` that the path leads through. Passing through `inside` itself, as every re-export at
    /// the root does, is no import; an item that is defined there is one.
    fn groups(&self, parsed: &Crate, inside: &[String]) -> BTreeSet<String> {
        let group = |module: &ModuleId| group_of(&parsed.modules[*module].path, inside);
        let mut groups: BTreeSet<String> = self.through.iter().chain([&self.end]).filter_map(group).collect();
        if self.names_a_module || group(&self.end).as_deref() != Some(ROOT) {
            groups.remove(ROOT);
        }
        groups
    }
}

impl Crate {
    /// Resolves a path as it is written in `from`; `None` when it leads out of the crate.
    pub fn resolve(&self, from: ModuleId, path: &[String]) -> Option<Found> {
        self.resolve_path(from, path, &mut BTreeSet::new())
    }

    fn resolve_path(
        &self,
        from: ModuleId,
        path: &[String],
        seen: &mut BTreeSet<(ModuleId, String)>,
    ) -> Option<Found> {
        let module = |end| Found { end, through: Vec::new(), names_a_module: true, by_glob: false };
        let mut rest = path;
        let mut found = match path.first()?.as_str() {
            "crate" => module(0),
            "self" => module(from),
            "super" => {
                let mut above = self.parent(from)?;
                while rest.get(1).is_some_and(|name| name == "super") {
                    above = self.parent(above)?;
                    rest = &rest[1..];
                }
                module(above)
            }
            name => self.lookup(from, name, seen)?,
        };
        for name in &rest[1..] {
            if !found.names_a_module {
                break;
            }
            found.through.push(found.end);
            let Some(next) = self.lookup(found.end, name, seen) else {
                // A name that a macro defines, or one that does not exist: the compiler knows.
                found.names_a_module = false;
                break;
            };
            found.through.extend(next.through);
            found.end = next.end;
            found.names_a_module = next.names_a_module;
        }
        Some(found)
    }

    /// Finds a name in a module: a child, an item, an import, then the globs.
    fn lookup(&self, module: ModuleId, name: &str, seen: &mut BTreeSet<(ModuleId, String)>) -> Option<Found> {
        // A re-export that leads back to itself ends here.
        if !seen.insert((module, name.to_owned())) {
            return None;
        }
        let found = self.lookup_once(module, name, seen);
        seen.remove(&(module, name.to_owned()));
        found
    }

    fn lookup_once(
        &self,
        module: ModuleId,
        name: &str,
        seen: &mut BTreeSet<(ModuleId, String)>,
    ) -> Option<Found> {
        let found = |end, names_a_module| Found { end, through: Vec::new(), names_a_module, by_glob: false };
        if let Some(child) = self.child(module, name) {
            return Some(found(child, true));
        }
        if self.defines(module, name) {
            return Some(found(module, false));
        }
        if let Some(path) = self.import(module, name) {
            return self.resolve_path(module, path, seen);
        }
        self.globs(module).iter().find_map(|glob| {
            let target = self.resolve_path(module, glob, seen)?;
            let next = self.lookup(target.end, name, seen)?;
            let through = [target.through, vec![target.end], next.through].concat();
            Some(Found { through, by_glob: true, ..next })
        })
    }
}

#[cfg(test)]
#[path = "imports_tests.rs"]
pub(crate) mod tests;
