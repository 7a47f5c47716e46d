//! What the check says about small crates with a layer table of their own.

use super::*;
use crate::imports::tests::parse;

const TABLE: Layers =
    Layers { inside: "engine", layers: &[&["error", "system"], &["session"], &["run"], &["engine"]] };

fn problems(files: &[(&str, &str)]) -> Vec<String> {
    TABLE.problems(&Graph::of(&parse(files), &[]))
}

#[test]
fn imports_of_lower_layers_are_fine() {
    let found = problems(&[
        ("lib.rs", "mod error; mod system; mod session; mod run; mod engine; pub use engine::Engine;"),
        ("error.rs", "pub struct E; use crate::system::S;"),
        ("system.rs", "pub struct S;"),
        ("session.rs", "use crate::error::E; pub struct A;\n#[cfg(test)] mod tests { use crate::run::R; }"),
        ("run.rs", "use crate::{error::E, session::A}; pub struct R;"),
        ("engine.rs", "use crate::{run::R, session::A}; pub struct Engine;"),
    ]);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn an_import_of_a_higher_layer_names_the_place_and_the_rule() {
    let found = problems(&[
        ("lib.rs", "mod session; mod run; pub use run::tree::Limits;"),
        ("session.rs", "mod actor;"),
        ("session/actor.rs", "\nuse crate::Limits;"),
        ("run.rs", "pub mod tree { pub struct Limits; }"),
    ]);
    assert_eq!(
        found,
        [
            "src/session/actor.rs:2: names `crate::Limits`, which is defined in `run::tree`. `session` is a lower layer \
          than `run` and must not import it (error, system < session < run < engine). Pass the value in from above, \
          or move what both need to a lower layer."
        ]
    );
}

#[test]
fn a_circle_inside_a_layer_is_a_problem() {
    let found = problems(&[
        ("lib.rs", "mod error; mod system;"),
        ("error.rs", "use crate::system::S;\npub struct E;"),
        ("system.rs", "pub struct S;\nfn f(e: crate::error::E) {}"),
    ]);
    assert_eq!(
        found,
        ["modules of `engine` import each other in a circle: error → system → error\n  \
          src/error.rs:1: names `crate::system::S`\n  src/system.rs:2: names `crate::error::E`"]
    );
}

#[test]
fn a_module_without_a_layer_is_a_problem() {
    let found = problems(&[("lib.rs", "mod shelf;"), ("shelf.rs", "")]);
    assert_eq!(found, ["`engine::shelf` has no layer: add it to LAYERS in xtask/src/layers.rs"]);
}

#[test]
fn methods_for_a_type_of_another_module_are_a_problem() {
    let found = problems(&[
        ("lib.rs", "mod session; mod run;"),
        ("session.rs", "pub struct Actor;"),
        ("run.rs", "use crate::session::Actor;\nimpl Actor { fn start(&self) {} }\nimpl Clone for Actor {}"),
    ]);
    assert!(
        found[0].starts_with("src/run.rs:2: `run` adds methods to `Actor`, a type of `session`"),
        "{found:?}"
    );
    assert_eq!(found.len(), 1);
}

#[test]
fn the_table_names_no_module_twice_and_enforces_only_what_it_has() {
    for layers in LAYERS {
        let mut names: Vec<&str> = layers.layers.concat();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "{}", layers.inside);
    }
    for name in ENFORCED {
        assert!(LAYERS.iter().any(|layers| layers.inside == *name), "{name}");
    }
}
