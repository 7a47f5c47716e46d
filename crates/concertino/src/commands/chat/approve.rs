//! Asks the person for approvals, answered by one key. Keys typed before the question was shown do not answer it.

use std::collections::HashMap;

use anyhow::Result;
use crossterm::event::{self, Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures::StreamExt;
use protocol::{
    ApprovalId, GrantScope, Part, Rule, RuleEffect, RuleId, ToolCallId, ToolPart, ToolState, UiMessage,
    message::Approval,
};
use serde_json::{Map, Value, json};

use super::{
    diff,
    edit::{self, LineInput},
    output_settings::{OutputSettings, TextStyle},
    terminal::{RawMode, Signals, write},
    text::{folded, one_line, visible},
};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Decision {
    pub(crate) approved: bool,
    pub(crate) reason: Option<String>,
    /// Allow all such calls from now on.
    pub(crate) always: Option<GrantScope>,
    /// An input that replaces the one of the question.
    pub(crate) input: Option<Value>,
}

impl Decision {
    fn yes() -> Self {
        Self { approved: true, ..Self::default() }
    }

    /// What the request carries beside the message, for the call.
    fn payload(&self) -> Option<Value> {
        let mut payload = Map::new();
        payload.extend(self.always.map(|scope| ("always".to_owned(), json!(scope))));
        payload.extend(self.input.clone().map(|input| ("input".to_owned(), input)));
        (!payload.is_empty()).then_some(Value::Object(payload))
    }
}

/// A message with the answers in it, and what belongs to them (`toolApprovalPayloads`).
pub(crate) struct Answered {
    pub(crate) message: UiMessage,
    pub(crate) payloads: Map<String, Value>,
}

/// The tool that asks a person for input.
const INPUT_TOOL: &str = "request-user-input";

/// What the run of a message needs before it can continue.
#[derive(Debug, PartialEq)]
pub(crate) enum Pending {
    Nothing,
    Approvals(Vec<ApprovalId>),
    /// What a person fills in, for these calls.
    Inputs(Vec<ToolCallId>),
    /// The result of this tool, which a web front end must run.
    FrontEnd(String),
}

/// Returns what the message is waiting for.
pub(crate) fn pending_in(message: &UiMessage) -> Pending {
    let step = message.parts.iter().rposition(|part| matches!(part, Part::StepStart)).unwrap_or(0);
    let last_step = message.parts[step..].iter().filter_map(|part| match part {
        Part::Tool(tool) => Some(tool),
        _ => None,
    });
    let is_input =
        |tool: &&ToolPart| tool.tool == INPUT_TOOL && matches!(tool.state, ToolState::InputAvailable { .. });
    let inputs: Vec<_> = message.tool_parts().filter(is_input).map(|tool| tool.call.clone()).collect();
    if !inputs.is_empty() {
        return Pending::Inputs(inputs);
    }
    for tool in last_step {
        if matches!(tool.state, ToolState::InputAvailable { .. }) {
            return Pending::FrontEnd(tool.tool.clone());
        }
    }
    let asked: Vec<_> = message
        .tool_parts()
        .filter_map(|tool| question_of(tool).map(|asked| asked.approval.clone()))
        .collect();
    if asked.is_empty() { Pending::Nothing } else { Pending::Approvals(asked) }
}

/// A requested approval of a tool call.
struct Question<'a> {
    approval: &'a ApprovalId,
    input: &'a Value,
}

fn question_of(tool: &ToolPart) -> Option<Question<'_>> {
    match &tool.state {
        ToolState::ApprovalRequested { input, approval } => Some(Question { approval, input }),
        _ => None,
    }
}

/// Asks all questions of the message and returns it with the answers. Returns `None` when the person leaves one open; then
/// none is answered.
pub(crate) async fn ask_all(
    settings: &OutputSettings,
    signals: &mut Signals,
    message: &UiMessage,
    details: &HashMap<ApprovalId, protocol::Question>,
) -> Result<Option<Answered>> {
    let mut answered = message.clone();
    let mut payloads = Map::new();
    for part in &mut answered.parts {
        let Part::Tool(tool) = part else { continue };
        let Some(asked) = question_of(tool) else { continue };
        let details = details.get(asked.approval);
        let question = question(settings, &tool.tool, asked.input, details);
        let may_always = details.is_some_and(|details| details.always.is_some());
        let Some(decision) = ask(settings, signals, &question, may_always, asked.input).await? else {
            return Ok(None);
        };
        payloads.extend(decision.payload().map(|payload| (tool.call.to_string(), payload)));
        answer(tool, decision);
    }
    Ok(Some(Answered { message: answered, payloads }))
}

