//! One call: attempts until the first event, then the answer to its end.
//!
//! Events of a piece of the body that has arrived are given out before the next piece is waited for. After the
//! end or an error nothing more comes. Nothing here runs on its own: a dropped call closes its connection.

use std::{collections::VecDeque, sync::Arc};

use ::http::header::CONTENT_TYPE;
use bytes::Bytes;
use tokio::time::{Instant, sleep};

use super::{
    Server,
    answer::Progress,
    feed::{Feed, Step},
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
    /// To be told after the events that came before it.
    failure: Option<Failure>,
    /// An event was given out: from now on nothing is asked again.
    spoke: bool,
    over: bool,
}

/// An answer that has begun.
struct Answer {
    response: Response,
    feed: Feed,
    form: Form,
    /// Until when the next piece must come, and which limit that is.
    deadline: Instant,
    limit: TimeLimit,
}

enum Form {
    Events,
    /// The server does not stream.
    Whole,
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
            spoke: false,
            over: false,
        }
    }

    pub async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                if !self.spoke {
                    // Never sent again, and it may be as long as the chat.
                    self.body = Bytes::new();
                }
                self.spoke = true;
                return Some(Ok(event));
            }
            if self.over {
                return None;
            }
            if let Some(failure) = self.failure.take() {
                if let Err(error) = self.wait_or_give_up(failure).await {
                    self.over = true;
                    return Some(Err(error));
                }
            } else if let Err(failure) = self.advance().await {
                // Closes the connection.
                self.answer = None;
                self.failure = Some(failure);
            }
        }
    }

    /// Begins the answer, or reads on in it.
    async fn advance(&mut self) -> Result<(), Failure> {
        match &mut self.answer {
            None => self.answer = Some(begin(&self.server, self.body.clone()).await?),
            Some(answer) => {
                if answer.read(&self.server.limits, &mut self.events).await? == Progress::Done {
                    self.over = true;
                    if let Some(answer) = self.answer.take() {
                        http::read_end(answer.response);
                    }
                }
            }
        }
        Ok(())
    }

    async fn wait_or_give_up(&mut self, failure: Failure) -> Result<(), ModelError> {
        let wait = match self.spoke {
            true => None,
            false => retry::wait_before_next(&failure, self.attempt, &self.server.limits),
        };
        let Some(wait) = wait else { return Err(failure.error) };
        tracing::info!(
            model = self.server.name,
            attempt = self.attempt,
            wait_ms = wait.as_millis(),
            error = %failure.error,
            "asking the model again after a failure"
        );
        self.attempt += 1;
        sleep(wait).await;
        Ok(())
    }
}

async fn begin(server: &Server, body: Bytes) -> Result<Answer, Failure> {
    let deadline = Instant::now() + server.limits.first_byte;
    let response = http::send(server.post(body), deadline, server.key.as_deref()).await?;
    let feed = Feed::new(server.reader());
    Ok(Answer { form: form(&response)?, feed, response, deadline, limit: TimeLimit::FirstByte })
}

fn form(response: &Response) -> Result<Form, ModelError> {
    let media_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = media_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        Ok(Form::Whole)
    } else if media_type.eq_ignore_ascii_case("text/html") {
        Err(ModelError::Garbage("a web page; check the base URL".to_owned()))
    } else {
        // Servers that forget the type, or call it plain text, still send events.
        Ok(Form::Events)
    }
}

impl Answer {
    /// One step: the events that have arrived, or else the wait for the next piece of the body.
    async fn read(
        &mut self,
        limits: &Limits,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<Progress, ModelError> {
        if let Form::Whole = self.form {
            let bound = MAX_EVENT_BYTES;
            let body = http::whole_body(&mut self.response, self.deadline, limits.idle, bound).await?;
            let body = body.ok_or_else(|| ModelError::Garbage("an answer that is too large".to_owned()))?;
            self.feed.whole(&body, events)?;
            return Ok(Progress::Done);
        }
        match self.feed.step(events)? {
            Step::Spoke => return Ok(Progress::More),
            Step::Dry => {}
            Step::Done => return Ok(Progress::Done),
        }
        match http::next_chunk(&mut self.response, self.deadline, self.limit).await {
            Ok(Some(chunk)) => {
                self.feed.push(chunk);
                self.deadline = Instant::now() + limits.idle;
                self.limit = TimeLimit::Idle;
                Ok(Progress::More)
            }
            // A connection that breaks after the finish reason has told all but perhaps the usage.
            Ok(None) | Err(ModelError::Cut) => self.feed.end(events).map(|()| Progress::Done),
            Err(error) => Err(error),
        }
    }
}
