//! A person with a stock client and patience: on an error they reload the page and do the same again.

use axum::{body::Body, response::Response};
use serde_json::{Value, json};
use testkit::{
    Answer, Chat,
    protocol::{
        Chunk, ErrorCode, MessageFold, MessageId, Part, Role, ToolState, UiMessage, message::Approval,
    },
    sse::{SseEvent, SseEvents},
    strict, user,
};

use crate::{Tally, bounded};

/// How often the same thing is tried before it counts as out of order.
const TRIES: usize = 200;

pub struct Person {
    pub chat: Chat,
    pub tally: Tally,
    sent: usize,
}

/// What came of one request for a stream.
#[allow(clippy::large_enum_variant, reason = "one at a time, and soon gone")]
pub enum Heard {
    Refused(ErrorCode),
    /// 204: nothing to follow.
    Nothing,
    /// Everything up to `[DONE]`; the last chunk is how it ended.
    Stream {
        message: UiMessage,
        end: Chunk<'static>,
        seqs: Vec<u64>,
    },
}

impl Person {
    pub fn new(chat: Chat) -> Self {
        Self { chat, tally: Tally::default(), sent: 0 }
    }

    /// The last chunk is one that ends a stream, whatever happened before it.
    pub async fn hear(&mut self, response: Response, resumed: bool) -> Heard {
        let mut stream = match self.open(response).await {
            Ok(stream) => stream,
            Err(heard) => return heard,
        };
        let chat = self.chat.clone();
        let heard = bounded("a stream", async move {
            while stream.next(&chat, resumed).await {}
            stream
        })
        .await;
        self.conclude(heard)
    }

    /// A stream that has begun, or what came in its place.
    pub async fn open(&mut self, response: Response) -> Result<Stream, Heard> {
        match response.status().as_u16() {
            200 => Ok(Stream { events: SseEvents::of(response), fold: None, end: None, seqs: Vec::new() }),
            204 => {
                self.tally.succeeded += 1;
                Err(Heard::Nothing)
            }
            _ => {
                self.tally.refused += 1;
                let code = response.headers().get("x-error-code").expect("an error has a code");
                Err(Heard::Refused(code_of(code.to_str().unwrap())))
            }
        }
    }

    pub fn conclude(&mut self, stream: Stream) -> Heard {
        let end = stream.end.expect("a stream has chunks");
        match &end {
            Chunk::Error { .. } => self.tally.broken += 1,
            Chunk::Finish { .. } | Chunk::Abort => self.tally.succeeded += 1,
            other => panic!("a stream ends with {other:?}"),
        }
        let nothing = || MessageFold::new(MessageId::new("nothing"));
        let message = stream.fold.unwrap_or_else(nothing).into_message();
        Heard::Stream { message, end, seqs: stream.seqs }
    }

    /// Posts until an answer came to its end.
    async fn until_answered(&mut self, what: &str, mut body: impl FnMut(&Chat) -> Value) -> UiMessage {
        for _ in 0..TRIES {
            let request = body(&self.chat);
            let response = bounded(what, self.chat.open(&request)).await;
            match self.hear(response, false).await {
                Heard::Stream { message, end: Chunk::Finish { .. }, .. } => return message,
                Heard::Stream { .. } => self.reload().await,
                Heard::Nothing => panic!("{what}: no answer"),
                Heard::Refused(ErrorCode::SessionBusy) => self.follow().await,
                Heard::Refused(ErrorCode::StoreUnavailable) => self.reload().await,
                // The answer arrived before, and the run has ended in the meantime.
                Heard::Refused(ErrorCode::NothingToContinue) => {
                    self.reload().await;
                    return self.chat.messages().pop().unwrap();
                }
                Heard::Refused(code) => panic!("{what}: refused with {code:?}"),
            }
        }
        panic!("{what}: never answered");
    }

    pub async fn send(&mut self, text: &str) -> UiMessage {
        let id = self.next_id();
        self.send_as(&id, text).await
    }

    pub fn next_id(&mut self) -> String {
        self.sent += 1;
        format!("u{}", self.sent)
    }

    pub async fn send_as(&mut self, id: &str, text: &str) -> UiMessage {
        self.until_answered(&format!("sending {text:?}"), |chat| up_to(chat, id, text)).await
    }

    pub async fn regenerate(&mut self) -> UiMessage {
        self.until_answered("regenerating", |chat| {
            chat.set_messages(|messages| {
                messages.pop_if(|last| last.role == Role::Assistant);
            });
            chat.body(json!({ "trigger": "regenerate-message" }), json!({}))
        })
        .await
    }

    pub async fn edit(&mut self, id: &str, text: &str) -> UiMessage {
        self.until_answered("editing", |chat| {
            let mut body = up_to(chat, id, text);
            body["messageId"] = json!(id);
            body
        })
        .await
    }

