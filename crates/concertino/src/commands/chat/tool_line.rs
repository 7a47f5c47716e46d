//! Formats the line of a tool call and the checklist of a plan. Pure.
//!
//! On a terminal a line always fits the window, so that it can be rewritten; in a pipe only very long details are cut.

use std::time::Duration;

use protocol::{ToolPart, ToolState};
use serde_json::Value;

use super::{
    command_report,
    output_settings::{OutputSettings, TextStyle},
    text::{cut, cut_front, one_line, width},
};

/// The longest detail in a pipe, in columns.
const MAX_DETAIL: usize = 400;

/// A field in which models announce what they are about to do. It is left out when there are other values.
const ANNOUNCEMENT: &str = "actionName";

/// Formats a running call: `● name  input or progress`.
pub(crate) fn running(settings: &OutputSettings, tool: &ToolPart) -> String {
    let name = one_line(&tool.tool);
    let detail = match &tool.state {
        ToolState::InputStreaming { .. } => "…".to_owned(),
        ToolState::OutputAvailable { output, preliminary: true, .. } => {
            let room = room(settings, &name);
            let text = command_report::of(tool)
                .map_or_else(|| progress(output), |report| command_report::newest_line(&report));
            if text.is_empty() { input(tool) } else { cut_front(&text, room) }
        }
        _ => input(tool),
    };
    line(settings, TextStyle::Yellow, "●", &name, &[detail])
}

/// Formats a finished call: `✓ name  120 ms`, `✗ name  reason` or `⊘ name  denied`. `with_input` adds the input, when no
/// earlier line has shown it.
pub(crate) fn settled(
    settings: &OutputSettings,
    tool: &ToolPart,
    took: Option<Duration>,
    with_input: bool,
) -> String {
    let name = one_line(&tool.tool);
    let called_with = if with_input { input(tool) } else { String::new() };
    match &tool.state {
        ToolState::OutputError { error_text, .. } => {
            line(settings, TextStyle::Red, "✗", &name, &[one_line(error_text)])
        }
        ToolState::OutputDenied { approval, .. } => {
            let reason = approval.as_ref().and_then(|approval| approval.reason.as_deref());
            let denied = match reason.map(one_line).filter(|reason| !reason.is_empty()) {
                Some(reason) => format!("denied: {reason}"),
                None => "denied".to_owned(),
            };
            line(settings, TextStyle::Yellow, "⊘", &name, &[denied])
        }
        _ => {
            let report = command_report::of(tool);
            let took = match &report {
                Some(report) => Some(Duration::from_millis(report.duration_ms)),
                None => took,
            };
            let (style, mark) = match &report {
                Some(report) if !command_report::is_fine(report) => (TextStyle::Red, "✗"),
                _ => (TextStyle::Green, "✓"),
            };
            let end = report.as_ref().map(command_report::end).unwrap_or_default();
            line(settings, style, mark, &name, &[called_with, end, took.map(duration).unwrap_or_default()])
        }
    }
}

/// Formats the steps of a plan with their marks; empty when the data is not a plan.
pub(crate) fn plan(settings: &OutputSettings, data: &Value) -> Vec<String> {
    let Some(steps) = data.get("steps").and_then(Value::as_array) else { return Vec::new() };
    let fit = |text: &str, used: usize| {
        let text = one_line(text);
        if settings.terminal { cut(&text, settings.columns.saturating_sub(used + 1)) } else { text }
    };
    let explanation = data.get("explanation").and_then(Value::as_str).unwrap_or_default();
    let mut head = settings.styled(TextStyle::Bold, "Plan");
    if !explanation.is_empty() {
        head = format!("{head}  {}", settings.styled(TextStyle::Dim, &fit(explanation, 6)));
    }
    let step = |step: &Value| {
        let text = fit(step.get("step").and_then(Value::as_str).unwrap_or_default(), 4);
        match step.get("status").and_then(Value::as_str) {
            Some("completed") => {
                format!(
                    "  {} {}",
                    settings.styled(TextStyle::Green, "✓"),
                    settings.styled(TextStyle::Dim, &text)
                )
            }
            Some("in_progress") => format!("  {} {text}", settings.styled(TextStyle::Yellow, "▸")),
            _ => format!("  ○ {text}"),
        }
    };
    std::iter::once(head).chain(steps.iter().map(step)).collect()
}

/// Formats a line. The first detail is cut so that the line fits; the following ones are short and stay whole.
fn line(settings: &OutputSettings, style: TextStyle, mark: &str, name: &str, details: &[String]) -> String {
    let mut details: Vec<String> = details.iter().filter(|detail| !detail.is_empty()).cloned().collect();
    if let Some((first, rest)) = details.split_first_mut() {
        let taken: usize = rest.iter().map(|detail| width(detail) + 2).sum();
        *first = cut(first, room(settings, name).saturating_sub(taken));
    }
    let name =
        if settings.terminal { cut(name, settings.columns.saturating_sub(8)) } else { name.to_owned() };
    let mut out = format!("{} {name}", settings.styled(style, mark));
    for detail in details.iter().filter(|detail| !detail.is_empty()) {
        out.push_str("  ");
        out.push_str(&settings.styled(TextStyle::Dim, detail));
    }
    out
}

/// Returns the columns left for details after mark and name. The last column stays free because some terminals wrap there.
fn room(settings: &OutputSettings, name: &str) -> usize {
    if settings.terminal { settings.columns.saturating_sub(width(name) + 5) } else { MAX_DETAIL }
}

/// Formats the input of a call: a single plain value without its name, several with their names.
fn input(tool: &ToolPart) -> String {
    match tool.state.input() {
        Some(Value::Object(fields)) => {
            let mut plain: Vec<_> =
                fields.iter().filter_map(|(name, value)| Some((name, scalar(value)?))).collect();
            if plain.len() > 1 {
                plain.retain(|(name, _)| *name != ANNOUNCEMENT);
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

/// Returns the newest line of a snapshot: of the last text of a nested message, or else all plain values.
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