/// Sets the part to the state in which a client sends it back.
fn answer(tool: &mut ToolPart, decision: Decision) {
    if let ToolState::ApprovalRequested { input, approval } = &mut tool.state {
        tool.state = ToolState::ApprovalResponded {
            input: input.take(),
            approval: Approval {
                id: approval.clone(),
                approved: Some(decision.approved),
                reason: decision.reason,
            },
        };
    }
}

/// Formats the question with the whole input of the call. Characters that a terminal would hide are shown as escapes.
fn question(
    settings: &OutputSettings,
    tool: &str,
    input: &Value,
    details: Option<&protocol::Question>,
) -> String {
    let mut out = format!(
        "{} {}  wants to run",
        settings.styled(TextStyle::Yellow, "?"),
        settings.styled(TextStyle::Bold, &visible(&one_line(tool)))
    );
    let width = settings.columns.saturating_sub(3);
    if let Some(details) = details {
        for line in folded(&visible(&one_line(&details.why)), width) {
            out.push_str(&format!("\n  {line}"));
        }
        if details.sensitive {
            let note = "Sensitive: you are asked about every such call.";
            out.push_str(&format!("\n  {}", settings.styled(TextStyle::Red, note)));
        }
        // The diffs say what the input says.
        if !details.files.is_empty() {
            out.push_str(&format!("\n{}", diff::shown(settings, &details.files)));
            out.push_str(&always_line(settings, details));
            return out;
        }
    }
    let fields = match input {
        Value::Object(fields) if fields.is_empty() => String::new(),
        Value::Null => String::new(),
        input => visible(&format!("{input:#}")),
    };
    for line in folded(&fields, width) {
        out.push_str("\n  ");
        out.push_str(&line);
    }
    out.push('\n');
    out.push_str(&details.map(|details| always_line(settings, details)).unwrap_or_default());
    out
}

/// What "always" would allow, in words.
fn always_line(settings: &OutputSettings, details: &protocol::Question) -> String {
    let Some(calls) = details.always.clone() else { return String::new() };
    let rule = Rule { id: RuleId::new("rule"), effect: RuleEffect::Allow, calls, note: None };
    let text = format!("Always, in this chat (a) or in this workspace (w): {}", policy::describe(&rule));
    let lines = folded(&visible(&one_line(&text)), settings.columns.saturating_sub(3));
    lines.iter().map(|line| format!("  {}\n", settings.styled(TextStyle::Dim, line))).collect()
}

const ASK: &str = "  Allow? [y]es / [n]o / [r]eason / [e]dit ";
const ASK_ALWAYS: &str = "  Allow? [y]es once / [a]lways in chat / [w]orkspace / [n]o / [r]eason / [e]dit ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerKey {
    Yes,
    Always(GrantScope),
    Edit,
    No,
    Reason,
    Leave,
}

fn key_of(key: &KeyEvent) -> Option<AnswerKey> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c' | 'd') if control => Some(AnswerKey::Leave),
        KeyCode::Esc => Some(AnswerKey::Leave),
        KeyCode::Char(c) if !control => match c.to_ascii_lowercase() {
            'y' => Some(AnswerKey::Yes),
            'a' => Some(AnswerKey::Always(GrantScope::Session)),
            'w' => Some(AnswerKey::Always(GrantScope::Workspace)),
            'e' => Some(AnswerKey::Edit),
            'n' => Some(AnswerKey::No),
            'r' => Some(AnswerKey::Reason),
            _ => None,
        },
        _ => None,
    }
}

