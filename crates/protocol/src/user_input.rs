//! What an agent asks a person for with `request-user-input`, and what the person answers.
//!
//! Such a request is an interaction like an approval. It differs in its answer, which is the result of the call. The
//! value of a secret field is never here: it is kept apart, and an answer holds a reference to it.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value, json};

/// The key of the only field of a short form.
pub const SHORT_KEY: &str = "answer";
/// What a reference to a secret begins with.
pub const SECRET_PREFIX: &str = "secret://";

/// The fields that a person is asked to fill in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InputForm {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The agent asked one question in the short form; the model reads its answer as `answer`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub short: bool,
    /// At least one; their keys differ.
    pub fields: Vec<InputField>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InputField {
    pub key: String,
    /// The question, or the name of the field.
    pub label: String,
    #[serde(rename = "type")]
    pub kind: FieldType,
    /// What a person can choose from, for the types `select` and `choice`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<InputOption>,
    /// Whether several options can be chosen. The answer is a list then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub multi_select: bool,
    /// Whether the person may write something of their own instead of choosing an option, or besides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub custom_input: bool,
    pub required: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_value: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// The `type` of the HTML input element, as in `email` or `number`; only a hint for pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_type: Option<String>,
    /// A regular expression that the whole answer must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// What a person is told when their answer does not match the pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern_message: Option<String>,
    /// In characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FieldType {
    Text,
    Textarea,
    /// The answer is stored apart; agents and clients only see a reference to it.
    Secret,
    /// One of a list.
    Select,
    /// One or several of a few options that have descriptions.
    Choice,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InputOption {
    pub label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The answers of a person to a form, checked against it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InputAnswers {
    /// By the key of the field. Fields that were left empty are absent.
    pub answers: BTreeMap<String, AnswerValue>,
    /// What the person wrote instead of choosing an option, or besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_input: Option<String>,
}

/// The answer to one field: a list where several options can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum AnswerValue {
    One(String),
    Many(Vec<String>),
}

impl<'de> Deserialize<'de> for AnswerValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = AnswerValue;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a text or a list of texts")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<AnswerValue, E> {
                Ok(AnswerValue::One(text.to_owned()))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<AnswerValue, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    texts.push(text);
                }
                Ok(AnswerValue::Many(texts))
            }
        }
        from.deserialize_any(Visitor)
    }
}

/// An answer as a person sends it, in one of three shapes: `answers` by the key of the field; `selected` and `customInput`
/// for a question in the short form; or `cancelled`, which declines to answer.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UserAnswer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<BTreeMap<String, AnswerValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<AnswerValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_input: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancelled: bool,
    /// Why the person declines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl UserAnswer {
    /// Declines to answer.
    pub fn declined(reason: Option<String>) -> Self {
        Self { cancelled: true, reason, ..Self::default() }
    }

    /// Chooses from the options of a question.
    pub fn selected(selected: AnswerValue) -> Self {
        Self { selected: Some(selected), ..Self::default() }
    }
}

/// Hides the values: some of them may be secrets.
impl fmt::Debug for UserAnswer {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&String> = self.answers.iter().flat_map(BTreeMap::keys).collect();
        to.debug_struct("UserAnswer")
            .field("keys", &keys)
            .field("cancelled", &self.cancelled)
            .finish_non_exhaustive()
    }
}

/// A form as one question with options, for clients that know nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortQuestion {
    pub question: String,
    /// Empty when the person writes their answer (`customInput`).
    pub options: Vec<String>,
    pub multi_select: bool,
}

impl InputForm {
    pub fn field(&self, key: &str) -> Option<&InputField> {
        self.fields.iter().find(|field| field.key == key)
    }

    /// The form as one question.
    ///
    /// A form with one field is that field: its label, its options, or a text to write. A form with several fields lists
    /// them in the question, one per line, and has no options; it is answered with a `customInput` of lines `key: value`,
    /// or with a JSON object.
    pub fn short_question(&self) -> ShortQuestion {
        let mut lines: Vec<String> =
            [&self.title, &self.description].into_iter().flatten().cloned().collect();
        if let [field] = self.fields.as_slice() {
            lines.push(field.label.clone());
            let options = field.options.iter().map(|option| option.label.clone()).collect();
            return ShortQuestion { question: lines.join("\n"), options, multi_select: field.multi_select };
        }
        lines.extend(self.fields.iter().map(InputField::line));
        lines.push("Answer with one line for each field: key: value".to_owned());
        ShortQuestion { question: lines.join("\n"), options: Vec::new(), multi_select: false }
    }

    /// The result of the call when the person has answered.
    pub fn output(&self, given: &InputAnswers) -> Value {
        let mut output = Map::new();
        if self.short {
            let answer = self.fields.first().and_then(|field| field.complete_answer(given));
            output.insert(SHORT_KEY.to_owned(), answer.unwrap_or(Value::Null));
            if let Some(custom) = &given.custom_input {
                output.insert("customInput".to_owned(), custom.as_str().into());
            }
        } else {
            let value = |field: &InputField| Some((field.key.clone(), json!(given.answers.get(&field.key)?)));
            let answers: Map<String, Value> = self.fields.iter().filter_map(value).collect();
            output.insert("answers".to_owned(), answers.into());
        }
        output.into()
    }
}

/// The result of a call whose question the person declined to answer.
pub fn declined_output(reason: Option<&str>) -> Value {
    let mut message =
        "The person declined to answer. Go on without the answer, or say what you cannot do without it; \
                       do not ask the same again."
            .to_owned();
    if let Some(reason) = reason {
        message.push_str(&format!(" Their reason: {reason}"));
    }
    json!({ "cancelled": true, "message": message })
}

impl InputField {
    /// What the person chose, and what they wrote themselves.
    fn complete_answer(&self, given: &InputAnswers) -> Option<Value> {
        let custom = given.custom_input.clone();
        match given.answers.get(&self.key) {
            _ if self.multi_select => {
                let mut all = match given.answers.get(&self.key) {
                    Some(AnswerValue::Many(chosen)) => chosen.clone(),
                    Some(AnswerValue::One(chosen)) => vec![chosen.clone()],
                    None => Vec::new(),
                };
                all.extend(custom);
                Some(json!(all))
            }
            Some(value) => Some(json!(value)),
            None => custom.map(Value::from),
        }
    }

    /// The field as a line of a question.
    fn line(&self) -> String {
        let mut notes = Vec::new();
        if !self.options.is_empty() {
            let options: Vec<&str> = self.options.iter().map(|option| option.label.as_str()).collect();
            let how = if self.multi_select { "any of" } else { "one of" };
            notes.push(format!("{how}: {}", options.join(", ")));
        }
        if !self.required {
            notes.push("optional".to_owned());
        }
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        format!("{}: {}{notes}", self.key, self.label)
    }
}

#[cfg(test)]
#[path = "user_input_tests.rs"]
mod tests;
