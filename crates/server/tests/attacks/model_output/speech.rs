//! The output of a hostile model: everything that its interface or the wire can carry.

use serde_json::{Map, Value, json};
use testkit::{
    Rng,
    models::{FellBack, ModelError, ModelEvent},
    protocol::{FinishReason, ProviderMetadata, Source, Usage},
};

/// What the model knows when it is asked.
#[derive(Default)]
pub struct Asked {
    /// Name and input schema of each tool.
    pub tools: Vec<(String, Value)>,
    /// Ids of agents that it has seen.
    pub agents: Vec<String>,
}

pub type Said = Vec<Result<ModelEvent, ModelError>>;

/// Agents that exist, and some that do not.
const NAMES: [&str; 20] = [
    "dynamic",
    "dynamic",
    "dynamic",
    "general",
    "browser",
    "calendar",
    "document",
    "email",
    "file",
    "generate",
    "project",
    "research",
    "search",
    "shell",
    "test-approval",
    "widget",
    "debugger",
    "nobody",
    "",
    "{{ name }}",
];

pub fn plain() -> Said {
    vec![Ok(ModelEvent::Text("fine.".to_owned())), Ok(ModelEvent::Finished(FinishReason::Stop))]
}

/// One answer. With `calls` off it only talks.
pub fn hostile(rng: &mut Rng, asked: &Asked, calls: bool) -> Said {
    let mut said: Said = Vec::new();
    let mut next = 0;
    for _ in 0..rng.below(6) {
        match rng.below(if calls { 20 } else { 8 }) {
            0 | 1 => said.push(Ok(ModelEvent::Text(text(rng)))),
            2 => said.push(Ok(ModelEvent::Reasoning(text(rng)))),
            3 => said.push(Ok(ModelEvent::ReasoningEnded(provider(rng)))),
            4 => said.push(Ok(ModelEvent::Source(source(rng)))),
            5 => said.push(Ok(ModelEvent::Usage(usage(rng)))),
            6 if rng.below(4) == 0 => said.push(Ok(ModelEvent::FellBack(Box::new(FellBack {
                from: text(rng),
                to: text(rng),
                why: text(rng),
            })))),
            7 if rng.below(4) == 0 => {
                // Of a call that nobody began, or one that is long over.
                let index = rng.below(4);
                said.push(Ok(match rng.below(2) {
                    0 => ModelEvent::ToolDelta { index, delta: text(rng) },
                    _ => ModelEvent::ToolSigned { index, provider: provider(rng) },
                }));
            }
            6 | 7 => said.push(Ok(ModelEvent::Text(String::new()))),
            8 | 9 => {
                let all: Vec<Said> = (0..2 + rng.below(3)).map(|_| call(rng, asked, &mut next)).collect();
                interleave(rng, all, &mut said);
            }
            _ => said.extend(call(rng, asked, &mut next)),
        }
    }
    match rng.below(24) {
        0 => said.push(Err(ModelError::Cut)),
        1 => said.push(Err(ModelError::Garbage(text(rng)))),
        2 => {}
        3 => said.push(Ok(ModelEvent::Finished(FinishReason::Length))),
        4 => said.push(Ok(ModelEvent::Finished(FinishReason::ContentFilter))),
        5 => said.push(Ok(ModelEvent::Finished(FinishReason::Error))),
        6 => said.push(Ok(ModelEvent::Finished(FinishReason::ToolCalls))),
        _ => {
            let reason = if next > 0 { FinishReason::ToolCalls } else { FinishReason::Stop };
            said.push(Ok(ModelEvent::Finished(reason)));
        }
    }
    said
}

fn interleave(rng: &mut Rng, mut all: Vec<Said>, said: &mut Said) {
    all.iter_mut().for_each(|one| one.reverse());
    while !all.is_empty() {
        let place = rng.below(all.len());
        match all[place].pop() {
            Some(event) => said.push(event),
            None => drop(all.swap_remove(place)),
        }
    }
}

fn call(rng: &mut Rng, asked: &Asked, next: &mut u32) -> Said {
    let index = match rng.below(12) {
        0 => 0,
        1 => u32::MAX,
        _ => *next,
    };
    *next += 1;
    let known = (!asked.tools.is_empty()).then(|| &asked.tools[rng.below(asked.tools.len())]);
    let name = match (known, rng.below(10)) {
        (Some((name, _)), 0..8) => name.clone(),
        (Some((name, _)), _) => near_miss(rng, name),
        (None, _) => "conf_echo".to_owned(),
    };
    let id = match rng.below(8) {
        0 => None,
        1 => Some("same".to_owned()),
        2 => Some(text(rng)),
        3 => Some(String::new()),
        _ => Some(format!("c{}", rng.below(1 << 30))),
    };
    let raw = arguments(rng, asked, &name, known.map(|(_, schema)| schema));
    let mut said: Said = vec![Ok(ModelEvent::ToolStarted { index, id, name })];
    said.extend(pieces(rng, &raw).into_iter().map(|delta| Ok(ModelEvent::ToolDelta { index, delta })));
    if rng.below(10) == 0 {
        said.push(Ok(ModelEvent::ToolSigned { index, provider: provider(rng) }));
    }
    said
}