async fn ask(
    settings: &OutputSettings,
    signals: &mut Signals,
    question: &str,
    may_always: bool,
    input: &Value,
) -> Result<Option<Decision>> {
    write(question)?;
    loop {
        let key = {
            let _raw = RawMode::on()?;
            while event::poll(std::time::Duration::ZERO)? {
                event::read()?;
            }
            write(&settings.styled(TextStyle::Cyan, if may_always { ASK_ALWAYS } else { ASK }))?;
            read_key(signals, may_always).await?
        };
        let answer = match key {
            AnswerKey::Yes => "yes",
            AnswerKey::Always(GrantScope::Session) => "always in this chat",
            AnswerKey::Always(GrantScope::Workspace) => "always in this workspace",
            AnswerKey::Edit => "edit",
            AnswerKey::No => "no",
            AnswerKey::Reason => "no, because",
            AnswerKey::Leave => "not answered",
        };
        write(&format!("{answer}\n"))?;
        let reason = match key {
            AnswerKey::Yes => return Ok(Some(Decision::yes())),
            AnswerKey::Always(scope) => return Ok(Some(Decision { always: Some(scope), ..Decision::yes() })),
            AnswerKey::No => return Ok(Some(Decision::default())),
            AnswerKey::Edit => match edited(signals, input).await? {
                Some(input) => return Ok(Some(Decision { input: Some(input), ..Decision::yes() })),
                None => continue,
            },
            AnswerKey::Leave => return Ok(None),
            AnswerKey::Reason => edit::read_line(signals, "  › ", &[]).await?,
        };
        match reason {
            LineInput::Line(reason) => {
                let reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
                return Ok(Some(Decision { reason, ..Decision::default() }));
            }
            // The person cancelled the reason: ask again.
            LineInput::Interrupted => {}
            LineInput::Ended => return Ok(None),
        }
    }
}

/// Reads another input as JSON; the arrow key recalls the present one. `None` when the person changed their mind.
async fn edited(signals: &mut Signals, input: &Value) -> Result<Option<Value>> {
    write("  Type the input as JSON; the arrow key ↑ recalls it, Ctrl-C cancels.\n")?;
    loop {
        match edit::read_line(signals, "  › ", &[input.to_string()]).await? {
            LineInput::Line(line) if line.trim().is_empty() => return Ok(None),
            LineInput::Line(line) => match serde_json::from_str(&line) {
                Ok(input) => return Ok(Some(input)),
                Err(error) => write(&format!("  This is not JSON: {error}\n"))?,
            },
            LineInput::Interrupted | LineInput::Ended => return Ok(None),
        }
    }
}

