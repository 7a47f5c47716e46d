//! Following one answer: chunks in, output and the end out, whatever happens to the connection.
//!
//! A lost connection is taken up again: the server replays the message, the renderer knows what it has shown.
//! Ctrl-C stops the run on the server, a second one leaves at once.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use protocol::{Chunk, FinishReason, MessageFold, MessageId, Role};
use serde_json::Value;

use super::{
    client::ClientError,
    look::{Look, Paint},
    render::{Piece, Renderer},
    session::{End, Session, quoted},
    stream::{ChunkStream, Event},
    terminal::Signal,
};

/// The wait before each attempt to take up a lost connection.
const PAUSES_MS: [u64; 5] = [200, 500, 1000, 2000, 4000];
/// How long the end of the stream may take once the server has said that it stopped.
const STOPPING: Duration = Duration::from_secs(5);

/// One message of the assistant and how much of it was shown.
pub(super) struct Turn {
    pub(super) fold: Option<MessageFold>,
    /// The next `start` begins a replay: what was folded is built anew.
    replay: bool,
    pub(super) renderer: Renderer,
}

impl Turn {
    pub(super) fn new(look: Look) -> Self {
        Self { fold: None, replay: false, renderer: Renderer::new(look) }
    }
}

enum Reconnected {
    Again(Box<ChunkStream>),
    Over(End),
}

impl Session {
    /// Reads one stream to the end of the message, whatever happens to the connection.
    pub(super) async fn follow(&mut self, mut stream: ChunkStream, turn: &mut Turn) -> Result<End> {
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
                Event::Garbage => {
                    bail!("the server at {} sent something that is no answer", self.client.url())
                }
                Event::Ended if stopping.is_some() => return Ok(End::Stopped),
                Event::Ended => match self.reconnect(turn, &mut tries).await? {
                    Reconnected::Again(again) => stream = *again,
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

    pub(super) fn show(&self, turn: &mut Turn) -> Result<bool> {
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
                    FinishReason::Length => {
                        Some("The answer was cut off: it reached the model's length limit.")
                    }
                    FinishReason::ContentFilter => {
                        Some("The answer was cut off by the model's content filter.")
                    }
                    _ => None,
                };
                if let Some(cut) = cut {
                    self.say(turn, Paint::Yellow, cut)?;
                }
                Some(End::Done)
            }
            Chunk::Data(data) if data.kind.0 == "session-title" => {
                let title = data.data.get("title").and_then(Value::as_str).unwrap_or_default();
                self.say(turn, Paint::Dim, &format!("This chat is now called {title}."))?;
                None
            }
            Chunk::Abort => Some(End::Stopped),
            Chunk::Error { error_text } => {
                self.say(turn, Paint::Red, &format!("✗ {error_text}"))?;
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
            self.say(turn, Paint::Dim, &text)?;
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(*pause)) => {}
                _ = self.signals.next() => return Ok(Reconnected::Over(End::Quit)),
            }
            match self.client.resume(&self.chat).await {
                Ok(Some(stream)) => {
                    turn.replay = true;
                    return Ok(Reconnected::Again(Box::new(stream)));
                }
                Ok(None) => return self.read_what_was_missed(turn).await.map(Reconnected::Over),
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
    async fn read_what_was_missed(&mut self, turn: &mut Turn) -> Result<End> {
        let id = turn.fold.as_ref().map(|fold| fold.message().id.clone());
        let history = self.client.history(&self.chat).await?;
        let found = history.into_iter().rev().find(|message| match &id {
            Some(id) => message.id == *id,
            None => message.role == Role::Assistant,
        });
        let Some(message) = found else {
            bail!("the connection was lost and the answer was not kept; send again")
        };
        let about = |name: &str| {
            message.metadata.as_ref().and_then(|about| about.get(name)?.as_str().map(str::to_owned))
        };
        let (status, error) = (about("status"), about("error"));
        turn.fold = Some(MessageFold::continuing(message));
        self.show(turn)?;
        Ok(match status.as_deref() {
            Some("failed") => {
                let text = format!("✗ {}", error.as_deref().unwrap_or("the answer failed; try /retry"));
                self.say(turn, Paint::Red, &text)?;
                End::Failed
            }
            Some("cancelled") => End::Stopped,
            _ => End::Done,
        })
    }

    pub(super) fn say(&self, turn: &mut Turn, paint: Paint, text: &str) -> Result<()> {
        if self.json { self.note(paint, text) } else { self.print(turn.renderer.note(paint, text)) }
    }

    pub(super) fn close(&self, turn: &mut Turn) -> Result<()> {
        if self.json { Ok(()) } else { self.print(turn.renderer.finish()) }
    }

    fn raw_line(&self, raw: &str) -> Result<()> {
        if self.json { self.print(vec![Piece::Answer(format!("{raw}\n"))]) } else { Ok(()) }
    }
}
