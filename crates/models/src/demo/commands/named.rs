//! Questions that a fixed, harmless command answers: which branch, how much disk space, which version. The commands are
//! written here; nothing of the person's text becomes part of them.

use super::{
    super::{
        terms::{ClosedRule, has_any},
        utterance::{Language, Unit},
    },
    request::CommandRequest,
};

mod questions;
mod running;

pub(super) use running::about_running;

/// The line that answers a question, and the language of the question.
pub(super) fn question(units: &[Unit]) -> Option<(String, Language)> {
    let found = questions::QUESTIONS.iter().find_map(|question| {
        let language = if question.english.accepts(units) {
            Language::English
        } else if question.chinese.accepts(units) {
            Language::Chinese
        } else {
            return None;
        };
        Some((question.line.to_owned(), language))
    });
    found.or_else(|| version(units))
}

/// "Do the tests pass?" and other ways to ask for the tests without "run".
pub(super) fn tests(units: &[Unit]) -> Option<(CommandRequest, Language)> {
    let tests = CommandRequest::Tests { background: false };
    if TESTS_ENGLISH.accepts(units) {
        Some((tests, Language::English))
    } else if TESTS_CHINESE.accepts(units) {
        Some((tests, Language::Chinese))
    } else {
        None
    }
}

const TESTS_ENGLISH: ClosedRule = ClosedRule {
    needs: &[
        "do the tests pass, do all tests pass, do all the tests pass, are the tests green, are all tests green, do my tests pass, do our tests pass, do the tests still pass, are the tests passing, check whether the tests pass, check if the tests pass, see if the tests pass, see whether the tests pass",
    ],
    knows: "now, still, here, all, in this project, of this project, in the project",
    never: "",
};
const TESTS_CHINESE: ClosedRule = ClosedRule {
    needs: &["
        测试能通过, 测试通过, 测试都通过, 测试都能通过, 测试能不能通过, 测试是否通过, 测试是不是都通过, 把测试跑一遍, 把测试跑一下, 把测试运行一遍, 把测试运行一下, 把所有测试跑一遍, 把全部测试跑一遍, 把单元测试跑一遍"],
    knows: "现在, 吗, 没有, 所有, 全部, 单元, 项目, 的, 这个, 看看",
    never: "测试通过了 $, 测试都通过了 $, 测试通过 $",
};

/// Programs whose version may be asked for, with the line that prints it.
const VERSIONS: &[(&str, &str)] = &[
    ("git", "git --version"),
    ("node", "node --version"),
    ("nodejs", "node --version"),
    ("npm", "npm --version"),
    ("pnpm", "pnpm --version"),
    ("yarn", "yarn --version"),
    ("python", "python3 --version"),
    ("python3", "python3 --version"),
    ("pip", "pip --version"),
    ("rust", "rustc --version"),
    ("rustc", "rustc --version"),
    ("cargo", "cargo --version"),
    ("go", "go version"),
    ("golang", "go version"),
    ("java", "java -version"),
    ("docker", "docker --version"),
    ("make", "make --version"),
    ("cmake", "cmake --version"),
    ("gcc", "gcc --version"),
    ("clang", "clang --version"),
    ("ruby", "ruby --version"),
    ("perl", "perl --version"),
    ("php", "php --version"),
    ("bash", "bash --version"),
    ("curl", "curl --version"),
    ("deno", "deno --version"),
    ("bun", "bun --version"),
    ("ripgrep", "rg --version"),
    ("rg", "rg --version"),
    ("sqlite3", "sqlite3 --version"),
];

const VERSION_ENGLISH: ClosedRule = ClosedRule {
    needs: &["version, versions, installed"],
    knows: "
        what, which, is, the, of, here, on, this, machine, computer, system, server, do, you, we, i, have, does, use, are, using, running, in, there, a, current, run, got, print, show, check, available, it, your, my, s",
    never: "latest, newest, not installed, i installed, you installed, we installed, ^ we have, ^ i have, ^ you have, ^ there is",
};
const VERSION_CHINESE: ClosedRule = ClosedRule {
    needs: &["版本, 装了, 安装了, 有没有装, 有没有安装, 是否安装, 装没装"],
    knows: "
        的, 是, 什么, 哪个, 多少, 几, 这里, 本机, 这台机器, 这台电脑, 电脑, 上, 装, 安装, 当前, 查一下, 查看, 看一下, 用, 用的, 显示, 有, 没有, 系统, 里, 机器, 版本号, 号, 在, 已经, 是不是, 这, 台, 服务器",
    never: "我装了 $, 我安装了 $",
};

fn version(units: &[Unit]) -> Option<(String, Language)> {
    let rules = [(VERSION_ENGLISH, Language::English), (VERSION_CHINESE, Language::Chinese)];
    rules.into_iter().find_map(|(rule, language)| {
        let unknown = rule.unknown_units(units)?;
        let [only] = unknown.as_slice() else { return None };
        let program = &units.get(*only)?.norm;
        // A statement such as "git is installed" asks for nothing.
        let states = *only == 0 && has_any(units, "is, are, installed");
        if language == Language::English && states {
            return None;
        }
        let (_, line) = VERSIONS.iter().find(|(name, _)| name == program)?;
        Some(((*line).to_owned(), language))
    })
}
