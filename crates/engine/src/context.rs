//! What a model is sent: the prompt and the messages of the active branch.

pub(crate) mod cache;
pub(crate) mod delegation;
pub(crate) mod facts;
pub(crate) mod history;
pub(crate) mod preface;
pub(crate) mod prompt;
pub(crate) mod texts;
