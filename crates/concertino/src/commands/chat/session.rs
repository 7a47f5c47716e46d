//! One chat with a server: send, follow the answer, ask what it asks, go on until it is complete.
//!
//! A lost connection is taken up again: the server replays the message, the renderer knows what it has shown.
//! Ctrl-C stops the run on the server, a second one leaves at once.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use protocol::{Chunk, FinishReason, MessageFold, MessageId, Part, Role, UiMessage};
use serde_json::{Value, json};

use super::{
    approve::{self, Waiting},
    client::{Client, ClientError},
    look::{self, Look, Paint},
    random_id,
    render::{Piece, Renderer},
    stream::{ChunkStream, Event},
    terminal::{self, Signal, Signals},
    zone,
};

/// The wait before each attempt to take up a lost connection.
const PAUSES_MS: [u64; 5] = [200, 500, 1000, 2000, 4000];
/// How long the end of the stream may take once the server has said that it stopped.
const STOPPING: Duration = Duration::from_secs(5);

pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) chat: String,
    pub(crate) look: Look,
    pub(crate) signals: Signals,
    /// Somebody can press keys.
    pub(crate) can_ask: bool,
    /// Raw chunks instead of text.
    pub(crate) json: bool,
}

/// How a turn ended, as far as we are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Done,
    Failed,
    Stopped,
    /// A question stays open.
    Waiting,
    /// The person wants out, whatever the run does.
    Quit,
}

impl End {
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Waiting => 3,
            Self::Stopped | Self::Quit => 130,
        }
    }
}

/// One message of the assistant and how much of it was shown.
struct Turn {
    fold: Option<MessageFold>,
    /// The next `start` begins a replay: what was folded is built anew.
    replay: bool,
    renderer: Renderer,
}

enum Reconnected {
    Again(ChunkStream),
    Over(End),
}

impl Session {
    pub(crate) async fn send(&mut self, text: &str) -> Result<End> {
        let message = UiMessage {
            id: MessageId::new(format!("usr_{}", random_id()?)),
            role: Role::User,
            metadata: None,
            parts: vec![Part::Text { text: text.to_owned(), state: None }],
        };
        let body = self.body("submit-message", None, &message);
        self.post(body).await
    }

    /// A new answer to the last question.
    pub(crate) async fn retry(&mut self) -> Result<End> {
        let history = self.client.history(&self.chat).await?;
        let Some(last) = history.iter().rev().find(|message| message.role == Role::User) else {
            bail!("there is no question yet to answer again");
        };
        let body = self.body("regenerate-message", None, last);
        self.post(body).await
    }

