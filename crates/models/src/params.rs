//! Parameters of a call (temperature, length, effort): what each is called in a wire format, whether a model takes it,
//! and laying them over the body.
//!
//! A parameter that a wire format has no word for is left out. One that only a provider's file lists is sent under its
//! own name.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::{
    model::{Model, ModelMessage, ModelRequest, ModelStream},
    registry::definition::{ModelDefinition, ParamField, ParamKind},
    remote::settings::WireFormat,
};

pub type Params = Map<String, Value>;

/// What values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Number { min: f64, max: f64 },
    Whole { min: f64, max: f64 },
    Word,
    Words,
}

/// A parameter and its place in the bodies of the wire formats, in the order of [`WireFormat::ALL`].
struct Known {
    key: &'static str,
    shape: Shape,
    places: [Option<&'static [&'static str]>; 4],
}

const CONFIG: &str = "generationConfig";
const THINKING: &str = "thinkingBudget";
const EFFORT: &str = "reasoningEffort";

const KNOWN: [Known; 10] = [
    Known {
        key: "temperature",
        shape: Shape::Number { min: 0.0, max: 2.0 },
        places: [
            Some(&["temperature"]),
            Some(&["temperature"]),
            Some(&["temperature"]),
            Some(&[CONFIG, "temperature"]),
        ],
    },
    Known {
        key: "topP",
        shape: Shape::Number { min: 0.0, max: 1.0 },
        places: [Some(&["top_p"]), Some(&["top_p"]), Some(&["top_p"]), Some(&[CONFIG, "topP"])],
    },
    Known {
        key: "topK",
        shape: Shape::Whole { min: 1.0, max: 1_000.0 },
        places: [None, None, Some(&["top_k"]), Some(&[CONFIG, "topK"])],
    },
    Known {
        key: "maxOutputTokens",
        shape: Shape::Whole { min: 1.0, max: 10_000_000.0 },
        places: [
            Some(&["max_tokens"]),
            Some(&["max_output_tokens"]),
            Some(&["max_tokens"]),
            Some(&[CONFIG, "maxOutputTokens"]),
        ],
    },
    Known {
        key: "frequencyPenalty",
        shape: Shape::Number { min: -2.0, max: 2.0 },
        places: [Some(&["frequency_penalty"]), None, None, Some(&[CONFIG, "frequencyPenalty"])],
    },
    Known {
        key: "presencePenalty",
        shape: Shape::Number { min: -2.0, max: 2.0 },
        places: [Some(&["presence_penalty"]), None, None, Some(&[CONFIG, "presencePenalty"])],
    },
    Known {
        key: "seed",
        shape: Shape::Whole { min: -2_147_483_648.0, max: 2_147_483_647.0 },
        places: [Some(&["seed"]), None, None, Some(&[CONFIG, "seed"])],
    },
    Known {
        key: "stopSequences",
        shape: Shape::Words,
        places: [Some(&["stop"]), None, Some(&["stop_sequences"]), Some(&[CONFIG, "stopSequences"])],
    },
    Known {
        key: EFFORT,
        shape: Shape::Word,
        places: [Some(&["reasoning_effort"]), Some(&["reasoning", "effort"]), None, None],
    },
    Known {
        key: THINKING,
        shape: Shape::Whole { min: 0.0, max: 1_000_000.0 },
        // Anthropic's is an object of its own, see below.
        places: [None, None, Some(&["thinking"]), Some(&[CONFIG, "thinkingConfig", "thinkingBudget"])],
    },
];

/// How much may be said after the thoughts, where nobody said.
const AFTER_THINKING: u64 = 8192;

/// The parameters as fields of a body. `limit` is the longest answer that the body has without them.
pub fn fields(format: WireFormat, params: &Params, limit: Option<u32>) -> Map<String, Value> {
    let mut fields = Map::new();
    for (key, value) in params {
        let Some(known) = KNOWN.iter().find(|known| known.key == key) else {
            fields.insert(key.clone(), value.clone());
            continue;
        };
        let Some(place) = known.place(format) else { continue };
        match (format, key.as_str()) {
            (WireFormat::Anthropic, THINKING) => think(&mut fields, value, params, limit),
            (WireFormat::OpenAiResponses, EFFORT) if value != "none" => {
                // Without its thoughts a model that thinks cannot go on after a tool call.
                fields.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
                put(&mut fields, place, value);
            }
            _ => put(&mut fields, place, value),
        }
    }
    fields
}

