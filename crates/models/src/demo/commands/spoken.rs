//! The words around a command: what a request begins with ("could you run …") and what may follow it ("… in the terminal,
//! please"). A request counts only if all of its words are known, so that a sentence about a command runs nothing.

use super::super::{
    terms::{covered, has_any, starts_any, trim_start},
    utterance::{Language, Unit, Utterance},
};

/// How a request begins, up to the command.
pub(super) struct Opening<'u> {
    pub(super) language: Language,
    pub(super) kind: Kind,
    /// It says that it is to run on, in the background.
    pub(super) background: bool,
    /// "Start", which people say of what runs on.
    starts: bool,
    /// It points at something: "run this".
    pub(super) points: bool,
    /// It says that a command or a terminal is meant.
    pub(super) says_command: bool,
    polite: bool,
    /// What follows: the command, when it is not quoted.
    pub(super) rest: &'u [Unit],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Run,
    /// The verb follows the command: "keep … running", 把……跑一下.
    VerbBehind,
}

pub(super) struct Tail {
    pub(super) background: bool,
    pub(super) says_terminal: bool,
}

const TERMINAL: &str = "
    terminal, shell, bash, command line, console, command, shell command, 终端, 命令行, 控制台, 命令";
const BACKGROUND: &str = "
    in the background, as a background job, as a background process, background, and keep it running, keep it running, and keep running, keep running,
    and leave it running, leave it running, and let it run, let it run, and let it run on, let it run on, and let it keep running, and do not stop it, until i stop it, until i say stop,
    在后台, 后台, 到后台, 放到后台, 放在后台, 并保持运行, 保持运行, 一直运行, 让它一直运行, 并让它一直运行, 让它保持运行, 并让它保持运行, 不要停, 别停, 让它继续运行,
    持续运行, 让它在后台运行, 并让它在后台运行, 一直跑着, 让它跑着, 让它一直跑着, 不要停止, 一直开着, 让它一直开着";

const ENGLISH_LEAD: &str = "
    please, kindly, can you, could you, would you, will you, hey, hi, hello, there, good morning, good afternoon, good evening, excuse me, ok, so, now, just, then, also, and, first, next, once more, again, quickly,
    go ahead and, i want you to, i would like you to, i would love you to, i need you to, let us, thanks, concertino, demo, assistant, be so kind and, be so kind as to, would you be so kind and, would you be so kind as to,
    open a terminal and, open the terminal and, use the terminal to, use a terminal to, use the shell to, use a shell to, use your shell to, use the terminal and,
    in the terminal, in a terminal, in the shell, in a shell, in bash, on the command line, in the console, in the background, as a background job";
const ENGLISH_RUN: &str = "
    run, execute, invoke, exec, run me, do a, try to run, would you mind running, do you mind running, try running, mind running, would you mind executing, try executing";
const ENGLISH_START: &str =
    "start, launch, start up, fire up, spin up, would you mind starting, try starting";
const ENGLISH_KEEP: &str = "keep, leave, let";
const ENGLISH_COMMAND: &str = "
    the command, this command, the shell command, the terminal command, the following command, this shell command, the following shell command, this line, the following line, command, the following, this,
    for me, once, quickly, just, a quick, in the terminal, in a terminal, in the shell, in the background, as a background job";
const ENGLISH_AFTER: &str = "
    in the terminal, in a terminal, in my terminal, in your terminal, in the shell, in a shell, in bash, in the command line, on the command line, in the console, command, the command,
    here, in this folder, in the work directory, in the working directory, in this directory, in the current directory, in the current folder, in this project, in the project,
    please, for me, for us, thanks, thank you, thank you very much, now, right now, once, again, once more, quickly, ok, if you can, if possible, would you, could you, will you, can you, kindly,
    and show me the output, and show the output, and show me the result, and show the result, and show me what it prints, and show me what it says, and show me what happens,
    and tell me the result, and tell me the output, and tell me what it says, and tell me what it prints, and tell me what happens, and tell me the exit code, and give me the output, and give me the result,
    and report the result, and report back, and print the output, and tell me if they pass, and tell me whether they pass, and tell me if it works, and show me the results, and tell me the results";

const CHINESE_LEAD: &str = "
    请, 请你, 麻烦, 麻烦你, 劳驾, 能不能, 能否, 可不可以, 可以, 能, 可否, 你, 你能, 帮我, 帮忙, 帮, 帮我们, 替我, 为我, 给我, 我想让你, 我希望你, 我要你, 那, 那么, 你好, 嗨, 好, 好的, 现在, 快, 先, 再,
    赶紧, 顺便, 然后, 接着, 一下, 来, 直接, 去, 在终端里, 在终端, 在终端中, 在终端上, 在命令行里, 在命令行, 在命令行中, 在 shell 里, 在 shell 中, 在控制台, 用终端, 用命令行, 打开终端, 打开终端并, 在后台, 后台,
    在这个文件夹里, 在当前目录, 在当前目录下, 在工作目录里, 在这里, 在这个目录下, 在项目里";
