//! "Read notes.txt": shows the text of a file.

use protocol::ToolSpec;

use super::{
    super::{
        context::DemoContext,
        files::{FileRequest, FileTools, path_input, read_text},
        intent::Intent,
        reply::Reply,
        utterance::Language,
    },
    file_steps,
};

pub(in super::super) const INTENT: Intent = Intent {
    name: "read-file",
    understand: |utterance| {
        file_steps::understood(utterance, |request| match request {
            FileRequest::Read { path, .. } => Some(path.clone()),
            _ => None,
        })
    },
    answer,
    offer,
};

const MOST_SHOWN: usize = 60;

fn answer(context: &DemoContext, path: &str) -> Reply {
    let (lines, language) = match file_steps::request(context) {
        Some((FileRequest::Read { lines, .. }, language)) => (lines, language),
        _ => (None, context.language),
    };
    let Some(tool) = FileTools(&context.tools).reader() else {
        return file_steps::no_tool("reads files", "读取文件", language);
    };
    let what = language.pick(format!("read `{path}`"), format!("读取 `{path}`"));
    let Some(made) = context.calls.last() else {
        let thought = language.pick(
            format!("The person wants to know what is in {path}; I read it."),
            format!("用户想知道 {path} 里有什么，我来读取。"),
        );
        return file_steps::call(tool, thought, path_input(tool, path, lines, &what));
    };
    let read = match file_steps::result(made, &what, language) {
        Ok(result) => read_text(result),
        Err(trouble) => return Reply::Say(trouble),
    };
    if read.lines.is_empty() {
        return Reply::Say(language.pick(format!("`{path}` is empty."), format!("`{path}` 是空的。")));
    }
    let shown = read.lines.len().min(MOST_SHOWN);
    let (first, last) = (read.first, read.first + shown - 1);
    let whole = first == 1 && shown == read.lines.len() && !read.more;
    let opening = if whole {
        language.pick(format!("This is `{path}`:"), format!("这是 `{path}` 的内容："))
    } else {
        language.pick(
            format!("These are lines {first} to {last} of `{path}`; there may be more:"),
            format!("这是 `{path}` 的第 {first} 到 {last} 行，可能还有更多："),
        )
    };
    Reply::Say(format!("{opening}\n\n{}", file_steps::block(&read.lines, MOST_SHOWN)).trim_end().to_owned())
}

fn offer(tools: &[ToolSpec], language: Language) -> Option<String> {
    FileTools(tools).reader()?;
    Some(
        language
            .pick("read a file: \"read notes.txt\"".to_owned(), "读取文件：“读一下 notes.txt”".to_owned()),
    )
}
