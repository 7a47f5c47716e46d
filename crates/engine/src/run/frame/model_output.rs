//! Writes what a model streams: text, reasoning, sources and calls.

use protocol::{
    FoldError, IdSource, ProviderMetadata, SegmentKind, SessionEvent, Source, ToolCall, ToolCallId,
    json::disarm,
};
use serde_json::Value;

use super::Frame;

impl Frame {
    /// Text or reasoning; an empty delta opens nothing.
    pub(crate) fn say(&mut self, kind: SegmentKind, delta: String) -> Result<(), FoldError> {
        if delta.is_empty() {
            return Ok(());
        }
        let segment = self.segment(kind)?;
        let message = self.id();
        self.put(SessionEvent::SegmentDelta { message, segment, kind, delta })
    }

    /// The reasoning is over, and the provider wants this back with it. Reasoning that was kept secret is empty.
    pub(crate) fn end_reasoning(&mut self, provider: ProviderMetadata) -> Result<(), FoldError> {
        let kind = SegmentKind::Reasoning;
        let segment = self.segment(kind)?;
        let message = self.id();
        self.put(SessionEvent::SegmentClosed { message, segment, kind, provider: Some(provider) })
    }

    /// Something the answer leans on; told once, however often the provider names it.
    pub(crate) fn cite(&mut self, source: Source) -> Result<(), FoldError> {
        if self.sources.contains(&source) {
            return Ok(());
        }
        self.start_step()?;
        let (message, number) = (self.id(), u32::try_from(self.sources.len()).unwrap_or(u32::MAX));
        self.put(SessionEvent::SourceCited { message, number, source })
    }

    /// A call begins; gives the id it is known by from here on. `written` is the name as the model wrote it.
    pub(crate) fn start_call(
        &mut self,
        id: Option<&str>,
        tool: &str,
        written: &str,
        ids: &dyn IdSource,
    ) -> Result<ToolCallId, FoldError> {
        self.close_segment()?;
        self.start_step()?;
        let call = id
            .and_then(|id| ToolCallId::from_outside(id).ok())
            .filter(|call| !self.calls.contains(call))
            .unwrap_or_else(|| ids.tool_call());
        let message = self.id();
        let written = (written != tool).then(|| written.to_owned());
        let tool = tool.to_owned();
        self.put(SessionEvent::ToolInputStarted { message, call: call.clone(), tool, written })?;
        Ok(call)
    }

    pub(crate) fn call_input(&mut self, call: &ToolCallId, delta: String) -> Result<(), FoldError> {
        if delta.is_empty() {
            return Ok(());
        }
        let message = self.id();
        self.put(SessionEvent::ToolInputDelta { message, call: call.clone(), delta })
    }

    pub(crate) fn request(
        &mut self,
        mut call: ToolCall,
        provider: Option<ProviderMetadata>,
    ) -> Result<(), FoldError> {
        self.close_segment()?;
        self.start_step()?;
        let message = self.id();
        disarm(&mut call.input);
        self.put(SessionEvent::ToolRequested { message, call, provider })
    }

    pub(crate) fn reject(
        &mut self,
        call: &ToolCallId,
        tool: &str,
        input: Value,
        error: String,
    ) -> Result<(), FoldError> {
        self.put_rejected(call, tool, input, error, false)
    }

    pub(super) fn put_rejected(
        &mut self,
        call: &ToolCallId,
        tool: &str,
        mut input: Value,
        error: String,
        cut_off: bool,
    ) -> Result<(), FoldError> {
        self.close_segment()?;
        self.start_step()?;
        disarm(&mut input);
        let (message, call, tool) = (self.id(), call.clone(), tool.to_owned());
        self.put(SessionEvent::ToolRejected { message, call, tool, input, error, cut_off })
    }

    /// The open segment of this kind, or a new one.
    pub(super) fn segment(&mut self, kind: SegmentKind) -> Result<u32, FoldError> {
        if let Some((segment, open)) = self.open
            && open == kind
        {
            return Ok(segment);
        }
        self.close_segment()?;
        self.start_step()?;
        let segment = self.next_segment;
        let message = self.id();
        self.put(SessionEvent::SegmentOpened { message, segment, kind })?;
        Ok(segment)
    }

    pub(super) fn close_segment(&mut self) -> Result<(), FoldError> {
        match self.open {
            Some((segment, kind)) => {
                let message = self.id();
                self.put(SessionEvent::SegmentClosed { message, segment, kind, provider: None })
            }
            None => Ok(()),
        }
    }
}
