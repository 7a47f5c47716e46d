//! The patterns of Chinese requests about files.

mod changes;
mod reading;
mod searching;
mod summaries;

use super::request::Rule;

const INSIDE: &str = "里, 里面, 下, 下面, 中, 内, 里边, 当中, 的, 里头, 内部, 之中";
const ALL: &str = "所有, 全部, 的, 都, 一共, 所有的, 全部的, 每个";

/// The first rule that fits is taken: changes come first, because their texts may look like other requests.
pub(super) const RULES: &[&[Rule]] = &[changes::RULES, summaries::RULES, searching::RULES, reading::RULES];
