//! "Stop it", "is it still running?": ends a command that was started in the background, or shows its newest output.

use protocol::ToolSpec;

use super::{
    super::{
        commands::{CommandRequest, CommandTools, RunningCommand, told, type_input},
        context::DemoContext,
        intent::Intent,
        markdown::code,
        outcome::split_edit_note,
        reply::Reply,
        utterance::{Language, Utterance},
    },
    file_steps, run_command,
};

pub(in super::super) const INTENT: Intent = Intent { name: "running-command", understand, answer, offer };

const CTRL_C: &str = "\u{3}";
/// How long a command may take to end after Ctrl-C, and how long to wait for new output.
const WAIT_MS: u64 = 3_000;

fn understand(utterance: &Utterance) -> Option<String> {
    matches!(CommandRequest::of(utterance)?.0, CommandRequest::Stop | CommandRequest::Look).then(String::new)
}

fn answer(context: &DemoContext, _about: &str) -> Reply {
    let (request, language) =
        CommandRequest::of(&context.utterance).unwrap_or((CommandRequest::Look, context.language));
    let tools = CommandTools(&context.tools);
    let (Some(starter), Some(typist)) = (tools.starter(), tools.typist()) else {
        return file_steps::no_tool("keeps a command running", "让命令持续运行", language);
    };
    let Some(command) = RunningCommand::newest(&context.earlier, starter, typist) else {
        return Reply::Say(language.pick(
            "No command that I started in this chat is running, so I have done nothing.".to_owned(),
            "在这个对话里，没有我启动的命令还在运行，所以我什么都没有做。".to_owned(),
        ));
    };
    let shown = code(&command.line);
    let stops = request == CommandRequest::Stop;
    let Some(made) = context.calls.last() else {
        return type_into(typist, &command, stops, language);
    };
    let what = if stops {
        language.pick(format!("stop {shown}"), format!("停止 {shown}"))
    } else {
        language.pick(format!("look at {shown}"), format!("查看 {shown}"))
    };
    Reply::Say(match &made.text {
        Some(text) => {
            let told = told(&command.line, split_edit_note(text).1, stops, language);
            let pressed = language.pick("I pressed Ctrl-C. ", "我按了 Ctrl-C。");
            if stops { format!("{pressed}{told}") } else { told }
        }
        None => run_command::trouble(&made.outcome, &what, language),
    })
}

/// Presses Ctrl-C, or only waits for new output.
fn type_into(typist: &ToolSpec, command: &RunningCommand, stops: bool, language: Language) -> Reply {
    let RunningCommand { session, line } = command;
    let shown = code(line);
    let (keys, thought, purpose) = if stops {
        let thought = language.pick(
            format!("The person wants {shown} to stop; I press Ctrl-C."),
            format!("用户想停掉 {shown}，我来按 Ctrl-C。"),
        );
        (Some(CTRL_C), thought, language.pick(format!("Stop {line}"), format!("停止 {line}")))
    } else {
        let thought = language.pick(
            format!("The person wants to know about {shown}; I look at its output."),
            format!("用户想了解 {shown}，我看看它的输出。"),
        );
        (None, thought, language.pick(format!("Look at {line}"), format!("查看 {line} 的输出")))
    };
    file_steps::call(typist, thought, type_input(typist, session, keys, WAIT_MS, &purpose))
}

fn offer(tools: &[ToolSpec], language: Language) -> Option<String> {
    let tools = CommandTools(tools);
    tools.starter().and(tools.typist())?;
    Some(language.pick(
        "keep a command running: \"start a web server in the background\", then \"stop it\"".to_owned(),
        "让命令一直运行：“在后台启动一个网页服务器”，然后“停掉它”".to_owned(),
    ))
}
