//! "List the files": lists a folder with the tool for it.

use protocol::ToolSpec;

use super::{
    super::{
        context::DemoContext,
        files::{FileRequest, FileTools, entries, path_input},
        intent::Intent,
        reply::Reply,
        utterance::Language,
    },
    file_steps,
};

pub(in super::super) const INTENT: Intent = Intent {
    name: "list-files",
    understand: |utterance| {
        file_steps::understood(utterance, |request| match request {
            FileRequest::List { folder } => Some(folder.clone()),
            _ => None,
        })
    },
    answer,
    offer,
};

const MOST_SHOWN: usize = 80;

fn answer(context: &DemoContext, folder: &str) -> Reply {
    let language = file_steps::request(context).map_or(context.language, |(_, language)| language);
    let shown = file_steps::shown(folder, language);
    let Some(tool) = FileTools(&context.tools).lister() else {
        return file_steps::no_tool("lists folders", "列出文件夹", language);
    };
    let what = language.pick(format!("list {shown}"), format!("列出{shown}"));
    let Some(made) = context.calls.last() else {
        let thought = language.pick(
            format!("The person wants to see what is in {shown}; a tool lists folders."),
            format!("用户想看{shown}里有什么，有一个工具可以列出文件夹。"),
        );
        return file_steps::call(tool, thought, path_input(tool, folder, Some((1, 200)), &what));
    };
    let result = match file_steps::result(made, &what, language) {
        Ok(result) => result,
        Err(trouble) => return Reply::Say(trouble),
    };
    let entries = entries(result);
    if entries.is_empty() {
        return Reply::Say(language.pick(format!("{shown} is empty."), format!("{shown}是空的。")));
    }
    let opening = language.pick(format!("This is in {shown}:"), format!("{shown}里有："));
    let mut text = format!("{opening}\n\n{}", file_steps::block(&entries, MOST_SHOWN));
    if let Some(more) = entries.len().checked_sub(MOST_SHOWN).filter(|more| *more > 0) {
        text.push_str(
            &language.pick(format!("\n{more} more are not shown."), format!("\n还有 {more} 项没有列出。")),
        );
    }
    Reply::Say(text.trim_end().to_owned())
}

fn offer(tools: &[ToolSpec], language: Language) -> Option<String> {
    FileTools(tools).lister()?;
    Some(
        language
            .pick("list a folder: \"list the files\"".to_owned(), "列出文件夹：“列出所有文件”".to_owned()),
    )
}
