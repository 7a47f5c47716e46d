//! What people say about a command that runs on: that it should stop, or that they want to see its output.

use super::super::{
    super::{
        terms::ClosedRule,
        utterance::{Language, Unit},
    },
    request::CommandRequest,
};

/// The request about a command that runs, and its language.
pub(in super::super) fn about_running(units: &[Unit]) -> Option<(CommandRequest, Language)> {
    if STOP_ENGLISH.accepts(units) {
        Some((CommandRequest::Stop, Language::English))
    } else if STOP_CHINESE.accepts(units) {
        Some((CommandRequest::Stop, Language::Chinese))
    } else if LOOK_ENGLISH.accepts(units) {
        Some((CommandRequest::Look, Language::English))
    } else if LOOK_CHINESE.accepts(units) {
        Some((CommandRequest::Look, Language::Chinese))
    } else {
        None
    }
}

const STOP_ENGLISH: ClosedRule = ClosedRule {
    needs: &[
        "
        stop, end, terminate, kill, interrupt, shut down, quit, abort, shut it down, turn it off, press ctrl c, press control c, hit ctrl c, hit control c, send ctrl c, send control c, type ctrl c, ^ ctrl c $, use ctrl c, turn off, switch off, press ctrlc",
        "it, that, this, the server, the web server, the command, the process, the program, the job, the background job, the background command, the running command, the background process, that command, this command, that server, the dev server, my server, the watcher, the running process, your server, your command, ctrl c, control c, ctrlc, the key",
    ],
    knows: "now, right now, in the terminal, to it, running, from running, there, to the server, to stop it, to stop the server, to the command, ctrl, control, c, in the background, with, key, and, down, off, in it",
    never: "how do i stop, why did, do not, never, that is, is that, stop that song, is the end, the end of",
};
const STOP_CHINESE: ClosedRule = ClosedRule {
    needs: &["
        停掉它, 停止它, 停下它, 把它停掉, 把它停了, 把它停下来, 把它关掉, 关掉它, 结束它, 终止它, 中断它, 停掉服务器, 停止服务器, 关掉服务器, 关闭服务器, 把服务器停掉, 把服务器关掉, 把服务器停了, 停止运行, 停掉命令, 停止命令, 停止这个命令, 停掉这个命令,
        结束这个命令, 终止命令, 终止这个命令, 把命令停掉, 结束进程, 停掉进程, 把进程停掉, 按 ctrl c, 按下 ctrl c, 按一下 ctrl c, 发送 ctrl c, 停掉后台命令, 停止后台命令, 结束后台命令, 停止后台任务, 停掉后台任务, ^ 停掉 $, 停掉那个命令, 停止那个命令"],
    knows: "现在, 那个, 这个, 后台, 的, 来, 它, 停止, 停掉, 结束, 里, 在终端, 键, 组合键, 立刻, 马上",
    never: "不要, 别, 怎么, 为什么",
};
const LOOK_ENGLISH: ClosedRule = ClosedRule {
    needs: &["
        is it still running, is the server still running, is the command still running, is that still running, does it still run, what does it say now, what does it print now, what has it printed, what did it print, show me its output, show its output, its output, what is its output,
        output of the server, output of the command, what does the server say, what does the server print, check on the server, check on the command, check on it, is the server running, new output, more output, what is the server doing, what is it printing, is it running"],
    knows: "now, still, there, any, the, show, print, is, what, so far, of, me, running command, background job, latest, is there, newest, see, again, already",
    never: "",
};
const LOOK_CHINESE: ClosedRule = ClosedRule {
    needs: &["
        它还在运行, 它还在跑, 服务器还在运行, 服务器还在跑, 命令还在运行, 命令还在跑, 还在运行吗, 还在跑吗, 它的输出, 服务器的输出, 命令的输出, 它输出了什么, 服务器输出了什么, 命令输出了什么, 有新的输出, 有没有新的输出, 看看输出, 查看输出, 最新的输出"],
    knows: "现在, 看一下, 查看, 显示, 那个, 这个, 后台, 的, 是, 什么, 有, 没有, 新, 吗, 还在, 最新, 进程",
    never: "",
};
