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

/// Ask the person for what only they can know or decide, and wait for their answer. One question: give `question` and
/// `options` (and `multiSelect` when several may be chosen). Several values: give `questions`, the fields of a form. Several
/// decisions: give `choices`. Ask for everything you need in one call. The person may decline. A password, key or token is
/// asked for with type `secret`: you receive a reference (`secret://...`) in place of the value.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    /// What the form is about, in a few words.
    #[schemars(length(max = 200))]
    title: Option<String>,
    /// Why you ask, and what happens with the answers.
    #[schemars(length(max = 2000))]
    description: Option<String>,
    /// `form` asks for the fields in `questions`, `choice` for the decisions in `choices`. Default: `form`.
    mode: Option<Mode>,
    /// The fields of the form.
    #[schemars(length(min = 1, max = 20))]
    questions: Option<Vec<FieldArgument>>,
    /// The decisions.
    #[schemars(length(min = 1, max = 10))]
    choices: Option<Vec<ChoiceArgument>>,
    /// A single question, instead of `questions` and `choices`.
    #[schemars(length(min = 1, max = 2000))]
    question: Option<String>,
    /// The answers to choose from, for `question`; the person can also write one of their own. Without options they write it.
    #[schemars(length(max = 20))]
    options: Option<Vec<OptionArgument>>,
    /// Whether several of the options may be chosen.
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
    /// The name of the answer, as in `api_key`: letters, digits, `_`, `-` and `.`.
    #[schemars(length(min = 1, max = 64))]
    key: String,
    /// What the person reads.
    #[schemars(length(min = 1, max = 500))]
    label: String,
    /// Default: `text`.
    #[serde(rename = "type")]
    kind: Option<FieldKind>,
    /// The `type` of the HTML input, as in `email`, `number`, `url` or `date`.
    #[schemars(length(max = 20))]
    input_type: Option<String>,
    /// What a `select` offers.
    #[schemars(length(min = 1, max = 100))]
    options: Option<Vec<OptionArgument>>,
    /// Whether the field must be filled in. Default: `true`.
    required: Option<bool>,
    #[schemars(length(max = 2000))]
    default_value: Option<String>,
    #[schemars(length(max = 200))]
    placeholder: Option<String>,
    /// A regular expression that the whole answer must match.
    #[schemars(length(max = 500))]
    pattern: Option<String>,
    /// What the person is told when it does not match.
    #[schemars(length(max = 300))]
    pattern_message: Option<String>,
    /// In characters.
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
    /// The name of the answer.
    #[schemars(length(min = 1, max = 64))]
    key: String,
    #[schemars(length(min = 1, max = 500))]
    question: String,
    #[schemars(length(min = 2, max = 6))]
    options: Vec<OptionArgument>,
    /// Whether several options may be chosen.
    multi_select: Option<bool>,
}

/// A text, or a text with a description.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum OptionArgument {
    Label(String),
    Described { label: String, description: Option<String> },
}

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
    for (place, field) in fields.iter().enumerate() {
        if fields[..place].iter().any(|before| before.key == field.key) {
            return Err(format!("the key `{}` is there twice; every key must differ", field.key));
        }
    }
    let text = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    Ok(InputForm { title: text(title), description: text(description), short, fields })
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
    match &field.default_value {
        Some(value) => {
            form_answers::check_text(&field, value).map_err(|wrong| format!("`defaultValue` {wrong}"))?
        }
        None => {}
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
    if key.is_empty() || !key.chars().all(is_allowed) || is_refused {
        return Err(format!(
            "the key `{key}` may only have letters, digits, `_`, `-` and `.`, as in `api_key`"
        ));
    }
    Ok(key)
}

fn options_of(options: Vec<OptionArgument>) -> Result<Vec<InputOption>, String> {
    let mut out: Vec<InputOption> = Vec::with_capacity(options.len());
    for option in options {
        let (label, description) = match option {
            OptionArgument::Label(label) => (label, None),
            OptionArgument::Described { label, description } => (label, description),
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
