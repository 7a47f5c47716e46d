//! What the demo model understands: one table. An intent reads the request and gives one step of the answer.

use protocol::ToolSpec;

use super::{
    intents::{approval, capabilities, clock, connect, delegate, fallback, greeting, identity, plan, thanks},
    reply::Reply,
    said::{Language, Said},
    scene::Scene,
};

pub(super) struct Intent {
    #[cfg_attr(not(test), expect(dead_code, reason = "tests tell intents apart by name"))]
    pub(super) name: &'static str,
    /// What the request is about, possibly nothing; `None` when it is not this intent.
    pub(super) understand: fn(&Said) -> Option<String>,
    /// The next step, given what was understood and what was called since.
    pub(super) answer: fn(&Scene, about: &str) -> Reply,
    /// One line for the list of what can be asked, when these tools allow it.
    pub(super) offer: fn(&[ToolSpec], Language) -> Option<String>,
}

/// The first that understands answers: what asks for more stands before what asks for less.
pub(super) const INTENTS: &[Intent] = &[
    approval::INTENT,
    delegate::INTENT,
    plan::INTENT,
    clock::INTENT,
    connect::INTENT,
    capabilities::INTENT,
    identity::INTENT,
    thanks::INTENT,
    greeting::INTENT,
];

pub(super) fn answer(scene: &Scene) -> Reply {
    match understood(&scene.said) {
        Some((intent, about)) => (intent.answer)(scene, &about),
        None => fallback::answer(scene),
    }
}

fn understood(said: &Said) -> Option<(&'static Intent, String)> {
    const LONGEST: usize = 150;
    if said.all().len() > LONGEST {
        return None;
    }
    INTENTS.iter().find_map(|intent| Some((intent, (intent.understand)(said)?)))
}

/// The lines of what can be asked right now.
pub(super) fn offers(tools: &[ToolSpec], language: Language) -> String {
    let lines = INTENTS.iter().filter_map(|intent| (intent.offer)(tools, language));
    lines.map(|line| format!("- {line}\n")).collect()
}

#[cfg(test)]
pub(super) fn name_of(text: &str) -> Option<(&'static str, String)> {
    understood(&Said::new(text)).map(|(intent, about)| (intent.name, about))
}

#[cfg(test)]
#[path = "phrasing_tests.rs"]
mod phrasing_tests;
