//! Checks what a person answered against the form that they were asked to fill in. Exact: whatever does not fit is
//! refused with its reason, and the question stays open. No reason repeats what the person wrote, which may be a secret.

use std::collections::BTreeMap;

use protocol::{
    AnswerValue, FieldType, InputAnswers, InputField, InputForm, UserAnswer, wire::agents::FieldProblem,
};
use regex::{Regex, RegexBuilder};
use serde_json::Value;

/// Bytes of one answer, by the type of the field.
const MAX_TEXT_BYTES: usize = 4 << 10;
const MAX_LONG_TEXT_BYTES: usize = 64 << 10;
/// Bytes that a compiled pattern may take.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// An answer that fits its form. The values of secret fields are still in it.
#[derive(Clone, PartialEq, Eq)]
pub enum CheckedAnswer {
    Given(InputAnswers),
    Declined(Option<String>),
}

/// Compiles a pattern so that it matches whole texts.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    let compiled = RegexBuilder::new(&format!("^(?:{pattern})$")).size_limit(MAX_PATTERN_BYTES).build();
    compiled.map_err(|_| {
        "`pattern` is no regular expression that can be used: look-around and back references are not supported"
            .to_owned()
    })
}

/// Checks an answer. The problems name the fields.
pub fn check(form: &InputForm, answer: UserAnswer) -> Result<CheckedAnswer, Vec<FieldProblem>> {
    let UserAnswer { answers, selected, custom_input, cancelled, reason } = answer;
    let is_short = selected.is_some() || custom_input.is_some();
    match (answers, is_short, cancelled) {
        (None, false, true) => {
            if reason.as_ref().is_some_and(|reason| reason.len() > MAX_TEXT_BYTES) {
                let message = format!("The reason has more than {MAX_TEXT_BYTES} bytes.");
                return Err(vec![problem("reason", "too_long", &message, "Make it shorter.")]);
            }
            Ok(CheckedAnswer::Declined(reason.filter(|reason| !reason.trim().is_empty())))
        }
        (Some(answers), false, false) => by_key(form, answers).map(CheckedAnswer::Given),
        (None, true, false) => short(form, selected, custom_input).map(CheckedAnswer::Given),
        _ => Err(vec![problem(
            "",
            "wrong_shape",
            "An answer is either answers, or selected with customInput, or cancelled.",
            "Send one of them, as in {\"answers\": {\"key\": \"value\"}}.",
        )]),
    }
}

/// An answer with the values by the keys of their fields.
fn by_key(form: &InputForm, given: BTreeMap<String, AnswerValue>) -> Result<InputAnswers, Vec<FieldProblem>> {
    let mut problems: Vec<FieldProblem> =
        given.keys().filter(|key| form.field(key).is_none()).map(|key| unknown(form, key)).collect();
    let mut checked = InputAnswers::default();
    for field in &form.fields {
        if let Err(wrong) = check_field(field, given.get(&field.key), None, &mut checked) {
            problems.push(wrong);
        }
    }
    if problems.is_empty() { Ok(checked) } else { Err(problems) }
}

