//! Log → chat chunks. Last step of a chat request; no I/O, no decisions, no `_ =>` arm.

use std::borrow::Cow;

use serde_json::Value;

use crate::{
    event::{DataPart, FinishReason, FrameEnd, SegmentKind, Seq, SessionEvent, ToolOutcome},
    id::ToolCallId,
    interaction::InteractionKind,
    provider::{ProviderMetadata, Source},
    wire::chat::{Chunk, DataChunk, DataKind, Facts, Profile},
};

/// The chunk that the chat stream shows for an event, if any.
pub fn chunk_of(event: &SessionEvent) -> Option<Chunk<'_>> {
    match event {
        SessionEvent::HistoryPlanted { .. }
        | SessionEvent::MessageAccepted { .. }
        | SessionEvent::SessionCreated
        | SessionEvent::TitleSet { .. }
        | SessionEvent::PinSet { .. }
        | SessionEvent::BranchChosen { .. }
        | SessionEvent::AgentChosen { .. }
        | SessionEvent::Announced { .. }
        | SessionEvent::PrefaceWritten { .. }
        | SessionEvent::MessageQueued { .. }
        | SessionEvent::QueueLeft { .. }
        | SessionEvent::ArtifactKept { .. }
        | SessionEvent::RunStarted { .. }
        | SessionEvent::RunEnded { .. }
        | SessionEvent::GrantGiven { .. }
        | SessionEvent::RuleAdded { .. }
        | SessionEvent::RuleRevoked { .. }
        | SessionEvent::FileRead { .. }
        | SessionEvent::FilesChanging { .. }
        | SessionEvent::FilesChanged { .. }
        | SessionEvent::ModelCalled { .. } => None,
        SessionEvent::FrameOpened { message, .. } | SessionEvent::RunResumed { message, .. } => {
            Some(Chunk::Start { message_id: text(message.as_str()), message_metadata: new_facts(event) })
        }
        SessionEvent::RunParked { .. } => Some(finish(FinishReason::ToolCalls, event)),
        SessionEvent::FrameClosed { end, .. } => Some(end_chunk(end, event)),
        SessionEvent::StepStarted { .. } => Some(Chunk::StartStep),
        SessionEvent::StepFinished { .. } => Some(Chunk::FinishStep),
        // No chunk changes the input of a call in an earlier step; metadata reaches every client.
        SessionEvent::MetadataAdded { .. }
        | SessionEvent::DelegationStarted { .. }
        | SessionEvent::AgentStuck { .. }
        | SessionEvent::InputEdited { .. } => {
            event.facts().map(|message_metadata| Chunk::MessageMetadata { message_metadata })
        }
        SessionEvent::SegmentOpened { segment, kind, .. } => Some(segment_start(*segment, *kind)),
        SessionEvent::SegmentDelta { segment, kind, delta, .. } => {
            Some(segment_delta(*segment, *kind, delta))
        }
        SessionEvent::SegmentClosed { segment, kind, provider, .. } => {
            Some(segment_end(*segment, *kind, provider.as_ref()))
        }
        SessionEvent::SourceCited { number, source, .. } => Some(source_chunk(*number, source)),
        SessionEvent::ToolInputStarted { call, tool, .. } => {
            Some(Chunk::ToolInputStart { tool_call_id: text(call.as_str()), tool_name: text(tool) })
        }
        SessionEvent::ToolInputDelta { call, delta, .. } => {
            Some(Chunk::ToolInputDelta { tool_call_id: text(call.as_str()), input_text_delta: text(delta) })
        }
        SessionEvent::ToolRequested { call, provider, .. } => Some(Chunk::ToolInputAvailable {
            tool_call_id: text(call.id.as_str()),
            tool_name: text(&call.name),
            input: Cow::Borrowed(&call.input),
            provider_metadata: provider.as_ref().map(Cow::Borrowed),
        }),
        SessionEvent::ToolRejected { call, tool, input, error, .. } => Some(Chunk::ToolInputError {
            tool_call_id: text(call.as_str()),
            tool_name: text(tool),
            input: Cow::Borrowed(input),
            error_text: text(error),
        }),
        SessionEvent::ToolProgress { call, output, .. } => Some(output_chunk(call, output, true)),
        SessionEvent::ToolSettled { call, outcome, .. } => Some(outcome_chunk(call, outcome)),
        SessionEvent::DataPushed { .. }
        | SessionEvent::AgentSteered { .. }
        | SessionEvent::BackgroundReported { .. }
        | SessionEvent::CompactionChanged { .. } => event.data_part().map(data_chunk),
        // The part of the call is left without an output, for the client to fill in.
        SessionEvent::ApprovalAsked { kind: InteractionKind::Input, .. }
        | SessionEvent::ApprovalAnswered { kind: InteractionKind::Input, .. } => None,
        SessionEvent::ApprovalAsked { approval, call, .. } => Some(Chunk::ToolApprovalRequest {
            approval_id: text(approval.as_str()),
            tool_call_id: text(call.id.as_str()),
        }),
        SessionEvent::ApprovalAnswered { approval, approved, reason, .. } => {
            Some(Chunk::ToolApprovalResponse {
                approval_id: text(approval.as_str()),
                approved: *approved,
                reason: reason.as_deref().map(text),
            })
        }
    }
}

