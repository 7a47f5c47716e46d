//! What is repaired, what is not, and that no text breaks the parser.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn valid_json_and_empty_text_are_taken_as_they_are() {
    assert_eq!(
        parse_arguments(r#"{"text": "it's \"fine\", {ok}"}"#),
        Ok(json!({"text": "it's \"fine\", {ok}"}))
    );
    assert_eq!(parse_arguments(" [1] "), Ok(json!([1])));
    assert_eq!(parse_arguments(r#""just text""#), Ok(json!("just text")));
    for nothing in ["", " \n", "null", "\u{feff}"] {
        assert_eq!(parse_arguments(nothing), Ok(json!({})), "{nothing:?}");
    }
}

#[test]
fn plain_intent_is_repaired() {
    let expected = json!({"text": "hi", "n": 2});
    for raw in [
        "```json\n{\"text\": \"hi\", \"n\": 2}\n```",
        "```\n{\"text\": \"hi\", \"n\": 2}```\nDone.",
        r#"{"text": "hi", "n": 2,}"#,
        "{'text': 'hi', 'n': 2}",
        r#"{text: "hi", n: 2}"#,
        r#"{ "text" : "hi" , n: 2 , }"#,
        "{“text”: “hi”, “n”: 2}",
        "{‘text’: ‘hi’, ‘n’: 2}",
        r#""{\"text\": \"hi\", \"n\": 2}""#,
        r#"Here are the arguments: {"text": "hi", "n": 2}"#,
        r#"{"text": "hi", "n": 2} This says "hi" twice."#,
        r#"conf_echo({"text": "hi", "n": 2})"#,
        r#"{"text": "hi", "n": 2}}"#,
    ] {
        assert_eq!(parse_arguments(raw), Ok(expected.clone()), "{raw}");
    }
}

#[test]
fn words_lists_and_strings_are_read_leniently_inside_the_object() {
    assert_eq!(
        parse_arguments("{a: True, b: False, c: None, d: [1, 'x', {e: -1.5e3,},],}"),
        Ok(json!({"a": true, "b": false, "c": null, "d": [1, "x", {"e": -1500.0}]}))
    );
    assert_eq!(parse_arguments("{\"text\": \"two\nlines\"}"), Ok(json!({"text": "two\nlines"})));
    assert_eq!(parse_arguments(r#"{"pattern": "\d+\.rs"}"#), Ok(json!({"pattern": r"\d+\.rs"})));
    assert_eq!(
        parse_arguments(r#"{'text': 'it\'s \u00fc \ud83c\udfbb', }"#),
        Ok(json!({"text": "it's ü 🎻"}))
    );
}

#[test]
fn text_that_ends_too_early_is_an_error_that_says_so() {
    for raw in [
        r#"{"text": "unclosed"#,
        r#"{"text": "unclosed}"#,
        r#"{"text": "done""#,
        r#"{"text""#,
        r#"{"text": tru"#,
        r#"{"n": 12"#,
        r#"{"n": [1, 2"#,
        "{",
        "```json\n{\"text\": \"unclosed\n```",
        r#"{"text": "\u00"#,
    ] {
        let error = parse_arguments(raw).unwrap_err();
        assert!(error.starts_with("the arguments end before the JSON is complete"), "{raw}: {error}");
    }
}

#[test]
fn nothing_is_guessed_where_content_could_be_lost() {
    for raw in [
        "hello",
        "{x}",
        "{'text': 'it's fine'}",
        r#"{"a": 1}{"b": 2}"#,
        r#"{"a": {"b": 1}}, "c": 2}"#,
        r#""a": {"b": 1}"#,
        "[{'a': 1}]",
        r#"{"a": 1 "b": 2}"#,
        r#"{"a": 1,, "b": 2}"#,
        r#"{"a": hello}"#,
        r#"{"a": }"#,
        r#"{"a": 01}"#,
        r#"{"a": NaN}"#,
        r#"{"a": "\ud83c"}"#,
        r#""{'a': 1}"#,
    ] {
        let error = parse_arguments(raw).unwrap_err();
        assert!(error.starts_with("the arguments are not valid JSON"), "{raw}: {error}");
    }
}

#[test]
fn size_and_depth_are_bounded() {
    let long = format!(r#"{{"text": "{}"}}"#, "x".repeat(MAX_BYTES));
    assert!(parse_arguments(&long).unwrap_err().contains("at most 1048576"));

    let nested =
        |levels: usize, tail: &str| format!("{}1{tail}{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    assert!(parse_arguments(&nested(64, "")).is_ok());
    assert!(parse_arguments(&nested(64, ",")).is_ok());
    for deep in
        [nested(65, ""), nested(65, ","), nested(500, ""), nested(100_000, ""), "{a:[".repeat(200_000)]
    {
        assert_eq!(parse_arguments(&deep), Err(too_deep()));
    }
}

#[test]
fn long_hostile_text_is_refused_quickly() {
    for unit in ["{", "[", "\"", "'", "{\"", "}{", "\\", "{'a':", "“", "```"] {
        let hostile = unit.repeat(MAX_BYTES / unit.len());
        assert!(parse_arguments(&hostile).is_err(), "{unit}");
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::String),
        ".{0,12}".prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((".{0,8}", inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn json_object() -> impl Strategy<Value = Value> {
    prop::collection::vec(("[a-z]{1,6}", json_value()), 1..5)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

/// The same value in almost-JSON: Python words, trailing commas.
fn careless(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(_) => value.to_string(),
        Value::String(text) => {
            let text = text.replace('\\', "\\\\").replace('\'', "\\'");
            format!("'{text}'")
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|item| careless(item) + ", ").collect::<String>())
        }
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                format!("{}: {},", careless(&Value::from(key.as_str())), careless(value))
            };
            format!("{{{}}}", fields.iter().map(field).collect::<String>())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_was_valid_is_never_changed(value in json_object()) {
        prop_assert_eq!(parse_arguments(&value.to_string()), Ok(value));
    }

    #[test]
    fn careless_writing_means_the_same(value in json_object()) {
        prop_assert_eq!(parse_arguments(&careless(&value)), Ok(value.clone()));
        prop_assert_eq!(parse_arguments(&format!("Sure:\n```json\n{}\n```", careless(&value))), Ok(value));
    }

    #[test]
    fn no_cut_object_is_ever_accepted(value in json_object(), at in any::<prop::sample::Index>(), python in any::<bool>()) {
        let whole = if python { careless(&value) } else { value.to_string() };
        let cuts: Vec<usize> = whole.char_indices().map(|(place, _)| place).skip(1).collect();
        let cut = &whole[..cuts[at.index(cuts.len())]];
        prop_assert!(parse_arguments(cut).is_err(), "{}", cut);
    }

    #[test]
    fn any_text_gets_an_answer(raw in any::<String>(), punctuation in "[{}\\[\\]\"'“”:,\\\\ua0-9 `-]{0,40}") {
        for text in [raw, punctuation] {
            if let Err(message) = parse_arguments(&text) {
                prop_assert!(!message.is_empty());
            }
        }
    }

    #[test]
    fn mutated_json_gets_an_answer(value in json_object(), at in any::<prop::sample::Index>(), put in any::<char>()) {
        let mut mutated: Vec<char> = value.to_string().chars().collect();
        let place = at.index(mutated.len());
        mutated[place] = put;
        let mutated: String = mutated.into_iter().collect();
        if let Err(message) = parse_arguments(&mutated) {
            prop_assert!(!message.is_empty());
        }
    }
}

#[test]
fn a_number_that_was_stored_is_read_back_as_the_same_number() {
    // Found by fuzzing: without exact parsing the last digit changed with every reading.
    let value = parse_arguments(r#"{"a":2222222200002090836180 }}"#).unwrap();
    assert_eq!(parse_arguments(&value.to_string()).unwrap(), value);
}
