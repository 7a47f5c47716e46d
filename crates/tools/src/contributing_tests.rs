//! The example tool of `CONTRIBUTING.md`: the page shows exactly the file that is compiled and run here.

mod count_text;

use std::sync::Arc;

use serde_json::json;

use crate::{Family, Limits, Outcome, Registry, erase, execute, names, read_arguments, testing};
use count_text::CountText;

const PAGE: &str = include_str!("../../../CONTRIBUTING.md");
const FILE: &str = include_str!("contributing_tests/count_text.rs");

#[test]
fn the_page_shows_the_file_that_is_compiled_here() {
    let blocks: Vec<&str> =
        PAGE.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(
        blocks.contains(&FILE),
        "CONTRIBUTING.md and crates/tools/src/contributing_tests/count_text.rs differ: copy the file into the page"
    );
    for step in ["pub mod count_text;", "registry.register(erase(CountText, Family::Host))?;"] {
        assert!(PAGE.contains(step), "CONTRIBUTING.md no longer shows the step `{step}`");
    }
}

/// The path of a call that a model made: find the tool, read the arguments, check them, run the tool within limits.
#[tokio::test]
async fn the_example_tool_runs_through_the_registry() {
    let mut registry = Registry::builtin(&[]).unwrap();
    // Following the page makes it a built-in tool; this test must pass then, too.
    if registry.get("count-text").is_none() {
        registry.register(erase(CountText, Family::Host)).unwrap();
    }
    let all: Vec<&str> = registry.names().collect();
    let name = names::resolve("count_text", all.iter().copied()).unwrap();
    let tool = registry.get(name).unwrap();
    assert_eq!(
        tool.spec().description,
        "Count the words, characters and lines of a text. Use it instead of counting yourself."
    );
    assert_eq!(tool.spec().input_schema["properties"]["text"]["description"], "The text to count.");
    let input = read_arguments(tool.as_ref(), r#"{"actionName":"count","text":"one two\nthree"}"#).unwrap();
    let call = tool.prepare(&input).unwrap();
    let outcome = execute(call, testing::ctx(&Arc::default()), Limits::default()).await;
    let Outcome::Done(output) = outcome else { panic!("{outcome:?}") };
    assert_eq!(output, json!({ "words": 3, "characters": 12, "lines": 2 }));
}
