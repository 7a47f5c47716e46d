//! "Create notes.txt with …": writes a new file. The tool does not overwrite a file that was not read.

use protocol::ToolSpec;

use super::{
    super::{
        context::DemoContext,
        files::{FileRequest, FileTools, write_input},
        intent::Intent,
        reply::Reply,
        utterance::Language,
    },
    file_steps,
};

pub(in super::super) const INTENT: Intent = Intent {
    name: "create-file",
    understand: |utterance| {
        file_steps::understood(utterance, |request| match request {
            FileRequest::Create { path, .. } => Some(path.clone()),
            _ => None,
        })
    },
    answer,
    offer,
};

fn answer(context: &DemoContext, path: &str) -> Reply {
    let (content, language) = match file_steps::request(context) {
        Some((FileRequest::Create { content, .. }, language)) => (content, language),
        _ => (String::new(), context.language),
    };
    let Some(tool) = FileTools(&context.tools).writer() else {
        return file_steps::no_tool("writes files", "写入文件", language);
    };
    let what = language.pick(format!("write `{path}`"), format!("写入 `{path}`"));
    let Some(made) = context.calls.last() else {
        let thought = language.pick(
            format!("The person wants a new file {path}; I write it."),
            format!("用户想要一个新文件 {path}，我来写。"),
        );
        // A text file ends with a line break.
        let end = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
        return file_steps::call(tool, thought, write_input(tool, path, &format!("{content}{end}"), &what));
    };
    Reply::Say(match file_steps::result(made, &what, language) {
        Ok(_) if file_steps::was_edited(made) => language.pick(
            "Done. You changed the call before you allowed it, and it ran as you wrote it.".to_owned(),
            "完成了。你在允许之前改动了这次调用，它按你写的执行了。".to_owned(),
        ),
        Ok(_) if content.is_empty() => language.pick(
            format!("Done: `{path}` is there now, and empty."),
            format!("完成了：`{path}` 已创建，是空的。"),
        ),
        Ok(_) => language.pick(format!("Done: I wrote `{path}`."), format!("完成了：我写好了 `{path}`。")),
        Err(trouble) => trouble,
    })
}

fn offer(tools: &[ToolSpec], language: Language) -> Option<String> {
    FileTools(tools).writer()?;
    Some(language.pick(
        "create a file, after you allow it: \"create todo.txt with buy milk\"".to_owned(),
        "经你允许后创建文件：“新建 todo.txt，内容是买牛奶”".to_owned(),
    ))
}