/// An answer in the short form. For a form of several fields it is a text with all of them.
fn short(
    form: &InputForm,
    selected: Option<AnswerValue>,
    custom: Option<String>,
) -> Result<InputAnswers, Vec<FieldProblem>> {
    let [field] = form.fields.as_slice() else {
        let lines = match (selected, custom) {
            (None, Some(lines)) | (Some(AnswerValue::One(lines)), None) => lines,
            _ => {
                return Err(vec![problem(
                    "customInput",
                    "wrong_shape",
                    "This form has several fields; they cannot be selected.",
                    "Send a customInput with one line for each field: key: value.",
                )]);
            }
        };
        return by_key(form, fields_of(form, &lines)?);
    };
    let chosen: &[String] = match &selected {
        Some(AnswerValue::One(text)) => std::slice::from_ref(text),
        Some(AnswerValue::Many(texts)) => texts,
        None => &[],
    };
    let is_option = |text: &String| field.options.iter().any(|option| option.label == *text);
    if field.custom_input && custom.is_none() && !field.options.is_empty() && !chosen.iter().all(is_option) {
        let message = "What was selected is not one of the options.";
        let fix = "Select an option, or write your own answer in customInput.";
        return Err(vec![of_field(field, "not_an_option", message, fix)]);
    }
    let mut checked = InputAnswers::default();
    // Where there is nothing to choose from, both are the text.
    let (selected, custom) = match (field.options.is_empty(), custom) {
        (true, Some(text)) => (Some(AnswerValue::One(text)), None),
        (_, custom) => (selected, custom),
    };
    check_field(field, selected.as_ref(), custom.as_deref(), &mut checked).map_err(|wrong| vec![wrong])?;
    Ok(checked)
}

/// Reads lines `key: value`, or a JSON object.
fn fields_of(form: &InputForm, text: &str) -> Result<BTreeMap<String, AnswerValue>, Vec<FieldProblem>> {
    if let Ok(Value::Object(_)) = serde_json::from_str::<Value>(text) {
        return serde_json::from_str(text).map_err(|_| {
            let message = "Every value must be a text or a list of texts.";
            vec![problem("customInput", "wrong_type", message, "Put quotes around the values.")]
        });
    }
    let mut given = BTreeMap::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let known =
            line.split_once(':').and_then(|(key, value)| Some((form.field(key.trim())?, value.trim())));
        let Some((field, value)) = known else {
            let message = "A line does not begin with the key of a field and a colon.";
            return Err(vec![problem("customInput", "unknown_field", message, &keys(form))]);
        };
        let value = if field.multi_select {
            AnswerValue::Many(value.split(',').map(|one| one.trim().to_owned()).collect())
        } else {
            AnswerValue::One(value.to_owned())
        };
        given.insert(field.key.clone(), value);
    }
    Ok(given)
}

/// Checks the answer to one field and adds it.
fn check_field(
    field: &InputField,
    value: Option<&AnswerValue>,
    custom: Option<&str>,
    checked: &mut InputAnswers,
) -> Result<(), FieldProblem> {
    let custom = custom.filter(|text| !text.trim().is_empty());
    let texts: Vec<&str> = match value {
        None => Vec::new(),
        Some(AnswerValue::One(text)) => vec![text.as_str()],
        Some(AnswerValue::Many(_)) if !field.multi_select => {
            return Err(of_field(
                field,
                "wrong_type",
                "Only one answer is possible here.",
                "Send a text, not a list.",
            ));
        }
        Some(AnswerValue::Many(texts)) => texts.iter().map(String::as_str).collect(),
    };
    let texts: Vec<&str> = texts.into_iter().filter(|text| !text.trim().is_empty()).collect();
    if texts.is_empty() && custom.is_none() {
        return match field.required {
            true => Err(of_field(field, "required", "An answer is required.", "Fill it in, or cancel.")),
            false => Ok(()),
        };
    }
    if matches!(field.kind, FieldType::Select | FieldType::Choice) {
        return choose(field, &texts, custom, checked);
    }
    let [text] = texts[..] else {
        return Err(of_field(field, "wrong_type", "One text is expected here.", "Send a text."));
    };
    check_text(field, text).map_err(|wrong| {
        let message = format!("The answer {wrong}.");
        of_field(field, "invalid_value", &message, "Correct it, or cancel.")
    })?;
    checked.answers.insert(field.key.clone(), AnswerValue::One(text.to_owned()));
    Ok(())
}

