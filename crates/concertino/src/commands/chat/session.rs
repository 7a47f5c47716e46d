//! One chat with a server: sends a message, shows the answer, asks the person for approvals, until the answer is complete.

use std::collections::HashMap;

use anyhow::{Result, anyhow, bail};
use protocol::{
    ApprovalId, MessageFold, MessageId, Part, Question, Role, ToolCallId, UiMessage,
    wire::rest::{ApprovalList, AskedApproval},
};
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::{
    approve::{self, Answered, Pending},
    client::{Client, ClientError},
    fill_in,
    follow::Turn,
    output_settings::{self, OutputSettings, TextStyle},
    random_id,
    render::{Piece, Renderer},
    stream::ChunkStream,
    terminal::{self, Signals},
    timezone,
};

pub(crate) struct ChatSession {
    pub(crate) client: Client,
    pub(crate) chat: String,
    pub(crate) settings: OutputSettings,
    pub(crate) signals: Signals,
    /// A person can answer questions: input and output are a terminal.
    pub(crate) can_ask: bool,
    /// Print raw chunks instead of text.
    pub(crate) json: bool,
}

/// How a turn ended for this client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    Done,
    Failed,
    Stopped,
    /// A question is not answered yet.
    Pending,
    /// The person left; the run may continue.
    Quit,
}

impl TurnEnd {
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Pending => 3,
            Self::Stopped | Self::Quit => 130,
        }
    }
}

/// What happens after a message has ended.
enum AfterTurn {
    /// The answers were sent, and the message continues in this stream.
    Continue(Box<ChunkStream>),
    End(TurnEnd),
}

impl ChatSession {
    /// Sends a new message and shows its answer.
    pub(crate) async fn send(&mut self, text: &str) -> Result<TurnEnd> {
        let message = UiMessage {
            id: MessageId::new(format!("usr_{}", random_id()?)),
            role: Role::User,
            metadata: None,
            parts: vec![Part::Text { text: text.to_owned(), state: None }],
        };
        let body = self.body("submit-message", None, &message);
        self.post(body).await
    }

    /// Requests a new answer to the last question.
    pub(crate) async fn retry(&mut self) -> Result<TurnEnd> {
        let history = self.client.history(&self.chat).await?;
        let Some(last) = history.iter().rev().find(|message| message.role == Role::User) else {
            bail!("this chat has no question yet that could be answered again");
        };
        let body = self.body("regenerate-message", None, last);
        self.post(body).await
    }

