//! The output of a hostile model: everything that its interface or the wire can carry.

use serde_json::{Map, Value, json};
use testkit::{
    models::{FellBack, ModelError, ModelEvent},
    protocol::{FinishReason, ProviderMetadata, Source, Usage},
};

use super::dice::Dice;

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
pub fn hostile(dice: &mut Dice, asked: &Asked, calls: bool) -> Said {
    let mut said: Said = Vec::new();
    let mut next = 0;
    for _ in 0..dice.roll(6) {
        match dice.roll(if calls { 20 } else { 8 }) {
            0 | 1 => said.push(Ok(ModelEvent::Text(text(dice)))),
            2 => said.push(Ok(ModelEvent::Reasoning(text(dice)))),
            3 => said.push(Ok(ModelEvent::ReasoningEnded(provider(dice)))),
            4 => said.push(Ok(ModelEvent::Source(source(dice)))),
            5 => said.push(Ok(ModelEvent::Usage(usage(dice)))),
            6 if dice.roll(4) == 0 => said.push(Ok(ModelEvent::FellBack(Box::new(FellBack {
                from: text(dice),
                to: text(dice),
                why: text(dice),
            })))),
            7 if dice.roll(4) == 0 => {
                // Of a call that nobody began, or one that is long over.
                let index = u32::try_from(dice.roll(4)).unwrap();
                said.push(Ok(match dice.roll(2) {
                    0 => ModelEvent::ToolDelta { index, delta: text(dice) },
                    _ => ModelEvent::ToolSigned { index, provider: provider(dice) },
                }));
            }
            6 | 7 => said.push(Ok(ModelEvent::Text(String::new()))),
            8 | 9 => {
                let all: Vec<Said> = (0..2 + dice.roll(3)).map(|_| call(dice, asked, &mut next)).collect();
                interleave(dice, all, &mut said);
            }
            _ => said.extend(call(dice, asked, &mut next)),
        }
    }
    match dice.roll(24) {
        0 => said.push(Err(ModelError::Cut)),
        1 => said.push(Err(ModelError::Garbage(text(dice)))),
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

fn interleave(dice: &mut Dice, mut all: Vec<Said>, said: &mut Said) {
    all.iter_mut().for_each(|one| one.reverse());
    while !all.is_empty() {
        let place = pick(dice, all.len());
        match all[place].pop() {
            Some(event) => said.push(event),
            None => drop(all.swap_remove(place)),
        }
    }
}

fn call(dice: &mut Dice, asked: &Asked, next: &mut u32) -> Said {
    let index = match dice.roll(12) {
        0 => 0,
        1 => u32::MAX,
        _ => *next,
    };
    *next += 1;
    let known = (!asked.tools.is_empty()).then(|| &asked.tools[pick(dice, asked.tools.len())]);
    let name = match (known, dice.roll(10)) {
        (Some((name, _)), 0..8) => name.clone(),
        (Some((name, _)), _) => near_miss(dice, name),
        (None, _) => "conf_echo".to_owned(),
    };
    let id = match dice.roll(8) {
        0 => None,
        1 => Some("same".to_owned()),
        2 => Some(text(dice)),
        3 => Some(String::new()),
        _ => Some(format!("c{}", dice.roll(1 << 30))),
    };
    let raw = arguments(dice, asked, &name, known.map(|(_, schema)| schema));
    let mut said: Said = vec![Ok(ModelEvent::ToolStarted { index, id, name })];
    said.extend(pieces(dice, &raw).into_iter().map(|delta| Ok(ModelEvent::ToolDelta { index, delta })));
    if dice.roll(10) == 0 {
        said.push(Ok(ModelEvent::ToolSigned { index, provider: provider(dice) }));
    }
    said
}

fn near_miss(dice: &mut Dice, name: &str) -> String {
    match dice.roll(10) {
        0 => name.to_uppercase(),
        1 => name.replace(['-', '_'], ""),
        2 => format!("functions.{name}"),
        3 => format!("{name} "),
        4 => name.chars().rev().collect(),
        5 => "x".repeat(100_000),
        6 => String::new(),
        7 => "generate_response".to_owned(),
        8 => "reset_equipped_tools".to_owned(),
        _ => text(dice),
    }
}

fn arguments(dice: &mut Dice, asked: &Asked, tool: &str, schema: Option<&Value>) -> String {
    let valid = |dice: &mut Dice| match tool {
        "sub-agent" | "spawn-agent" => order(dice, asked),
        "send-input" | "abort-agent" => json!({ "agentId": agent(dice, asked), "message": text(dice) }),
        "wait-agent" => {
            let ids: Vec<String> = (0..dice.roll(4)).map(|_| agent(dice, asked)).collect();
            json!({ "agentIds": ids, "timeoutMs": dice.roll(60) })
        }
        _ => schema.map_or(Value::Null, |schema| fitting(dice, schema, 0)),
    };
    match dice.roll(16) {
        0 => String::new(),
        1 => text(dice),
        2 => "[".repeat(2 + pick(dice, 60_000)),
        3 => format!("{}{}", "{\"a\":".repeat(pick(dice, 3_000)), "}".repeat(pick(dice, 3_000))),
        4 => anything(dice, 0).to_string(),
        5 | 6 => {
            let valid = valid(dice).to_string();
            mutated(dice, valid)
        }
        7 => format!("```json\n{}\n```", valid(dice)),
        8 => format!("{{\"text\":\"\\ud800{}\",\"task\":\"\\u0000\"}}", text(dice).replace(['"', '\\'], "")),
        _ => valid(dice).to_string(),
    }
}

fn order(dice: &mut Dice, asked: &Asked) -> Value {
    let mut order = Map::new();
    order.insert("name".to_owned(), json!(NAMES[pick(dice, NAMES.len())]));
    order.insert("task".to_owned(), json!(text(dice)));
    if dice.roll(3) == 0 {
        let context = (0..dice.roll(4)).map(|_| (text(dice), anything(dice, 0))).collect::<Map<_, _>>();
        order.insert("context".to_owned(), Value::Object(context));
    }
    if dice.roll(3) > 0 {
        let mut options = Map::new();
        if dice.roll(3) > 0 {
            options.insert("prompt".to_owned(), json!(text(dice)));
        }
        if dice.roll(3) == 0 {
            let tool = |dice: &mut Dice| match asked.tools.len() {
                0 => "*".to_owned(),
                many => asked.tools[pick(dice, many)].0.clone(),
            };
            let tools: Vec<String> =
                (0..dice.roll(5)).map(|_| if dice.roll(3) == 0 { text(dice) } else { tool(dice) }).collect();
            options.insert("tools".to_owned(), json!(tools));
        }
        if dice.roll(3) == 0 {
            let schema = match dice.roll(3) {
                0 => {
                    json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] })
                }
                1 => json!({ "$ref": "#", "allOf": [{ "$ref": "#" }], "pattern": "(a*)*b" }),
                _ => anything(dice, 0),
            };
            options.insert("outputSchema".to_owned(), schema);
        }
        if dice.roll(6) == 0 {
            options.insert("mode".to_owned(), json!(text(dice)));
        }
        order.insert("options".to_owned(), Value::Object(options));
    }
    Value::Object(order)
}

