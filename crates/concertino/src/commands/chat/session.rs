//! One chat with a server: send, follow the answer, ask what it asks, go on until it is complete.

use anyhow::{Result, anyhow, bail};
use protocol::{MessageFold, MessageId, Part, Role, UiMessage};
use serde_json::{Value, json};

use super::{
    approve::{self, Waiting},
    client::{Client, ClientError},
    follow::Turn,
    look::{self, Look, Paint},
    random_id,
    render::{Piece, Renderer},
    stream::ChunkStream,
    terminal::{self, Signals},
    zone,
};

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
                self.close(&mut turn)?;
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
        Turn::new(self.look)
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
            self.close(&mut turn)?;
            match followed? {
                End::Done => {}
                end => {
                    if end == End::Stopped {
                        self.say(&mut turn, Paint::Yellow, "stopped")?;
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
        let Some(message) = turn.fold.as_ref().map(|fold| fold.message().clone()) else {
            return Ok(Err(End::Done));
        };
        match approve::waits_for(&message) {
            Waiting::Nothing => return Ok(Err(End::Done)),
            Waiting::FrontEnd(tool) => {
                let text = format!(
                    "✗ the tool {tool} runs in a front end, and this one does not have it.\n  Open {} in a browser, or send a new message to go on without it.",
                    self.client.url()
                );
                self.say(turn, Paint::Red, &text)?;
                return Ok(Err(End::Failed));
            }
            Waiting::Approvals(approvals) if !self.can_ask => {
                let text = how_to_answer(&self.chat, self.client.url(), &approvals);
                self.say(turn, Paint::Yellow, &text)?;
                return Ok(Err(End::Waiting));
            }
            Waiting::Approvals(_) => {}
        }
        self.print(turn.renderer.room())?;
        let Some(answered) = approve::ask_all(&self.look, &mut self.signals, &message).await? else {
            let text = format!(
                "The question stays open until a new message. Answer it later with:\n  concertino chat --id {}",
                quoted(&self.chat)
            );
            self.say(turn, Paint::Dim, &text)?;
            return Ok(Err(End::Waiting));
        };
        let body = self.body("submit-message", Some(&answered.id), &answered);
        turn.fold = Some(MessageFold::continuing(answered));
        Ok(self.submit(&body).await?.ok_or(End::Quit))
    }
}

fn how_to_answer(chat: &str, url: &str, approvals: &[protocol::ApprovalId]) -> String {
    let mut text =
        format!("waiting for approval; answer in a terminal with: concertino chat --id {}", quoted(chat));
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