    /// Resumes an answer or a question that is pending in the chat. Returns `None` when nothing is.
    pub(crate) async fn resume(&mut self, history: &[UiMessage]) -> Result<Option<TurnEnd>> {
        let mut turn = self.turn();
        match self.client.resume(&self.chat).await {
            Ok(Some(stream)) => return self.run(turn, stream).await.map(Some),
            Ok(None) | Err(ClientError::Refused { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        match history.last() {
            Some(last) if last.role == Role::Assistant && approve::pending_in(last) != Pending::Nothing => {
                turn.fold = Some(MessageFold::continuing(last.clone()));
                self.show(&mut turn)?;
                self.close(&mut turn)?;
                match self.answer_questions(&mut turn).await? {
                    AfterTurn::Continue(stream) => self.run(turn, *stream).await.map(Some),
                    AfterTurn::End(end) => Ok(Some(end)),
                }
            }
            _ => Ok(None),
        }
    }

    pub(crate) fn note(&self, style: TextStyle, text: &str) -> Result<()> {
        self.print(Renderer::new(self.settings).note(style, text))
    }

    pub(crate) fn print(&self, pieces: Vec<Piece>) -> Result<()> {
        Ok(terminal::print(&self.settings, &pieces)?)
    }

    fn turn(&mut self) -> Turn {
        self.settings.columns = output_settings::columns();
        Turn::new(self.settings)
    }

    fn body(&self, trigger: &str, message_id: Option<&MessageId>, message: &UiMessage) -> Value {
        let mut body = serde_json::Map::new();
        body.insert("id".to_owned(), json!(self.chat));
        body.insert("messages".to_owned(), json!([message]));
        body.insert("trigger".to_owned(), json!(trigger));
        if let Some(id) = message_id {
            body.insert("messageId".to_owned(), json!(id));
        }
        if let Some(zone) = timezone::of_system() {
            body.insert("timezone".to_owned(), json!(zone));
        }
        Value::Object(body)
    }

    async fn post(&mut self, body: Value) -> Result<TurnEnd> {
        let turn = self.turn();
        match self.submit(&body).await? {
            Some(stream) => self.run(turn, stream).await,
            None => Ok(TurnEnd::Quit),
        }
    }

    /// Posts to `/api/chat`. Returns `None` when the person left before the server answered.
    async fn submit(&mut self, body: &Value) -> Result<Option<ChunkStream>> {
        let sent = tokio::select! {
            sent = self.client.send(body) => sent,
            _ = self.signals.next() => return Ok(None),
        };
        match sent {
            Err(ClientError::Refused { code, .. }) if code == "session_busy" => Err(anyhow!(
                "this chat is still answering; watch or stop it with: concertino chat --id {}",
                quoted(&self.chat)
            )),
            sent => Ok(Some(sent?)),
        }
    }

    /// Follows the message to its end and answers all its questions.
    async fn run(&mut self, mut turn: Turn, mut stream: ChunkStream) -> Result<TurnEnd> {
        loop {
            let followed = self.follow(stream, &mut turn).await;
            self.close(&mut turn)?;
            match followed? {
                TurnEnd::Done => {}
                end => {
                    if end == TurnEnd::Stopped {
                        self.print_note(&mut turn, TextStyle::Yellow, "stopped")?;
                    }
                    return Ok(end);
                }
            }
            stream = match self.answer_questions(&mut turn).await? {
                AfterTurn::Continue(stream) => *stream,
                AfterTurn::End(end) => return Ok(end),
            };
        }
    }

    /// Asks the person the questions of the message and sends the answers.
    async fn answer_questions(&mut self, turn: &mut Turn) -> Result<AfterTurn> {
        let Some(message) = turn.fold.as_ref().map(|fold| fold.message().clone()) else {
            return Ok(AfterTurn::End(TurnEnd::Done));
        };
        let details = match approve::pending_in(&message) {
            Pending::Nothing => return Ok(AfterTurn::End(TurnEnd::Done)),
            Pending::FrontEnd(tool) => {
                let text = format!(
                    "✗ the tool {tool} runs in a web front end, not in this terminal.\n  Open {} in a browser, or send a new message to continue without it.",
                    self.client.url()
                );
                self.print_note(turn, TextStyle::Red, &text)?;
                return Ok(AfterTurn::End(TurnEnd::Failed));
            }
            Pending::Inputs(_) if !self.can_ask => {
                let text = format!(
                    "the agent asks for input; answer in a terminal with: concertino chat --id {}",
                    quoted(&self.chat)
                );
                self.print_note(turn, TextStyle::Yellow, &text)?;
                return Ok(AfterTurn::End(TurnEnd::Pending));
            }
            Pending::Inputs(calls) => return self.fill_in(turn, message, &calls).await,
            Pending::Approvals(approvals) if !self.can_ask => {
                let text = how_to_answer(&self.chat, self.client.url(), &approvals);
                self.print_note(turn, TextStyle::Yellow, &text)?;
                return Ok(AfterTurn::End(TurnEnd::Pending));
            }
            Pending::Approvals(approvals) => self.details(&approvals).await,
        };
        self.print(turn.renderer.begin_lines())?;
        let asked = approve::ask_all(&self.settings, &mut self.signals, &message, &details).await?;
        match asked {
            Some(answered) => self.send_answers(turn, answered).await,
            None => self.leave_open(turn),
        }
    }

    /// Has the person fill in what these calls ask for, and sends it.
    async fn fill_in(
        &mut self,
        turn: &mut Turn,
        message: UiMessage,
        calls: &[ToolCallId],
    ) -> Result<AfterTurn> {
        let list: ApprovalList = self.client.call(Method::GET, &["approvals"], None, None).await?;
        let raised = message.facts().raised_calls;
        self.print(turn.renderer.begin_lines())?;
        let mut payloads = Map::new();
        for call in calls {
            let original = raised.get(call).map_or(call, |raised| &raised.tool_call_id);
            let asked = list
                .approvals
                .iter()
                .find(|one| one.chat_id.as_str() == self.chat && one.approval.tool_call == *original);
            // Somebody else has answered it.
            let Some(form) = asked.and_then(|one| one.question.as_ref()?.form.as_ref()) else { continue };
            let Some(payload) = fill_in::fill_in(&self.settings, &mut self.signals, form).await? else {
                return self.leave_open(turn);
            };
            payloads.insert(call.to_string(), payload);
        }
        if payloads.is_empty() {
            return Ok(AfterTurn::End(TurnEnd::Pending));
        }
        self.send_answers(turn, Answered { message, payloads }).await
    }

    /// The person does not answer now.
    fn leave_open(&mut self, turn: &mut Turn) -> Result<AfterTurn> {
        let text = format!(
            "The question stays pending until you send a new message. Answer it later with:\n  concertino chat --id {}",
            quoted(&self.chat)
        );
        self.print_note(turn, TextStyle::Dim, &text)?;
        Ok(AfterTurn::End(TurnEnd::Pending))
    }

    async fn send_answers(&mut self, turn: &mut Turn, answered: Answered) -> Result<AfterTurn> {
        let Answered { message: answered, payloads } = answered;
        let mut body = self.body("submit-message", Some(&answered.id), &answered);
        if !payloads.is_empty() {
            body["toolApprovalPayloads"] = Value::Object(payloads);
        }
        turn.fold = Some(MessageFold::continuing(answered));
        Ok(match self.submit(&body).await? {
            Some(stream) => AfterTurn::Continue(Box::new(stream)),
            None => AfterTurn::End(TurnEnd::Quit),
        })
    }
}

impl ChatSession {
    /// Why each approval is asked, and what it would change. What the server does not say is not shown.
    async fn details(&self, approvals: &[ApprovalId]) -> HashMap<ApprovalId, Question> {
        let mut details = HashMap::new();
        for id in approvals {
            let path = ["approvals", id.as_str()];
            let asked = self.client.call::<AskedApproval>(Method::GET, &path, None, None).await;
            details.extend(asked.ok().and_then(|asked| Some((id.clone(), asked.question?))));
        }
        details
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

/// Quotes a word for a shell, if needed.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':');
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}
