//! Small crates that exist only in memory: which module a name comes from, however it is written.

use std::{collections::BTreeMap, path::Path};

use super::*;

/// Parses files given as path and text; paths are below `src/`.
pub(crate) fn parse(files: &[(&str, &str)]) -> Crate {
    let files: BTreeMap<PathBuf, &str> =
        files.iter().map(|(path, text)| (Path::new("src").join(path), *text)).collect();
    Crate::read(Path::new("src/lib.rs"), &|path| files.get(path).map(|text| (*text).to_owned())).unwrap()
}

fn edges(files: &[(&str, &str)]) -> Vec<String> {
    edges_inside(files, &[])
}

fn edges_inside(files: &[(&str, &str)], inside: &[&str]) -> Vec<String> {
    let inside: Vec<String> = inside.iter().map(|name| (*name).to_owned()).collect();
    let graph = Graph::of(&parse(files), &inside);
    let edges = graph.counts().into_iter().map(|((from, to), count)| format!("{from} -> {to}: {count}"));
    edges.filter(|edge| !edge.starts_with(ROOT)).collect()
}

#[test]
fn groups_aliases_self_and_super_are_resolved() {
    let found = edges(&[
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "mod deep;"),
        (
            "a/deep.rs",
            "use crate::{b::{self, One, inner::{Two as Second, Three}}, c};\n\
             use super::super::b::inner;\nuse super::Nothing;\nuse self::own::X;\nmod own { pub struct X; }",
        ),
        ("b.rs", "pub struct One; pub mod inner { pub struct Two; pub struct Three; }"),
        ("c.rs", ""),
    ]);
    assert_eq!(found, ["a -> b: 5", "a -> c: 1"]);
}

#[test]
fn a_reexport_is_followed_to_the_module_that_defines_the_item() {
    let found = edges(&[
        ("lib.rs", "mod facade; mod low; mod high; pub use high::deep::Thing;"),
        ("high.rs", "pub mod deep { pub struct Thing; }"),
        ("facade.rs", "pub use crate::high::deep::Thing as Renamed; pub use crate::high::deep;"),
        ("low.rs", "use crate::Thing;\nuse crate::facade::Renamed;\nfn f() { crate::facade::deep::Thing; }"),
    ]);
    assert_eq!(found, ["facade -> high: 2", "low -> facade: 2", "low -> high: 3"]);
}

#[test]
fn a_glob_leads_to_the_modules_of_the_names_that_are_used() {
    let found = edges(&[
        ("lib.rs", "mod prelude; mod low; mod high; mod unused;"),
        ("high.rs", "pub struct Run; pub fn start() {}"),
        ("unused.rs", "pub struct Other;"),
        ("prelude.rs", "pub use crate::high::*; pub use crate::unused::Other;"),
        ("low.rs", "use crate::prelude::*;\nfn f(run: Run) {}"),
    ]);
    assert_eq!(found, ["low -> high: 1", "low -> prelude: 2", "prelude -> high: 1", "prelude -> unused: 1"]);
}

#[test]
fn paths_in_code_macros_and_attributes_count() {
    let found = edges(&[
        ("lib.rs", "mod a; mod b;"),
        (
            "a.rs",
            "fn f(x: crate::b::X) { crate::b::g::<u8>(); }\n\
             fn h() { assert!(matches!(1, crate::b::N)); }\n\
             #[serde(with = \"crate::b::text\")] struct S;\n\
             macro_rules! m { () => { $crate::b::g() } }\n\
             /// See [`crate::b::X`].\nfn documented() {}",
        ),
        ("b.rs", "pub struct X; pub fn g<T>() {} pub const N: u8 = 1;"),
    ]);
    assert_eq!(found, ["a -> b: 5"]);
}

