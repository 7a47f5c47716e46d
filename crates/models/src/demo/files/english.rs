//! The patterns of English requests about files.

mod changes;
mod reading;
mod searching;
mod summaries;

use super::request::Rule;

const IN: &str = "in, of, inside, under, from, within, at, for, on, there are in, there is in, that are in, are in, is in, you find in, you see in, in the";
const ASKED: &str = "
    tell me, show me, i want to know, i would like to know, do you know, can you tell me, could you tell me, please, and, so, now, just, let me know, i wonder";

/// The first rule that fits is taken: changes come first, because their texts may look like other requests.
pub(super) const RULES: &[&[Rule]] = &[changes::RULES, summaries::RULES, searching::RULES, reading::RULES];
