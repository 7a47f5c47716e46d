//! Message → events, the inverse of the fold. The events fold to the same message again; if they do not, no agent can have
//! written the message.

use serde_json::Value;

use crate::{
    event::{SegmentKind, SessionEvent, ToolOutcome},
    id::{ApprovalId, MessageId, ToolCallId},
    interaction::InteractionKind,
    message::{Approval, Part, TextState, ToolPart, ToolState, UiMessage, facts::MessageFacts},
    provider::Source,
    tool::ToolCall,
};

/// Writes the events of one message, without those that open and close it.
pub(super) struct Unfold<'a> {
    id: MessageId,
    facts: MessageFacts,
    withdrawn: &'a [ApprovalId],
    in_step: bool,
    segment: u32,
}

/// Why a message cannot be imported.
pub(super) type Wrong = String;

/// Writes the events between a call and its result.
pub(super) type Between<'b> = dyn FnMut(&ToolCallId, &mut Vec<SessionEvent>) -> Result<(), Wrong> + 'b;

impl<'a> Unfold<'a> {
    pub(super) fn new(message: &UiMessage, withdrawn: &'a [ApprovalId]) -> Self {
        Self { id: message.id.clone(), facts: message.facts(), withdrawn, in_step: false, segment: 0 }
    }

    /// Reads the facts of a message, in the pieces in which they must be added. Keys that are unknown here are removed
    /// from the message.
    pub(super) fn facts(message: &mut UiMessage) -> Result<Vec<MessageFacts>, Wrong> {
        let pieces = match &message.metadata {
            None => Vec::new(),
            Some(Value::Object(metadata)) => MessageFacts::pieces(metadata),
            Some(_) => return Err("metadata: must be an object".to_owned()),
        };
        message.metadata = None;
        pieces.iter().for_each(|piece| piece.merge_into(&mut message.metadata));
        Ok(pieces)
    }

    pub(super) fn parts(
        &mut self,
        parts: &[Part],
        out: &mut Vec<SessionEvent>,
        between: &mut Between<'_>,
    ) -> Result<(), Wrong> {
        for (place, part) in parts.iter().enumerate() {
            self.part(part, out, between).map_err(|wrong| format!("parts[{place}]: {wrong}"))?;
        }
        if self.in_step {
            out.push(SessionEvent::StepFinished { message: self.id.clone() });
        }
        Ok(())
    }

    fn part(
        &mut self,
        part: &Part,
        out: &mut Vec<SessionEvent>,
        between: &mut Between<'_>,
    ) -> Result<(), Wrong> {
        let message = self.id.clone();
        match part {
            Part::StepStart => {
                if self.in_step {
                    out.push(SessionEvent::StepFinished { message: message.clone() });
                }
                self.in_step = true;
                out.push(SessionEvent::StepStarted { message });
            }
            Part::Text { text, state } => {
                whole(*state)?;
                self.segment_of(SegmentKind::Text, None, text, out);
            }
            Part::Reasoning { id, text, state, provider } => {
                whole(*state)?;
                let number = id.as_deref().and_then(|id| id.strip_prefix('s')?.parse().ok());
                self.segment = self.segment.max(number.ok_or("reasoning without the id of its segment")?);
                self.segment_of(SegmentKind::Reasoning, provider.clone(), text, out);
            }
            Part::SourceUrl { source_id, url, title } => {
                let source = Source::Url { url: url.clone(), title: title.clone() };
                out.push(SessionEvent::SourceCited { message, number: source_number(source_id)?, source });
            }
            Part::SourceDocument { source_id, media_type, title, filename } => {
                let (media_type, title, filename) = (media_type.clone(), title.clone(), filename.clone());
                let source = Source::Document { media_type, title, filename };
                out.push(SessionEvent::SourceCited { message, number: source_number(source_id)?, source });
            }
            Part::Data { name, id, data } => out.push(data_event(message, name, id.as_deref(), data)),
            Part::Tool(tool) => self.tool(tool, out, between)?,
            Part::File { .. } => return Err("a file is no part of an agent's message".to_owned()),
        }
        Ok(())
    }

    fn segment_of(
        &mut self,
        kind: SegmentKind,
        provider: Option<crate::provider::ProviderMetadata>,
        text: &str,
        out: &mut Vec<SessionEvent>,
    ) {
        let (message, segment) = (self.id.clone(), self.segment);
        self.segment += 1;
        out.push(SessionEvent::SegmentOpened { message: message.clone(), segment, kind });
        if !text.is_empty() {
            let delta = text.to_owned();
            out.push(SessionEvent::SegmentDelta { message: message.clone(), segment, kind, delta });
        }
        out.push(SessionEvent::SegmentClosed { message, segment, kind, provider });
    }

