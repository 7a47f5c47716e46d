//! Phrasings of people: at least twenty for each request and language, and similar sentences that ask for something
//! else.

mod approval;
mod ask_question;
mod capabilities;
mod clock;
mod commands;
mod commands_not_run;
mod connect_and_identity;
mod delegate;
mod file_changes;
mod file_reading;
mod file_searching;
mod file_summaries;
mod files;
mod files_random;
mod others;
mod plan;
mod small_talk;

use super::intent::name_of;

#[track_caller]
fn all_mean(intent: &str, phrasings: &[&str]) {
    assert!(phrasings.len() >= 20, "{intent}: only {} phrasings", phrasings.len());
    let wrong: Vec<_> = phrasings
        .iter()
        .map(|text| (text, name_of(text).map(|(name, _)| name)))
        .filter(|(_, name)| *name != Some(intent))
        .collect();
    assert!(wrong.is_empty(), "not understood as {intent}: {wrong:#?}");
}

#[track_caller]
fn none_means_anything(sentences: &[&str]) {
    assert!(sentences.len() >= 30, "only {} sentences", sentences.len());
    let wrong: Vec<_> =
        sentences.iter().map(|text| (text, name_of(text))).filter(|(_, name)| name.is_some()).collect();
    assert!(wrong.is_empty(), "understood but should not be: {wrong:#?}");
}

#[track_caller]
fn about(text: &str, wanted: &str) {
    assert_eq!(name_of(text).map(|(_, about)| about).as_deref(), Some(wanted), "{text}");
}
