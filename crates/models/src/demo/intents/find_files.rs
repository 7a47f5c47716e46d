//! "Find all Markdown files", "where is notes.txt": finds files by their names.

use protocol::ToolSpec;

use super::{
    super::{
        context::DemoContext,
        files::{FileRequest, FileTools, entries, pattern_input},
        intent::Intent,
        reply::Reply,
        utterance::Language,
    },
    file_steps,
};

pub(in super::super) const INTENT: Intent = Intent {
    name: "find-files",
    understand: |utterance| {
        file_steps::understood(utterance, |request| match request {
            FileRequest::Find { pattern } => Some(pattern.clone()),
            _ => None,
        })
    },
    answer,
    offer,
};

const MOST_SHOWN: usize = 60;

fn answer(context: &DemoContext, pattern: &str) -> Reply {
    let language = file_steps::request(context).map_or(context.language, |(_, language)| language);
    let Some(tool) = FileTools(&context.tools).finder() else {
        return file_steps::no_tool("finds files by name", "按文件名查找文件", language);
    };
    let what = language.pick(format!("find `{pattern}`"), format!("查找 `{pattern}`"));
    let Some(made) = context.calls.last() else {
        let thought = language.pick(
            format!("The person is looking for files; I search for names that match {pattern}."),
            format!("用户在找文件，我查找匹配 {pattern} 的文件名。"),
        );
        return file_steps::call(tool, thought, pattern_input(tool, pattern, "", &what));
    };
    let found = match file_steps::result(made, &what, language) {
        Ok(result) => entries(result),
        Err(trouble) => return Reply::Say(trouble),
    };
    if found.is_empty() {
        return Reply::Say(
            language.pick(format!("No file matches `{pattern}`."), format!("没有匹配 `{pattern}` 的文件。")),
        );
    }
    let opening = language.pick(format!("These match `{pattern}`:"), format!("匹配 `{pattern}` 的有："));
    let mut text = format!("{opening}\n\n{}", file_steps::block(&found, MOST_SHOWN));
    if let Some(more) = found.len().checked_sub(MOST_SHOWN).filter(|more| *more > 0) {
        text.push_str(
            &language.pick(format!("\n{more} more are not shown."), format!("\n还有 {more} 个没有列出。")),
        );
    }
    Reply::Say(text.trim_end().to_owned())
}

fn offer(tools: &[ToolSpec], language: Language) -> Option<String> {
    FileTools(tools).finder()?;
    Some(language.pick(
        "find files by name: \"find all Markdown files\"".to_owned(),
        "按名称查找文件：“找出所有 markdown 文件”".to_owned(),
    ))
}