    fn tool(
        &mut self,
        tool: &ToolPart,
        out: &mut Vec<SessionEvent>,
        between: &mut Between<'_>,
    ) -> Result<(), Wrong> {
        let message = self.id.clone();
        let (id, name) = (tool.call.clone(), tool.tool.clone());
        let Some(input) = tool.state.input().cloned() else {
            // The model broke off before the call had an input.
            let ToolState::OutputError { error_text, approval: None, .. } = &tool.state else {
                return Err(format!("the call {id} has no input"));
            };
            let (call, written) = (id.clone(), None);
            out.push(SessionEvent::ToolInputStarted { message, call, tool: name, written });
            self.settle(&id, ToolOutcome::Failed { message: error_text.clone() }, out);
            return Ok(());
        };
        let call = ToolCall { id: id.clone(), name, input };
        let provider = tool.provider.clone();
        out.push(SessionEvent::ToolRequested { message, call: call.clone(), provider });
        if let Some(approval) = tool.state.approval() {
            self.asked(&approval, &call, tool.state.is_settled(), out)?;
        }
        between(&id, out)?;
        let outcome = match &tool.state {
            ToolState::OutputAvailable { output, preliminary: false, .. } => {
                ToolOutcome::Done { output: output.clone() }
            }
            ToolState::OutputError { error_text, .. } => ToolOutcome::Failed { message: error_text.clone() },
            ToolState::OutputDenied { approval, .. } => {
                ToolOutcome::Denied { reason: approval.as_ref().and_then(|approval| approval.reason.clone()) }
            }
            ToolState::InputAvailable { .. } | ToolState::ApprovalRequested { .. } => return Ok(()),
            // A file must not be able to approve a call.
            ToolState::ApprovalResponded { .. } => {
                return Err(format!("the call {id} was allowed or denied but has no result"));
            }
            ToolState::InputStreaming { .. } | ToolState::OutputAvailable { .. } => {
                return Err(format!("the call {id} is not at rest"));
            }
        };
        self.settle(&id, outcome, out);
        Ok(())
    }

    fn asked(
        &self,
        approval: &Approval,
        call: &ToolCall,
        settled: bool,
        out: &mut Vec<SessionEvent>,
    ) -> Result<(), Wrong> {
        let message = self.id.clone();
        let raised = self.facts.raised_calls.contains_key(&call.id);
        out.push(SessionEvent::ApprovalAsked {
            message: message.clone(),
            approval: approval.id.clone(),
            call: call.clone(),
            question: None,
            kind: InteractionKind::Approval,
            raised,
        });
        match approval.approved {
            Some(approved) => out.push(SessionEvent::ApprovalAnswered {
                message,
                approval: approval.id.clone(),
                approved,
                reason: approval.reason.clone(),
                withdrawn: self.withdrawn.contains(&approval.id),
                kind: InteractionKind::Approval,
                answers: None,
                by: None,
                raised,
            }),
            None if settled => {
                return Err(format!("the call {} has a result, but its question no answer", call.id));
            }
            None => {}
        }
        Ok(())
    }

    fn settle(&self, call: &ToolCallId, outcome: ToolOutcome, out: &mut Vec<SessionEvent>) {
        out.push(SessionEvent::ToolSettled { message: self.id.clone(), call: call.clone(), outcome });
    }
}

/// The event that pushed a data part. A report of background agents does not say which agents it is about, so it keeps
/// its older form.
fn data_event(message: MessageId, name: &str, id: Option<&str>, data: &Value) -> SessionEvent {
    let pushed = SessionEvent::DataPushed {
        message: message.clone(),
        name: name.to_owned(),
        id: id.map(str::to_owned),
        data: data.clone(),
        transient: false,
    };
    let Some(id) = id.map(str::to_owned) else { return pushed };
    let typed = if let Some(compaction) = pushed.compaction() {
        SessionEvent::CompactionChanged { message, id, compaction: Box::new(compaction.into_owned()) }
    } else if let Some(text) = pushed.steering() {
        SessionEvent::AgentSteered { message, id, text: text.to_owned() }
    } else {
        return pushed;
    };
    // Compared as text, byte for byte: otherwise it is not what the engine wrote.
    let (ours, theirs) = (typed.data_part().map(|part| part.data.to_string()), data.to_string());
    if ours == Some(theirs) { typed } else { pushed }
}

fn whole(state: Option<TextState>) -> Result<(), Wrong> {
    if state == Some(TextState::Done) {
        Ok(())
    } else {
        Err("a text must have the state \"done\"".to_owned())
    }
}

fn source_number(id: &str) -> Result<u32, Wrong> {
    id.strip_prefix("source-")
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| format!("the source {id:?}"))
}