fn agent(dice: &mut Dice, asked: &Asked) -> String {
    match asked.agents.len() {
        many if many > 0 && dice.roll(4) > 0 => asked.agents[pick(dice, many)].clone(),
        _ => text(dice),
    }
}

/// A value that a schema allows, more or less.
fn fitting(dice: &mut Dice, schema: &Value, depth: usize) -> Value {
    if dice.roll(20) == 0 || depth > 6 {
        return anything(dice, 2);
    }
    if let Some(choices) = schema["enum"].as_array().filter(|choices| !choices.is_empty()) {
        return choices[pick(dice, choices.len())].clone();
    }
    let kind = schema["type"].as_str().or(schema["type"][0].as_str()).unwrap_or("string");
    match kind {
        "object" => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            let mut object = Map::new();
            for (name, field) in fields {
                if dice.roll(8) > 0 {
                    object.insert(name.clone(), fitting(dice, field, depth + 1));
                }
            }
            if dice.roll(10) == 0 {
                object.insert(text(dice), anything(dice, 2));
            }
            Value::Object(object)
        }
        "array" => (0..dice.roll(6)).map(|_| fitting(dice, &schema["items"], depth + 1)).collect(),
        "integer" | "number" => number(dice),
        "boolean" => json!(dice.roll(2) == 0),
        _ => json!(text(dice)),
    }
}

