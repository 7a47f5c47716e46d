//! Asks the person to fill in a form that an agent asks for, one field after the other: options by number, secrets unseen.

use std::collections::BTreeMap;

use anyhow::Result;
use protocol::{AnswerValue, FieldType, InputField, InputForm, UserAnswer};
use serde_json::{Value, json};
use tools::form_answers;

use super::{
    edit::{self, LineInput},
    output_settings::{OutputSettings, TextStyle},
    terminal::{self, Signals},
    text::{folded, one_line, visible},
};

/// What a person types to decline the whole form.
const SKIP: &str = "/skip";

/// Asks for every field. Returns the answer as `toolApprovalPayloads` carries it, or `None` when the person leaves the
/// question open.
pub(crate) async fn fill_in(
    settings: &OutputSettings,
    signals: &mut Signals,
    form: &InputForm,
) -> Result<Option<Value>> {
    terminal::write(&heading(settings, form))?;
    let mut answers = BTreeMap::new();
    for field in &form.fields {
        terminal::write(&question(settings, field))?;
        let answer = loop {
            let line = if field.kind == FieldType::Secret {
                edit::read_hidden_line(signals, "  › ").await?
            } else {
                let earlier: Vec<String> = field.default_value.iter().cloned().collect();
                edit::read_line(signals, "  › ", &earlier).await?
            };
            match line {
                LineInput::Line(line) if line.trim() == SKIP => {
                    return Ok(Some(json!({ "cancelled": true })));
                }
                LineInput::Line(line) => match answer_of(field, &line) {
                    Ok(answer) => break answer,
                    Err(wrong) => {
                        terminal::write(&format!(
                            "  {}\n",
                            settings.styled(TextStyle::Red, &visible(&wrong))
                        ))?;
                    }
                },
                LineInput::Interrupted | LineInput::Ended => return Ok(None),
            }
        };
        answers.extend(answer.map(|answer| (field.key.clone(), answer)));
    }
    Ok(Some(json!({ "answers": answers })))
}

fn heading(settings: &OutputSettings, form: &InputForm) -> String {
    let mark = settings.styled(TextStyle::Yellow, "?");
    let title = form.title.as_deref().unwrap_or("The agent asks you");
    let mut out = format!("{mark} {}\n", settings.styled(TextStyle::Bold, &visible(&one_line(title))));
    for line in form.description.iter().flat_map(|text| folded(&visible(text), width(settings))) {
        out.push_str(&format!("  {line}\n"));
    }
    out
}

/// The field with its options, and how it is answered.
fn question(settings: &OutputSettings, field: &InputField) -> String {
    let mut out = String::new();
    for line in folded(&visible(&field.label), width(settings)) {
        out.push_str(&format!("  {line}\n"));
    }
    for (number, option) in (1..).zip(&field.options) {
        let mut line = format!("{number}. {}", one_line(&option.label));
        if let Some(description) = &option.description {
            line.push_str(&format!(" ({})", one_line(description)));
        }
        for line in folded(&visible(&line), width(settings).saturating_sub(2)) {
            out.push_str(&format!("    {line}\n"));
        }
    }
    let mut hints = Vec::new();
    match (field.options.is_empty(), field.multi_select) {
        (true, _) => {}
        (false, true) => hints.push("numbers, separated by commas".to_owned()),
        (false, false) => hints.push("a number".to_owned()),
    }
    if field.custom_input {
        hints.push("or your own words".to_owned());
    }
    if field.kind == FieldType::Secret {
        hints.push("not shown; the agent only gets a reference".to_owned());
    }
    if let Some(value) = &field.default_value {
        hints.push(format!("Enter for {}", one_line(value)));
    } else if !field.required {
        hints.push("Enter for none".to_owned());
    }
    hints.push(format!("{SKIP} declines"));
    out.push_str(&format!("  {}\n", settings.styled(TextStyle::Dim, &visible(&hints.join("; ")))));
    out
}

fn width(settings: &OutputSettings) -> usize {
    settings.columns.saturating_sub(3)
}