#[test]
fn a_name_that_was_imported_is_not_counted_again_unless_it_leads_elsewhere() {
    let found = edges(&[
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::b;\nuse crate::b::Own;\nfn f() { b::g(); Own::new(); b::Moved::new(); }"),
        ("b.rs", "pub struct Own; pub fn g() {} pub use crate::c::Moved;"),
        ("c.rs", "pub struct Moved;"),
    ]);
    assert_eq!(found, ["a -> b: 2", "a -> c: 1", "b -> c: 1"]);
}

#[test]
fn tests_are_left_out() {
    let found = edges(&[
        ("lib.rs", "mod a; mod b;"),
        (
            "a.rs",
            "#[cfg(test)] use crate::b::X;\n#[cfg(test)] mod tests { use crate::b::X; }\n\
             #[cfg(test)] #[path = \"a_tests.rs\"] mod more;\nmod x_tests;\n\
             struct S; impl S { #[cfg(test)] fn f(&self) -> crate::b::X {} }",
        ),
        ("a_tests.rs", "use crate::b::X;"),
        ("a/x_tests.rs", "use crate::b::X;"),
        ("b.rs", "pub struct X;"),
    ]);
    assert_eq!(found, Vec::<String>::new());
    let found = edges(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "#[cfg(not(test))] use crate::b::X;"),
        ("b.rs", "pub struct X;"),
    ]);
    assert_eq!(found, ["a -> b: 1"]);
}

#[test]
fn modules_are_found_where_the_compiler_looks() {
    let found = edges(&[
        ("lib.rs", "mod a; mod b; mod inline { mod below; }"),
        ("a/mod.rs", "mod c;"),
        ("a/c.rs", "use crate::b::X;"),
        ("inline/below.rs", "use crate::b::X;"),
        ("b.rs", "pub struct X;"),
    ]);
    assert_eq!(found, ["a -> b: 1", "inline -> b: 1"]);
}

#[test]
fn the_modules_below_one_module_have_a_graph_of_their_own() {
    let files = [
        ("lib.rs", "mod run; mod session;"),
        ("run.rs", "mod turn; mod tools; pub struct Shared;"),
        ("run/turn.rs", "use super::{tools::T, Shared}; use crate::session::S;"),
        ("run/tools.rs", "pub struct T;"),
        ("session.rs", "pub struct S; use crate::run::Shared;"),
    ];
    assert_eq!(edges_inside(&files, &["run"]), ["turn -> (root): 1", "turn -> tools: 1"]);
    assert_eq!(edges(&files), ["run -> session: 1", "session -> run: 1"]);
    let graph = Graph::of(&parse(&files), &[]);
    assert_eq!(graph.two_way(), [("run", "session", 1, 1)]);
}

#[test]
fn a_cycle_behind_a_reexport_is_found() {
    let parsed = parse(&[
        ("lib.rs", "mod session; mod run; mod shared;\npub use run::Limits;"),
        ("run.rs", "use crate::session::Session;\npub struct Limits;"),
        ("session.rs", "use crate::shared::Limits;\npub struct Session;"),
        ("shared.rs", "pub use crate::Limits;"),
    ]);
    let graph = Graph::of(&parsed, &[]);
    assert_eq!(graph.cycles(), [vec!["run", "session", "run"], vec!["shared", "run", "session", "shared"]]);
    let example = graph.example("session", "run").unwrap();
    assert_eq!((example.line, example.defined_in.as_str()), (1, "run"));
}

#[test]
fn reexports_that_lead_in_a_circle_end() {
    let found = edges(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub use crate::b::*; pub use crate::b::X;"),
        ("b.rs", "pub use crate::a::*; pub use crate::a::X;"),
    ]);
    assert_eq!(found, ["a -> b: 2", "b -> a: 2"]);
}

#[test]
fn other_crates_and_local_names_are_ignored() {
    let found = edges(&[
        ("lib.rs", "mod a; mod b;"),
        (
            "a.rs",
            "use std::fmt; use ::b::X; use serde::b; fn f<T: Iterator>(b: u8) -> T::Item { b; fmt::f() }",
        ),
        ("b.rs", "pub struct X;"),
    ]);
    assert_eq!(found, Vec::<String>::new());
}
