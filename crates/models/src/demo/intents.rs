//! One file per request the demo model understands, and `fallback` for the rest. The table is in `intent.rs`.

pub(super) mod approval;
mod approval_chinese;
mod approval_english;
pub(super) mod ask_question;
pub(super) mod capabilities;
pub(super) mod clock;
pub(super) mod connect;
pub(super) mod create_file;
pub(super) mod delegate;
pub(super) mod edit_file;
pub(super) mod fallback;
mod file_steps;
pub(super) mod find_files;
pub(super) mod greeting;
pub(super) mod identity;
pub(super) mod list_files;
pub(super) mod plan;
mod plan_request;
mod plan_topics;
pub(super) mod read_file;
pub(super) mod run_command;
pub(super) mod running_command;
pub(super) mod search_files;
pub(super) mod summarise_file;
pub(super) mod summarise_folder;
pub(super) mod thanks;

use super::{outcome::Outcome, utterance::Language};

/// The answer after a call without a usable result; `None` if it has one.
fn trouble(outcome: &Outcome, language: Language) -> Option<String> {
    match outcome {
        Outcome::Done(_) => None,
        Outcome::Failed(message) => Some(language.pick(
            format!("The tool reported an error: {message}"),
            format!("工具报告了一个错误：{message}"),
        )),
        Outcome::Denied { reason } => Some(match reason {
            Some(reason) => language.pick(
                format!("The call was denied, so nothing was done. Reason given: {reason}"),
                format!("这次调用被拒绝了，所以什么都没有做。理由是：{reason}"),
            ),
            None => language.pick(
                "The call was denied, so nothing was done.".to_owned(),
                "这次调用被拒绝了，所以什么都没有做。".to_owned(),
            ),
        }),
        Outcome::Missing => Some(language.pick(
            "The tool gave no result, so I cannot say more.".to_owned(),
            "工具没有返回结果，所以我没法再多说什么。".to_owned(),
        )),
    }
}
