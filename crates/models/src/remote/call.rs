//! One call: sends the request, retries until the first event, then reads the answer to its end.
//!
//! All events of a chunk are returned before the next chunk is read. Nothing follows the end or an error. There is no
//! background task: dropping the call closes its connection.

use std::{collections::VecDeque, sync::Arc};

use ::http::header::CONTENT_TYPE;
use bytes::Bytes;
use tokio::time::{Instant, sleep};

use super::{
    Server,
    answer::Progress,
    answer_decoder::{AnswerDecoder, Decoded},
};
use crate::{
    http::{self, Response},
    model::{ModelError, ModelEvent, TimeLimit},
    retry::{self, Failure, Limits},
    sse_decode::MAX_EVENT_BYTES,
};

pub struct Call {
    server: Arc<Server>,
    body: Bytes,
    /// The number of the attempt being made, from 1.
    attempt: u32,
    answer: Option<Answer>,
    events: VecDeque<ModelEvent>,
    /// Returned after the events that precede it.
    failure: Option<Failure>,
    /// An event was returned: the request is not sent again.
    has_yielded: bool,
    is_done: bool,
}

/// An answer whose head was received.
struct Answer {
    response: Response,
    decoder: AnswerDecoder,
    kind: BodyKind,
    /// When the next chunk must have arrived.
    deadline: Instant,
    /// The limit that the deadline comes from.
    limit: TimeLimit,
}

enum BodyKind {
    Events,
    /// The whole answer of a server that does not stream.
    Json,
}

impl Call {
    pub fn new(server: Arc<Server>, body: Bytes) -> Self {
        Self {
            server,
            body,
            attempt: 1,
            answer: None,
            events: VecDeque::new(),
            failure: None,
            has_yielded: false,
            is_done: false,
        }
    }

    pub async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                if !self.has_yielded {
                    // It is never sent again, and it may be as long as the chat.
                    self.body = Bytes::new();
                }
                self.has_yielded = true;
                return Some(Ok(event));
            }
            if self.is_done {
                return None;
            }
            if let Some(failure) = self.failure.take() {
                if let Err(error) = self.wait_for_retry(failure).await {
                    self.is_done = true;
                    return Some(Err(error));
                }
            } else if let Err(failure) = self.advance().await {
                // Closes the connection.
                self.answer = None;
                self.failure = Some(failure);
            }
        }
    }

    /// Sends the request, or reads more of its answer.
    async fn advance(&mut self) -> Result<(), Failure> {
        match &mut self.answer {
            None => self.answer = Some(begin(&self.server, self.body.clone()).await?),
            Some(answer) => {
                if answer.read(&self.server.limits, &mut self.events).await? == Progress::Done {
                    self.is_done = true;
                    if let Some(answer) = self.answer.take() {
                        http::drain(answer.response);
                    }
                }
            }
        }
        Ok(())
    }

    async fn wait_for_retry(&mut self, failure: Failure) -> Result<(), ModelError> {
        let wait = match self.has_yielded {
            true => None,
            false => retry::wait_before_next(&failure, self.attempt, &self.server.limits),
        };
        let Some(wait) = wait else { return Err(failure.error) };
        tracing::info!(
            model = self.server.name,
            attempt = self.attempt,
            wait_ms = wait.as_millis(),
            error = %failure.error,
            "retrying the model call after a failure"
        );
        self.attempt += 1;
        sleep(wait).await;
        Ok(())
    }
}

async fn begin(server: &Server, body: Bytes) -> Result<Answer, Failure> {
    let deadline = Instant::now() + server.limits.first_byte;
    let response = http::send(server.post(body), deadline, server.key.as_deref()).await?;
    let decoder = AnswerDecoder::new(server.reader());
    Ok(Answer { kind: kind(&response)?, decoder, response, deadline, limit: TimeLimit::FirstByte })
}

fn kind(response: &Response) -> Result<BodyKind, ModelError> {
    let media_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = media_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        Ok(BodyKind::Json)
    } else if media_type.eq_ignore_ascii_case("text/html") {
        Err(ModelError::Garbage("a web page; check the base URL".to_owned()))
    } else {
        // Servers that omit the type, or declare plain text, still send events.
        Ok(BodyKind::Events)
    }
}

impl Answer {
    /// Decodes the events that have arrived, or waits for the next chunk.
    async fn read(
        &mut self,
        limits: &Limits,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<Progress, ModelError> {
        if let BodyKind::Json = self.kind {
            let bound = MAX_EVENT_BYTES;
            let body = http::whole_body(&mut self.response, self.deadline, limits.idle, bound).await?;
            let body = body.ok_or_else(|| ModelError::Garbage("an answer that is too large".to_owned()))?;
            self.decoder.whole(&body, events)?;
            return Ok(Progress::Done);
        }
        match self.decoder.step(events)? {
            Decoded::Events => return Ok(Progress::More),
            Decoded::NeedsInput => {}
            Decoded::Done => return Ok(Progress::Done),
        }
        match http::next_chunk(&mut self.response, self.deadline, self.limit).await {
            Ok(Some(chunk)) => {
                self.decoder.push(chunk);
                self.deadline = Instant::now() + limits.idle;
                self.limit = TimeLimit::Idle;
                Ok(Progress::More)
            }
            // An answer that breaks off after its finish reason is complete, except perhaps for the usage.
            Ok(None) | Err(ModelError::Cut) => self.decoder.end(events).map(|()| Progress::Done),
            Err(error) => Err(error),
        }
    }
}
