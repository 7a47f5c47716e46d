//! Valid arguments are not changed, coerced ones keep their meaning, and nothing is invented. The calls of
//! `docs/tool-call-repair.md` go through the whole server elsewhere.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "actionName": { "type": "string" },
            "text": { "type": "string" },
            "maxWords": { "type": "integer" },
            "ratio": { "type": "number" },
            "urgent": { "type": "boolean" },
            "tags": { "type": "array", "items": { "type": "string" } },
            "colour": { "type": "string", "enum": ["red", "dark_green"] },
            "place": { "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] },
        },
        "required": ["actionName", "text"],
    })
}

#[test]
fn two_fields_that_could_mean_the_same_are_left_as_they_are() {
    let both = json!({ "max_words": 1, "MaxWords": 2, "text": "x" });
    assert_eq!(coerce(&schema(), both.clone()), both);
    let taken = json!({ "text": "x", "Text": "y" });
    assert_eq!(coerce(&schema(), taken.clone()), taken);
}

#[test]
fn numbers_are_read_only_where_nothing_is_lost() {
    let of = |value: Value| coerce(&schema(), json!({ "text": "x", "maxWords": value }))["maxWords"].clone();
    assert_eq!(of(json!(" 12 ")), json!(12));
    assert_eq!(of(json!(-3.0)), json!(-3));
    for kept in
        [json!("12.5"), json!("1e3"), json!("twelve"), json!(2.5), json!(1e300), json!(null), json!([1])]
    {
        assert_eq!(of(kept.clone()), kept);
    }
    let ratio = |value: Value| coerce(&schema(), json!({ "text": "x", "ratio": value }))["ratio"].clone();
    assert_eq!(ratio(json!("0.5")), json!(0.5));
    assert_eq!(ratio(json!("NaN")), json!("NaN"));
}

#[test]
fn a_wrapper_is_taken_off_only_when_nothing_else_stands_beside_it() {
    let inner = json!({ "text": "x" });
    assert_eq!(coerce(&schema(), json!({ "parameters": "{\"text\": \"x\"}" })), inner);
    let beside = json!({ "arguments": { "text": "x" }, "urgent": true });
    assert_eq!(coerce(&schema(), beside.clone()), beside);
    let own =
        json!({ "type": "object", "properties": { "input": { "type": "object" } }, "required": ["input"] });
    let field = json!({ "input": { "a": 1 } });
    assert_eq!(coerce(&own, field.clone()), field, "here it is a field");
}

#[test]
fn words_are_taken_only_where_one_text_is_asked_for() {
    assert_eq!(from_plain_text(&schema(), "buy milk"), Some(json!({ "text": "buy milk" })));
    for no in ["text: buy milk", "text = x", "{\"text\": \"x", "say \"x\"", "[1]", &"x".repeat(5_000)] {
        assert_eq!(from_plain_text(&schema(), no), None, "{no}");
    }
    let two = json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "string" } }, "required": ["a", "b"] });
    assert_eq!(from_plain_text(&two, "buy milk"), None);
}

fn fitting() -> impl Strategy<Value = Value> {
    let text = ".{0,12}";
    let place = text.prop_map(|city| json!({ "city": city }));
    let colour = prop_oneof![Just("red"), Just("dark_green")];
    (text, any::<i32>(), any::<bool>(), prop::collection::vec(text, 0..3), colour, place).prop_map(
        |(text, max_words, urgent, tags, colour, place)| {
            json!({ "text": text, "maxWords": max_words, "urgent": urgent, "tags": tags, "colour": colour, "place": place })
        },
    )
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<f64>().prop_map(Value::from),
        "[a-zA-Z0-9{}\\[\\]\": ._-]{0,16}".prop_map(Value::String),
    ];
    let names = prop_oneof![
        Just("text"),
        Just("Text"),
        Just("max_words"),
        Just("arguments"),
        Just("place"),
        Just("tags"),
        Just("colour")
    ];
    leaf.prop_recursive(3, 16, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((names.clone(), inner), 0..4).prop_map(|fields| fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_fits_is_never_changed(value in fitting()) {
        prop_assert_eq!(coerce(&schema(), value.clone()), value);
    }

    #[test]
    fn a_required_field_is_never_made_up(value in anything()) {
        let said = value.to_string().to_lowercase();
        let coerced = coerce(&schema(), value.clone());
        if coerced.get("text").is_some() && !value.is_string() {
            prop_assert!(said.contains("text"), "{} became {}", value, coerced);
        }
    }
}
