//! Which calls run, which a person is asked about, and which are refused. Pure functions over rules, no I/O.
//!
//! A tool says what a call needs ([`Need`]); [`RuleSet::judge`] says what happens to it, and why. In this order:
//!
//! 1. A rule that refuses wins, whatever layer it is in. So does the built-in refusal to write into `.git`.
//! 2. *Sensitive* calls ask every time, in every mode; no rule allows them. These are writes to files that later
//!    commands or tools execute or trust, writes to files that usually hold secrets, and whatever a tool marks so.
//!    Requests for input ask every time as well: nobody but a person can answer them.
//! 3. The strongest layer that has a rule for the call decides: session, workspace, server, built-in. Within a layer
//!    "ask" wins over "allow".
//! 4. The [`ApprovalMode`](protocol::policy::ApprovalMode).
//!
//! A call with several paths gets the strictest verdict of all of them.

mod built_in;
mod check;
mod command;
mod describe;
mod grant;
mod need;
mod pattern;
mod reason;
mod rule_set;

pub use built_in::built_in;
pub use check::{MAX_NOTE_CHARS, MAX_PATTERN_BYTES, MAX_TOOLS, RuleError, check, check_note};
pub use describe::describe;
pub use grant::{COMMAND_TOOLS, READING_TOOLS, WRITING_TOOLS};
pub use need::Need;
pub use rule_set::RuleSet;

#[cfg(test)]
mod command_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod table_tests;
