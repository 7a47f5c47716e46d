//! `request-user-input`: asks the person to fill in a form or to choose. What they answer is the result of the call.
//!
//! The tool only describes the form. The engine asks the person and settles the call with their answers, which are
//! checked by [`crate::form_answers`].

use std::borrow::Cow;

use files::FileDomain;
use policy::Need;
use protocol::{
    FieldType, InputField, InputForm, InputOption, ToolRisk,
    user_input::{SECRET_PREFIX, SHORT_KEY},
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

use crate::{Tool, ToolCtx, ToolError, form_answers};

/// Ask the person for what only they can know or decide, and wait for the answer. One question: `question`, with `options`
/// to choose from. A form: `questions`. Several decisions: `choices`. Ask for all you need in one call. The person may
/// decline. Ask for passwords and keys with type `secret`: you receive a reference (`secret://...`), not the value.
// Every request carries the schema, so texts are short, and their limits are checked in `form_of`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    title: Option<String>,
    /// Why you ask.
    description: Option<String>,
    /// Which list is meant. Default: `form`.
    mode: Option<Mode>,
    /// The fields of a form.
    questions: Option<Vec<FieldArgument>>,
    /// Decisions (mode `choice`).
    choices: Option<Vec<ChoiceArgument>>,
    /// A single question, instead of a list.
    question: Option<String>,
    /// For `question`. The person may also write their own answer.
    #[schemars(with = "Option<Vec<String>>")]
    options: Option<Vec<OptionArgument>>,
    /// Whether several options may be chosen.
    multi_select: Option<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Form,
    Choice,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FieldArgument {
    /// The name of the answer, as in `api_key`.
    key: String,
    label: String,
    /// Default: `text`.
    #[serde(rename = "type")]
    kind: Option<FieldKind>,
    /// As in HTML: `email`, `number`, `date`.
    input_type: Option<String>,
    /// For `select`.
    #[schemars(with = "Option<Vec<String>>")]
    options: Option<Vec<OptionArgument>>,
    /// Default: `true`.
    required: Option<bool>,
    default_value: Option<String>,
    placeholder: Option<String>,
    /// A regular expression for the whole answer.
    pattern: Option<String>,
    pattern_message: Option<String>,
    min_length: Option<u32>,
    max_length: Option<u32>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum FieldKind {
    Text,
    Secret,
    Select,
    Textarea,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ChoiceArgument {
    key: String,
    question: String,
    #[schemars(length(min = 2, max = 6), with = "Vec<DescribedOption>")]
    options: Vec<OptionArgument>,
    multi_select: Option<bool>,
}

/// A text, or a text with a description.
#[derive(Deserialize)]
#[serde(untagged)]
enum OptionArgument {
    Label(String),
    Described(DescribedOption),
}

#[derive(Deserialize, JsonSchema)]
struct DescribedOption {
    label: String,
    description: Option<String>,
}

/// How many fields a form has at most.
const MOST_FIELDS: usize = 20;
const MOST_OPTIONS: usize = 100;
/// The most characters of a text of the form.
const LONGEST_TEXT: usize = 2000;
const LONGEST_KEY: usize = 64;
const LONGEST_LABEL: usize = 200;
const LONGEST_DESCRIPTION: usize = 500;

/// The form that the arguments describe.
pub struct Input {
    form: InputForm,
}

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let form = form_of(Arguments::deserialize(from)?).map_err(D::Error::custom)?;
        Ok(Self { form })
    }
}

impl JsonSchema for Input {
    fn schema_name() -> Cow<'static, str> {
        Arguments::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Arguments::json_schema(generator)
    }
}

pub struct RequestUserInput;

impl Tool for RequestUserInput {
    const NAME: &'static str = "request-user-input";
    type Input = Input;
    type Output = Value;

    fn risk(&self) -> ToolRisk {
        ToolRisk::Input
    }

    fn need(&self, input: &Input, _: &FileDomain) -> Need {
        Need::Input { form: Box::new(input.form.clone()) }
    }

    /// Not reached: the result of the call is the person's answer.
    async fn run(&self, _: ToolCtx, _: Input) -> Result<Value, ToolError> {
        Err(ToolError::Report("nobody was asked; make the call again".to_owned()))
    }
}

fn form_of(arguments: Arguments) -> Result<InputForm, String> {
    let Arguments { title, description, mode, questions, choices, question, options, multi_select } =
        arguments;
    let mode = match (mode, &questions, &choices) {
        (Some(mode), ..) => Some(mode),
        (None, None, Some(_)) => Some(Mode::Choice),
        (None, Some(_), _) => Some(Mode::Form),
        (None, None, None) => None,
    };
    let (short, fields) = match (mode, questions, choices, question) {
        (Some(Mode::Form), Some(questions), ..) => (false, each("questions", questions, field_of)?),
        (Some(Mode::Choice), _, Some(choices), _) => (false, each("choices", choices, choice_of)?),
        (_, _, _, Some(question)) => {
            (true, vec![question_of(question, options.unwrap_or_default(), multi_select.unwrap_or(false))?])
        }
        (Some(Mode::Choice), ..) => return Err("mode `choice` needs the field `choices`".to_owned()),
        _ => return Err("give `question` with `options`, or `questions`, or `choices`".to_owned()),
    };
    if fields.is_empty() || fields.len() > MOST_FIELDS {
        return Err(format!("a form has 1 to {MOST_FIELDS} fields, this one has {}", fields.len()));
    }
    for (place, field) in fields.iter().enumerate() {
        if fields[..place].iter().any(|before| before.key == field.key) {
            return Err(format!("the key `{}` is there twice; every key must differ", field.key));
        }
    }
    let text = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    for text in fields.iter().flat_map(texts_of).chain(&title).chain(&description) {
        if text.chars().count() > LONGEST_TEXT {
            return Err(format!("a text has at most {LONGEST_TEXT} characters; make it shorter"));
        }
    }
    Ok(InputForm { title: text(title), description: text(description), short, fields })
}

