//! The module tree of one crate, read from its sources: which items each module defines, what it imports, and which
//! other paths its code names.
//!
//! This is not a compiler. It knows `mod`, `use`, `pub use`, globs, aliases, `#[path]` and paths inside macro calls,
//! which is enough to tell from which module of the crate a name comes. Names that it cannot find belong to other
//! crates or to local scopes and are ignored.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::{
    Attribute, Expr, ExprLit, Item, ItemImpl, ItemMod, ItemUse, Lit, Meta, Type, UseTree,
    visit::{self, Visit},
};

/// The index of a module in [`Crate::modules`]; the root is 0.
pub type ModuleId = usize;

/// Reads the text of a file; `None` when there is no such file. Tests pass a tree that exists only in memory.
pub type ReadFile<'a> = &'a dyn Fn(&Path) -> Option<String>;

pub struct Crate {
    pub modules: Vec<Module>,
}

/// One module with the names that are visible in it and the paths it names.
pub struct Module {
    /// The names from the root down; empty for the root itself.
    pub path: Vec<String>,
    pub file: PathBuf,
    /// A `#[cfg(test)]` module, a `*_tests.rs` file, or inside one.
    pub is_test: bool,
    parent: Option<ModuleId>,
    children: BTreeMap<String, ModuleId>,
    defined: BTreeSet<String>,
    /// What each imported name stands for.
    imported: BTreeMap<String, Vec<String>>,
    /// The paths before `::*`.
    globs: Vec<Vec<String>>,
    pub references: Vec<Reference>,
}

/// A place where a module names something.
#[derive(Clone, Debug)]
pub struct Reference {
    pub path: Vec<String>,
    pub line: usize,
    pub kind: ReferenceKind,
    /// Inside an item marked `#[cfg(test)]`.
    pub in_test: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceKind {
    /// One name of a `use` declaration.
    Import,
    /// A path in code: `crate::run::start()`.
    Path,
    /// The type of an `impl` block without a trait.
    InherentImpl,
}

impl Crate {
    /// Reads the module tree that begins with `root`, a `lib.rs` or `main.rs`.
    pub fn read(root: &Path, read: ReadFile<'_>) -> Result<Self> {
        let mut reader = TreeReader { read, modules: Vec::new() };
        let folder = root.parent().context("the root file has no folder")?.to_owned();
        reader.file(root, folder, Vec::new(), None, false)?;
        Ok(Self { modules: reader.modules })
    }

    pub fn parent(&self, module: ModuleId) -> Option<ModuleId> {
        self.modules[module].parent
    }

    pub fn child(&self, module: ModuleId, name: &str) -> Option<ModuleId> {
        self.modules[module].children.get(name).copied()
    }

    pub fn defines(&self, module: ModuleId, name: &str) -> bool {
        self.modules[module].defined.contains(name)
    }

    /// The path that an imported name stands for.
    pub fn import(&self, module: ModuleId, name: &str) -> Option<&[String]> {
        self.modules[module].imported.get(name).map(Vec::as_slice)
    }

    pub fn globs(&self, module: ModuleId) -> &[Vec<String>] {
        &self.modules[module].globs
    }
}

struct TreeReader<'a> {
    read: ReadFile<'a>,
    modules: Vec<Module>,
}

impl TreeReader<'_> {
    /// Reads a file as a module. `folder` is where the files of its child modules are.
    fn file(
        &mut self,
        file: &Path,
        folder: PathBuf,
        path: Vec<String>,
        parent: Option<ModuleId>,
        is_test: bool,
    ) -> Result<ModuleId> {
        let text = (self.read)(file).with_context(|| format!("{} cannot be read", file.display()))?;
        let parsed = syn::parse_file(&text).map_err(|error| {
            let line = error.span().start().line;
            anyhow::anyhow!("{}:{line}: cannot be parsed: {error}", file.display())
        })?;
        let named_as_test = file.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_tests"));
        self.module(file, &folder, path, parent, is_test || named_as_test, &parsed.items)
    }

    fn module(
        &mut self,
        file: &Path,
        folder: &Path,
        path: Vec<String>,
        parent: Option<ModuleId>,
        is_test: bool,
        items: &[Item],
    ) -> Result<ModuleId> {
        let mut names = Names::default();
        for item in items {
            names.visit_item(item);
        }
        let id = self.modules.len();
        self.modules.push(Module {
            path: path.clone(),
            file: file.to_owned(),
            is_test,
            parent,
            children: BTreeMap::new(),
            defined: names.defined,
            imported: names.imported,
            globs: names.globs,
            references: names.references,
        });
        for item in items {
            if let Item::Mod(declared) = item {
                let child = self.child(file, folder, &path, id, is_test, declared)?;
                self.modules[id].children.insert(declared.ident.to_string(), child);
            }
        }
        Ok(id)
    }

    fn child(
        &mut self,
        file: &Path,
        folder: &Path,
        above: &[String],
        parent: ModuleId,
        is_test: bool,
        declared: &ItemMod,
    ) -> Result<ModuleId> {
        let name = declared.ident.to_string();
        let mut path = above.to_owned();
        path.push(name.clone());
        let is_test = is_test || is_for_tests(&declared.attrs);
        let below = folder.join(&name);
        if let Some((_, items)) = &declared.content {
            return self.module(file, &below, path, Some(parent), is_test, items);
        }
        if let Some(given) = path_attribute(&declared.attrs) {
            let place = file.parent().unwrap_or(folder).join(given);
            let beside = place.parent().unwrap_or(folder).to_owned();
            return self.file(&place, beside, path, Some(parent), is_test);
        }
        let line = declared.ident.span().start().line;
        for place in [folder.join(format!("{name}.rs")), below.join("mod.rs")] {
            if (self.read)(&place).is_some() {
                return self.file(&place, below, path, Some(parent), is_test);
            }
        }
        bail!("{}:{line}: there is no file for the module `{name}`", file.display())
    }
}