/// Reads a line as the answer to a field; `None` when it is left empty.
fn answer_of(field: &InputField, line: &str) -> Result<Option<AnswerValue>, String> {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return match &field.default_value {
            Some(value) => Ok(Some(AnswerValue::One(value.clone()))),
            None if field.required => Err(format!("An answer is required; {SKIP} declines.")),
            None => Ok(None),
        };
    }
    let answer = if field.options.is_empty() {
        AnswerValue::One(line.to_owned())
    } else if field.multi_select {
        let chosen: Result<Vec<String>, String> =
            trimmed.split(',').map(|one| option_of(field, one)).collect();
        AnswerValue::Many(chosen?)
    } else {
        AnswerValue::One(option_of(field, trimmed)?)
    };
    check(field, &answer)?;
    Ok(Some(answer))
}

/// The option that a number or its text means, or the person's own words where these are allowed.
fn option_of(field: &InputField, text: &str) -> Result<String, String> {
    let text = text.trim();
    let by_number = text.parse::<usize>().ok().and_then(|number| field.options.get(number.checked_sub(1)?));
    let by_text = || field.options.iter().find(|option| option.label.eq_ignore_ascii_case(text));
    match by_number.or_else(by_text) {
        Some(option) => Ok(option.label.clone()),
        None if field.custom_input => Ok(text.to_owned()),
        None => Err(format!("Type a number from 1 to {}.", field.options.len())),
    }
}

/// Checks one field as the server will.
fn check(field: &InputField, answer: &AnswerValue) -> Result<(), String> {
    let form = InputForm { title: None, description: None, short: false, fields: vec![field.clone()] };
    let answers = BTreeMap::from([(field.key.clone(), answer.clone())]);
    let answer = UserAnswer { answers: Some(answers), ..UserAnswer::default() };
    form_answers::check(&form, answer)
        .map(drop)
        .map_err(|problems| problems.into_iter().map(|wrong| wrong.message).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(value: Value) -> InputField {
        serde_json::from_value(value).unwrap()
    }

    fn colours(more: Value) -> InputField {
        let mut value = json!({ "key": "k", "label": "Which?", "type": "choice", "required": true,
            "options": [{ "label": "red" }, { "label": "blue", "description": "like the sky" }] });
        value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        field(value)
    }

    fn one(text: &str) -> Result<Option<AnswerValue>, String> {
        Ok(Some(AnswerValue::One(text.to_owned())))
    }

    #[test]
    fn options_are_chosen_by_number_or_by_their_text() {
        let field = colours(json!({}));
        assert_eq!(answer_of(&field, "2"), one("blue"));
        assert_eq!(answer_of(&field, " RED "), one("red"));
        for wrong in ["0", "3", "green"] {
            assert_eq!(answer_of(&field, wrong), Err("Type a number from 1 to 2.".to_owned()));
        }
        assert_eq!(answer_of(&colours(json!({ "customInput": true })), "green"), one("green"));
        let many = colours(json!({ "multiSelect": true }));
        let both = AnswerValue::Many(vec!["blue".to_owned(), "red".to_owned()]);
        assert_eq!(answer_of(&many, "2, red"), Ok(Some(both)));
    }

    #[test]
    fn texts_are_checked_and_empty_ones_take_the_default() {
        let zip =
            json!({ "key": "zip", "label": "Zip", "type": "text", "required": true, "pattern": "[0-9]{4}" });
        assert_eq!(answer_of(&field(zip.clone()), "3000"), one("3000"));
        assert!(answer_of(&field(zip.clone()), "x").unwrap_err().contains("does not match the pattern"));
        assert!(answer_of(&field(zip.clone()), " ").unwrap_err().contains("required"));
        let mut with_default = field(zip);
        with_default.default_value = Some("8000".to_owned());
        assert_eq!(answer_of(&with_default, ""), one("8000"));
        let optional = json!({ "key": "n", "label": "N", "type": "text", "required": false });
        assert_eq!(answer_of(&field(optional), ""), Ok(None));
    }

    #[test]
    fn a_question_lists_its_options_and_hides_control_characters() {
        let settings = OutputSettings { terminal: true, color: false, columns: 80 };
        let shown = question(&settings, &colours(json!({ "label": "Which\u{1b}[2J?", "multiSelect": true })));
        assert!(shown.contains("1. red") && shown.contains("2. blue (like the sky)"), "{shown}");
        assert!(shown.contains("numbers, separated by commas; /skip declines"), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown}");
    }
}