/// A model that thinks needs room for the thoughts and for what it says afterwards.
fn think(fields: &mut Map<String, Value>, budget: &Value, params: &Params, limit: Option<u32>) {
    let budget = budget.as_u64().unwrap_or_default();
    if budget == 0 {
        return;
    }
    fields.insert("thinking".to_owned(), json!({ "type": "enabled", "budget_tokens": budget }));
    let wanted = params.get("maxOutputTokens").and_then(Value::as_u64).or(limit.map(u64::from));
    if wanted.is_none_or(|wanted| wanted <= budget) {
        fields.insert("max_tokens".to_owned(), json!(budget.saturating_add(AFTER_THINKING)));
    }
}

fn put(fields: &mut Map<String, Value>, place: &[&str], value: &Value) {
    let Some((first, rest)) = place.split_first() else { return };
    if rest.is_empty() {
        // What room for thoughts needs stays.
        fields.entry(*first).or_insert_with(|| value.clone());
        return;
    }
    if let Value::Object(inner) = fields.entry(*first).or_insert_with(|| json!({})) {
        put(inner, rest, value);
    }
}

impl Known {
    fn place(&self, format: WireFormat) -> Option<&'static [&'static str]> {
        WireFormat::ALL.iter().zip(self.places).find(|(one, _)| **one == format).and_then(|(_, place)| place)
    }

    /// Parameters that only models with their own word for it have.
    fn is_listed_only(&self) -> bool {
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

/// What is wrong with these parameters for a model; `model` is what the registry knows about it.
pub fn problems(
    name: &str,
    format: WireFormat,
    model: Option<&ModelDefinition>,
    params: &Params,
) -> Vec<ParamProblem> {
    let listed: &[ParamField] = model
        .and_then(|model| model.capabilities.as_ref())
        .map_or(&[], |capabilities| capabilities.params.fields.as_slice());
    // A model that nobody described may think or not.
    let takes = |known: &Known| {
        let by_word = known.place(format).is_some();
        by_word && (!known.is_listed_only() || model.is_none_or(|model| model.capabilities.is_none()))
    };
    let mut problems = Vec::new();
    for (key, value) in params {
        let wrong = if let Some(field) = listed.iter().find(|field| field.key == *key) {
            of_field(field, value)
        } else if let Some(known) = KNOWN.iter().find(|known| known.key == *key && takes(known)) {
            of_shape(known.shape, value)
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

fn of_shape(shape: Shape, value: &Value) -> Option<String> {
    let between = |min: f64, max: f64| value.as_f64().is_some_and(|number| (min..=max).contains(&number));
    match shape {
        Shape::Number { min, max } => {
            (!between(min, max)).then(|| format!("Use a number from {min} to {max}."))
        }
        Shape::Whole { min, max } => {
            let whole = value.is_i64() || value.is_u64();
            (!whole || !between(min, max)).then(|| format!("Use a whole number from {min} to {max}."))
        }
        Shape::Word => {
            let word = value.as_str().is_some_and(|word| (1..=64).contains(&word.len()));
            (!word).then(|| "Use a text.".to_owned())
        }
        Shape::Words => {
            let word = |one: &Value| one.as_str().is_some_and(|word| (1..=256).contains(&word.len()));
            let words = value.as_array().is_some_and(|words| words.len() <= 16 && words.iter().all(word));
            (!words).then(|| "Use a list of at most 16 texts.".to_owned())
        }
    }
}

fn of_field(field: &ParamField, value: &Value) -> Option<String> {
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

/// What a model's file wants with every request.
pub fn always(model: &ModelDefinition) -> Params {
    let fields = model.capabilities.iter().flat_map(|capabilities| &capabilities.params.fields);
    let wanted = fields.filter(|field| field.request);
    wanted.filter_map(|field| Some((field.key.clone(), field.default.clone()?))).collect()
}

/// The same model, asked with these parameters.
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

    fn reads(&self) -> crate::attached::Reads {
        self.model.reads()
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