const CHINESE_RUN: &str = "
    运行, 执行, 跑, 跑一下, 运行一下, 执行一下, 跑一遍, 跑一跑, 跑跑, 运行一遍, 执行一遍, 试着运行, 试着执行";
const CHINESE_START: &str = "启动, 启动一下, 开启, 开一个, 起一个, 启动一个";
const CHINESE_KEEP: &str = "把, 将, 让, 保持";
const CHINESE_COMMAND: &str = "
    命令, 这个命令, 这条命令, 下面的命令, 下面这条命令, 以下命令, 如下命令, 下面这行, 这一行, 这行, 一条命令, 终端命令, 一下, 下, 这个, 在后台";
const CHINESE_AFTER: &str = "
    命令, 这个命令, 这条命令, 这行命令, 一下, 下, 吧, 呢, 啊, 呀, 好吗, 好不好, 可以吗, 行吗, 谢谢, 谢谢你, 多谢, 拜托, 拜托了, 看看, 看一下, 看看结果, 看看输出, 看下结果, 给我看, 给我看看, 给我看结果,
    告诉我结果, 并告诉我结果, 并告诉我输出, 然后告诉我结果, 把结果告诉我, 并把结果告诉我, 把输出给我看, 把结果给我看, 显示结果, 显示输出, 并显示结果, 并显示输出, 在终端里, 在终端, 在终端中, 在命令行里, 告诉我是否通过, 看看能不能通过, 看能不能通过, 看看是否通过, 再";

/// Reads the beginning of a request; `None` if it does not ask to run something.
pub(super) fn opening(units: &[Unit]) -> Option<Opening<'_>> {
    english_opening(units).or_else(|| chinese_opening(units))
}

fn english_opening(units: &[Unit]) -> Option<Opening<'_>> {
    let core = trim_start(units, ENGLISH_LEAD);
    let run = starts_any(core, ENGLISH_RUN).map(|length| (length, Kind::Run, false));
    let start = || starts_any(core, ENGLISH_START).map(|length| (length, Kind::Run, true));
    let keep = || starts_any(core, ENGLISH_KEEP).map(|length| (length, Kind::VerbBehind, false));
    let found = run.or_else(start).or_else(keep)?;
    Some(finish(units, core, found, Language::English, ENGLISH_COMMAND))
}

fn chinese_opening(units: &[Unit]) -> Option<Opening<'_>> {
    let core = trim_start(units, CHINESE_LEAD);
    let run = starts_any(core, CHINESE_RUN).map(|length| (length, Kind::Run, false));
    let start = || starts_any(core, CHINESE_START).map(|length| (length, Kind::Run, true));
    let keep = || starts_any(core, CHINESE_KEEP).map(|length| (length, Kind::VerbBehind, false));
    let found = run.or_else(start).or_else(keep)?;
    Some(finish(units, core, found, Language::Chinese, CHINESE_COMMAND))
}

fn finish<'u>(
    units: &'u [Unit],
    core: &'u [Unit],
    (verb, kind, starts): (usize, Kind, bool),
    language: Language,
    command: &str,
) -> Opening<'u> {
    let rest = trim_start(core.get(verb..).unwrap_or_default(), command);
    let read = units.get(..units.len() - rest.len()).unwrap_or_default();
    let points = core.len() - verb > rest.len();
    Opening {
        language,
        kind,
        background: has_any(read, BACKGROUND),
        starts,
        points,
        says_command: has_any(read, TERMINAL),
        polite: core.len() < units.len(),
        rest,
    }
}

impl Opening<'_> {
    /// Whether the command may run on while the chat goes on.
    pub(super) fn runs_on(&self, tail: &Tail) -> bool {
        self.starts || self.background || tail.background
    }

    /// Reads the text behind the command; `None` if there is a word or a sign in it that may belong to the command.
    pub(super) fn tail_of(&self, text: &str) -> Option<Tail> {
        let is_sentence = |word: &str| {
            word.contains(char::is_alphanumeric) || matches!(word, "!" | "?" | "." | ",") || !word.is_ascii()
        };
        if text.contains(|c: char| "|&<>$`\\*~=/@^+%#".contains(c))
            || !text.split_whitespace().all(is_sentence)
        {
            return None;
        }
        self.tail(Utterance::new(text).all())
    }

    /// The same for units.
    pub(super) fn tail(&self, units: &[Unit]) -> Option<Tail> {
        // 能运行……吗 asks for it; 运行……吗 may be a question of the person to themselves.
        let question = if self.polite { "吗" } else { "" };
        let verbs = match (self.kind, self.language) {
            (Kind::Run, _) => "",
            (Kind::VerbBehind, Language::English) => "running, run",
            (Kind::VerbBehind, Language::Chinese) => CHINESE_RUN,
        };
        let known = covered(units, &[ENGLISH_AFTER, CHINESE_AFTER, BACKGROUND, question, verbs]);
        let verb = self.kind == Kind::Run || has_any(units, verbs);
        let keeps = self.kind == Kind::VerbBehind && self.language == Language::English;
        (known && verb).then(|| Tail {
            background: keeps || has_any(units, BACKGROUND),
            says_terminal: has_any(units, TERMINAL),
        })
    }
}
