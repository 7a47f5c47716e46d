//! What each family accepts, and how errors name the field.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::*;

/// Write a list.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct List {
    name: String,
    max_size: Option<u8>,
    mode: Option<Mode>,
    #[schemars(length(min = 1, max = 3))]
    entries: Vec<Entry>,
    #[serde(default)]
    options: Option<Options>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Full,
    Patch,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[schemars(length(max = 5))]
    label: Option<String>,
    status: Status,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Options {
    #[schemars(range(min = 1, max = 10))]
    limit: u32,
    deep: Option<bool>,
}

fn accept(family: Family, input: &Value) -> Result<List, String> {
    InputSchema::of::<List>("list", family).accept(input).map_err(|error| error.to_string())
}

fn host(input: &Value) -> Result<List, String> {
    accept(Family::Host, input)
}

fn plain() -> List {
    let entries = vec![Entry { label: None, status: Status::Pending }];
    List { name: "n".to_owned(), max_size: None, mode: None, entries, options: None }
}

#[test]
fn a_host_tool_drops_what_is_superfluous_and_does_not_insist_on_the_purpose() {
    let bare = json!({"name": "n", "entries": [{"status": "pending"}]});
    assert_eq!(host(&bare), Ok(plain()));
    let full =
        json!({"actionName": 5, "name": "n", "extra": {}, "entries": [{"status": "pending", "more": 1}]});
    assert_eq!(host(&full), Ok(plain()));
}

#[test]
fn a_host_tool_drops_invalid_optional_fields_at_any_depth() {
    let input = json!({
        "name": "n", "maxSize": "many", "mode": "fulll", "options": 7,
        "entries": [{"status": "pending", "label": 5}],
    });
    assert_eq!(host(&input), Ok(plain()));
    let nulls = json!({"name": "n", "maxSize": null, "mode": null, "entries": [{"status": "pending"}]});
    assert_eq!(host(&nulls), Ok(plain()));
}

#[test]
fn a_mistake_inside_an_optional_object_is_told_not_dropped_with_the_whole() {
    let with = |options: Value| json!({"name": "n", "entries": [{"status": "pending"}], "options": options});
    assert_eq!(
        host(&with(json!({"limit": "two"}))).unwrap_err(),
        "field `options.limit`: expected a whole number that is not negative, got string \"two\""
    );
    assert_eq!(
        host(&with(json!({"limit": 11}))).unwrap_err(),
        "field `options.limit`: expected at most 10, got 11"
    );
    assert_eq!(
        host(&with(json!({"deep": true}))).unwrap_err(),
        "field `options.limit`: is required and missing"
    );
    assert_eq!(
        host(&with(json!({"limit": 2, "deep": "yes"}))).unwrap().options,
        Some(Options { limit: 2, deep: None })
    );
}

#[test]
fn required_fields_are_never_invented_and_the_error_names_them() {
    for (input, expected) in [
        (json!({"entries": []}), "field `name`: is required and missing"),
        (json!({"name": null, "entries": []}), "field `name`: expected a string, got null"),
        (json!({"name": "n", "entries": "x"}), "field `entries`: expected a list, got string \"x\""),
        (json!({"name": "n", "entries": []}), "field `entries`: expected at least 1 entries, got 0"),
        (
            json!({"name": "n", "entries": [{"status": "pending", "label": "much too long"}]}),
            "field `entries[0].label`: expected at most 5 characters, got 13",
        ),
        (json!({"name": "n", "entries": [{}]}), "field `entries[0].status`: is required and missing"),
        (json!({"name": "n", "entries": [3]}), "field `entries[0]`: expected an object, got integer `3`"),
        (
            json!({"name": "n", "entries": [{"status": "pending"}, {"status": "done"}]}),
            "field `entries[1].status`: expected one of `pending`, `in_progress`, `completed`, got \"done\"",
        ),
        (
            json!([]),
            "the arguments: expected an object with the fields `actionName`, `name`, `entries`, got a list",
        ),
        (
            json!("x"),
            "the arguments: expected an object with the fields `actionName`, `name`, `entries`, got a text",
        ),
    ] {
        assert_eq!(host(&input).unwrap_err(), expected);
    }
}

#[test]
fn a_contract_tool_refuses_every_deviation() {
    let contract = |input: Value| accept(Family::Contract, &input);
    assert_eq!(contract(json!({"name": "n", "entries": [{"status": "pending"}]})), Ok(plain()));
    for (input, expected) in [
        (
            json!({"actionName": "x", "name": "n", "entries": [{"status": "pending"}]}),
            "field `actionName`: this tool has no such field; it has `name`, `maxSize`, `mode`, `entries`, `options`",
        ),
        (
            json!({"name": "n", "entries": [{"status": "pending", "more": 1}]}),
            "field `entries[0].more`: this tool has no such field; expected `label` or `status`",
        ),
        (
            json!({"name": "n", "mode": "fulll", "entries": [{"status": "pending"}]}),
            "field `mode`: expected `full` or `patch`, got \"fulll\"",
        ),
        (
            json!({"name": "n", "maxSize": 256, "entries": [{"status": "pending"}]}),
            "field `maxSize`: expected a whole number that is not negative, got integer `256`",
        ),
    ] {
        assert_eq!(contract(input).unwrap_err(), expected);
    }
}

#[test]
fn long_wrong_values_are_not_echoed_in_full() {
    let error = host(&json!({"name": "n", "entries": "ü".repeat(100_000)})).unwrap_err();
    assert!(error.chars().count() < 250, "{error}");
}

#[test]
fn a_bare_string_is_a_whole_input() {
    let shape = InputSchema::of::<String>("js-repl", Family::Host);
    assert_eq!(shape.accept::<String>(&json!("1 + 1")).unwrap(), "1 + 1");
    let error = shape.accept::<String>(&json!({})).unwrap_err().to_string();
    assert_eq!(error, "the arguments: expected a string, got map");
}