async fn read_key(signals: &mut Signals, may_always: bool) -> Result<AnswerKey> {
    let mut keys = EventStream::new();
    loop {
        tokio::select! {
            event = keys.next() => match event {
                Some(Ok(Event::Key(key))) if key.kind != KeyEventKind::Release => {
                    let offered = |key: &AnswerKey| may_always || !matches!(key, AnswerKey::Always(_));
                    if let Some(key) = key_of(&key).filter(offered) {
                        return Ok(key);
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error.into()),
                None => return Ok(AnswerKey::Leave),
            },
            _ = signals.next() => return Ok(AnswerKey::Leave),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(parts: Value) -> UiMessage {
        serde_json::from_value(json!({ "id": "m", "role": "assistant", "parts": parts })).unwrap()
    }

    fn asked() -> Value {
        json!({ "type": "tool-t", "toolCallId": "c", "state": "approval-requested",
            "input": { "note": "send" }, "approval": { "id": "apr_1" } })
    }

    #[test]
    fn a_message_is_pending_on_approvals_or_a_front_end() {
        let front_end =
            json!({ "type": "tool-f", "toolCallId": "d", "state": "input-available", "input": {} });
        let step = json!({ "type": "step-start" });
        assert_eq!(pending_in(&message(json!([step, { "type": "text", "text": "x" }]))), Pending::Nothing);
        let input = json!({ "type": "tool-request-user-input", "toolCallId": "i", "state": "input-available", "input": {} });
        assert_eq!(
            pending_in(&message(json!([step, asked(), input]))),
            Pending::Inputs(vec![ToolCallId::new("i")])
        );
        assert_eq!(
            pending_in(&message(json!([step, asked()]))),
            Pending::Approvals(vec![ApprovalId::new("apr_1")])
        );
        assert_eq!(
            pending_in(&message(json!([step, asked(), front_end]))),
            Pending::FrontEnd("f".to_owned())
        );
    }

    #[test]
    fn an_answer_is_sent_back_like_the_stock_client_does() {
        let mut message = message(json!([asked()]));
        if let Part::Tool(tool) = &mut message.parts[0] {
            answer(tool, Decision { reason: Some("not now".to_owned()), ..Decision::default() });
        }
        assert_eq!(
            serde_json::to_value(&message.parts).unwrap(),
            json!([{ "type": "tool-t", "toolCallId": "c", "state": "approval-responded", "input": { "note": "send" },
                "approval": { "id": "apr_1", "approved": false, "reason": "not now" } }])
        );
    }

    #[test]
    fn the_question_shows_the_whole_input_and_nothing_hidden_in_it() {
        let settings = OutputSettings { terminal: true, color: false, columns: 40 };
        let input = json!({ "note": "寄".repeat(30), "to": "a\u{202e}b\u{1b}[2J" });
        let text = question(&settings, "send-report", &input, None);
        assert!(text.starts_with("? send-report  wants to run\n  {\n"), "{text}");
        assert_eq!(text.matches('寄').count(), 30);
        assert!(text.contains(r"a\u{202e}b\u001b[2J"), "{text}");
        for line in text.lines() {
            assert!(super::super::text::width(line) < 40, "{line}");
        }
        assert_eq!(question(&settings, "t", &json!({}), None), "? t  wants to run\n");
    }

    fn details(sensitive: bool) -> protocol::Question {
        let calls = json!({ "tools": ["edit-file"], "path": "src/**" });
        let files = json!([{ "path": "src/a.rs", "kind": "modified", "added": 1, "removed": 1, "diff": "-old\n+new\n" }]);
        serde_json::from_value(if sensitive {
            json!({ "why": "It changes .env.", "sensitive": true })
        } else {
            json!({ "why": "It changes src/a.rs.", "always": calls, "files": files })
        })
        .unwrap()
    }

    #[test]
    fn the_question_says_why_and_shows_the_diff_and_what_always_allows() {
        let settings = OutputSettings { terminal: true, color: false, columns: 80 };
        let input = json!({ "path": "src/a.rs" });
        let text = question(&settings, "edit-file", &input, Some(&details(false)));
        assert!(
            text.starts_with(
                "? edit-file  wants to run\n  It changes src/a.rs.\n  src/a.rs  +1 -1\n  -old\n  +new\n"
            ),
            "{text}"
        );
        assert!(text.contains("Always, in this chat (a) or in this workspace (w): "), "{text}");
        let text = question(&settings, "edit-file", &input, Some(&details(true)));
        assert!(text.contains("\n  Sensitive: you are asked about every such call.\n"), "{text}");
        assert!(!text.contains("Always"), "{text}");
        for ask in [ASK, ASK_ALWAYS] {
            assert!(super::super::text::width(ask) <= 80, "{ask}");
        }
    }

    #[test]
    fn always_and_an_edited_input_travel_beside_the_message() {
        assert_eq!(Decision::yes().payload(), None);
        let always = Decision { always: Some(GrantScope::Workspace), ..Decision::yes() };
        assert_eq!(always.payload(), Some(json!({ "always": "workspace" })));
        let edited = Decision { input: Some(json!({ "path": "b" })), ..Decision::yes() };
        assert_eq!(edited.payload(), Some(json!({ "input": { "path": "b" } })));
    }

    #[test]
    fn keys_mean_what_the_question_says() {
        let key = |c| key_of(&KeyEvent::from(KeyCode::Char(c)));
        assert_eq!(
            [key('y'), key('N'), key('r'), key('x')],
            [Some(AnswerKey::Yes), Some(AnswerKey::No), Some(AnswerKey::Reason), None]
        );
        assert_eq!(key_of(&KeyEvent::from(KeyCode::Enter)), None, "a hasty Enter decides nothing");
        let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(key_of(&ctrl_c), Some(AnswerKey::Leave));
        let ctrl_y = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::CONTROL);
        assert_eq!(key_of(&ctrl_y), None);
    }
}
