//! Tests of forms and answers.

use super::*;

fn field(key: &str, kind: FieldType) -> InputField {
    InputField {
        key: key.to_owned(),
        label: format!("Your {key}?"),
        kind,
        options: Vec::new(),
        multi_select: false,
        custom_input: false,
        required: true,
        default_value: None,
        placeholder: None,
        input_type: None,
        pattern: None,
        pattern_message: None,
        min_length: None,
        max_length: None,
    }
}

fn options(labels: &[&str]) -> Vec<InputOption> {
    labels.iter().map(|label| InputOption { label: (*label).to_owned(), description: None }).collect()
}

fn form(fields: Vec<InputField>) -> InputForm {
    InputForm { title: None, description: None, short: false, fields }
}

fn short(multi_select: bool) -> InputForm {
    let field = InputField {
        options: options(&["red", "blue"]),
        multi_select,
        custom_input: true,
        ..field(SHORT_KEY, FieldType::Choice)
    };
    InputForm { short: true, ..form(vec![field]) }
}

fn given(answer: Value) -> InputAnswers {
    serde_json::from_value(answer).unwrap()
}

#[test]
fn the_answers_of_a_form_come_in_the_order_of_its_fields() {
    let form = form(vec![field("zip", FieldType::Text), field("city", FieldType::Text)]);
    let answers = given(json!({ "answers": { "city": "Bern", "zip": "3000" } }));
    assert_eq!(form.output(&answers).to_string(), r#"{"answers":{"zip":"3000","city":"Bern"}}"#);
    let only = given(json!({ "answers": { "city": "Bern" } }));
    assert_eq!(form.output(&only).to_string(), r#"{"answers":{"city":"Bern"}}"#, "an empty field is absent");
}

#[test]
fn the_answer_of_a_short_question_is_complete_in_one_field() {
    let output = |multi, answers| short(multi).output(&given(answers)).to_string();
    assert_eq!(output(false, json!({ "answers": { "answer": "blue" } })), r#"{"answer":"blue"}"#);
    assert_eq!(
        output(false, json!({ "answers": {}, "customInput": "teal" })),
        r#"{"answer":"teal","customInput":"teal"}"#
    );
    assert_eq!(
        output(true, json!({ "answers": { "answer": ["red"] }, "customInput": "teal" })),
        r#"{"answer":["red","teal"],"customInput":"teal"}"#
    );
}

#[test]
fn a_declined_question_says_so_to_the_model() {
    let output = declined_output(Some("too private"));
    assert_eq!(output["cancelled"], true);
    assert!(output["message"].as_str().unwrap().ends_with("Their reason: too private"));
}

#[test]
fn any_form_is_one_question() {
    let question = short(true).short_question();
    assert_eq!(question.question, "Your answer?");
    assert_eq!((question.options, question.multi_select), (vec!["red".to_owned(), "blue".to_owned()], true));

    let colour = InputField { options: options(&["red", "blue"]), ..field("colour", FieldType::Select) };
    let name = InputField { required: false, ..field("name", FieldType::Text) };
    let form = InputForm { title: Some("Order".to_owned()), ..form(vec![colour, name]) };
    let question = form.short_question();
    assert_eq!(
        question.question,
        "Order\ncolour: Your colour? (one of: red, blue)\nname: Your name? (optional)\n\
         Answer with one line for each field: key: value"
    );
    assert!(question.options.is_empty() && !question.multi_select);
}

#[test]
fn an_answer_has_texts_and_nothing_else() {
    let read = |value: Value| serde_json::from_value::<UserAnswer>(value);
    let answer = read(json!({ "selected": ["a", "b"], "customInput": "c" })).unwrap();
    assert_eq!(answer.selected, Some(AnswerValue::Many(vec!["a".to_owned(), "b".to_owned()])));
    assert_eq!(read(json!({ "cancelled": true })).unwrap(), UserAnswer::declined(None));
    for wrong in [json!({ "selected": 1 }), json!({ "answers": { "a": null } }), json!({ "other": 1 })] {
        assert!(read(wrong).is_err());
    }
    let error = read(json!({ "answers": { "a": 1 } })).unwrap_err().to_string();
    assert!(error.contains("a text or a list of texts"), "{error}");
}

#[test]
fn an_answer_is_never_shown_in_a_log() {
    let secret = AnswerValue::One("hunter2".to_owned());
    let answers = BTreeMap::from([("password".to_owned(), secret.clone())]);
    let answer = UserAnswer { answers: Some(answers), selected: Some(secret), ..UserAnswer::default() };
    let shown = format!("{answer:?}");
    assert!(shown.contains("password") && !shown.contains("hunter2"));
}
