//! Questions of a run, answered by one key. What was typed before the question stood there does not answer it.

use std::io::Write;

use anyhow::Result;
use crossterm::event::{self, Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures::StreamExt;
use protocol::{ApprovalId, Part, ToolPart, ToolState, UiMessage, message::Approval};
use serde_json::Value;

use super::{
    edit::{self, Read},
    look::{Look, Paint},
    terminal::{Raw, Signals},
    text::{folded, one_line, visible},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) approved: bool,
    pub(crate) reason: Option<String>,
}

/// What the message waits for before the run can go on.
#[derive(Debug, PartialEq)]
pub(crate) enum Waiting {
    Nothing,
    Approvals(Vec<ApprovalId>),
    /// A call that a front end must carry out, and this one cannot.
    FrontEnd(String),
}

pub(crate) fn waits_for(message: &UiMessage) -> Waiting {
    let step = message.parts.iter().rposition(|part| matches!(part, Part::StepStart)).unwrap_or(0);
    let last_step = message.parts[step..].iter().filter_map(|part| match part {
        Part::Tool(tool) => Some(tool),
        _ => None,
    });
    for tool in last_step {
        if matches!(tool.state, ToolState::InputAvailable { .. }) {
            return Waiting::FrontEnd(tool.tool.clone());
        }
    }
    let asked: Vec<_> =
        message.tool_parts().filter_map(|tool| question_of(tool).map(|(id, _)| id.clone())).collect();
    if asked.is_empty() { Waiting::Nothing } else { Waiting::Approvals(asked) }
}

fn question_of(tool: &ToolPart) -> Option<(&ApprovalId, &Value)> {
    match &tool.state {
        ToolState::ApprovalRequested { input, approval } => Some((approval, input)),
        _ => None,
    }
}

/// Asks every question of the message. `None` when the person leaves one open: then none is answered.
pub(crate) async fn ask_all(
    look: &Look,
    signals: &mut Signals,
    message: &UiMessage,
) -> Result<Option<UiMessage>> {
    let mut answered = message.clone();
    for part in &mut answered.parts {
        let Part::Tool(tool) = part else { continue };
        let Some((_, input)) = question_of(tool) else { continue };
        let question = question(look, &tool.tool, input);
        let Some(decision) = ask(look, signals, &question).await? else { return Ok(None) };
        answer(tool, decision);
    }
    Ok(Some(answered))
}

/// Puts the part in the state in which a client hands it back.
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

/// The call as it would be made, all of it, with nothing hidden in it.
fn question(look: &Look, tool: &str, input: &Value) -> String {
    let mut out = format!(
        "{} {}  wants to run",
        look.paint(Paint::Yellow, "?"),
        look.paint(Paint::Bold, &visible(&one_line(tool)))
    );
    let fields = match input {
        Value::Object(fields) if fields.is_empty() => String::new(),
        Value::Null => String::new(),
        input => visible(&format!("{input:#}")),
    };
    for line in folded(&fields, look.columns.saturating_sub(3)) {
        out.push_str("\n  ");
        out.push_str(&line);
    }
    out.push('\n');
    out
}

const ASK: &str = "  Allow? [y]es / [n]o / [r]eason ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Yes,
    No,
    Reason,
    Leave,
}

fn key_of(key: &KeyEvent) -> Option<Key> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c' | 'd') if control => Some(Key::Leave),
        KeyCode::Esc => Some(Key::Leave),
        KeyCode::Char(c) if !control => match c.to_ascii_lowercase() {
            'y' => Some(Key::Yes),
            'n' => Some(Key::No),
            'r' => Some(Key::Reason),
            _ => None,
        },
        _ => None,
    }
}

async fn ask(look: &Look, signals: &mut Signals, question: &str) -> Result<Option<Decision>> {
    write(question)?;
    loop {
        let key = {
            let _raw = Raw::on()?;
            while event::poll(std::time::Duration::ZERO)? {
                event::read()?;
            }
            write(&look.paint(Paint::Cyan, ASK))?;
            read_key(signals).await?
        };
        let said = match key {
            Key::Yes => "yes",
            Key::No => "no",
            Key::Reason => "no, because",
            Key::Leave => "not answered",
        };
        write(&format!("{said}\n"))?;
        let reason = match key {
            Key::Yes => return Ok(Some(Decision { approved: true, reason: None })),
            Key::No => return Ok(Some(Decision { approved: false, reason: None })),
            Key::Leave => return Ok(None),
            Key::Reason => edit::read_line(signals, "  › ", &[]).await?,
        };
        match reason {
            Read::Line(reason) => {
                let reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
                return Ok(Some(Decision { approved: false, reason }));
            }
            // Thought better of it: ask again.
            Read::Interrupted => {}
            Read::Ended => return Ok(None),
        }
    }
}

async fn read_key(signals: &mut Signals) -> Result<Key> {
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
                None => return Ok(Key::Leave),
            },
            _ = signals.next() => return Ok(Key::Leave),
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
    fn a_message_waits_for_approvals_or_for_a_front_end() {
        let front_end =
            json!({ "type": "tool-f", "toolCallId": "d", "state": "input-available", "input": {} });
        let step = json!({ "type": "step-start" });
        assert_eq!(waits_for(&message(json!([step, { "type": "text", "text": "x" }]))), Waiting::Nothing);
        assert_eq!(
            waits_for(&message(json!([step, asked()]))),
            Waiting::Approvals(vec![ApprovalId::new("apr_1")])
        );
        assert_eq!(waits_for(&message(json!([step, asked(), front_end]))), Waiting::FrontEnd("f".to_owned()));
    }

    #[test]
    fn an_answer_is_handed_back_as_the_stock_client_does() {
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
        let look = Look { terminal: true, color: false, columns: 40 };
        let input = json!({ "note": "寄".repeat(30), "to": "a\u{202e}b\u{1b}[2J" });
        let text = question(&look, "send-report", &input);
        assert!(text.starts_with("? send-report  wants to run\n  {\n"), "{text}");
        assert_eq!(text.matches('寄').count(), 30);
        assert!(text.contains(r"a\u{202e}b\u001b[2J"), "{text}");
        for line in text.lines() {
            assert!(super::super::text::width(line) < 40, "{line}");
        }
        assert_eq!(question(&look, "t", &json!({})), "? t  wants to run\n");
    }

    #[test]
    fn keys_mean_what_the_question_says() {
        let key = |c| key_of(&KeyEvent::from(KeyCode::Char(c)));
        assert_eq!(
            [key('y'), key('N'), key('r'), key('x')],
            [Some(Key::Yes), Some(Key::No), Some(Key::Reason), None]
        );
        assert_eq!(key_of(&KeyEvent::from(KeyCode::Enter)), None, "a hasty Enter decides nothing");
        let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(key_of(&ctrl_c), Some(Key::Leave));
        let ctrl_y = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::CONTROL);
        assert_eq!(key_of(&ctrl_y), None);
    }
}
