//! What a model is sent: the prompt and the messages of the active branch, or what stands in for them.

pub(crate) mod cache;
pub(crate) mod command;
pub(crate) mod compaction;
pub(crate) mod conversation;
pub(crate) mod cut;
pub(crate) mod facts;
pub(crate) mod history;
pub(crate) mod preface;
pub(crate) mod prompt;
pub(crate) mod texts;
pub(crate) mod transcript;

#[cfg(test)]
mod standing_prompt_tests;
