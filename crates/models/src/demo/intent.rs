//! The table of requests that the demo model understands. An intent reads the request and returns one step of the answer.

use protocol::ToolSpec;

use super::{
    context::DemoContext,
    intents::{
        approval, ask_question, capabilities, clock, connect, create_file, delegate, edit_file, fallback,
        find_files, greeting, identity, list_files, plan, read_file, run_command, running_command,
        search_files, summarise_file, summarise_folder, thanks,
    },
    reply::Reply,
    utterance::{Language, Utterance},
};

pub(super) struct Intent {
    #[cfg_attr(not(test), expect(dead_code, reason = "tests identify intents by name"))]
    pub(super) name: &'static str,
    /// The subject of the request, possibly empty; `None` if it is not this intent.
    pub(super) understand: fn(&Utterance) -> Option<String>,
    /// The next step, from the subject and the calls since.
    pub(super) answer: fn(&DemoContext, about: &str) -> Reply,
    /// One line for the list of possible requests, if these tools allow it.
    pub(super) offer: fn(&[ToolSpec], Language) -> Option<String>,
}

/// The first intent that understands the request answers it; more specific intents come first.
pub(super) const INTENTS: &[Intent] = &[
    approval::INTENT,
    ask_question::INTENT,
    run_command::INTENT,
    running_command::INTENT,
    list_files::INTENT,
    read_file::INTENT,
    search_files::INTENT,
    find_files::INTENT,
    summarise_file::INTENT,
    summarise_folder::INTENT,
    edit_file::INTENT,
    create_file::INTENT,
    delegate::INTENT,
    plan::INTENT,
    clock::INTENT,
    connect::INTENT,
    capabilities::INTENT,
    identity::INTENT,
    thanks::INTENT,
    greeting::INTENT,
];

pub(super) fn answer(context: &DemoContext) -> Reply {
    match understood(&context.utterance) {
        Some((intent, about)) => (intent.answer)(context, &about),
        None => fallback::answer(context),
    }
}

fn understood(utterance: &Utterance) -> Option<(&'static Intent, String)> {
    const LONGEST: usize = 150;
    if utterance.all().len() > LONGEST {
        return None;
    }
    INTENTS.iter().find_map(|intent| Some((intent, (intent.understand)(utterance)?)))
}

/// The list of requests that work with these tools.
pub(super) fn offers(tools: &[ToolSpec], language: Language) -> String {
    let lines = INTENTS.iter().filter_map(|intent| (intent.offer)(tools, language));
    lines.map(|line| format!("- {line}\n")).collect()
}

#[cfg(test)]
pub(super) fn name_of(text: &str) -> Option<(&'static str, String)> {
    understood(&Utterance::new(text)).map(|(intent, about)| (intent.name, about))
}
