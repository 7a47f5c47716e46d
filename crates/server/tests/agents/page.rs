//! Checks that every test named in `docs/agent-checks.md` exists.

use std::{fs, path::Path};

fn sources(folder: &Path, found: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_test_the_page_names_exists_and_every_item_is_on_the_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/agent-checks.md")).unwrap();
    let mut tests = String::new();
    for folder in ["crates/server/tests", "crates/engine/src", "crates/concertino/tests"] {
        sources(&root.join(folder), &mut tests);
    }
    let names: Vec<&str> = page.split('`').skip(1).step_by(2).filter(|name| name.len() > 24).collect();
    let names = names.into_iter().filter(|name| !name.contains(' ') && !name.contains('/'));
    let mut count = 0;
    for name in names {
        assert!(tests.contains(&format!("fn {name}(")), "{name} is no test");
        count += 1;
    }
    assert!(count >= 35, "only {count} names were found on the page");
    for item in (98..=105).chain(108..=112).chain([114, 115, 117, 119]) {
        assert!(page.contains(&format!("| {item} |")), "item {item} is missing");
    }
}
