//! What a model is sent: the prompt and the messages of the active branch.

pub(crate) mod cache;
pub(crate) mod delegation;
pub(crate) mod history;
pub(crate) mod prompt;
