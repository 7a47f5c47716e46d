//! What the answers about files have in common: the request, texts of results, and sentences about errors.

use protocol::ToolSpec;

pub(super) use super::super::markdown::block;
use super::super::{
    context::{DemoContext, MadeCall},
    files::FileRequest,
    outcome::{Outcome, split_edit_note},
    reply::Reply,
    utterance::{Language, Utterance},
};

/// The subject of a request about files, for the table of intents: the path or the pattern.
pub(super) fn understood(utterance: &Utterance, is: fn(&FileRequest) -> Option<String>) -> Option<String> {
    utterance.file_request().and_then(|(request, _)| is(request))
}

/// The request again, when its intent answers.
pub(super) fn request(context: &DemoContext) -> Option<(FileRequest, Language)> {
    context.utterance.file_request().cloned()
}

/// A path as it is shown: the work directory has no name of its own.
pub(super) fn shown(path: &str, language: Language) -> String {
    match path {
        "" | "." | "./" => language.pick("the work directory".to_owned(), "工作目录".to_owned()),
        path => format!("`{path}`"),
    }
}

/// The result of a call, or a sentence about why there is none. `what` says what was to be done: "read `a.txt`".
pub(super) fn result<'c>(call: &'c MadeCall, what: &str, language: Language) -> Result<&'c str, String> {
    match (&call.text, &call.outcome) {
        (Some(text), _) => Ok(split_edit_note(text).1),
        (None, Outcome::Denied { reason }) => Err(denied(what, reason.as_deref(), language)),
        (None, Outcome::Failed(message)) => Err(failed(what, message, language)),
        (None, Outcome::Done(_) | Outcome::Missing) => Err(language.pick(
            format!("I wanted to {what}, but the tool gave no result."),
            format!("我想{what}，但工具没有返回结果。"),
        )),
    }
}

/// Whether the person changed the input of a call before it ran.
pub(super) fn was_edited(call: &MadeCall) -> bool {
    call.text.as_ref().is_some_and(|text| split_edit_note(text).0.is_some())
}

pub(super) fn denied(what: &str, reason: Option<&str>, language: Language) -> String {
    let mut text = language.pick(
        format!("You did not allow it, so I did not {what}. Nothing was changed."),
        format!("你没有允许，所以我没有{what}。什么都没有改动。"),
    );
    if let Some(reason) = reason {
        text.push_str(&language.pick(format!(" Your reason: {reason}"), format!("你的理由是：{reason}")));
    }
    text
}

fn failed(what: &str, message: &str, language: Language) -> String {
    let (code, detail) = message.split_once(": ").unwrap_or(("", message));
    let why = match code {
        "not_found" => language.pick("there is no such file or folder", "没有这个文件或文件夹"),
        "access_denied" | "invalid_path" => {
            language.pick("that place is not open to me", "那个位置不允许访问")
        }
        "conflict" => language.pick(
            "the file is not in the state that the change expects",
            "文件的状态与这次改动所期望的不一致",
        ),
        "too_large" => language.pick("it is too large", "它太大了"),
        "unsupported_media_type" => language.pick("it is not a text file", "它不是文本文件"),
        _ => {
            return language.pick(
                format!("I could not {what}. The tool reported an error: {message}"),
                format!("我没能{what}。工具报告了一个错误：{message}"),
            );
        }
    };
    language.pick(
        format!("I could not {what}: {why}. The tool said: {detail}"),
        format!("我没能{what}：{why}。工具的说明是：{detail}"),
    )
}

/// The answer when no tool fits. `ability` completes "None of the tools I was given …".
pub(super) fn no_tool(english: &str, chinese: &str, language: Language) -> Reply {
    Reply::Say(language.pick(
        format!("None of the tools I was given {english}, so I have done nothing."),
        format!("给我的工具里没有能{chinese}的，所以我什么都没有做。"),
    ))
}

pub(super) fn call(tool: &ToolSpec, thought: String, input: serde_json::Value) -> Reply {
    Reply::Call { thought, tool: tool.name.clone(), input }
}
