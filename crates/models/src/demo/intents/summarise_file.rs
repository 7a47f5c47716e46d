//! "Summarise notes.md": reads a file and describes it mechanically.

use protocol::ToolSpec;

use super::{
    super::{
        context::DemoContext,
        files::{FileRequest, FileTools, digest, path_input, read_text},
        intent::Intent,
        reply::Reply,
        utterance::Language,
    },
    file_steps,
};

pub(in super::super) const INTENT: Intent = Intent {
    name: "summarise-file",
    understand: |utterance| {
        file_steps::understood(utterance, |request| match request {
            FileRequest::Summarise { path } => Some(path.clone()),
            _ => None,
        })
    },
    answer,
    offer,
};

fn answer(context: &DemoContext, path: &str) -> Reply {
    let language = file_steps::request(context).map_or(context.language, |(_, language)| language);
    let Some(tool) = FileTools(&context.tools).reader() else {
        return file_steps::no_tool("reads files", "读取文件", language);
    };
    let what = language.pick(format!("read `{path}`"), format!("读取 `{path}`"));
    let Some(made) = context.calls.last() else {
        let thought = language.pick(
            format!("To summarise {path} I must read it first."),
            format!("要总结 {path}，我得先读取它。"),
        );
        return file_steps::call(tool, thought, path_input(tool, path, None, &what));
    };
    match file_steps::result(made, &what, language) {
        Ok(result) => {
            let read = read_text(result);
            let text = digest(path, &read.lines, !read.more, language);
            Reply::Say(format!("{text}\n{}", honest(language)))
        }
        Err(trouble) => Reply::Say(trouble),
    }
}

/// What a mechanical summary is not.
pub(super) fn honest(language: Language) -> &'static str {
    language.pick(
        "As a demo model I only count and quote: I do not understand the text. A real model would.",
        "我只是演示模型，只会计数和摘录，并不理解内容；真正的模型可以。",
    )
}

fn offer(tools: &[ToolSpec], language: Language) -> Option<String> {
    FileTools(tools).reader()?;
    Some(language.pick(
        "summarise a file: \"summarise README.md\"".to_owned(),
        "总结文件：“总结 README.md”".to_owned(),
    ))
}