/// Collects what the items of one module define and name. Child modules are read on their own.
#[derive(Default)]
struct Names {
    defined: BTreeSet<String>,
    imported: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    references: Vec<Reference>,
    /// How many items marked `#[cfg(test)]` surround the present one.
    test_depth: usize,
}

impl Names {
    fn add(&mut self, path: Vec<String>, span: Span, kind: ReferenceKind) {
        let line = span.start().line;
        self.references.push(Reference { path, line, kind, in_test: self.test_depth > 0 });
    }

    fn add_use(&mut self, tree: &UseTree, before: &[String]) {
        let joined = |ident: &Ident| [before, &[ident.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.add_use(&path.tree, &joined(&path.ident)),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_use(tree, before)),
            UseTree::Name(name) if name.ident == "self" => {
                if let Some(last) = before.last() {
                    self.imported.insert(last.clone(), before.to_owned());
                }
                self.add(before.to_owned(), name.ident.span(), ReferenceKind::Import);
            }
            UseTree::Name(name) => {
                self.imported.insert(name.ident.to_string(), joined(&name.ident));
                self.add(joined(&name.ident), name.ident.span(), ReferenceKind::Import);
            }
            UseTree::Rename(name) => {
                let path = if name.ident == "self" { before.to_owned() } else { joined(&name.ident) };
                self.imported.insert(name.rename.to_string(), path.clone());
                self.add(path, name.ident.span(), ReferenceKind::Import);
            }
            UseTree::Glob(glob) => {
                self.globs.push(before.to_owned());
                self.add(before.to_owned(), glob.star_token.spans[0], ReferenceKind::Import);
            }
        }
    }

    /// Finds the paths in the tokens of a macro call or an attribute.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                TokenTree::Literal(literal) => self.add_text_path(&literal.to_string(), literal.span()),
                TokenTree::Ident(first) => {
                    let mut path = vec![first.to_string()];
                    while let [TokenTree::Punct(one), TokenTree::Punct(two), TokenTree::Ident(next), ..] =
                        &tokens[at + 1..]
                        && one.as_char() == ':'
                        && two.as_char() == ':'
                    {
                        path.push(next.to_string());
                        at += 3;
                    }
                    let is_name = path.len() > 1 || path[0].starts_with(char::is_uppercase);
                    if is_name {
                        self.add(path, first.span(), ReferenceKind::Path);
                    }
                }
                TokenTree::Punct(_) => {}
            }
            at += 1;
        }
    }

    /// `#[serde(with = "crate::x")]`: a path written as text.
    fn add_text_path(&mut self, literal: &str, span: Span) {
        let text = literal.trim_matches('"');
        let begins = ["crate::", "super::", "self::"].iter().any(|word| text.starts_with(word));
        let is_path = |character: char| character.is_alphanumeric() || matches!(character, '_' | ':');
        if begins && text.chars().all(is_path) {
            self.add(text.split("::").map(str::to_owned).collect(), span, ReferenceKind::Path);
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = attributes_and_name(item);
        if let Some(name) = name {
            self.defined.insert(name.to_string());
        }
        let for_tests = is_for_tests(attributes);
        self.test_depth += usize::from(for_tests);
        visit::visit_item(self, item);
        self.test_depth -= usize::from(for_tests);
    }

    fn visit_item_mod(&mut self, _: &'ast ItemMod) {}

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if item.leading_colon.is_none() {
            self.add_use(&item.tree, &[]);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if let (None, Type::Path(own)) = (&item.trait_, item.self_ty.as_ref())
            && let Some(first) = own.path.segments.first()
        {
            let path = own.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.add(path, first.ident.span(), ReferenceKind::InherentImpl);
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        let for_tests = is_for_tests(&method.attrs);
        self.test_depth += usize::from(for_tests);
        visit::visit_impl_item_fn(self, method);
        self.test_depth -= usize::from(for_tests);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none()
            && let Some(first) = path.segments.first()
        {
            let names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.add(names, first.ident.span(), ReferenceKind::Path);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.visit_path(&called.path);
        self.add_tokens(called.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        // Documentation links are not imports.
        if let Meta::List(list) = &attribute.meta {
            self.add_tokens(list.tokens.clone());
        }
    }
}

fn attributes_and_name(item: &Item) -> (&[Attribute], Option<&Ident>) {
    match item {
        Item::Const(it) => (&it.attrs, Some(&it.ident)),
        Item::Enum(it) => (&it.attrs, Some(&it.ident)),
        Item::Fn(it) => (&it.attrs, Some(&it.sig.ident)),
        Item::Static(it) => (&it.attrs, Some(&it.ident)),
        Item::Struct(it) => (&it.attrs, Some(&it.ident)),
        Item::Trait(it) => (&it.attrs, Some(&it.ident)),
        Item::Type(it) => (&it.attrs, Some(&it.ident)),
        Item::Union(it) => (&it.attrs, Some(&it.ident)),
        Item::Macro(it) => (&it.attrs, it.ident.as_ref()),
        Item::Impl(it) => (&it.attrs, None),
        Item::Use(it) => (&it.attrs, None),
        _ => (&[], None),
    }
}

/// Whether `#[cfg(test)]`, alone or in `all(…)`, is among the attributes.
pub fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let text = list.tokens.to_string();
            let words: Vec<&str> = text.split(|character: char| !character.is_alphanumeric()).collect();
            words.contains(&"test") && !words.contains(&"not") && !words.contains(&"any")
        }
        _ => false,
    })
}

fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}
