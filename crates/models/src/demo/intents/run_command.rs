//! "Run `git status`", "run the tests", "how much disk space is left?": runs a command and tells what it printed. Whether
//! it runs unasked is decided by the server.

use protocol::ToolSpec;

use super::{
    super::{
        commands::{CommandRequest, CommandTools, command_field, command_input, test_line, told},
        context::DemoContext,
        files::{FileTools, entries, path_input},
        intent::Intent,
        markdown::code,
        outcome::{Outcome, split_edit_note},
        reply::Reply,
        utterance::{Language, Utterance},
    },
    file_steps,
};

pub(in super::super) const INTENT: Intent = Intent { name: "run-command", understand, answer, offer };

/// The subject is the command, if one was named.
fn understand(utterance: &Utterance) -> Option<String> {
    match CommandRequest::of(utterance)?.0 {
        CommandRequest::Run { line, .. } => Some(line),
        CommandRequest::Tests { .. } | CommandRequest::Unclear => Some(String::new()),
        CommandRequest::Stop | CommandRequest::Look => None,
    }
}

fn answer(context: &DemoContext, _about: &str) -> Reply {
    let Some((request, language)) = CommandRequest::of(&context.utterance) else {
        return Reply::Say(String::new());
    };
    let tools = CommandTools(&context.tools);
    let background = match request {
        CommandRequest::Run { background, .. } | CommandRequest::Tests { background } => background,
        CommandRequest::Unclear | CommandRequest::Stop | CommandRequest::Look => false,
    };
    let (tool, english, chinese) = if background {
        (tools.starter(), "keeps a command running", "让命令持续运行")
    } else {
        (tools.runner().or_else(|| tools.starter()), "runs commands", "运行命令")
    };
    let Some(tool) = tool else { return file_steps::no_tool(english, chinese, language) };
    let line = match request {
        CommandRequest::Run { line, .. } => Ok(line),
        CommandRequest::Tests { .. } => tests(context, tool, language),
        CommandRequest::Unclear | CommandRequest::Stop | CommandRequest::Look => {
            Err(Reply::Say(unclear(language)))
        }
    };
    match line {
        Ok(line) => run(context, tool, &line, language),
        Err(reply) => reply,
    }
}

/// Runs the line, or tells how it went.
fn run(context: &DemoContext, tool: &ToolSpec, line: &str, language: Language) -> Reply {
    let shown = code(line);
    let Some(made) = context.calls.iter().find(|call| call.tool == tool.name) else {
        let thought = language.pick(
            format!("The person wants me to run {shown}; a tool runs commands."),
            format!("用户想让我运行 {shown}，有一个工具可以运行命令。"),
        );
        let purpose = language.pick(format!("Run {line}"), format!("运行 {line}"));
        return file_steps::call(tool, thought, command_input(tool, line, &purpose));
    };
    let what = language.pick(format!("run {shown}"), format!("运行 {shown}"));
    Reply::Say(match &made.text {
        Some(text) => ran(text, tool, line, language),
        None => trouble(&made.outcome, &what, language),
    })
}

/// What the tool reported, with the line that really ran: the person may have changed it.
fn ran(text: &str, tool: &ToolSpec, line: &str, language: Language) -> String {
    let (edited, report) = split_edit_note(text);
    let Some(input) = edited else { return told(line, report, false, language) };
    let ran = command_field(tool).and_then(|name| input[name].as_str()).unwrap_or(line);
    let note = language.pick("You changed the call before you allowed it. ", "你在允许之前改动了这次调用。");
    format!("{note}{}", told(ran, report, false, language))
}

/// The answer when there is no report. `what` says what was to be done: "run `ls`".
pub(super) fn trouble(outcome: &Outcome, what: &str, language: Language) -> String {
    let refused = match outcome {
        Outcome::Failed(message) => message.strip_prefix("access_denied: "),
        Outcome::Done(_) | Outcome::Denied { .. } | Outcome::Missing => None,
    };
    match (outcome, refused) {
        (_, Some(why)) => language.pick(
            format!("I may not {what}: the server's rules refuse it. {why}"),
            format!("我不能{what}：服务器的规则不允许。{why}"),
        ),
        (Outcome::Denied { reason }, None) => file_steps::denied(what, reason.as_deref(), language),
        (Outcome::Failed(message), None) => language.pick(
            format!("I could not {what}. The tool reported an error: {message}"),
            format!("我没能{what}。工具报告了一个错误：{message}"),
        ),
        (Outcome::Done(_) | Outcome::Missing, None) => language.pick(
            format!("I wanted to {what}, but the tool gave no result, so I cannot say what happened."),
            format!("我想{what}，但工具没有返回结果，所以我不知道发生了什么。"),
        ),
    }
}

/// The line that runs the project's tests: the folder is listed first, because it depends on the files.
fn tests(context: &DemoContext, runner: &ToolSpec, language: Language) -> Result<String, Reply> {
    let Some(lister) = FileTools(&context.tools).lister() else {
        return Err(Reply::Say(unclear(language)));
    };
    let what = language.pick("look at the work directory".to_owned(), "查看工作目录".to_owned());
    let listed = context.calls.iter().find(|call| call.tool == lister.name && call.tool != runner.name);
    let Some(listed) = listed else {
        let thought = language.pick(
            "To run the tests I must know what kind of project this is; I look at its files.".to_owned(),
            "要运行测试，我得先知道这是什么项目，所以先看看有哪些文件。".to_owned(),
        );
        return Err(file_steps::call(lister, thought, path_input(lister, "", Some((1, 200)), &what)));
    };
    let entries = entries(file_steps::result(listed, &what, language).map_err(Reply::Say)?);
    test_line(&entries).map(str::to_owned).ok_or_else(|| {
        Reply::Say(language.pick(
            "I found no file in the work directory that tells me how the tests are run, such as `Cargo.toml` or `package.json`. Name the command in back-ticks, for example: run `make test`.".to_owned(),
            "我在工作目录里没有找到能说明怎样运行测试的文件，例如 `Cargo.toml` 或 `package.json`。请用反引号写出命令，例如：运行 `make test`。".to_owned(),
        ))
    })
}

fn unclear(language: Language) -> String {
    language.pick(
        "I run only what you name exactly, and I have run nothing. Write the command on one line in back-ticks, for example: run `git status`. To keep it running, add \"in the background\".".to_owned(),
        "我只运行你明确写出的命令，现在什么都没有运行。请用反引号在一行里写出命令，例如：运行 `git status`。想让它一直运行，就加上“在后台”。".to_owned(),
    )
}

fn offer(tools: &[ToolSpec], language: Language) -> Option<String> {
    let tools = CommandTools(tools);
    tools.runner().or_else(|| tools.starter())?;
    Some(language.pick(
        "run a command, after you allow it if it does more than read: \"run `git status`\", \"run the tests\", \"how much disk space is left?\"".to_owned(),
        "运行命令，除了只读的命令都要经你允许：“运行 `git status`”、“跑一下测试”、“磁盘还剩多少空间？”".to_owned(),
    ))
}