    /// Answers the one thing that waits in this message and hands it back until the run went on to its end.
    pub async fn answer(&mut self, message: &UiMessage, approved: bool) -> UiMessage {
        let mut answered = message.clone();
        let waiting = answered.parts.iter_mut().find_map(|part| match part {
            Part::Tool(tool) if !tool.state.is_settled() => Some(tool),
            _ => None,
        });
        let tool = waiting.expect("something waits");
        tool.state = match tool.state.clone() {
            ToolState::ApprovalRequested { input, approval } => ToolState::ApprovalResponded {
                input,
                approval: Approval { id: approval, approved: Some(approved), reason: None },
            },
            ToolState::InputAvailable { input } => ToolState::OutputAvailable {
                input,
                output: json!("green"),
                preliminary: false,
                approval: None,
            },
            other => panic!("nothing to answer: {other:?}"),
        };
        self.until_answered("answering", |chat| {
            chat.set_messages(|messages| {
                messages.retain(|shown| shown.id != answered.id);
                messages.push(answered.clone());
            });
            chat.body(json!({ "trigger": "submit-message", "messageId": answered.id }), json!({}))
        })
        .await
    }

    /// Follows whatever is on to its end.
    pub async fn follow(&mut self) {
        let response = bounded("following", self.get(&self.chat.path("stream"), None)).await;
        self.hear(response, true).await;
        self.reload().await;
    }

    pub async fn get(&self, path: &str, after: Option<u64>) -> Response {
        let mut request = axum::http::Request::get(path);
        if let Some(after) = after {
            request = request.header("last-event-id", after.to_string());
        }
        self.chat.caller.open(request.body(Body::empty()).unwrap()).await
    }

    /// Loads the page anew. A chat that was never stored keeps what the tab shows.
    pub async fn reload(&mut self) {
        let path = format!("{}?limit=1000", self.chat.path("messages"));
        let answer = self.ask("GET", &path, None, &[ErrorCode::SessionNotFound]).await;
        if answer.status == 200 {
            let history: Vec<UiMessage> = serde_json::from_str(&answer.body).unwrap();
            self.chat.set_messages(|messages| *messages = history);
        }
    }

    /// Asks until it is answered; these codes are answers, too.
    pub async fn ask(&mut self, method: &str, path: &str, body: Option<Value>, fine: &[ErrorCode]) -> Answer {
        let what = format!("{method} {path}");
        let json = [("content-type", "application/json")];
        for _ in 0..TRIES {
            let text = body.as_ref().map(Value::to_string).unwrap_or_default();
            let answer = bounded(&what, self.chat.caller.request(method, path, &json, text)).await;
            if answer.status < 400 {
                self.tally.succeeded += 1;
                return answer;
            }
            let code = code_of(answer.header("x-error-code"));
            if fine.contains(&code) {
                return answer;
            }
            self.tally.refused += 1;
            match code {
                ErrorCode::StoreUnavailable => {}
                ErrorCode::SessionBusy => Box::pin(self.follow()).await,
                code => panic!("{what}: refused with {code:?}: {}", answer.body),
            }
        }
        panic!("{what}: never answered");
    }
}

/// A stream while it is read.
pub struct Stream {
    events: SseEvents,
    pub fold: Option<MessageFold>,
    pub end: Option<Chunk<'static>>,
    seqs: Vec<u64>,
}

impl Stream {
    /// Takes the next chunk; `false` after `[DONE]`.
    pub async fn next(&mut self, chat: &Chat, resumed: bool) -> bool {
        match self.events.next().await {
            Some(SseEvent::Comment(_)) => true,
            Some(SseEvent::Done) => {
                assert_eq!(self.events.next().await, None, "[DONE] is the last event");
                false
            }
            None => panic!("a body ends without [DONE]"),
            Some(SseEvent::Chunk { seq, json }) => {
                assert_eq!(strict::problem(&json), None, "{json}");
                assert!(seq.is_none() || self.seqs.last().copied() < seq, "numbers go up");
                self.seqs.extend(seq);
                let chunk: Chunk<'static> = serde_json::from_value(json).unwrap();
                if let Chunk::Start { message_id, .. } = &chunk {
                    let shown = chat.message(message_id).filter(|_| !resumed);
                    let new = || MessageFold::new(MessageId::new(message_id.as_ref()));
                    self.fold = Some(shown.map_or_else(new, MessageFold::continuing));
                }
                if let Some(fold) = &mut self.fold {
                    fold.apply(&chunk).unwrap();
                    let message = fold.message().clone();
                    chat.set_messages(|messages| match messages.iter_mut().find(|m| m.id == message.id) {
                        Some(shown) => *shown = message,
                        None => messages.push(message),
                    });
                }
                self.end = Some(chunk);
                true
            }
        }
    }

    pub fn text(&self) -> String {
        self.fold.as_ref().map(|fold| fold.message().text()).unwrap_or_default()
    }
}

/// The tab's messages before this one, and this one last.
pub fn up_to(chat: &Chat, id: &str, text: &str) -> Value {
    chat.set_messages(|messages| {
        let place = messages.iter().position(|message| message.id.as_str() == id);
        messages.truncate(place.unwrap_or(messages.len()));
        messages.push(user(id, text));
    });
    chat.body(json!({ "trigger": "submit-message" }), json!({}))
}

fn code_of(text: &str) -> ErrorCode {
    *ErrorCode::ALL.iter().find(|code| code.as_str() == text).unwrap_or_else(|| panic!("no code: {text:?}"))
}
