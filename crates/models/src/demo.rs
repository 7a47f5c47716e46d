//! The demo model: answers when there is no key and no local model, so that a fresh install can show what an agent
//! with tools does. Rules, no network, no clock, no state: the same request always gets the same answer.
//!
//! It knows requests, not tools: it finds a tool by its description and schema and builds the arguments from the
//! schema. It never pretends: it says that it is a demo, what it did not understand, and what it did not do.
//! To teach it a request, write one file in `demo/intents/` and add one line to the table in `demo/intent.rs`.

mod aside;
mod find_tool;
mod frames;
mod intent;
mod intents;
mod moment;
mod outcome;
mod places;
mod reply;
mod said;
mod scene;
mod schema;
mod spelling;
mod terms;

use std::time::Duration;

use futures::{StreamExt, stream};

use crate::{
    attached::Reads,
    model::{Model, ModelEvent, ModelRequest, ModelStream, Purpose},
};

/// How fast the answer is written: the pause before each delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace(Duration);

impl Pace {
    /// No pauses at all.
    pub const AT_ONCE: Self = Self(Duration::ZERO);
    /// A few words every 25 ms, about as fast as people skim.
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

    fn reads(&self) -> Reads {
        Reads::text_only()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let scene = scene::Scene::of(&request);
        let reply = match request.purpose {
            Purpose::Answer => intent::answer(&scene),
            Purpose::Summary => reply::Reply::Say(aside::summary(&request)),
            Purpose::Title => reply::Reply::Say(aside::title(&request)),
        };
        let events = reply.events(&scene.next_call, &request);
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
