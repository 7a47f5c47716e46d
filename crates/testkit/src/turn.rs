//! One streamed answer as the client sees it: read chunk by chunk, folded to a message, and answered when it asks for an
//! approval.

use axum::response::Response;
use protocol::{
    Chunk, MessageFold, MessageId, Part, ToolState, UiMessage,
    message::{Approval, ToolPart},
};
use serde_json::{Value, json};

use crate::{
    Chat, chunk_lines,
    chunk_order::ChunkOrder,
    chunk_schema,
    sse_events::{SseEvent, SseEvents},
};

pub struct Turn {
    chat: Chat,
    events: SseEvents,
    order: ChunkOrder,
    /// A resumed stream sends the message from its beginning.
    resumed: bool,
    fold: Option<MessageFold>,
    /// The id of the user message this turn began with.
    pub user: Option<MessageId>,
    pub status: u16,
    pub headers: axum::http::HeaderMap,
    /// Everything read so far, over all responses.
    pub chunks: Vec<Chunk<'static>>,
    /// The sequence numbers of the chunks of the current response.
    pub seqs: Vec<u64>,
    pub comments: Vec<String>,
    starts_of_responses: Vec<usize>,
    is_over: bool,
}

impl Turn {
    #[track_caller]
    pub(crate) fn of(chat: Chat, response: Response, user: Option<&MessageId>, resumed: bool) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        assert_eq!(status, 200, "not a stream: {headers:?}");
        Self {
            chat,
            events: SseEvents::of(response),
            order: ChunkOrder::default(),
            resumed,
            fold: None,
            user: user.cloned(),
            status,
            headers,
            chunks: Vec::new(),
            seqs: Vec::new(),
            comments: Vec::new(),
            starts_of_responses: vec![0],
            is_over: false,
        }
    }

    /// Returns the next chunk; `None` after a proper end of the stream. Any other end fails the test.
    pub async fn next_chunk(&mut self) -> Option<Chunk<'static>> {
        while !self.is_over {
            match self.events.next().await {
                Some(SseEvent::Comment(comment)) => self.comments.push(comment),
                Some(SseEvent::Chunk { seq, json }) => return Some(self.take(seq, json)),
                Some(SseEvent::Done) => {
                    assert!(self.order.is_complete(), "[DONE] without an end:\n{}", self.lines_so_far());
                    assert_eq!(self.events.next().await, None, "[DONE] is the last event");
                    self.is_over = true;
                }
                None => panic!("the body ends without [DONE]:\n{}", self.lines_so_far()),
            }
        }
        None
    }

    fn take(&mut self, seq: Option<u64>, json: Value) -> Chunk<'static> {
        assert_eq!(chunk_schema::violation(&json), None, "{json}");
        if let Some(seq) = seq {
            assert!(
                self.seqs.last().is_none_or(|last| *last < seq),
                "numbers go up: {seq} after {:?}",
                self.seqs
            );
            self.seqs.push(seq);
        }
        let chunk: Chunk<'static> = serde_json::from_value(json).unwrap();
        if let Chunk::Start { message_id, .. } = &chunk {
            self.start(message_id);
        }
        if let Err(wrong) = self.order.accept(&chunk) {
            panic!("{wrong}, in:\n{}\n{}", self.lines_so_far(), chunk_lines::chunk_line(&chunk));
        }
        if let Some(fold) = &mut self.fold {
            fold.apply(&chunk).unwrap();
            self.chat.put(fold.message().clone());
        }
        self.chunks.push(chunk.clone());
        chunk
    }

    fn start(&mut self, id: &str) {
        let shown = self.chat.message(id).filter(|_| !self.resumed);
        let calls = shown.iter().flat_map(UiMessage::tool_parts);
        let calls: Vec<_> = calls.map(|tool| (tool.call.to_string(), tool.state.is_settled())).collect();
        self.order = ChunkOrder::continuing(calls);
        let asked =
            shown.iter().flat_map(UiMessage::tool_parts).filter(|tool| tool.tool == "request-user-input");
        for tool in asked.filter(|tool| tool.state.is_settled()) {
            self.order.filled_in(tool.call.to_string());
        }
        self.fold = Some(match shown {
            Some(shown) => MessageFold::continuing(shown),
            None => MessageFold::new(MessageId::new(id)),
        });
    }

    /// Reads until this chunk was received.
    pub async fn until(&mut self, is_it: impl Fn(&Chunk<'static>) -> bool) -> Chunk<'static> {
        loop {
            match self.next_chunk().await {
                Some(chunk) if is_it(&chunk) => return chunk,
                Some(_) => {}
                None => panic!("the stream ended before that chunk:\n{}", self.lines_so_far()),
            }
        }
    }

    /// Reads until the text of this turn ends with `end`.
    pub async fn until_text(&mut self, end: &str) {
        while !self.shown().text().ends_with(end) {
            assert!(
                self.next_chunk().await.is_some(),
                "the stream ended before that text:\n{}",
                self.lines_so_far()
            );
        }
    }

    /// The message as read so far.
    pub fn shown(&self) -> UiMessage {
        let empty = || MessageFold::new(MessageId::new("nothing yet"));
        self.fold.clone().unwrap_or_else(empty).into_message()
    }

    /// The message at the end of the stream.
    pub async fn message(&mut self) -> UiMessage {
        self.end().await;
        self.shown()
    }

    /// All text of the message at the end of the stream.
    pub async fn text(&mut self) -> String {
        self.message().await.text()
    }

    /// Reads to the end; returns the last chunk.
    pub async fn end(&mut self) -> Chunk<'static> {
        while self.next_chunk().await.is_some() {}
        self.chunks.last().unwrap().clone()
    }

    /// The whole transcript, one line for each chunk; `---` where the client posted again.
    pub async fn chunk_lines(&mut self) -> String {
        self.end().await;
        self.lines_so_far()
    }

    fn lines_so_far(&self) -> String {
        let mut out = Vec::new();
        for (place, chunk) in self.chunks.iter().enumerate() {
            if place > 0 && self.starts_of_responses.contains(&place) {
                out.push("---".to_owned());
            }
            out.push(chunk_lines::chunk_line(chunk));
        }
        out.join("\n")
    }

    /// Reads until the next approval request.
    pub async fn next_approval(&mut self) -> Question<'_> {
        let asked = self.until(|chunk| matches!(chunk, Chunk::ToolApprovalRequest { .. })).await;
        let Chunk::ToolApprovalRequest { approval_id, tool_call_id } = asked else { unreachable!() };
        Question { turn: self, approval: approval_id.into_owned(), call: tool_call_id.into_owned() }
    }

    /// Reads to the end; returns the ids of all pending approvals.
    pub async fn approvals(&mut self) -> Vec<String> {
        let message = self.message().await;
        let waiting = message.tool_parts().filter_map(|tool| match &tool.state {
            ToolState::ApprovalRequested { approval, .. } => Some(approval.to_string()),
            _ => None,
        });
        waiting.collect()
    }

    /// Marks an approval as answered in the tab and, when it was the last one, posts the message.
    pub async fn respond(&mut self, approval: &str, approved: bool, reason: Option<&str>) {
        self.end().await;
        self.change_tool(|tool| {
            let ToolState::ApprovalRequested { input, approval: asked } = &tool.state else { return false };
            if asked.as_str() != approval {
                return false;
            }
            let approval =
                Approval { id: asked.clone(), approved: Some(approved), reason: reason.map(str::to_owned) };
            tool.state = ToolState::ApprovalResponded { input: input.clone(), approval };
            true
        });
        self.post_when_complete().await;
    }

    /// Adds the output of a tool that the front end ran; posts when nothing else of the step is pending.
    pub async fn add_output(&mut self, call: &str, output: Value) {
        self.end().await;
        self.change_tool(|tool| {
            if tool.call.as_str() != call {
                return false;
            }
            let input = tool.state.input().cloned().unwrap_or_default();
            tool.state = ToolState::OutputAvailable {
                input,
                output: output.clone(),
                preliminary: false,
                approval: None,
            };
            true
        });
        self.post_when_complete().await;
    }

    #[track_caller]
    fn change_tool(&mut self, mut change: impl FnMut(&mut ToolPart) -> bool) {
        let mut message = self.shown();
        let tools = message.parts.iter_mut().filter_map(|part| match part {
            Part::Tool(tool) => Some(tool),
            _ => None,
        });
        assert_eq!(tools.filter_map(|tool| change(tool).then_some(())).count(), 1, "one part to change");
        self.chat.put(message.clone());
        self.fold = Some(MessageFold::continuing(message));
    }

    async fn post_when_complete(&mut self) {
        let message = self.shown();
        let step = message.parts.iter().rposition(|part| matches!(part, Part::StepStart)).unwrap_or(0);
        let waits = message.parts[step..].iter().any(|part| match part {
            Part::Tool(tool) => {
                !tool.state.is_settled() && !matches!(tool.state, ToolState::ApprovalResponded { .. })
            }
            _ => false,
        });
        if !waits {
            let body = self.answers_body();
            let response = self.chat.open(&body).await;
            self.follow(response);
        }
    }

    /// The body with which the stock client posts this message.
    pub fn answers_body(&self) -> Value {
        let own = json!({ "trigger": "submit-message", "messageId": self.shown().id });
        self.chat.body(own, json!({}))
    }

    /// Continues with another response to the same turn.
    #[track_caller]
    pub fn follow(&mut self, response: Response) {
        let (chat, user) = (self.chat.clone(), self.user.take());
        let next = Self::of(chat, response, user.as_ref(), false);
        let chunks = std::mem::take(&mut self.chunks);
        let mut starts = std::mem::take(&mut self.starts_of_responses);
        starts.push(chunks.len());
        let fold = self.fold.take();
        *self = Self { chunks, starts_of_responses: starts, fold, ..next };
    }
}

/// A pending approval of the run.
pub struct Question<'a> {
    turn: &'a mut Turn,
    pub approval: String,
    pub call: String,
}

impl Question<'_> {
    pub async fn approve(self) {
        self.turn.respond(&self.approval, true, None).await;
    }

    pub async fn deny(self, reason: &str) {
        self.turn.respond(&self.approval, false, Some(reason)).await;
    }
}
