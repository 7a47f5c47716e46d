//! Tests of the check of what people answer.

use protocol::InputOption;
use serde_json::{Value, json};

use super::*;

fn form(fields: Value) -> InputForm {
    let mut fields = fields;
    for field in fields.as_array_mut().unwrap() {
        let field = field.as_object_mut().unwrap();
        field.entry("label").or_insert(json!("L"));
        field.entry("required").or_insert(json!(true));
    }
    serde_json::from_value(json!({ "fields": fields })).unwrap()
}

fn checked(form: &InputForm, answer: Value) -> Result<Value, Vec<String>> {
    match check(form, serde_json::from_value(answer).unwrap()) {
        Ok(CheckedAnswer::Given(given)) => Ok(json!(given)),
        Ok(CheckedAnswer::Declined(reason)) => Ok(json!({ "declined": reason })),
        Err(problems) => {
            Err(problems.into_iter().map(|wrong| format!("{} {}", wrong.path, wrong.code)).collect())
        }
    }
}

fn refused(form: &InputForm, answer: Value) -> Vec<String> {
    checked(form, answer).unwrap_err()
}

#[test]
fn texts_must_keep_their_limits() {
    let form = form(json!([
        { "key": "zip", "type": "text", "pattern": "[0-9]{4}" },
        { "key": "name", "type": "text", "minLength": 2, "maxLength": 4, "required": false },
    ]));
    let answer = |zip: &str, name: &str| json!({ "answers": { "zip": zip, "name": name } });
    assert_eq!(checked(&form, answer("3000", "Zoë")).unwrap(), answer("3000", "Zoë"));
    assert_eq!(checked(&form, answer("3000", " ")).unwrap(), json!({ "answers": { "zip": "3000" } }));
    assert_eq!(
        refused(&form, answer("30001", "Zoë")),
        ["answers.zip invalid_value"],
        "the whole text matches"
    );
    assert_eq!(
        refused(&form, answer("3000\n", "x")),
        ["answers.zip invalid_value", "answers.name invalid_value"]
    );
    assert_eq!(refused(&form, answer("3000", "ééééé")), ["answers.name invalid_value"]);
    assert_eq!(refused(&form, json!({ "answers": {} })), ["answers.zip required"]);
    assert_eq!(refused(&form, json!({ "answers": { "zip": ["1"] } })), ["answers.zip wrong_type"]);
    assert_eq!(
        refused(&form, json!({ "answers": { "zip": "3000", "other": "x" } })),
        ["answers.other unknown_field"]
    );
    let long = "x".repeat(MAX_TEXT_BYTES + 1);
    assert_eq!(refused(&form, answer("3000", &long)), ["answers.name invalid_value"]);
}

#[test]
fn options_are_exact_and_own_words_need_permission() {
    let options = json!([{ "label": "a" }, { "label": "b" }]);
    let one = form(json!([{ "key": "k", "type": "choice", "options": options }]));
    assert_eq!(
        checked(&one, json!({ "answers": { "k": "a" } })).unwrap(),
        json!({ "answers": { "k": "a" } })
    );
    for wrong in [json!("A"), json!(" a"), json!("c")] {
        assert_eq!(refused(&one, json!({ "answers": { "k": wrong } })), ["answers.k not_an_option"]);
    }
    assert_eq!(refused(&one, json!({ "answers": { "k": ["a"] } })), ["answers.k wrong_type"]);
    assert_eq!(refused(&one, json!({ "selected": "a", "customInput": "z" })), ["answers.k not_an_option"]);

    let open = form(json!([
        { "key": "k", "type": "choice", "options": options, "multiSelect": true, "customInput": true }
    ]));
    let given = checked(&open, json!({ "selected": ["b", "b", "other"], "customInput": "z" })).unwrap();
    assert_eq!(given, json!({ "answers": { "k": ["b"] }, "customInput": "z" }));
    let own = checked(&open, json!({ "answers": { "k": ["z", "a"] } })).unwrap();
    assert_eq!(own, json!({ "answers": { "k": ["a"] }, "customInput": "z" }));
    assert_eq!(refused(&open, json!({ "selected": ["y", "z"] })), ["answers.k not_an_option"]);
    assert_eq!(refused(&open, json!({ "selected": [] })), ["answers.k required"]);
}

#[test]
fn an_answer_has_one_shape() {
    let form = form(json!([{ "key": "k", "type": "text" }]));
    for wrong in [
        json!({}),
        json!({ "answers": { "k": "a" }, "selected": "a" }),
        json!({ "answers": { "k": "a" }, "cancelled": true }),
        json!({ "selected": "a", "cancelled": true }),
    ] {
        assert_eq!(refused(&form, wrong), [" wrong_shape"]);
    }
    assert_eq!(
        checked(&form, json!({ "cancelled": true, "reason": " " })).unwrap(),
        json!({ "declined": null })
    );
    let long = "x".repeat(MAX_TEXT_BYTES + 1);
    assert_eq!(refused(&form, json!({ "cancelled": true, "reason": long })), ["reason too_long"]);
    for short in [json!({ "selected": "a" }), json!({ "customInput": "a" })] {
        assert_eq!(checked(&form, short).unwrap(), json!({ "answers": { "k": "a" } }));
    }
}

#[test]
fn a_form_of_several_fields_is_answered_in_lines() {
    let form = form(json!([
        { "key": "host", "type": "text" },
        { "key": "os", "type": "choice", "multiSelect": true, "options": [{ "label": "mac" }, { "label": "linux" }] },
    ]));
    let all = json!({ "answers": { "host": "a:1", "os": ["mac", "linux"] } });
    assert_eq!(checked(&form, json!({ "customInput": "host: a:1\n\nos: mac, linux\n" })).unwrap(), all);
    assert_eq!(
        checked(&form, json!({ "customInput": r#"{"host":"a:1","os":["mac","linux"]}"# })).unwrap(),
        all
    );
    assert_eq!(refused(&form, json!({ "customInput": "a.example" })), ["customInput unknown_field"]);
    assert_eq!(refused(&form, json!({ "customInput": r#"{"host":1}"# })), ["customInput wrong_type"]);
    assert_eq!(refused(&form, json!({ "customInput": "host: a" })), ["answers.os required"]);
    assert_eq!(refused(&form, json!({ "selected": ["mac"] })), ["customInput wrong_shape"]);
}

#[test]
fn no_refusal_repeats_what_the_person_wrote() {
    let fields = json!([{ "key": "p", "type": "secret", "minLength": 20, "pattern": "[a-z]+" }]);
    let form = form(fields);
    let answer = serde_json::from_value(json!({ "answers": { "p": "hunter2" } })).unwrap();
    let problems = check(&form, answer).err().unwrap();
    assert!(!format!("{problems:?}").contains("hunter2"));
    let option = InputOption { label: "a".to_owned(), description: None };
    let select = InputField { kind: FieldType::Select, options: vec![option], ..form.fields[0].clone() };
    assert!(!check_text(&select, "hunter2").unwrap_err().contains("hunter2"));
}
