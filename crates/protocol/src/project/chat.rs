//! Log → chat chunks. Last step of a chat request; no I/O, no decisions, no `_ =>` arm.

use std::borrow::Cow;

use crate::{
    event::{FinishReason, FrameEnd, SegmentKind, Seq, SessionEvent, ToolOutcome},
    provider::Source,
    wire::chat::{Chunk, DataChunk, DataKind, Facts},
};

/// What the chat surface says for one event.
pub fn chunk_of(event: &SessionEvent) -> Option<Chunk<'_>> {
    Some(match event {
        SessionEvent::HistoryPlanted { .. }
        | SessionEvent::MessageAccepted { .. }
        | SessionEvent::PrefaceWritten { .. }
        | SessionEvent::MessageQueued { .. }
        | SessionEvent::QueueLeft { .. }
        | SessionEvent::ArtifactKept { .. }
        | SessionEvent::RunStarted { .. }
        | SessionEvent::RunEnded { .. }
        | SessionEvent::GrantGiven { .. }
        | SessionEvent::ModelCalled { .. } => return None,
        SessionEvent::FrameOpened { message, .. } => {
            Chunk::Start { message_id: text(message.as_str()), message_metadata: new_facts(event) }
        }
        SessionEvent::RunResumed { message, .. } => {
            Chunk::Start { message_id: text(message.as_str()), message_metadata: None }
        }
        SessionEvent::RunParked { .. } => {
            Chunk::Finish { finish_reason: FinishReason::ToolCalls, message_metadata: None }
        }
        SessionEvent::FrameClosed { end, .. } => match end {
            FrameEnd::Finished { reason } => {
                Chunk::Finish { finish_reason: *reason, message_metadata: new_facts(event) }
            }
            FrameEnd::Cancelled => Chunk::Abort,
            FrameEnd::Failed { message } => Chunk::Error { error_text: text(message) },
        },
        SessionEvent::StepStarted { .. } => Chunk::StartStep,
        SessionEvent::StepFinished { .. } => Chunk::FinishStep,
        SessionEvent::SegmentOpened { segment, kind, .. } => match kind {
            SegmentKind::Text => Chunk::TextStart { id: segment_id(*segment) },
            SegmentKind::Reasoning => Chunk::ReasoningStart { id: segment_id(*segment) },
        },
        SessionEvent::SegmentDelta { segment, kind, delta, .. } => match kind {
            SegmentKind::Text => Chunk::TextDelta { id: segment_id(*segment), delta: text(delta) },
            SegmentKind::Reasoning => Chunk::ReasoningDelta { id: segment_id(*segment), delta: text(delta) },
        },
        SessionEvent::SegmentClosed { segment, kind, provider, .. } => match kind {
            SegmentKind::Text => Chunk::TextEnd { id: segment_id(*segment) },
            SegmentKind::Reasoning => Chunk::ReasoningEnd {
                id: segment_id(*segment),
                provider_metadata: provider.as_ref().map(Cow::Borrowed),
            },
        },
        SessionEvent::SourceCited { number, source, .. } => source_chunk(*number, source),
        SessionEvent::ToolInputStarted { call, tool, .. } => {
            Chunk::ToolInputStart { tool_call_id: text(call.as_str()), tool_name: text(tool) }
        }
        SessionEvent::ToolInputDelta { call, delta, .. } => {
            Chunk::ToolInputDelta { tool_call_id: text(call.as_str()), input_text_delta: text(delta) }
        }
        SessionEvent::ToolRequested { call, provider, .. } => Chunk::ToolInputAvailable {
            tool_call_id: text(call.id.as_str()),
            tool_name: text(&call.name),
            input: Cow::Borrowed(&call.input),
            provider_metadata: provider.as_ref().map(Cow::Borrowed),
        },
        SessionEvent::ToolRejected { call, tool, input, error, .. } => Chunk::ToolInputError {
            tool_call_id: text(call.as_str()),
            tool_name: text(tool),
            input: Cow::Borrowed(input),
            error_text: text(error),
        },
        SessionEvent::ToolProgress { call, output, .. } => Chunk::ToolOutputAvailable {
            tool_call_id: text(call.as_str()),
            output: Cow::Borrowed(output),
            preliminary: true,
        },
        SessionEvent::ToolSettled { call, outcome, .. } => match outcome {
            ToolOutcome::Done { output } => Chunk::ToolOutputAvailable {
                tool_call_id: text(call.as_str()),
                output: Cow::Borrowed(output),
                preliminary: false,
            },
            ToolOutcome::Failed { message } => {
                Chunk::ToolOutputError { tool_call_id: text(call.as_str()), error_text: text(message) }
            }
            ToolOutcome::Denied { .. } => Chunk::ToolOutputDenied { tool_call_id: text(call.as_str()) },
        },
        SessionEvent::DataPushed { name, id, data, transient, .. } => Chunk::Data(DataChunk {
            kind: DataKind(text(name)),
            id: id.as_deref().map(text),
            data: Cow::Borrowed(data),
            transient: *transient,
        }),
        SessionEvent::ApprovalAsked { approval, call, .. } => Chunk::ToolApprovalRequest {
            approval_id: text(approval.as_str()),
            tool_call_id: text(call.id.as_str()),
        },
        SessionEvent::ApprovalAnswered { approval, approved, reason, .. } => Chunk::ToolApprovalResponse {
            approval_id: text(approval.as_str()),
            approved: *approved,
            reason: reason.as_deref().map(text),
        },
        // No chunk changes the input of a call in an earlier step; metadata reaches every client.
        SessionEvent::MetadataAdded { .. } | SessionEvent::InputEdited { .. } => {
            Chunk::MessageMetadata { message_metadata: event.facts()? }
        }
    })
}

