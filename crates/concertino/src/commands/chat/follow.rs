//! Follows one answer: reads its chunks, shows what is new and returns how it ended.
//!
//! When the connection is lost, the client reconnects. The server replays the message, and the renderer shows only what it
//! has not shown yet. Ctrl-C stops the run on the server; a second Ctrl-C leaves at once.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use protocol::{Chunk, FinishReason, MessageFold, MessageId, Role};
use serde_json::Value;

use super::{
    client::ClientError,
    output_settings::{OutputSettings, TextStyle},
    render::{Piece, Renderer},
    session::{ChatSession, TurnEnd, quoted},
    stream::{ChunkStream, StreamEvent},
    terminal::Signal,
};

/// The delay before each attempt to reconnect.
const RETRY_DELAYS_MS: [u64; 5] = [200, 500, 1000, 2000, 4000];
/// How long to wait for the end of the stream after the server has stopped the run.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// One message of the assistant and how much of it has been shown.
pub(super) struct Turn {
    pub(super) fold: Option<MessageFold>,
    /// The next `start` chunk begins a replay, so the message is folded again from its beginning.
    replay: bool,
    pub(super) renderer: Renderer,
}

impl Turn {
    pub(super) fn new(settings: OutputSettings) -> Self {
        Self { fold: None, replay: false, renderer: Renderer::new(settings) }
    }
}

enum Reconnected {
    Streaming(Box<ChunkStream>),
    /// The run ended meanwhile.
    Ended(TurnEnd),
}

impl ChatSession {
    /// Reads the message to its end and reconnects when the connection is lost.
    pub(super) async fn follow(&mut self, mut stream: ChunkStream, turn: &mut Turn) -> Result<TurnEnd> {
        let mut tries = 0;
        let mut stopping = None;
        loop {
            let deadline = stopping.unwrap_or_else(tokio::time::Instant::now);
            let event = tokio::select! {
                biased;
                signal = self.signals.next() => {
                    if signal == Signal::Terminate || stopping.is_some() || !self.stop().await? {
                        return Ok(TurnEnd::Quit);
                    }
                    stopping = Some(tokio::time::Instant::now() + STOP_TIMEOUT);
                    continue;
                }
                event = stream.next() => event,
                () = tokio::time::sleep_until(deadline), if stopping.is_some() => return Ok(TurnEnd::Stopped),
            };
            match event {
                StreamEvent::Chunk { chunk, json } => {
                    self.print_json(&json)?;
                    if self.apply_chunk(&chunk, turn)? {
                        tries = 0;
                    }
                    if let Some(end) = self.end_of(&chunk, turn)? {
                        return Ok(if stopping.is_some() && end == TurnEnd::Done {
                            TurnEnd::Stopped
                        } else {
                            end
                        });
                    }
                }
                StreamEvent::Unknown(json) => self.print_json(&json)?,
                StreamEvent::Invalid => {
                    bail!("the server at {} sent data that is not a chat stream", self.client.url())
                }
                StreamEvent::Ended if stopping.is_some() => return Ok(TurnEnd::Stopped),
                StreamEvent::Ended => match self.reconnect(turn, &mut tries).await? {
                    Reconnected::Streaming(resumed) => stream = *resumed,
                    Reconnected::Ended(end) => return Ok(end),
                },
            }
        }
    }

    /// Folds the chunk into the message and shows what is new. Returns whether something was.
    fn apply_chunk(&self, chunk: &Chunk<'_>, turn: &mut Turn) -> Result<bool> {
        if let Chunk::Start { message_id, .. } = chunk
            && (turn.fold.is_none() || std::mem::take(&mut turn.replay))
        {
            turn.fold = Some(MessageFold::new(MessageId::new(&**message_id)));
        }
        let Some(fold) = &mut turn.fold else { return Ok(false) };
        if let Err(error) = fold.apply(chunk) {
            bail!("the server at {} sent a chunk that does not fit the message: {error}", self.client.url());
        }
        self.show(turn)
    }

    /// Shows what is new in the message. Returns whether something was.
    pub(super) fn show(&self, turn: &mut Turn) -> Result<bool> {
        let Some(fold) = &turn.fold else { return Ok(false) };
        let pieces = turn.renderer.show(fold.message(), Instant::now());
        let new = !pieces.is_empty();
        if new && !self.json {
            self.print(pieces)?;
        }
        Ok(new)
    }