/// The facts of an event; none when it adds none.
fn new_facts(event: &SessionEvent) -> Option<Facts<'_>> {
    event.facts().filter(|facts| !facts.is_empty())
}

fn finish(finish_reason: FinishReason, event: &SessionEvent) -> Chunk<'_> {
    Chunk::Finish { finish_reason, message_metadata: new_facts(event) }
}

fn end_chunk<'a>(end: &'a FrameEnd, event: &'a SessionEvent) -> Chunk<'a> {
    match end {
        FrameEnd::Finished { reason } => finish(*reason, event),
        FrameEnd::Cancelled => Chunk::Abort,
        FrameEnd::Failed { message } => Chunk::Error { error_text: text(message) },
    }
}

fn segment_start(segment: u32, kind: SegmentKind) -> Chunk<'static> {
    let id = segment_id(segment);
    match kind {
        SegmentKind::Text => Chunk::TextStart { id },
        SegmentKind::Reasoning => Chunk::ReasoningStart { id },
    }
}

fn segment_delta(segment: u32, kind: SegmentKind, delta: &str) -> Chunk<'_> {
    let (id, delta) = (segment_id(segment), text(delta));
    match kind {
        SegmentKind::Text => Chunk::TextDelta { id, delta },
        SegmentKind::Reasoning => Chunk::ReasoningDelta { id, delta },
    }
}

fn segment_end(segment: u32, kind: SegmentKind, provider: Option<&ProviderMetadata>) -> Chunk<'_> {
    let id = segment_id(segment);
    match kind {
        SegmentKind::Text => Chunk::TextEnd { id },
        SegmentKind::Reasoning => Chunk::ReasoningEnd { id, provider_metadata: provider.map(Cow::Borrowed) },
    }
}

fn outcome_chunk<'a>(call: &'a ToolCallId, outcome: &'a ToolOutcome) -> Chunk<'a> {
    match outcome {
        ToolOutcome::Done { output } => output_chunk(call, output, false),
        ToolOutcome::Failed { message } => {
            Chunk::ToolOutputError { tool_call_id: text(call.as_str()), error_text: text(message) }
        }
        ToolOutcome::Denied { .. } => Chunk::ToolOutputDenied { tool_call_id: text(call.as_str()) },
    }
}

fn output_chunk<'a>(call: &'a ToolCallId, output: &'a Value, preliminary: bool) -> Chunk<'a> {
    Chunk::ToolOutputAvailable {
        tool_call_id: text(call.as_str()),
        output: Cow::Borrowed(output),
        preliminary,
    }
}