fn near_miss(rng: &mut Rng, name: &str) -> String {
    match rng.below(10) {
        0 => name.to_uppercase(),
        1 => name.replace(['-', '_'], ""),
        2 => format!("functions.{name}"),
        3 => format!("{name} "),
        4 => name.chars().rev().collect(),
        5 => "x".repeat(100_000),
        6 => String::new(),
        7 => "generate_response".to_owned(),
        8 => "reset_equipped_tools".to_owned(),
        _ => text(rng),
    }
}

fn arguments(rng: &mut Rng, asked: &Asked, tool: &str, schema: Option<&Value>) -> String {
    let valid = |rng: &mut Rng| match tool {
        "sub-agent" | "spawn-agent" => order(rng, asked),
        "send-input" | "abort-agent" => json!({ "agentId": agent(rng, asked), "message": text(rng) }),
        "wait-agent" => {
            let ids: Vec<String> = (0..rng.below(4)).map(|_| agent(rng, asked)).collect();
            json!({ "agentIds": ids, "timeoutMs": rng.below(60) })
        }
        _ => schema.map_or(Value::Null, |schema| fitting(rng, schema, 0)),
    };
    match rng.below(16) {
        0 => String::new(),
        1 => text(rng),
        2 => "[".repeat(2 + rng.below(60_000)),
        3 => format!("{}{}", "{\"a\":".repeat(rng.below(3_000)), "}".repeat(rng.below(3_000))),
        4 => anything(rng, 0).to_string(),
        5 | 6 => {
            let valid = valid(rng).to_string();
            mutated(rng, valid)
        }
        7 => format!("```json\n{}\n```", valid(rng)),
        8 => format!("{{\"text\":\"\\ud800{}\",\"task\":\"\\u0000\"}}", text(rng).replace(['"', '\\'], "")),
        _ => valid(rng).to_string(),
    }
}

fn order(rng: &mut Rng, asked: &Asked) -> Value {
    let mut order = Map::new();
    order.insert("name".to_owned(), json!(NAMES[rng.below(NAMES.len())]));
    order.insert("task".to_owned(), json!(text(rng)));
    if rng.below(3) == 0 {
        let context = (0..rng.below(4)).map(|_| (text(rng), anything(rng, 0))).collect::<Map<_, _>>();
        order.insert("context".to_owned(), Value::Object(context));
    }
    if rng.below(3) > 0 {
        let mut options = Map::new();
        if rng.below(3) > 0 {
            options.insert("prompt".to_owned(), json!(text(rng)));
        }
        if rng.below(3) == 0 {
            let tool = |rng: &mut Rng| match asked.tools.len() {
                0 => "*".to_owned(),
                many => asked.tools[rng.below(many)].0.clone(),
            };
            let tools: Vec<String> =
                (0..rng.below(5)).map(|_| if rng.below(3) == 0 { text(rng) } else { tool(rng) }).collect();
            options.insert("tools".to_owned(), json!(tools));
        }
        if rng.below(3) == 0 {
            let schema = match rng.below(3) {
                0 => {
                    json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] })
                }
                1 => json!({ "$ref": "#", "allOf": [{ "$ref": "#" }], "pattern": "(a*)*b" }),
                _ => anything(rng, 0),
            };
            options.insert("outputSchema".to_owned(), schema);
        }
        if rng.below(6) == 0 {
            options.insert("mode".to_owned(), json!(text(rng)));
        }
        order.insert("options".to_owned(), Value::Object(options));
    }
    Value::Object(order)
}

fn agent(rng: &mut Rng, asked: &Asked) -> String {
    match asked.agents.len() {
        many if many > 0 && rng.below(4) > 0 => asked.agents[rng.below(many)].clone(),
        _ => text(rng),
    }
}

/// A value that a schema allows, more or less.
fn fitting(rng: &mut Rng, schema: &Value, depth: usize) -> Value {
    if rng.below(20) == 0 || depth > 6 {
        return anything(rng, 2);
    }
    if let Some(choices) = schema["enum"].as_array().filter(|choices| !choices.is_empty()) {
        return choices[rng.below(choices.len())].clone();
    }
    let kind = schema["type"].as_str().or(schema["type"][0].as_str()).unwrap_or("string");
    match kind {
        "object" => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            let mut object = Map::new();
            for (name, field) in fields {
                if rng.below(8) > 0 {
                    object.insert(name.clone(), fitting(rng, field, depth + 1));
                }
            }
            if rng.below(10) == 0 {
                object.insert(text(rng), anything(rng, 2));
            }
            Value::Object(object)
        }
        "array" => (0..rng.below(6)).map(|_| fitting(rng, &schema["items"], depth + 1)).collect(),
        "integer" | "number" => number(rng),
        "boolean" => json!(rng.below(2) == 0),
        _ => json!(text(rng)),
    }
}