/// Where a reader stands in the message it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// From the first chunk of the message: the pauses in between are not told again.
    WholeMessage,
    /// From the moment the run went on: the client has the parts before.
    Continuation,
}

/// What a reader needs to know to be told each thing once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    pub view: View,
    /// Where a person last let the run go on: the number of that [`SessionEvent::RunResumed`] when the reader came,
    /// 0 if none. Going on after a crash is nothing a reader is told about.
    pub last_resume: Seq,
    /// The end of the log when the reader came: what is older is replay.
    pub edge: Seq,
}

impl Reading {
    /// Whether the reader is told this event.
    pub fn tells(&self, seq: Seq, event: &SessionEvent) -> bool {
        match event {
            SessionEvent::RunResumed { .. } => self.view == View::Continuation && seq == self.last_resume,
            // A pause or an end that was followed by more is not an end.
            SessionEvent::RunParked { .. } | SessionEvent::FrameClosed { .. } => seq > self.last_resume,
            SessionEvent::DataPushed { transient: true, .. } => seq > self.edge,
            _ => true,
        }
    }
}

/// Whether the stream is over after this event.
pub fn ends_stream(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::RunParked { .. } | SessionEvent::FrameClosed { .. })
}

/// The wire id of a segment: unique in its message, never reused.
pub fn segment_id(segment: u32) -> Cow<'static, str> {
    const FIRST: [&str; 8] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"];
    match FIRST.get(segment as usize) {
        Some(id) => Cow::Borrowed(id),
        None => Cow::Owned(format!("s{segment}")),
    }
}

/// The wire id of a source: unique in its message.
fn source_chunk(number: u32, source: &Source) -> Chunk<'_> {
    let source_id = Cow::Owned(format!("source-{number}"));
    match source {
        Source::Url { url, title } => {
            Chunk::SourceUrl { source_id, url: text(url), title: title.as_deref().map(text) }
        }
        Source::Document { media_type, title, filename } => Chunk::SourceDocument {
            source_id,
            media_type: text(media_type),
            title: text(title),
            filename: filename.as_deref().map(text),
        },
    }
}

fn text(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

/// The facts of an event that has a chunk of its own; none are left out.
fn new_facts(event: &SessionEvent) -> Option<Facts<'_>> {
    event.facts().filter(|facts| !facts.is_empty())
}
