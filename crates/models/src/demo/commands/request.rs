//! What a person wants to be done with commands.

use super::{
    super::{
        terms::starts_any,
        utterance::{Language, Utterance},
    },
    line::{self, Words},
    named, quotation,
    spoken::{self, Kind, Opening},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum CommandRequest {
    /// `background`: it may run on while the chat goes on.
    Run { line: String, background: bool },
    /// The tests of the project, whose command depends on its files.
    Tests { background: bool },
    /// Something is to be run, but it is not clear what.
    Unclear,
    /// End the command that runs.
    Stop,
    /// Look at the command that runs.
    Look,
}

/// A longer line is not run: it was hardly written by hand.
const LONGEST: usize = 500;

impl CommandRequest {
    /// The request in a message and the language it was made in. All of the message must be the request: a command in
    /// one of several sentences may be a story about a command.
    pub(in super::super) fn of(utterance: &Utterance) -> Option<(Self, Language)> {
        if utterance.was_cut() {
            return None;
        }
        quoted(utterance.text())
            .or_else(|| unquoted(utterance))
            .or_else(|| named::tests(utterance.all()))
            .or_else(|| named::about_running(utterance.all()))
            .or_else(|| {
                let (line, language) = named::question(utterance.all())?;
                Some((Self::Run { line, background: false }, language))
            })
    }
}

/// "Run `git status`": a command in quotation marks.
fn quoted(text: &str) -> Option<(CommandRequest, Language)> {
    let found = quotation::find(text)?;
    let before = Utterance::new(found.before);
    let opening = spoken::opening(before.all()).filter(|opening| opening.rest.is_empty())?;
    let tail = opening.tail_of(found.after)?;
    let named = found.inner.split_whitespace().next().is_some_and(line::is_program);
    if !(found.ticked || named || opening.says_command || tail.says_terminal) {
        return None;
    }
    let line = found.inner;
    let fits = !line.is_empty() && line.len() <= LONGEST && !line.contains(char::is_control);
    let request = if fits {
        CommandRequest::Run { line: line.to_owned(), background: opening.runs_on(&tail) }
    } else {
        CommandRequest::Unclear
    };
    Some((request, opening.language))
}

/// "Run git status", "run the tests", "start a web server".
fn unquoted(utterance: &Utterance) -> Option<(CommandRequest, Language)> {
    let units = utterance.all();
    let opening = spoken::opening(units).filter(|opening| opening.kind == Kind::Run)?;
    let language = opening.language;
    if let Some(request) = known_object(&opening) {
        return Some((request, language));
    }
    let last = units.get((units.len() - opening.rest.len()).checked_sub(1)?)?;
    let text = utterance.text_after(last).trim_start_matches([':', '：', ' ', '\n']);
    let mut unclear = false;
    for (words, rest) in splits(text) {
        let Some(tail) = opening.tail_of(rest) else { continue };
        match line::read(words) {
            Words::Command => {
                let background = opening.runs_on(&tail);
                return Some((CommandRequest::Run { line: words.to_owned(), background }, language));
            }
            Words::Unclear => unclear = true,
            Words::Other => {}
        }
    }
    let first = text.split(|c: char| c.is_whitespace() || !c.is_ascii()).next().unwrap_or_default();
    unclear |= line::is_unmistakable(first) || (opening.rest.is_empty() && opening.points);
    unclear.then_some((CommandRequest::Unclear, language))
}

/// The text cut in two at every word and at every change to another script, the shortest beginning first.
fn splits(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let places = text.char_indices().filter(|(_, c)| c.is_whitespace() || !c.is_ascii()).map(|(at, _)| at);
    places.chain([text.len()]).filter_map(|at| {
        let (words, rest) = (text.get(..at)?.trim_end(), text.get(at..)?);
        let bare = words.trim_end_matches(['.', ',', '!', '?', ';', ':']);
        // A stop that belongs to a word ends a sentence; `..` alone is an argument.
        let words = if bare.ends_with(|c: char| c.is_ascii_alphanumeric()) { bare } else { words };
        (!words.is_empty()).then_some((words, rest))
    })
}

const TESTS: &str = "
    the tests, tests, all tests, all the tests, the test suite, the unit tests, my tests, our tests, unit tests, the whole test suite, the full test suite, the project tests, the tests of this project, the tests of the project,
    the tests for this project, the tests in this project, every test, the integration tests, the test, the tests in this folder, the test cases,
    测试, 所有测试, 全部测试, 单元测试, 测试用例, 这个项目的测试, 项目的测试, 项目测试, 整个测试, 所有的测试, 我的测试, 测试套件, 所有单元测试, 项目里的测试, 一遍测试, 全部的测试";
const SIMPLE_SERVER: &str = "
    a web server, a simple web server, a local web server, a small web server, a static web server, a static server, a file server, a static file server, an http server, a simple http server, a local http server, a local server, a simple server, a small server, a test server,
    一个网页服务器, 网页服务器, 一个 web 服务器, web 服务器, 一个静态服务器, 静态服务器, 一个本地服务器, 本地服务器, 一个文件服务器, 文件服务器, 一个 http 服务器, http 服务器, 一个简单的服务器, 简单的服务器, 一个简单的网页服务器, 一个测试服务器";
/// Which server is meant is open, but if it is to run on then any will do.
const ANY_SERVER: &str = "a server, some server, 一个服务器, 服务器, 一个服务";
const VAGUE: &str = "
    a command, the command, some command, a shell command, any command, commands, some commands, something, it, this, that, the program, a program, my program, the script, a script, my script, this script, the server, a server, the app, the application,
    the build, the linter, the project, this project, the code, my code, this code, the formatter, the benchmark, the benchmarks, a shell, a terminal, them, these,
    命令, 一个命令, 一条命令, 它, 这个, 那个, 程序, 这个程序, 脚本, 这个脚本, 服务器, 一个服务器, 项目, 这个项目, 代码, 这段代码, 应用, 构建, 点什么, 什么命令";

/// Serves the work directory to this machine only.
const SERVE: &str = "python3 -m http.server 8000 --bind 127.0.0.1";

/// Objects that name no command themselves: the tests, a server, "it".
fn known_object(opening: &Opening<'_>) -> Option<CommandRequest> {
    let found = |terms: &str| {
        let length = starts_any(opening.rest, terms)?;
        opening.tail(opening.rest.get(length..)?)
    };
    if let Some(tail) = found(TESTS) {
        return Some(CommandRequest::Tests { background: opening.background || tail.background });
    }
    let any = found(ANY_SERVER).is_some_and(|tail| opening.background || tail.background);
    if any || found(SIMPLE_SERVER).is_some() {
        return Some(CommandRequest::Run { line: SERVE.to_owned(), background: true });
    }
    found(VAGUE).map(|_| CommandRequest::Unclear)
}