fn data_chunk(part: DataPart<'_>) -> Chunk<'_> {
    let DataPart { name, id, data, transient } = part;
    Chunk::Data(DataChunk { kind: DataKind(text(name)), id: id.map(text), data, transient })
}

impl Profile {
    /// Whether clients of these releases know the chunk of this event.
    pub fn shows(self, event: &SessionEvent) -> bool {
        self == Self::V7 || !matches!(event, SessionEvent::ApprovalAnswered { .. })
    }
}

/// Which part of a message a reader receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// From the first chunk of the message, without the pauses in between.
    WholeMessage,
    /// From the moment the run was resumed: the client has the parts before.
    Continuation,
}

/// The position of a reader, from which follows which events it receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    pub view: View,
    /// The number of the last [`SessionEvent::RunResumed`] by a person when the reader subscribed, 0 if none. A reader
    /// does not notice that a run was resumed after a crash.
    pub last_resume: Seq,
    /// The end of the log when the reader subscribed: older events are replay.
    pub edge: Seq,
}

impl Reading {
    /// Whether the reader receives this event.
    pub fn tells(&self, seq: Seq, event: &SessionEvent) -> bool {
        match event {
            SessionEvent::RunResumed { .. } => self.view == View::Continuation && seq == self.last_resume,
            // A pause or an end that a person resumed is not an end.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        event::ReportNote,
        id::{MessageId, SessionId},
    };

    fn wire(event: &SessionEvent) -> Option<String> {
        chunk_of(event).map(|chunk| serde_json::to_string(&chunk).unwrap())
    }

    fn message() -> MessageId {
        MessageId::new("m")
    }

    #[test]
    fn typed_events_have_the_chunks_that_clients_know() {
        let started = SessionEvent::DelegationStarted { message: message() };
        let metadata = r#"{"type":"message-metadata","messageMetadata":{"status":"running"}}"#;
        assert_eq!(wire(&started).unwrap(), metadata);
        let stuck = SessionEvent::AgentStuck { message: message(), tool: "t".to_owned(), times: 3 };
        let metadata = r#"{"type":"message-metadata","messageMetadata":{"stopped":{"reason":"repeated_failure","tool":"t","times":3}}}"#;
        assert_eq!(wire(&stuck).unwrap(), metadata);
        let (id, text) = ("1".to_owned(), "left".to_owned());
        let steered = SessionEvent::AgentSteered { message: message(), id: id.clone(), text: text.clone() };
        let data = r#"{"type":"data-steering","id":"1","data":{"text":"left"}}"#;
        assert_eq!(wire(&steered).unwrap(), data);
        let agents = vec![SessionId::new("sub_1")];
        let note = Some(ReportNote { id, text });
        let told = SessionEvent::BackgroundReported { message: message(), agents: agents.clone(), note };
        let data = r#"{"type":"data-steering","id":"1","data":{"text":"left","from":"background"}}"#;
        assert_eq!(wire(&told).unwrap(), data);
        let silent = SessionEvent::BackgroundReported { message: message(), agents, note: None };
        assert_eq!(wire(&silent), None, "the results are the output of a call");
    }

    #[test]
    fn an_event_without_facts_has_no_metadata() {
        let opened = SessionEvent::FrameOpened { message: message(), metadata: Box::default(), parent: None };
        assert_eq!(wire(&opened).unwrap(), r#"{"type":"start","messageId":"m"}"#);
        let input = json!({ "a": 1 });
        let (approval, call) = (crate::id::ApprovalId::new("p"), ToolCallId::new("c"));
        let edited = SessionEvent::InputEdited { message: message(), approval, call, input, raised: false };
        let metadata =
            r#"{"type":"message-metadata","messageMetadata":{"editedCalls":{"c":{"input":{"a":1}}}}}"#;
        assert_eq!(wire(&edited).unwrap(), metadata);
    }
}
