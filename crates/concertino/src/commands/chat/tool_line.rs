//! The line of a tool call, and the checklist of a plan. Pure.
//!
//! On a terminal a line always fits the window, so that it can be rewritten; elsewhere nothing is cut but what would
//! flood.

use std::time::Duration;

use protocol::{ToolPart, ToolState};
use serde_json::Value;

use super::{
    look::{Look, Paint},
    text::{cut, cut_front, one_line, width},
};

/// What is kept of a long detail where no window bounds it.
const LONGEST_DETAIL: usize = 400;

/// A field in which models say what they are about to do; the values themselves say more.
const LABEL: &str = "actionName";

/// `● name  input or progress`.
pub(crate) fn running(look: &Look, tool: &ToolPart) -> String {
    let name = one_line(&tool.tool);
    let detail = match &tool.state {
        ToolState::InputStreaming { .. } => "…".to_owned(),
        ToolState::OutputAvailable { output, preliminary: true, .. } => {
            let room = room(look, &name);
            let text = progress(output);
            if text.is_empty() { input(tool) } else { cut_front(&text, room) }
        }
        _ => input(tool),
    };
    line(look, Paint::Yellow, "●", &name, &[detail])
}

/// `✓ name  120 ms`, `✗ name  reason` or `⊘ name  denied`; with what it was called with when no line said that yet.
pub(crate) fn settled(look: &Look, tool: &ToolPart, took: Option<Duration>, with_input: bool) -> String {
    let name = one_line(&tool.tool);
    let called_with = if with_input { input(tool) } else { String::new() };
    match &tool.state {
        ToolState::OutputError { error_text, .. } => {
            line(look, Paint::Red, "✗", &name, &[one_line(error_text)])
        }
        ToolState::OutputDenied { approval, .. } => {
            let reason = approval.as_ref().and_then(|approval| approval.reason.as_deref());
            let denied = match reason.map(one_line).filter(|reason| !reason.is_empty()) {
                Some(reason) => format!("denied: {reason}"),
                None => "denied".to_owned(),
            };
            line(look, Paint::Yellow, "⊘", &name, &[denied])
        }
        _ => line(look, Paint::Green, "✓", &name, &[called_with, took.map(duration).unwrap_or_default()]),
    }
}

/// Steps with their marks; empty when the data is no plan.
pub(crate) fn plan(look: &Look, data: &Value) -> Vec<String> {
    let Some(steps) = data.get("steps").and_then(Value::as_array) else { return Vec::new() };
    let fit = |text: &str, used: usize| {
        let text = one_line(text);
        if look.terminal { cut(&text, look.columns.saturating_sub(used + 1)) } else { text }
    };
    let explanation = data.get("explanation").and_then(Value::as_str).unwrap_or_default();
    let mut head = look.paint(Paint::Bold, "Plan");
    if !explanation.is_empty() {
        head = format!("{head}  {}", look.paint(Paint::Dim, &fit(explanation, 6)));
    }
    let step = |step: &Value| {
        let text = fit(step.get("step").and_then(Value::as_str).unwrap_or_default(), 4);
        match step.get("status").and_then(Value::as_str) {
            Some("completed") => {
                format!("  {} {}", look.paint(Paint::Green, "✓"), look.paint(Paint::Dim, &text))
            }
            Some("in_progress") => format!("  {} {text}", look.paint(Paint::Yellow, "▸")),
            _ => format!("  ○ {text}"),
        }
    };
    std::iter::once(head).chain(steps.iter().map(step)).collect()
}

/// Cuts the first detail so that the line fits; details that follow are short and stay whole.
fn line(look: &Look, paint: Paint, mark: &str, name: &str, details: &[String]) -> String {
    let mut details: Vec<String> = details.iter().filter(|detail| !detail.is_empty()).cloned().collect();
    if let Some((first, rest)) = details.split_first_mut() {
        let taken: usize = rest.iter().map(|detail| width(detail) + 2).sum();
        *first = cut(first, room(look, name).saturating_sub(taken));
    }
    let name = if look.terminal { cut(name, look.columns.saturating_sub(8)) } else { name.to_owned() };
    let mut out = format!("{} {name}", look.paint(paint, mark));
    for detail in details.iter().filter(|detail| !detail.is_empty()) {
        out.push_str("  ");
        out.push_str(&look.paint(Paint::Dim, detail));
    }
    out
}

/// Columns left for details behind mark and name. The last column stays free: some terminals wrap there.
fn room(look: &Look, name: &str) -> usize {
    if look.terminal { look.columns.saturating_sub(width(name) + 5) } else { LONGEST_DETAIL }
}

/// What a call was made with, as short as it can be told: one plain value alone, several with their names.
fn input(tool: &ToolPart) -> String {
    match tool.state.input() {
        Some(Value::Object(fields)) => {
            let mut plain: Vec<_> =
                fields.iter().filter_map(|(name, value)| Some((name, scalar(value)?))).collect();
            if plain.len() > 1 {
                plain.retain(|(name, _)| *name != LABEL);
            }
            match plain.as_slice() {
                [(_, value)] => value.clone(),
                several => {
                    let named: Vec<_> =
                        several.iter().map(|(name, value)| format!("{}: {value}", one_line(name))).collect();
                    named.join(", ")
                }
            }
        }
        Some(value) => scalar(value).unwrap_or_default(),
        None => String::new(),
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(one_line(text)).filter(|text| !text.is_empty()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The newest words of a snapshot: the last text of a nested message, or whatever plain values there are.
fn progress(output: &Value) -> String {
    let parts = output.get("parts").and_then(Value::as_array);
    if let Some(parts) = parts {
        let texts = parts.iter().rev().filter(|part| part.get("type").is_some_and(|kind| kind == "text"));
        return texts
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .find_map(|text| text.lines().rev().map(one_line).find(|line| !line.is_empty()))
            .unwrap_or_default();
    }
    match output {
        Value::Object(fields) => fields.values().filter_map(scalar).collect::<Vec<_>>().join("  "),
        value => scalar(value).unwrap_or_default(),
    }
}

fn duration(took: Duration) -> String {
    let ms = took.as_millis();
    match ms {
        0 => "<1 ms".to_owned(),
        1..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
    }
}
