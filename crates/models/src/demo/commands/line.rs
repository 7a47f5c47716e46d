//! Decides whether words without quotation marks are a command: a known program, a known sub-command, and arguments that
//! cannot be words of a sentence. Everything else must be quoted before it runs.

/// What the words after "run" are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    Command,
    /// They begin like a command, but only quotation marks can say where it ends.
    Unclear,
    Other,
}

/// A program, and the sub-commands that may follow it without quotation marks.
struct Program {
    name: &'static str,
    /// `None`: options and paths follow directly.
    subcommands: Option<&'static [&'static str]>,
    /// Whether its name is also a word of a sentence.
    is_word: bool,
}

const fn plain(name: &'static str) -> Program {
    Program { name, subcommands: None, is_word: false }
}

const fn word(name: &'static str) -> Program {
    Program { name, subcommands: None, is_word: true }
}

const fn with(name: &'static str, subcommands: &'static [&'static str]) -> Program {
    Program { name, subcommands: Some(subcommands), is_word: false }
}

const SCRIPTS: &[&str] =
    &["test", "build", "dev", "lint", "start", "check", "typecheck", "format", "preview", "watch"];

const PROGRAMS: &[Program] = &[
    with(
        "git",
        &[
            "status",
            "log",
            "diff",
            "branch",
            "show",
            "remote",
            "tag",
            "describe",
            "shortlog",
            "reflog",
            "rev-parse",
            "ls-files",
            "blame",
            "version",
            "fetch",
        ],
    ),
    with(
        "cargo",
        &["build", "test", "check", "clippy", "fmt", "run", "doc", "tree", "bench", "metadata", "version"],
    ),
    with("npm", &["test", "run", "start", "ls", "outdated", "audit", "version"]),
    with("pnpm", &["test", "run", "start", "ls", "outdated", "audit"]),
    with("yarn", &["test", "run", "start", "build", "lint", "outdated"]),
    with("docker", &["ps", "images", "version", "info"]),
    with("pip", &["list", "freeze"]),
    with("rustup", &["show"]),
    Program { name: "go", subcommands: Some(&["build", "test", "vet", "version"]), is_word: true },
    Program {
        name: "make",
        subcommands: Some(&["test", "tests", "build", "all", "check", "lint", "format", "fmt"]),
        is_word: true,
    },
    plain("ls"),
    plain("pwd"),
    plain("whoami"),
    plain("uname"),
    plain("df"),
    plain("du"),
    plain("ps"),
    plain("uptime"),
    plain("hostname"),
    plain("nproc"),
    plain("pytest"),
    plain("python"),
    plain("python3"),
    plain("rustc"),
    plain("wc"),
    plain("mvn"),
    plain("gradle"),
    word("date"),
    word("free"),
    word("tree"),
    word("cat"),
    word("head"),
    word("tail"),
    word("file"),
    word("stat"),
    word("node"),
    word("id"),
    word("true"),
    word("false"),
];

/// Programs that are recognised as such, but run only when they are quoted.
const QUOTED_ONLY: &[&str] = &[
    "rm",
    "mv",
    "cp",
    "mkdir",
    "rmdir",
    "chmod",
    "chown",
    "sudo",
    "curl",
    "wget",
    "ssh",
    "scp",
    "grep",
    "rg",
    "sed",
    "awk",
    "bash",
    "sh",
    "zsh",
    "npx",
    "bun",
    "deno",
    "kubectl",
    "systemctl",
    "apt",
    "apt-get",
    "brew",
    "psql",
    "sqlite3",
    "tar",
    "unzip",
    "gcc",
    "clang",
    "cmake",
    "ruby",
    "perl",
    "php",
    "java",
    "echo",
    "dd",
    "xargs",
    "tee",
    "ping",
    "rsync",
    "kill",
];

/// Words that are arguments of a command although a sentence may contain them.
const ARGUMENTS: &[&str] = &["HEAD", "origin", "main", "master"];

const LONGEST: usize = 200;

/// What these words are, as a person wrote them after "run".
pub(super) fn read(text: &str) -> Words {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some((name, arguments)) = words.split_first() else { return Words::Other };
    if QUOTED_ONLY.contains(name) {
        return if arguments.is_empty() { Words::Other } else { Words::Unclear };
    }
    let Some(program) = PROGRAMS.iter().find(|program| program.name == *name) else { return Words::Other };
    let otherwise = if program.is_word { Words::Other } else { Words::Unclear };
    let arguments = match (program.subcommands, arguments.split_first()) {
        (Some(known), Some((first, rest))) if known.contains(first) => match (*first, rest.split_first()) {
            ("run", Some((script, rest))) if SCRIPTS.contains(script) => rest,
            _ => rest,
        },
        // `make` alone is a command, `git` alone only shows its help.
        (Some(_), None) if name == &"make" => arguments,
        (Some(_), Some((first, _))) if first.starts_with('-') => arguments,
        (Some(_), _) => return otherwise,
        (None, _) => arguments,
    };
    let fits = text.len() <= LONGEST && !has_shell_signs(text) && are_arguments(arguments);
    if fits { Words::Command } else { otherwise }
}

/// Whether a program is known by its name. A quotation that begins with one is a command.
pub(super) fn is_program(name: &str) -> bool {
    let script = name.contains('/') && !name.contains("//");
    QUOTED_ONLY.contains(&name) || PROGRAMS.iter().any(|program| program.name == name) || script
}

/// Whether a word can only be the name of a program.
pub(super) fn is_unmistakable(word: &str) -> bool {
    QUOTED_ONLY.contains(&word) || PROGRAMS.iter().any(|program| program.name == word && !program.is_word)
}

fn has_shell_signs(text: &str) -> bool {
    !text.is_ascii() || text.contains(|c: char| c.is_control() || "|&;<>$(){}[]`\"'\\!#".contains(c))
}

fn are_arguments(words: &[&str]) -> bool {
    let mut previous = "";
    words.iter().all(|word| {
        let number = word.bytes().all(|byte| byte.is_ascii_digit()) && previous.starts_with('-');
        previous = word;
        number
            || word.starts_with(['-', '+', '.', '/', '~'])
            || word.contains(['/', '.', '=', '*', '~', '^', '@', '_'])
            || ARGUMENTS.contains(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cannot_be_a_sentence_is_a_command() {
        for text in [
            "git status",
            "git status --short",
            "git log -n 3",
            "git diff HEAD~1",
            "git --version",
            "cargo test --workspace",
            "npm run build",
            "ls -la",
            "ls src/ *.md",
            "date",
            "date -u +%F",
            "cat notes.txt",
            "make test",
            "make",
            "go test ./...",
            "uname -a",
        ] {
            assert_eq!(read(text), Words::Command, "{text}");
        }
        for text in
            ["git status and fix it", "git push", "git", "npm install left", "rm -rf build/", "ls | wc"]
        {
            assert_eq!(read(text), Words::Unclear, "{text}");
        }
        for text in ["date with Anna", "make dinner", "go home", "cat food", "a marathon", "", "sudo"] {
            assert_eq!(read(text), Words::Other, "{text}");
        }
    }
}
