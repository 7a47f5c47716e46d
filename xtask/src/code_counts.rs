//! Figures about the sources of a crate: lines of code, the longest function, free-form JSON in signatures, fields of
//! structs. Used to compare two states of the code, not to fail a build.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use syn::{
    Attribute, ImplItemFn, ItemFn, ItemMod, ItemStruct, ItemUse, Signature, UseTree,
    spanned::Spanned,
    visit::{self, Visit},
};

use crate::{modules::is_for_tests, tree::rust_files};

#[derive(Default)]
pub struct CodeCounts {
    /// Lines that are neither blank nor comments, without tests.
    pub code_lines: usize,
    /// The same for tests: `tests/`, `*_tests.rs` and `#[cfg(test)]` modules.
    pub test_lines: usize,
    pub longest_function: Option<Function>,
    /// Functions that are longer than 100 lines.
    pub long_functions: usize,
    /// How often `serde_json::Value` or `Map` is written in signatures of functions.
    pub json_in_signatures: usize,
    pub functions_with_json: usize,
    pub functions: usize,
    /// The number of fields of each struct, by name. Of two with the same name the larger counts.
    pub fields: BTreeMap<String, usize>,
}

pub struct Function {
    pub name: String,
    pub lines: usize,
    pub file: PathBuf,
    pub line: usize,
}

const LONG: usize = 100;

impl CodeCounts {
    /// Counts a crate; `folder` holds its `src` and perhaps its `tests`.
    pub fn of(root: &Path, folder: &str) -> Result<Self> {
        let mut counts = Self::default();
        for file in rust_files(&root.join(folder))? {
            let name = file.strip_prefix(root).unwrap_or(&file).to_owned();
            let text = fs::read_to_string(&file).with_context(|| name.display().to_string())?;
            counts.add(&name, &text).with_context(|| name.display().to_string())?;
        }
        Ok(counts)
    }

    fn add(&mut self, file: &Path, text: &str) -> Result<()> {
        let all = code_lines(text.lines());
        let in_src = file.components().any(|part| part.as_os_str() == "src");
        let is_test_file = file.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_tests"));
        if !in_src || is_test_file {
            self.test_lines += all;
            return Ok(());
        }
        let parsed = syn::parse_file(text)?;
        let mut visitor = Counter { counts: self, file, json_names: Vec::new(), test_lines: Vec::new() };
        visitor.visit_file(&parsed);
        let ranges = visitor.test_lines;
        let is_test = |number: usize| ranges.iter().any(|(first, last)| (*first..=*last).contains(&number));
        let tests = text.lines().enumerate().filter(|(place, _)| is_test(place + 1));
        let tests = code_lines(tests.map(|(_, line)| line));
        self.test_lines += tests;
        self.code_lines += all - tests;
        Ok(())
    }
}

fn code_lines<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
    lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

struct Counter<'a> {
    counts: &'a mut CodeCounts,
    file: &'a Path,
    /// The names under which this file knows `serde_json::Value` and `Map`.
    json_names: Vec<String>,
    /// First and last line of each test module.
    test_lines: Vec<(usize, usize)>,
}

impl Counter<'_> {
    fn add_function(&mut self, attributes: &[Attribute], signature: &Signature, end: usize) {
        if is_for_tests(attributes) {
            return;
        }
        let line = signature.fn_token.span.start().line;
        let lines = end - line + 1;
        self.counts.functions += 1;
        self.counts.long_functions += usize::from(lines > LONG);
        if self.counts.longest_function.as_ref().is_none_or(|longest| lines > longest.lines) {
            let (name, file) = (signature.ident.to_string(), self.file.to_owned());
            self.counts.longest_function = Some(Function { name, lines, file, line });
        }
        let mut json = JsonTypes { names: &self.json_names, found: 0 };
        json.visit_signature(signature);
        self.counts.json_in_signatures += json.found;
        self.counts.functions_with_json += usize::from(json.found > 0);
    }

    fn add_json_names(&mut self, tree: &UseTree, in_serde_json: bool) {
        match tree {
            UseTree::Path(path) => self.add_json_names(&path.tree, path.ident == "serde_json"),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.add_json_names(tree, in_serde_json));
            }
            UseTree::Name(name) if in_serde_json && (name.ident == "Value" || name.ident == "Map") => {
                self.json_names.push(name.ident.to_string());
            }
            UseTree::Rename(name) if in_serde_json && (name.ident == "Value" || name.ident == "Map") => {
                self.json_names.push(name.rename.to_string());
            }
            UseTree::Name(_) | UseTree::Rename(_) | UseTree::Glob(_) => {}
        }
    }
}

impl<'ast> Visit<'ast> for Counter<'_> {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.add_json_names(&item.tree, false);
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if is_for_tests(&module.attrs) {
            self.test_lines.push((module.span().start().line, module.span().end().line));
            return;
        }
        visit::visit_item_mod(self, module);
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.add_function(&function.attrs, &function.sig, function.block.span().end().line);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, method: &'ast ImplItemFn) {
        self.add_function(&method.attrs, &method.sig, method.block.span().end().line);
        visit::visit_impl_item_fn(self, method);
    }

    fn visit_trait_item_fn(&mut self, method: &'ast syn::TraitItemFn) {
        self.add_function(&method.attrs, &method.sig, method.span().end().line);
        visit::visit_trait_item_fn(self, method);
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        let known = self.counts.fields.entry(item.ident.to_string()).or_default();
        *known = item.fields.len().max(*known);
    }
}

struct JsonTypes<'a> {
    names: &'a [String],
    found: usize,
}

impl<'ast> Visit<'ast> for JsonTypes<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.found += usize::from(match names.as_slice() {
            [first, last] => first == "serde_json" && (last == "Value" || last == "Map"),
            [only] => self.names.contains(only),
            _ => false,
        });
        visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(text: &str) -> CodeCounts {
        let mut counts = CodeCounts::default();
        counts.add(Path::new("crates/x/src/a.rs"), text).unwrap();
        counts
    }

    #[test]
    fn lines_of_tests_and_comments_are_told_apart() {
        let counts = counted(
            "//! About.\n\nfn f() {\n    // why\n    g();\n}\n\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n",
        );
        assert_eq!((counts.code_lines, counts.test_lines, counts.functions), (3, 4, 1));
        let longest = counts.longest_function.unwrap();
        assert_eq!((longest.name.as_str(), longest.lines, longest.line), ("f", 4, 3));
        let mut counts = CodeCounts::default();
        counts.add(Path::new("crates/x/src/a_tests.rs"), "fn f() {}\n").unwrap();
        counts.add(Path::new("crates/x/tests/a.rs"), "fn f() {}\n").unwrap();
        assert_eq!((counts.code_lines, counts.test_lines), (0, 2));
    }

    #[test]
    fn json_counts_only_in_signatures_and_only_when_it_is_serde_json() {
        let counts = counted(
            "use serde_json::{Map, Value as Json};\nstruct Value { a: u8, b: Json }\n\
             fn one(v: &Json, m: Map<String, Json>) -> Option<serde_json::Value> { let x: Json; }\n\
             fn none(v: Value) {}",
        );
        assert_eq!((counts.json_in_signatures, counts.functions_with_json, counts.functions), (4, 1, 2));
        assert_eq!(counts.fields["Value"], 2);
    }
}