/// Checks what was chosen. What is no option counts as the person's own text, where that is allowed.
fn choose(
    field: &InputField,
    texts: &[&str],
    custom: Option<&str>,
    checked: &mut InputAnswers,
) -> Result<(), FieldProblem> {
    let is_option = |text: &&&str| field.options.iter().any(|option| option.label == **text);
    let mut chosen: Vec<String> = Vec::new();
    for text in texts.iter().filter(is_option) {
        if !chosen.iter().any(|before| before == text) {
            chosen.push((*text).to_owned());
        }
    }
    let others: Vec<&str> = texts.iter().filter(|text| !is_option(text)).copied().collect();
    let own = match (custom, others.as_slice()) {
        (_, []) | (Some(_), _) => custom,
        (None, [only]) => Some(*only),
        (None, _) => return Err(not_an_option(field)),
    };
    if own.is_some() && !field.custom_input {
        return Err(not_an_option(field));
    }
    if own.is_some_and(|own| own.len() > MAX_LONG_TEXT_BYTES) {
        let message = format!("The answer has more than {MAX_LONG_TEXT_BYTES} bytes.");
        return Err(of_field(field, "too_long", &message, "Make it shorter."));
    }
    // With a text of their own, an option that does not exist is only the label of that text, as in "Other".
    let one = if field.multi_select { None } else { chosen.pop() };
    match one {
        Some(one) => drop(checked.answers.insert(field.key.clone(), AnswerValue::One(one))),
        None if chosen.is_empty() => {}
        None => drop(checked.answers.insert(field.key.clone(), AnswerValue::Many(chosen))),
    }
    checked.custom_input = own.map(str::to_owned);
    Ok(())
}

/// Checks a text against the limits of its field; the error is the end of a sentence: "is too long".
pub(crate) fn check_text(field: &InputField, text: &str) -> Result<(), String> {
    let most_bytes = match field.kind {
        FieldType::Textarea | FieldType::Secret => MAX_LONG_TEXT_BYTES,
        FieldType::Text | FieldType::Select | FieldType::Choice => MAX_TEXT_BYTES,
    };
    let length = text.chars().count();
    if text.len() > most_bytes {
        return Err(format!("has more than {most_bytes} bytes"));
    }
    if !field.options.is_empty() && !field.options.iter().any(|option| option.label == text) {
        return Err("is none of the options".to_owned());
    }
    if let Some(least) = field.min_length.filter(|least| length < *least as usize) {
        return Err(format!("must have at least {least} characters, it has {length}"));
    }
    if let Some(most) = field.max_length.filter(|most| length > *most as usize) {
        return Err(format!("must have at most {most} characters, it has {length}"));
    }
    if let Some(pattern) = &field.pattern
        && !compile(pattern)?.is_match(text)
    {
        return Err(match &field.pattern_message {
            Some(told) => format!("does not fit: {}", told.trim_end_matches('.')),
            None => format!("does not match the pattern {pattern}"),
        });
    }
    Ok(())
}

fn not_an_option(field: &InputField) -> FieldProblem {
    let labels: Vec<String> = field.options.iter().map(|option| format!("\"{}\"", option.label)).collect();
    let fix = format!("Choose from {}.", labels.join(", "));
    of_field(field, "not_an_option", "The answer is none of the options.", &fix)
}

fn unknown(form: &InputForm, key: &str) -> FieldProblem {
    let key: String = key.chars().take(64).collect();
    problem(&format!("answers.{key}"), "unknown_field", "The form has no such field.", &keys(form))
}

fn keys(form: &InputForm) -> String {
    let keys: Vec<&str> = form.fields.iter().map(|field| field.key.as_str()).collect();
    format!("The fields are: {}.", keys.join(", "))
}

fn of_field(field: &InputField, code: &str, message: &str, fix: &str) -> FieldProblem {
    problem(&format!("answers.{}", field.key), code, message, fix)
}

fn problem(path: &str, code: &str, message: &str, fix: &str) -> FieldProblem {
    FieldProblem {
        path: path.to_owned(),
        code: code.to_owned(),
        line: None,
        message: message.to_owned(),
        fix: fix.to_owned(),
    }
}

#[cfg(test)]
#[path = "form_answers_tests.rs"]
mod tests;