    /// What goes on or waits in the chat already. `None` when nothing does.
    pub(crate) async fn take_up(&mut self, history: &[UiMessage]) -> Result<Option<End>> {
        let mut turn = self.turn();
        match self.client.resume(&self.chat).await {
            Ok(Some(stream)) => return self.run(turn, stream).await.map(Some),
            Ok(None) | Err(ClientError::Refused { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        match history.last() {
            Some(last) if last.role == Role::Assistant && approve::waits_for(last) != Waiting::Nothing => {
                turn.fold = Some(MessageFold::continuing(last.clone()));
                self.show(&mut turn)?;
                self.print(turn.renderer.finish())?;
                match self.ask(&mut turn).await? {
                    Ok(stream) => self.run(turn, stream).await.map(Some),
                    Err(end) => Ok(Some(end)),
                }
            }
            _ => Ok(None),
        }
    }

    pub(crate) fn note(&self, paint: Paint, text: &str) -> Result<()> {
        self.print(Renderer::new(self.look).note(paint, text))
    }

    pub(crate) fn print(&self, pieces: Vec<Piece>) -> Result<()> {
        Ok(terminal::print(&self.look, &pieces)?)
    }

    fn turn(&mut self) -> Turn {
        self.look.columns = look::columns();
        Turn { fold: None, replay: false, renderer: Renderer::new(self.look) }
    }

    fn body(&self, trigger: &str, message_id: Option<&MessageId>, message: &UiMessage) -> Value {
        let mut body = serde_json::Map::new();
        body.insert("id".to_owned(), json!(self.chat));
        body.insert("messages".to_owned(), json!([message]));
        body.insert("trigger".to_owned(), json!(trigger));
        if let Some(id) = message_id {
            body.insert("messageId".to_owned(), json!(id));
        }
        if let Some(zone) = zone::of_system() {
            body.insert("timezone".to_owned(), json!(zone));
        }
        Value::Object(body)
    }

    async fn post(&mut self, body: Value) -> Result<End> {
        let turn = self.turn();
        match self.submit(&body).await? {
            Some(stream) => self.run(turn, stream).await,
            None => Ok(End::Quit),
        }
    }

    /// `None` when the person left before the server answered.
    async fn submit(&mut self, body: &Value) -> Result<Option<ChunkStream>> {
        let sent = tokio::select! {
            sent = self.client.send(body) => sent,
            _ = self.signals.next() => return Ok(None),
        };
        match sent {
            Err(ClientError::Refused { code, .. }) if code == "session_busy" => Err(anyhow!(
                "this chat is still working on an answer; watch or stop it with: concertino chat --id {}",
                quoted(&self.chat)
            )),
            sent => Ok(Some(sent?)),
        }
    }

    /// Follows the message to its end, through all its questions.
    async fn run(&mut self, mut turn: Turn, mut stream: ChunkStream) -> Result<End> {
        loop {
            let followed = self.follow(stream, &mut turn).await;
            self.print(turn.renderer.finish())?;
            match followed? {
                End::Done => {}
                end => {
                    if end == End::Stopped {
                        self.print(turn.renderer.note(Paint::Yellow, "stopped"))?;
                    }
                    return Ok(end);
                }
            }
            stream = match self.ask(&mut turn).await? {
                Ok(stream) => stream,
                Err(end) => return Ok(end),
            };
        }
    }

    /// Puts what the message asks to the person and hands the answers back. `Err` when there is no going on.
    async fn ask(&mut self, turn: &mut Turn) -> Result<Result<ChunkStream, End>> {
        let Some(message) = turn.fold.as_ref().map(|fold| fold.message().clone()) else { return Ok(Err(End::Done)) };
        match approve::waits_for(&message) {
            Waiting::Nothing => return Ok(Err(End::Done)),
            Waiting::FrontEnd(tool) => {
                let text = format!(
                    "✗ the tool {tool} runs in a front end, and this one does not have it.\n  Open {} in a browser, or send a new message to go on without it.",
                    self.client.url()
                );
                self.print(turn.renderer.note(Paint::Red, &text))?;
                return Ok(Err(End::Failed));
            }
            Waiting::Approvals(approvals) if !self.can_ask => {
                let text = how_to_answer(&self.chat, self.client.url(), &approvals);
                self.print(turn.renderer.note(Paint::Yellow, &text))?;
                return Ok(Err(End::Waiting));
            }
            Waiting::Approvals(_) => {}
        }
        if !self.look.terminal || turn.renderer.has_shown() {
            self.print(vec![Piece::Aside("\n".to_owned())])?;
        }
        let Some(answered) = approve::ask_all(&self.look, &mut self.signals, &message).await? else {
            let text = format!(
                "The question stays open until a new message. Answer it later with: concertino chat --id {}",
                quoted(&self.chat)
            );
            self.print(turn.renderer.note(Paint::Dim, &text))?;
            return Ok(Err(End::Waiting));
        };
        let body = self.body("submit-message", Some(&answered.id), &answered);
        turn.fold = Some(MessageFold::continuing(answered));
        Ok(self.submit(&body).await?.ok_or(End::Quit))
    }

    /// Reads one stream to the end of the message, whatever happens to the connection.
    async fn follow(&mut self, mut stream: ChunkStream, turn: &mut Turn) -> Result<End> {
        let mut tries = 0;
        let mut stopping = None;
        loop {
            let deadline = stopping.unwrap_or_else(tokio::time::Instant::now);
            let event = tokio::select! {
                biased;
                signal = self.signals.next() => {
                    if signal == Signal::Terminate || stopping.is_some() || !self.stop().await? {
                        return Ok(End::Quit);
                    }
                    stopping = Some(tokio::time::Instant::now() + STOPPING);
                    continue;
                }
                event = stream.next() => event,
                () = tokio::time::sleep_until(deadline), if stopping.is_some() => return Ok(End::Stopped),
            };
            match event {
                Event::Chunk(chunk, raw) => {
                    self.raw_line(&raw)?;
                    if self.take_in(&chunk, turn)? {
                        tries = 0;
                    }
                    if let Some(end) = self.end_of(&chunk, turn)? {
                        return Ok(if stopping.is_some() && end == End::Done { End::Stopped } else { end });
                    }
                }
                Event::Unknown(raw) => self.raw_line(&raw)?,
                Event::Garbage => bail!("the server at {} sent something that is no answer", self.client.url()),
                Event::Ended if stopping.is_some() => return Ok(End::Stopped),
                Event::Ended => match self.reconnect(turn, &mut tries).await? {
                    Reconnected::Again(again) => stream = again,
                    Reconnected::Over(end) => return Ok(end),
                },
            }
        }
    }

    /// Folds the chunk and shows what is new. True when something was.
    fn take_in(&self, chunk: &Chunk<'_>, turn: &mut Turn) -> Result<bool> {
        if let Chunk::Start { message_id, .. } = chunk
            && (turn.fold.is_none() || std::mem::take(&mut turn.replay))
        {
            turn.fold = Some(MessageFold::new(MessageId::new(&**message_id)));
        }
        let Some(fold) = &mut turn.fold else { return Ok(false) };
        if let Err(error) = fold.apply(chunk) {
            bail!("the server at {} sent something that does not fit: {error}", self.client.url());
        }
        self.show(turn)
    }

    fn show(&self, turn: &mut Turn) -> Result<bool> {
        let Some(fold) = &turn.fold else { return Ok(false) };
        let pieces = turn.renderer.show(fold.message(), Instant::now());
        let new = !pieces.is_empty();
        if new && !self.json {
            self.print(pieces)?;
        }
        Ok(new)
    }

    fn end_of(&self, chunk: &Chunk<'_>, turn: &mut Turn) -> Result<Option<End>> {
        Ok(match chunk {
            Chunk::Finish { finish_reason, .. } => {
                let cut = match finish_reason {
                    FinishReason::Length => Some("The answer was cut off: it reached the model's length limit."),
                    FinishReason::ContentFilter => Some("The answer was cut off by the model's content filter."),
                    _ => None,
                };
                if let Some(cut) = cut {
                    self.print(turn.renderer.note(Paint::Yellow, cut))?;
                }
                Some(End::Done)
            }
            Chunk::Abort => Some(End::Stopped),
            Chunk::Error { error_text } => {
                self.print(turn.renderer.note(Paint::Red, &format!("✗ {error_text}")))?;
                Some(End::Failed)
            }
            _ => None,
        })
    }

    /// Stops the run on the server. False when the person does not want to wait for that.
    async fn stop(&mut self) -> Result<bool> {
        tokio::select! {
            stopped = self.client.stop(&self.chat) => {
                stopped?;
                Ok(true)
            }
            _ = self.signals.next() => Ok(false),
        }
    }

    async fn reconnect(&mut self, turn: &mut Turn, tries: &mut usize) -> Result<Reconnected> {
        while let Some(pause) = PAUSES_MS.get(*tries) {
            *tries += 1;
            let text = format!("connection lost, taking it up again ({tries} of {})", PAUSES_MS.len());
            self.print(turn.renderer.note(Paint::Dim, &text))?;
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(*pause)) => {}
                _ = self.signals.next() => return Ok(Reconnected::Over(End::Quit)),
            }
            match self.client.resume(&self.chat).await {
                Ok(Some(stream)) => {
                    turn.replay = true;
                    return Ok(Reconnected::Again(stream));
                }
                Ok(None) => return self.from_history(turn).await.map(Reconnected::Over),
                Err(ClientError::NoServer(_) | ClientError::Cut(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        bail!(
            "the connection to {} was lost; see what came of the answer with: concertino chat --id {}",
            self.client.url(),
            quoted(&self.chat)
        )
    }

    /// The run ended while we were away: the rest of the message stands in the history.
    async fn from_history(&mut self, turn: &mut Turn) -> Result<End> {
        let id = turn.fold.as_ref().map(|fold| fold.message().id.clone());
        let history = self.client.history(&self.chat).await?;
        let found = history.into_iter().rev().find(|message| match &id {
            Some(id) => message.id == *id,
            None => message.role == Role::Assistant,
        });
        let Some(message) = found else { bail!("the connection was lost and the answer was not kept; send again") };
        let about = |name: &str| message.metadata.as_ref().and_then(|about| about.get(name)?.as_str().map(str::to_owned));
        let (status, error) = (about("status"), about("error"));
        turn.fold = Some(MessageFold::continuing(message));
        self.show(turn)?;
        Ok(match status.as_deref() {
            Some("failed") => {
                let text = format!("✗ {}", error.as_deref().unwrap_or("the answer failed; try /retry"));
                self.print(turn.renderer.note(Paint::Red, &text))?;
                End::Failed
            }
            Some("cancelled") => End::Stopped,
            _ => End::Done,
        })
    }

    fn raw_line(&self, raw: &str) -> Result<()> {
        if self.json { self.print(vec![Piece::Answer(format!("{raw}\n"))]) } else { Ok(()) }
    }
}

fn how_to_answer(chat: &str, url: &str, approvals: &[protocol::ApprovalId]) -> String {
    let mut text = format!("waiting for approval; answer in a terminal with: concertino chat --id {}", quoted(chat));
    for approval in approvals {
        text.push_str(&format!("\nor over HTTP: POST {url}/api/approvals/{approval} {{\"approved\": true}}"));
    }
    text
}

/// Fit for a shell.
pub(crate) fn quoted(id: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    if id.chars().all(plain) { id.to_owned() } else { format!("'{}'", id.replace('\'', r"'\''")) }
}