/// The texts that the model wrote for a field.
fn texts_of(field: &InputField) -> impl Iterator<Item = &String> {
    let InputField { label, default_value, placeholder, input_type, pattern, pattern_message, .. } = field;
    let others = [default_value, placeholder, input_type, pattern, pattern_message];
    std::iter::once(label).chain(others.into_iter().flatten())
}

/// Reads every entry of a list; an error names the entry.
fn each<T>(
    list: &str,
    entries: Vec<T>,
    read: impl Fn(T) -> Result<InputField, String>,
) -> Result<Vec<InputField>, String> {
    let entries = entries.into_iter().enumerate();
    entries.map(|(place, entry)| read(entry).map_err(|wrong| format!("`{list}[{place}]`: {wrong}"))).collect()
}

fn field_of(field: FieldArgument) -> Result<InputField, String> {
    let kind = match field.kind {
        Some(FieldKind::Text) => FieldType::Text,
        Some(FieldKind::Secret) => FieldType::Secret,
        Some(FieldKind::Textarea) => FieldType::Textarea,
        Some(FieldKind::Select) => FieldType::Select,
        None if field.options.is_some() => FieldType::Select,
        None => FieldType::Text,
    };
    let options = match kind {
        FieldType::Select => options_of(field.options.unwrap_or_default())?,
        _ => Vec::new(),
    };
    if kind == FieldType::Select && options.is_empty() {
        return Err("a field of type `select` needs `options`".to_owned());
    }
    if kind == FieldType::Secret && field.default_value.is_some() {
        return Err("a field of type `secret` cannot have a `defaultValue`; leave it out".to_owned());
    }
    if let (Some(least), Some(most)) = (field.min_length, field.max_length)
        && least > most
    {
        return Err(format!("`minLength` {least} is greater than `maxLength` {most}"));
    }
    if let Some(pattern) = &field.pattern {
        form_answers::compile(pattern)?;
    }
    let text = |text: Option<String>| text.filter(|text| !text.is_empty());
    let field = InputField {
        default_value: text(field.default_value),
        placeholder: text(field.placeholder),
        input_type: text(field.input_type),
        pattern: text(field.pattern),
        pattern_message: text(field.pattern_message),
        min_length: field.min_length,
        max_length: field.max_length,
        required: field.required.unwrap_or(true),
        options,
        ..plain(key_of(field.key)?, field.label, kind)
    };
    if let Some(value) = &field.default_value {
        form_answers::check_text(&field, value).map_err(|wrong| format!("`defaultValue` {wrong}"))?;
    }
    Ok(field)
}

fn choice_of(choice: ChoiceArgument) -> Result<InputField, String> {
    Ok(InputField {
        options: options_of(choice.options)?,
        multi_select: choice.multi_select.unwrap_or(false),
        ..plain(key_of(choice.key)?, choice.question, FieldType::Choice)
    })
}

fn question_of(
    question: String,
    options: Vec<OptionArgument>,
    multi_select: bool,
) -> Result<InputField, String> {
    let options = options_of(options).map_err(|wrong| format!("`options`: {wrong}"))?;
    if options.is_empty() {
        return Ok(plain(SHORT_KEY.to_owned(), question, FieldType::Textarea));
    }
    let field = plain(SHORT_KEY.to_owned(), question, FieldType::Choice);
    Ok(InputField { options, multi_select, custom_input: true, ..field })
}

fn plain(key: String, label: String, kind: FieldType) -> InputField {
    InputField {
        key,
        label,
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

fn key_of(key: String) -> Result<String, String> {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    // The client's JSON reader refuses these.
    let is_refused = matches!(key.as_str(), "__proto__" | "constructor" | "prototype");
    if key.is_empty() || key.len() > LONGEST_KEY || !key.chars().all(is_allowed) || is_refused {
        let key: String = key.chars().take(LONGEST_KEY).collect();
        return Err(format!(
            "the key `{key}` may only have letters, digits, `_`, `-` and `.`, as in `api_key`"
        ));
    }
    Ok(key)
}

fn options_of(options: Vec<OptionArgument>) -> Result<Vec<InputOption>, String> {
    if options.len() > MOST_OPTIONS {
        return Err(format!("there are at most {MOST_OPTIONS} options"));
    }
    let mut out: Vec<InputOption> = Vec::with_capacity(options.len());
    for option in options {
        let (label, description) = match option {
            OptionArgument::Label(label) => (label, None),
            OptionArgument::Described(DescribedOption { label, description }) => (label, description),
        };
        let label = label.trim().to_owned();
        if label.is_empty() || label.chars().count() > LONGEST_LABEL {
            return Err(format!("an option must have 1 to {LONGEST_LABEL} characters"));
        }
        if label.starts_with(SECRET_PREFIX) {
            return Err("an option cannot be a reference to a secret".to_owned());
        }
        if description.as_ref().is_some_and(|text| text.chars().count() > LONGEST_DESCRIPTION) {
            return Err(format!("the description of an option has at most {LONGEST_DESCRIPTION} characters"));
        }
        if out.iter().any(|before| before.label == label) {
            return Err(format!("the option `{label}` is there twice"));
        }
        out.push(InputOption { label, description: description.filter(|text| !text.trim().is_empty()) });
    }
    Ok(out)
}

#[cfg(test)]
#[path = "request_user_input_tests.rs"]
mod tests;
