//! The shell language: the part of it that is understood, and the grammar that checks the understanding.

pub(crate) mod ansi_c;
pub(crate) mod braces;
pub(crate) mod grammar;
pub(crate) mod parse;
pub(crate) mod tree;
pub(crate) mod word;