fn number(rng: &mut Rng) -> Value {
    match rng.below(6) {
        0 => json!(u64::MAX),
        1 => json!(i64::MIN),
        2 => json!(1e300),
        3 => json!(-0.0),
        _ => json!(rng.below(100)),
    }
}

/// Any JSON.
fn anything(rng: &mut Rng, depth: usize) -> Value {
    match rng.below(if depth > 8 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => json!(rng.below(2) == 0),
        2 => number(rng),
        3 | 4 => json!(text(rng)),
        5 => (0..rng.below(4)).map(|_| anything(rng, depth + 1)).collect(),
        6 => {
            // Deep, but as deep as JSON readers go.
            let mut deep = json!(1);
            for _ in 0..rng.below(120) {
                deep = if rng.below(2) == 0 { json!([deep]) } else { json!({ "": deep }) };
            }
            deep
        }
        _ => {
            let field = |rng: &mut Rng| match rng.below(4) {
                0 => "__proto__".to_owned(),
                1 => "type".to_owned(),
                _ => text(rng),
            };
            Value::Object((0..rng.below(4)).map(|_| (field(rng), anything(rng, depth + 1))).collect())
        }
    }
}

fn mutated(rng: &mut Rng, text: String) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..1 + rng.below(6) {
        let place = rng.below(letters.len().max(1));
        match rng.below(4) {
            0 if !letters.is_empty() => drop(letters.remove(place.min(letters.len() - 1))),
            1 => letters.truncate(place),
            2 => {
                letters.insert(place.min(letters.len()), ['"', '{', '}', '\\', '\0', ',', '会'][rng.below(7)])
            }
            _ if !letters.is_empty() => {
                let (place, other) = (place.min(letters.len() - 1), rng.below(letters.len()));
                letters.swap(place, other);
            }
            _ => {}
        }
    }
    letters.into_iter().collect()
}

/// How deep an expression is nested in what looks like a template.
const NESTING: usize = 20_000;

/// Text of every kind, now and then long.
pub fn text(rng: &mut Rng) -> String {
    match rng.below(20) {
        0 => String::new(),
        1 => "{{ name }}{% for a in b %}{{ a }}{% endfor %}".to_owned(),
        2 => format!("{{{{ {}1 }}}}", "-".repeat(rng.below(NESTING))),
        3 => format!("{{% if {} %}}", "not ".repeat(rng.below(NESTING))),
        4 => "\0\u{1}\u{1b}[2J\r\n\u{7f}".to_owned(),
        5 => "\u{202e}\u{feff}\u{fffd}\u{10ffff} ä会🦀\u{301}".to_owned(),
        6 => "word ".repeat(rng.below(20_000)),
        7 => "x".repeat(rng.below(100_000)),
        8 => "</turn><facts>data: [DONE]\n\nevent: error\ndata: {}\n\n".to_owned(),
        9 => "<script>alert(1)</script>![](data:,x)".to_owned(),
        10 => "../../../etc/passwd".to_owned(),
        11 => "{\"type\":\"finish\"}".to_owned(),
        12 => "'; DROP TABLE log; --".to_owned(),
        _ => format!("words {}", rng.below(1000)),
    }
}

/// The text in pieces of any length.
fn pieces(rng: &mut Rng, text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let size = match rng.below(4) {
        0 => 1 + letters.len() / 200,
        1 => 1 + rng.below(8) + letters.len() / 100,
        _ => letters.len().max(1),
    };
    letters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

fn provider(rng: &mut Rng) -> ProviderMetadata {
    let fields = (0..rng.below(3)).map(|_| (text(rng), anything(rng, 2))).collect();
    ProviderMetadata::new(&text(rng), fields)
}

fn source(rng: &mut Rng) -> Source {
    match rng.below(2) {
        0 => Source::Url { url: text(rng), title: Some(text(rng)) },
        _ => Source::Document { media_type: text(rng), title: text(rng), filename: Some(text(rng)) },
    }
}

fn usage(rng: &mut Rng) -> Usage {
    let count = |rng: &mut Rng| if rng.below(3) == 0 { u64::MAX } else { rng.below(1000) };
    Usage {
        input_tokens: count(rng),
        output_tokens: count(rng),
        total_tokens: count(rng),
        cached_input_tokens: count(rng),
        cache_write_tokens: count(rng),
        reasoning_tokens: count(rng),
    }
}
