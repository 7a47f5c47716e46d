//! Tests of `request-user-input`.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::{Family, erase, testing};

fn form(input: Value) -> Result<InputForm, String> {
    let prepared =
        erase(RequestUserInput, Family::Host).prepare(&input).map_err(|error| error.to_string())?;
    match prepared.need(&testing::files().domain) {
        Need::Input { form } => Ok(*form),
        need => panic!("{need:?}"),
    }
}

#[test]
fn a_question_with_options_is_a_choice_that_allows_own_words() {
    let asked =
        form(json!({ "question": "Which?", "options": ["a", { "label": "b", "description": "the other" }] }));
    let asked = asked.unwrap();
    assert!(asked.short);
    let [field] = asked.fields.as_slice() else { panic!() };
    assert_eq!((field.kind, field.key.as_str(), field.custom_input), (FieldType::Choice, "answer", true));
    assert_eq!(field.options[1].description.as_deref(), Some("the other"));
    let open = form(json!({ "question": "Why?", "actionName": "ask" })).unwrap();
    assert_eq!(open.fields[0].kind, FieldType::Textarea);
}

#[test]
fn the_mode_decides_which_list_is_read() {
    let questions = json!([{ "key": "a", "label": "A" }]);
    let choices = json!([{ "key": "b", "question": "B", "options": ["x", "y"], "multiSelect": true }]);
    let keys = |input: Value| -> Vec<String> {
        form(input).unwrap().fields.into_iter().map(|field| field.key).collect()
    };
    assert_eq!(keys(json!({ "questions": questions, "choices": choices })), ["a"]);
    assert_eq!(keys(json!({ "mode": "choice", "questions": questions, "choices": choices })), ["b"]);
    assert_eq!(keys(json!({ "choices": choices })), ["b"]);
    let select = form(json!({ "questions": [{ "key": "a", "label": "A", "options": ["x"] }] })).unwrap();
    assert_eq!(select.fields[0].kind, FieldType::Select);
    assert!(select.fields[0].required);
}

#[test]
fn what_nobody_could_fill_in_is_refused() {
    let field = |field: Value| json!({ "questions": [field] });
    for (input, reason) in [
        (json!({}), "give `question` with `options`, or `questions`, or `choices`"),
        (json!({ "mode": "choice" }), "mode `choice` needs the field `choices`"),
        (field(json!({ "key": "a b", "label": "A" })), "`questions[0]`: the key `a b` may only have"),
        (field(json!({ "key": "__proto__", "label": "A" })), "the key `__proto__` may only have"),
        (field(json!({ "key": "a", "label": "A", "type": "select" })), "needs `options`"),
        (
            field(json!({ "key": "a", "label": "A", "type": "secret", "defaultValue": "x" })),
            "cannot have a `defaultValue`",
        ),
        (
            field(json!({ "key": "a", "label": "A", "minLength": 3, "maxLength": 2 })),
            "`minLength` 3 is greater",
        ),
        (field(json!({ "key": "a", "label": "A", "pattern": "(?=a)" })), "look-around"),
        (
            field(json!({ "key": "a", "label": "A", "pattern": "[0-9]", "defaultValue": "x" })),
            "`defaultValue` does not match",
        ),
        (
            json!({ "questions": [{ "key": "a", "label": "A" }, { "key": "a", "label": "B" }] }),
            "is there twice",
        ),
        (json!({ "choices": [{ "key": "a", "question": "A", "options": ["x"] }] }), "at least 2"),
        (json!({ "questions": [] }), "a form has 1 to 20 fields"),
        (json!({ "question": "x".repeat(2001) }), "at most 2000 characters"),
        (field(json!({ "key": "k".repeat(65), "label": "A" })), "may only have"),
        (json!({ "question": "Q", "options": ["x", "x"] }), "the option `x` is there twice"),
        (json!({ "question": "Q", "options": ["secret://1"] }), "cannot be a reference"),
    ] {
        let error = form(input.clone()).unwrap_err();
        assert!(error.contains(reason), "{input}: {error}");
    }
}

#[tokio::test]
async fn it_is_never_run() {
    let tool = erase(RequestUserInput, Family::Host);
    assert_eq!(tool.risk(), ToolRisk::Input);
    let ctx = testing::ctx(&Arc::default());
    let called = testing::call_in(ctx, tool, json!({ "question": "Q" })).await;
    assert!(called.unwrap_err().contains("nobody was asked"));
}

#[test]
fn its_schema_is_stable() {
    let tool = erase(RequestUserInput, Family::Host);
    insta::assert_snapshot!(serde_json::to_string_pretty(&tool.spec().input_schema).unwrap(), @r#"
    {
      "type": "object",
      "properties": {
        "actionName": {
          "type": "string",
          "description": "A short purpose of this call, shown to the person."
        },
        "title": {
          "type": "string"
        },
        "description": {
          "type": "string",
          "description": "Why you ask."
        },
        "mode": {
          "type": "string",
          "enum": [
            "form",
            "choice"
          ],
          "description": "Which list is meant. Default: `form`."
        },
        "questions": {
          "type": "array",
          "items": {
            "type": "object",
            "properties": {
              "key": {
                "description": "The name of the answer, as in `api_key`.",
                "type": "string"
              },
              "label": {
                "type": "string"
              },
              "type": {
                "description": "Default: `text`.",
                "type": "string",
                "enum": [
                  "text",
                  "secret",
                  "select",
                  "textarea"
                ]
              },
              "inputType": {
                "description": "As in HTML: `email`, `number`, `date`.",
                "type": "string"
              },
              "options": {
                "description": "For `select`.",
                "type": "array",
                "items": {
                  "type": "string"
                }
              },
              "required": {
                "description": "Default: `true`.",
                "type": "boolean"
              },
              "defaultValue": {
                "type": "string"
              },
              "placeholder": {
                "type": "string"
              },
              "pattern": {
                "description": "A regular expression for the whole answer.",
                "type": "string"
              },
              "patternMessage": {
                "type": "string"
              },
              "minLength": {
                "type": "integer",
                "minimum": 0
              },
              "maxLength": {
                "type": "integer",
                "minimum": 0
              }
            },
            "required": [
              "key",
              "label"
            ]
          },
          "description": "The fields of a form."
        },
        "choices": {
          "type": "array",
          "items": {
            "type": "object",
            "properties": {
              "key": {
                "type": "string"
              },
              "question": {
                "type": "string"
              },
              "options": {
                "type": "array",
                "items": {
                  "type": "object",
                  "properties": {
                    "label": {
                      "type": "string"
                    },
                    "description": {
                      "type": "string"
                    }
                  },
                  "required": [
                    "label"
                  ]
                },
                "minItems": 2,
                "maxItems": 6
              },
              "multiSelect": {
                "type": "boolean"
              }
            },
            "required": [
              "key",
              "question",
              "options"
            ]
          },
          "description": "Decisions (mode `choice`)."
        },
        "question": {
          "type": "string",
          "description": "A single question, instead of a list."
        },
        "options": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "For `question`. The person may also write their own answer."
        },
        "multiSelect": {
          "type": "boolean",
          "description": "Whether several options may be chosen."
        }
      },
      "required": [
        "actionName"
      ]
    }
    "#);
}
