//! Asks the person for approvals, answered by one key. Keys typed before the question was shown do not answer it.

use std::io::Write;

use anyhow::Result;
use crossterm::event::{self, Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures::StreamExt;
use protocol::{ApprovalId, Part, ToolPart, ToolState, UiMessage, message::Approval};
use serde_json::Value;

use super::{
    edit::{self, LineInput},
    output_settings::{OutputSettings, TextStyle},
    terminal::{RawMode, Signals},
    text::{folded, one_line, visible},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) approved: bool,
    pub(crate) reason: Option<String>,
}

/// What the run of a message needs before it can continue.
#[derive(Debug, PartialEq)]
pub(crate) enum Pending {
    Nothing,
    Approvals(Vec<ApprovalId>),
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
) -> Result<Option<UiMessage>> {
    let mut answered = message.clone();
    for part in &mut answered.parts {
        let Part::Tool(tool) = part else { continue };
        let Some(asked) = question_of(tool) else { continue };
        let question = question(settings, &tool.tool, asked.input);
        let Some(decision) = ask(settings, signals, &question).await? else { return Ok(None) };
        answer(tool, decision);
    }
    Ok(Some(answered))
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
fn question(settings: &OutputSettings, tool: &str, input: &Value) -> String {
    let mut out = format!(
        "{} {}  wants to run",
        settings.styled(TextStyle::Yellow, "?"),
        settings.styled(TextStyle::Bold, &visible(&one_line(tool)))
    );
    let fields = match input {
        Value::Object(fields) if fields.is_empty() => String::new(),
        Value::Null => String::new(),
        input => visible(&format!("{input:#}")),
    };
    for line in folded(&fields, settings.columns.saturating_sub(3)) {
        out.push_str("\n  ");
        out.push_str(&line);
    }
    out.push('\n');
    out
}

const ASK: &str = "  Allow? [y]es / [n]o / [r]eason ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerKey {
    Yes,
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
            'n' => Some(AnswerKey::No),
            'r' => Some(AnswerKey::Reason),
            _ => None,
        },
        _ => None,
    }
}

async fn ask(settings: &OutputSettings, signals: &mut Signals, question: &str) -> Result<Option<Decision>> {
    write(question)?;
    loop {
        let key = {
            let _raw = RawMode::on()?;
            while event::poll(std::time::Duration::ZERO)? {
                event::read()?;
            }
            write(&settings.styled(TextStyle::Cyan, ASK))?;
            read_key(signals).await?
        };
        let answer = match key {
            AnswerKey::Yes => "yes",
            AnswerKey::No => "no",
            AnswerKey::Reason => "no, because",
            AnswerKey::Leave => "not answered",
        };
        write(&format!("{answer}\n"))?;
        let reason = match key {
            AnswerKey::Yes => return Ok(Some(Decision { approved: true, reason: None })),
            AnswerKey::No => return Ok(Some(Decision { approved: false, reason: None })),
            AnswerKey::Leave => return Ok(None),
            AnswerKey::Reason => edit::read_line(signals, "  › ", &[]).await?,
        };
        match reason {
            LineInput::Line(reason) => {
                let reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
                return Ok(Some(Decision { approved: false, reason }));
            }
            // The person cancelled the reason: ask again.
            LineInput::Interrupted => {}
            LineInput::Ended => return Ok(None),
        }
    }
}

async fn read_key(signals: &mut Signals) -> Result<AnswerKey> {
    let mut keys = EventStream::new();
    loop {
        tokio::select! {
            event = keys.next() => match event {
                Some(Ok(Event::Key(key))) if key.kind != KeyEventKind::Release => {
                    if let Some(key) = key_of(&key) {
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

fn write(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
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
            answer(tool, Decision { approved: false, reason: Some("not now".to_owned()) });
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
        let text = question(&settings, "send-report", &input);
        assert!(text.starts_with("? send-report  wants to run\n  {\n"), "{text}");
        assert_eq!(text.matches('寄').count(), 30);
        assert!(text.contains(r"a\u{202e}b\u001b[2J"), "{text}");
        for line in text.lines() {
            assert!(super::super::text::width(line) < 40, "{line}");
        }
        assert_eq!(question(&settings, "t", &json!({})), "? t  wants to run\n");
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