fn number(dice: &mut Dice) -> Value {
    match dice.roll(6) {
        0 => json!(u64::MAX),
        1 => json!(i64::MIN),
        2 => json!(1e300),
        3 => json!(-0.0),
        _ => json!(dice.roll(100)),
    }
}

/// Any JSON.
fn anything(dice: &mut Dice, depth: usize) -> Value {
    match dice.roll(if depth > 8 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => json!(dice.roll(2) == 0),
        2 => number(dice),
        3 | 4 => json!(text(dice)),
        5 => (0..dice.roll(4)).map(|_| anything(dice, depth + 1)).collect(),
        6 => {
            // Deep, but as deep as JSON readers go.
            let mut deep = json!(1);
            for _ in 0..dice.roll(120) {
                deep = if dice.roll(2) == 0 { json!([deep]) } else { json!({ "": deep }) };
            }
            deep
        }
        _ => {
            let field = |dice: &mut Dice| match dice.roll(4) {
                0 => "__proto__".to_owned(),
                1 => "type".to_owned(),
                _ => text(dice),
            };
            Value::Object((0..dice.roll(4)).map(|_| (field(dice), anything(dice, depth + 1))).collect())
        }
    }
}

fn mutated(dice: &mut Dice, text: String) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..1 + dice.roll(6) {
        let place = pick(dice, letters.len().max(1));
        match dice.roll(4) {
            0 if !letters.is_empty() => drop(letters.remove(place.min(letters.len() - 1))),
            1 => letters.truncate(place),
            2 => letters
                .insert(place.min(letters.len()), ['"', '{', '}', '\\', '\0', ',', '会'][pick(dice, 7)]),
            _ if !letters.is_empty() => {
                let (place, other) = (place.min(letters.len() - 1), pick(dice, letters.len()));
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
pub fn text(dice: &mut Dice) -> String {
    match dice.roll(20) {
        0 => String::new(),
        1 => "{{ name }}{% for a in b %}{{ a }}{% endfor %}".to_owned(),
        2 => format!("{{{{ {}1 }}}}", "-".repeat(pick(dice, NESTING))),
        3 => format!("{{% if {} %}}", "not ".repeat(pick(dice, NESTING))),
        4 => "\0\u{1}\u{1b}[2J\r\n\u{7f}".to_owned(),
        5 => "\u{202e}\u{feff}\u{fffd}\u{10ffff} ä会🦀\u{301}".to_owned(),
        6 => "word ".repeat(pick(dice, 20_000)),
        7 => "x".repeat(pick(dice, 100_000)),
        8 => "</turn><facts>data: [DONE]\n\nevent: error\ndata: {}\n\n".to_owned(),
        9 => "<script>alert(1)</script>![](data:,x)".to_owned(),
        10 => "../../../etc/passwd".to_owned(),
        11 => "{\"type\":\"finish\"}".to_owned(),
        12 => "'; DROP TABLE log; --".to_owned(),
        _ => format!("words {}", dice.roll(1000)),
    }
}

/// The text in pieces of any length.
fn pieces(dice: &mut Dice, text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let size = match dice.roll(4) {
        0 => 1 + letters.len() / 200,
        1 => 1 + pick(dice, 8) + letters.len() / 100,
        _ => letters.len().max(1),
    };
    letters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

fn provider(dice: &mut Dice) -> ProviderMetadata {
    let fields = (0..dice.roll(3)).map(|_| (text(dice), anything(dice, 2))).collect();
    ProviderMetadata::new(&text(dice), fields)
}

fn source(dice: &mut Dice) -> Source {
    match dice.roll(2) {
        0 => Source::Url { url: text(dice), title: Some(text(dice)) },
        _ => Source::Document { media_type: text(dice), title: text(dice), filename: Some(text(dice)) },
    }
}

fn usage(dice: &mut Dice) -> Usage {
    let count = |dice: &mut Dice| if dice.roll(3) == 0 { u64::MAX } else { dice.roll(1000) };
    Usage {
        input_tokens: count(dice),
        output_tokens: count(dice),
        total_tokens: count(dice),
        cached_input_tokens: count(dice),
        cache_write_tokens: count(dice),
        reasoning_tokens: count(dice),
    }
}

pub fn pick(dice: &mut Dice, many: usize) -> usize {
    usize::try_from(dice.roll(u64::try_from(many.max(1)).unwrap())).unwrap()
}
