//! The demo model: answers when there is no key and no local model, so that a new installation can show what an agent
//! with tools does. It follows rules, without network, clock or state: the same request always gets the same answer.
//!
//! It knows requests, not tools: it finds a tool by its description and schema and builds the arguments from the
//! schema. Its answers say that it is a demo, what it did not understand, and what it did not do.
//! To add a request, write one file in `demo/intents/` and add one line to the table in `demo/intent.rs`.

mod commands;
#[cfg(test)]
mod commands_tests;
mod context;
mod files;
#[cfg(test)]
mod files_tests;
mod find_tool;
mod intent;
mod intents;
mod markdown;
mod outcome;
#[cfg(test)]
mod phrasing_tests;
mod politeness;
mod reply;
mod result_time;
mod schema;
mod spelling;
mod terms;
mod time_zones;
mod title_and_summary;
mod utterance;

use std::time::Duration;

use futures::{StreamExt, stream};

use crate::{
    attached::FileSupport,
    model::{Model, ModelEvent, ModelRequest, ModelStream, Purpose},
};

/// The pause before each delta of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace(Duration);

impl Pace {
    /// No pauses.
    pub const AT_ONCE: Self = Self(Duration::ZERO);
    /// A few words every 25 ms, about the speed of skimming.
    pub const READABLE: Self = Self(Duration::from_millis(25));

    pub const fn every(pause: Duration) -> Self {
        Self(pause)
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self::READABLE
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Demo {
    pace: Pace,
}

impl Demo {
    pub fn new(pace: Pace) -> Self {
        Self { pace }
    }
}

impl Model for Demo {
    fn name(&self) -> &str {
        "demo/rules"
    }

    fn file_support(&self) -> FileSupport {
        FileSupport::text_only()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let context = context::DemoContext::of(&request);
        let reply = match request.purpose {
            Purpose::Answer => intent::answer(&context),
            Purpose::Summary => reply::Reply::Say(title_and_summary::summary(&request)),
            Purpose::Title => reply::Reply::Say(title_and_summary::title(&request)),
        };
        let events = reply.events(&context.next_call, &request);
        let Pace(pause) = self.pace;
        let paced = stream::iter(events).then(move |event| async move {
            let written = !matches!(event, ModelEvent::Usage(_) | ModelEvent::Finished(_));
            if written && !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            Ok(event)
        });
        paced.boxed()
    }
}
