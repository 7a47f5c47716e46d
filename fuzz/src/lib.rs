//! The properties that hold for every input, shared by the fuzz targets and the tests that replay their corpora.

pub mod answers;
pub mod arguments;
pub mod commands;
pub mod patches;
pub mod planted;
pub mod templates;
