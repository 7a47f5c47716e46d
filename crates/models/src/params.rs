//! Parameters of a call (temperature, length, effort): their names in each wire format, whether a model accepts them,
//! and the fields they add to the body.
//!
//! A parameter that a wire format does not have is left out. One that only a provider's file lists is sent under its own
//! name.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::{
    model::{Model, ModelMessage, ModelRequest, ModelStream},
    registry::definition::{ModelDefinition, ParamField, ParamKind},
    remote::settings::WireFormat,
};

pub type Params = Map<String, Value>;

/// The values that a parameter accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ValueKind {
    Number { min: f64, max: f64 },
    Integer { min: f64, max: f64 },
    Text,
    Texts,
}

/// A parameter and its path in the body of each wire format, in the order of [`WireFormat::ALL`].
struct KnownParam {
    key: &'static str,
    kind: ValueKind,
    paths: [Option<&'static [&'static str]>; 4],
}

const CONFIG: &str = "generationConfig";
const THINKING: &str = "thinkingBudget";
const EFFORT: &str = "reasoningEffort";

const KNOWN: [KnownParam; 10] = [
    KnownParam {
        key: "temperature",
        kind: ValueKind::Number { min: 0.0, max: 2.0 },
        paths: [
            Some(&["temperature"]),
            Some(&["temperature"]),
            Some(&["temperature"]),
            Some(&[CONFIG, "temperature"]),
        ],
    },
    KnownParam {
        key: "topP",
        kind: ValueKind::Number { min: 0.0, max: 1.0 },
        paths: [Some(&["top_p"]), Some(&["top_p"]), Some(&["top_p"]), Some(&[CONFIG, "topP"])],
    },
    KnownParam {
        key: "topK",
        kind: ValueKind::Integer { min: 1.0, max: 1_000.0 },
        paths: [None, None, Some(&["top_k"]), Some(&[CONFIG, "topK"])],
    },
    KnownParam {
        key: "maxOutputTokens",
        kind: ValueKind::Integer { min: 1.0, max: 10_000_000.0 },
        paths: [
            Some(&["max_tokens"]),
            Some(&["max_output_tokens"]),
            Some(&["max_tokens"]),
            Some(&[CONFIG, "maxOutputTokens"]),
        ],
    },
    KnownParam {
        key: "frequencyPenalty",
        kind: ValueKind::Number { min: -2.0, max: 2.0 },
        paths: [Some(&["frequency_penalty"]), None, None, Some(&[CONFIG, "frequencyPenalty"])],
    },
    KnownParam {
        key: "presencePenalty",
        kind: ValueKind::Number { min: -2.0, max: 2.0 },
        paths: [Some(&["presence_penalty"]), None, None, Some(&[CONFIG, "presencePenalty"])],
    },
    KnownParam {
        key: "seed",
        kind: ValueKind::Integer { min: -2_147_483_648.0, max: 2_147_483_647.0 },
        paths: [Some(&["seed"]), None, None, Some(&[CONFIG, "seed"])],
    },
    KnownParam {
        key: "stopSequences",
        kind: ValueKind::Texts,
        paths: [Some(&["stop"]), None, Some(&["stop_sequences"]), Some(&[CONFIG, "stopSequences"])],
    },
    KnownParam {
        key: EFFORT,
        kind: ValueKind::Text,
        paths: [Some(&["reasoning_effort"]), Some(&["reasoning", "effort"]), None, None],
    },
    KnownParam {
        key: THINKING,
        kind: ValueKind::Integer { min: 0.0, max: 1_000_000.0 },
        // An object at Anthropic, see `set_thinking`.
        paths: [None, None, Some(&["thinking"]), Some(&[CONFIG, "thinkingConfig", "thinkingBudget"])],
    },
];

/// The tokens for the answer after the reasoning, if no limit is set.
const ANSWER_TOKENS: u64 = 8192;

/// The parameters as fields of a body. `limit` is the longest answer without them.
pub fn fields(format: WireFormat, params: &Params, limit: Option<u32>) -> Map<String, Value> {
    let mut fields = Map::new();
    for (key, value) in params {
        let Some(known) = KNOWN.iter().find(|known| known.key == key) else {
            fields.insert(key.clone(), value.clone());
            continue;
        };
        let Some(path) = known.path(format) else { continue };
        match (format, key.as_str()) {
            (WireFormat::Anthropic, THINKING) => set_thinking(&mut fields, value, params, limit),
            (WireFormat::OpenAiResponses, EFFORT) if value != "none" => {
                // A model that reasons needs its reasoning to continue after a tool call.
                fields.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
                set_path(&mut fields, path, value);
            }
            _ => set_path(&mut fields, path, value),
        }
    }
    fields
}

/// Sets the reasoning budget of Anthropic, and a token limit that has room for the reasoning and the answer.
fn set_thinking(fields: &mut Map<String, Value>, budget: &Value, params: &Params, limit: Option<u32>) {
    let budget = budget.as_u64().unwrap_or_default();
    if budget == 0 {
        return;
    }
    fields.insert("thinking".to_owned(), json!({ "type": "enabled", "budget_tokens": budget }));
    let wanted = params.get("maxOutputTokens").and_then(Value::as_u64).or(limit.map(u64::from));
    if wanted.is_none_or(|wanted| wanted <= budget) {
        fields.insert("max_tokens".to_owned(), json!(budget.saturating_add(ANSWER_TOKENS)));
    }
}

