//! Reads a shell line, or the words of a command, and says what it does. Pure: files are reached through
//! [`Surroundings`] only.
//!
//! 1. `text.rs` looks for characters that people do not see.
//! 2. `syntax/parse.rs` reads the part of the shell language whose meaning is certain in `sh` and in bash;
//!    `syntax/grammar.rs` reads the line with the tree-sitter grammar of bash. A line that one of them does not understand, or
//!    in which they see different commands, asks. The grammar then still finds what is worse than asking.
//! 3. `judge.rs` follows the line: pipelines, lists, substitutions, `cd`. Each simple command is judged by the rules of
//!    [`CommandTable`], which are data (`table/*.toml`): what its options and operands mean.
//! 4. The [`Judgement`] of the line is that of its strictest command.
//!
//! The rules are an allow-list: what is not known to only read asks.

mod always;
mod judge;
mod judgement;
mod names;
mod protected_files;
mod surroundings;
mod syntax;
mod table;
mod text;

pub use judge::{judge_argv, judge_line};
pub use judgement::{CommandEffect, JudgedCommand, Judgement};
pub use names::names;
pub use protected_files::{FileGroup, ProtectedFiles, Protection};
pub use surroundings::{PathPlace, Surroundings};
pub use table::{CommandTable, TableError};
pub use text::MAX_LINE_BYTES;