    /// Returns how the turn ended if this chunk ends it, and prints why.
    fn end_of(&self, chunk: &Chunk<'_>, turn: &mut Turn) -> Result<Option<TurnEnd>> {
        Ok(match chunk {
            Chunk::Finish { finish_reason, .. } => {
                let cut_off = match finish_reason {
                    FinishReason::Length => {
                        Some("The answer was cut off: it reached the model's length limit.")
                    }
                    FinishReason::ContentFilter => {
                        Some("The answer was cut off by the model's content filter.")
                    }
                    _ => None,
                };
                if let Some(cut_off) = cut_off {
                    self.print_note(turn, TextStyle::Yellow, cut_off)?;
                }
                Some(TurnEnd::Done)
            }
            Chunk::Data(data) if data.kind.0 == "session-title" => {
                let title = data.data.get("title").and_then(Value::as_str).unwrap_or_default();
                self.print_note(turn, TextStyle::Dim, &format!("This chat is now named {title}."))?;
                None
            }
            Chunk::Abort => Some(TurnEnd::Stopped),
            Chunk::Error { error_text } => {
                self.print_note(turn, TextStyle::Red, &format!("✗ {error_text}"))?;
                Some(TurnEnd::Failed)
            }
            _ => None,
        })
    }

    /// Stops the run on the server. Returns false when the person does not want to wait for that.
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
        while let Some(delay) = RETRY_DELAYS_MS.get(*tries) {
            *tries += 1;
            let text = format!("connection lost, reconnecting ({tries} of {})", RETRY_DELAYS_MS.len());
            self.print_note(turn, TextStyle::Dim, &text)?;
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(*delay)) => {}
                _ = self.signals.next() => return Ok(Reconnected::Ended(TurnEnd::Quit)),
            }
            match self.client.resume(&self.chat).await {
                Ok(Some(stream)) => {
                    turn.replay = true;
                    return Ok(Reconnected::Streaming(Box::new(stream)));
                }
                Ok(None) => return self.show_missed_rest(turn).await.map(Reconnected::Ended),
                Err(ClientError::NoServer(_) | ClientError::ConnectionLost(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        bail!(
            "the connection to {} was lost; the answer may still be written. See it with: concertino chat --id {}",
            self.client.url(),
            quoted(&self.chat)
        )
    }

    /// Shows the rest of the message from the history, after the run ended while the connection was lost.
    async fn show_missed_rest(&mut self, turn: &mut Turn) -> Result<TurnEnd> {
        let id = turn.fold.as_ref().map(|fold| fold.message().id.clone());
        let history = self.client.history(&self.chat).await?;
        let found = history.into_iter().rev().find(|message| match &id {
            Some(id) => message.id == *id,
            None => message.role == Role::Assistant,
        });
        let Some(message) = found else {
            bail!("the connection was lost, and the answer is not in the chat; send your message again")
        };
        let field = |name: &str| {
            message.metadata.as_ref().and_then(|metadata| metadata.get(name)?.as_str().map(str::to_owned))
        };
        let (status, error) = (field("status"), field("error"));
        turn.fold = Some(MessageFold::continuing(message));
        self.show(turn)?;
        Ok(match status.as_deref() {
            Some("failed") => {
                let text =
                    format!("✗ {}", error.as_deref().unwrap_or("the answer failed; /retry requests another"));
                self.print_note(turn, TextStyle::Red, &text)?;
                TurnEnd::Failed
            }
            Some("cancelled") => TurnEnd::Stopped,
            _ => TurnEnd::Done,
        })
    }

    pub(super) fn print_note(&self, turn: &mut Turn, style: TextStyle, text: &str) -> Result<()> {
        if self.json { self.note(style, text) } else { self.print(turn.renderer.note(style, text)) }
    }

    /// Ends the line that is open.
    pub(super) fn close(&self, turn: &mut Turn) -> Result<()> {
        if self.json { Ok(()) } else { self.print(turn.renderer.finish()) }
    }

    fn print_json(&self, json: &str) -> Result<()> {
        if self.json { self.print(vec![Piece::Answer(format!("{json}\n"))]) } else { Ok(()) }
    }
}