fn set_path(fields: &mut Map<String, Value>, path: &[&str], value: &Value) {
    let Some((first, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        // A limit from `set_thinking` is kept.
        fields.entry(*first).or_insert_with(|| value.clone());
        return;
    }
    if let Value::Object(inner) = fields.entry(*first).or_insert_with(|| json!({})) {
        set_path(inner, rest, value);
    }
}

impl KnownParam {
    fn path(&self, format: WireFormat) -> Option<&'static [&'static str]> {
        WireFormat::ALL.iter().zip(self.paths).find(|(one, _)| **one == format).and_then(|(_, path)| path)
    }

    /// Whether a described model has the parameter only if its definition lists it.
    fn must_be_listed(&self) -> bool {
        self.key == EFFORT || self.key == THINKING
    }
}

/// A parameter that cannot be sent, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamProblem {
    pub key: String,
    pub message: String,
    pub fix: String,
}

/// Checks the parameters for a model; `model` is its definition, if it has one.
pub fn problems(
    name: &str,
    format: WireFormat,
    model: Option<&ModelDefinition>,
    params: &Params,
) -> Vec<ParamProblem> {
    let listed: &[ParamField] = model
        .and_then(|model| model.capabilities.as_ref())
        .map_or(&[], |capabilities| capabilities.params.fields.as_slice());
    // A model without a definition may reason or not.
    let takes = |known: &KnownParam| {
        let in_format = known.path(format).is_some();
        in_format && (!known.must_be_listed() || model.is_none_or(|model| model.capabilities.is_none()))
    };
    let mut problems = Vec::new();
    for (key, value) in params {
        let wrong = if let Some(field) = listed.iter().find(|field| field.key == *key) {
            field_problem(field, value)
        } else if let Some(known) = KNOWN.iter().find(|known| known.key == *key && takes(known)) {
            kind_problem(known.kind, value)
        } else {
            let mut names: Vec<&str> = listed.iter().map(|field| field.key.as_str()).collect();
            names.extend(KNOWN.iter().filter(|known| takes(known)).map(|known| known.key));
            problems.push(ParamProblem {
                key: key.clone(),
                message: format!("{name} has no parameter {key}."),
                fix: format!("Its parameters are: {}.", names.join(", ")),
            });
            continue;
        };
        if let Some(fix) = wrong {
            let message = format!("{key} of {name} cannot be {value}.");
            problems.push(ParamProblem { key: key.clone(), message, fix });
        }
    }
    problems
}

fn kind_problem(kind: ValueKind, value: &Value) -> Option<String> {
    let between = |min: f64, max: f64| value.as_f64().is_some_and(|number| (min..=max).contains(&number));
    match kind {
        ValueKind::Number { min, max } => {
            (!between(min, max)).then(|| format!("Use a number from {min} to {max}."))
        }
        ValueKind::Integer { min, max } => {
            let whole = value.is_i64() || value.is_u64();
            (!whole || !between(min, max)).then(|| format!("Use a whole number from {min} to {max}."))
        }
        ValueKind::Text => {
            let word = value.as_str().is_some_and(|word| (1..=64).contains(&word.len()));
            (!word).then(|| "Use a text.".to_owned())
        }
        ValueKind::Texts => {
            let word = |one: &Value| one.as_str().is_some_and(|word| (1..=256).contains(&word.len()));
            let words = value.as_array().is_some_and(|words| words.len() <= 16 && words.iter().all(word));
            (!words).then(|| "Use a list of at most 16 texts.".to_owned())
        }
    }
}

fn field_problem(field: &ParamField, value: &Value) -> Option<String> {
    if let Some(values) = &field.values {
        let list: Vec<String> = values.iter().map(ToString::to_string).collect();
        return (!values.contains(value)).then(|| format!("Use one of: {}.", list.join(", ")));
    }
    match field.kind {
        ParamKind::Number => {
            let (min, max) = (field.min.unwrap_or(f64::MIN), field.max.unwrap_or(f64::MAX));
            let fits = value.as_f64().is_some_and(|number| (min..=max).contains(&number));
            let range = match (field.min, field.max) {
                (Some(min), Some(max)) => format!(" from {min} to {max}"),
                (Some(min), None) => format!(" of at least {min}"),
                (None, Some(max)) => format!(" of at most {max}"),
                (None, None) => String::new(),
            };
            (!fits).then(|| format!("Use a number{range}."))
        }
        ParamKind::Boolean => (!value.is_boolean()).then(|| "Use true or false.".to_owned()),
        ParamKind::Select | ParamKind::Text => (!value.is_string()).then(|| "Use a text.".to_owned()),
    }
}

/// The parameters that a model's definition sends with every request.
pub fn request_defaults(model: &ModelDefinition) -> Params {
    let fields = model.capabilities.iter().flat_map(|capabilities| &capabilities.params.fields);
    let wanted = fields.filter(|field| field.request);
    wanted.filter_map(|field| Some((field.key.clone(), field.default.clone()?))).collect()
}

/// The same model, called with these parameters.
pub fn with_params(model: Arc<dyn Model>, params: &Params) -> Arc<dyn Model> {
    if params.is_empty() { model } else { Arc::new(WithParams { model, params: Arc::new(params.clone()) }) }
}

struct WithParams {
    model: Arc<dyn Model>,
    params: Arc<Params>,
}

impl Model for WithParams {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn price(&self) -> Option<protocol::Price> {
        self.model.price()
    }

    fn context_window(&self) -> Option<u64> {
        self.model.context_window()
    }

    fn file_support(&self) -> crate::attached::FileSupport {
        self.model.file_support()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        self.model.stream(ModelRequest { params: Arc::clone(&self.params), ..request })
    }

    fn prepare<'a>(&'a self, messages: &'a [Arc<ModelMessage>]) -> BoxFuture<'a, ()> {
        self.model.prepare(messages)
    }
}

#[cfg(test)]
#[path = "params_tests.rs"]
mod tests;
