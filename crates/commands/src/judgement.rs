//! The result of judging a line: what it does, why that was found, and what is known of its commands.

use std::ops::Range;

/// What running a command means for the person who is responsible. Ordered from harmless to refused.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum CommandEffect {
    /// Reads the work directory or public facts of the system, and nothing else.
    #[default]
    ReadOnly,
    /// A person decides, once or always.
    Asks,
    /// A person decides every time.
    Sensitive,
    /// Does not run, whatever a person says.
    Refused,
}

/// What a line does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The strictest effect of all commands.
    pub effect: CommandEffect,
    /// A sentence for the person who is asked; for read-only lines, what is read.
    pub why: String,
    /// The rule that decided, for example `readers/grep` or `redirection/writes`.
    pub rule: String,
    /// Each simple command of the line, in order. Redirections, assignments and findings about the line as a whole are entries without words.
    pub commands: Vec<JudgedCommand>,
    /// Paths inside the work directory that are read and known, relative to it.
    pub reads: Vec<String>,
    /// Paths inside the work directory that are written or deleted and known, relative to it.
    pub writes: Vec<String>,
    /// Whether a command is known to use the network.
    pub network: bool,
    /// For each command that asks, the words that "always" would allow. Empty when a command has no safe prefix.
    pub always: Vec<String>,
}

/// One simple command of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedCommand {
    /// The words after quotes are removed. `None` is a word that is known only when the command runs.
    pub words: Vec<Option<String>>,
    pub effect: CommandEffect,
    pub why: String,
    pub rule: String,
    /// The bytes of the line that hold the command. For words inside a quoted inner line, those of the whole outer command.
    pub range: Range<usize>,
    /// How many leading words a lasting permission may name; 0 means that no prefix is safe.
    pub(crate) prefix: usize,
}

impl Judgement {
    /// Whether everyday commands of git are all that does more than read, so that the line may change the repository.
    ///
    /// A line that also starts something else may not: what git executes later would be in the hands of that program.
    pub fn is_git(&self) -> bool {
        let is_beside = |command: &JudgedCommand| {
            command.effect == CommandEffect::ReadOnly
                || command.words.is_empty()
                    && ["redirection/writes", "network/asked-for"].contains(&command.rule.as_str())
        };
        self.commands.iter().any(JudgedCommand::is_git)
            && self.commands.iter().all(|command| command.is_git() || is_beside(command))
    }

    /// The same line with the network, which it asked for. No rule about its words allows that.
    #[must_use]
    pub fn with_network(mut self) -> Self {
        if self.network {
            return self;
        }
        let why = "It asks for the network.".to_owned();
        let rule = "network/asked-for".to_owned();
        if self.effect < CommandEffect::Asks {
            (self.effect, self.why, self.rule) = (CommandEffect::Asks, why.clone(), rule.clone());
        } else if self.effect == CommandEffect::Asks {
            self.why = format!("{} {why}", self.why);
        }
        self.network = true;
        self.always.clear();
        let effect = CommandEffect::Asks;
        self.commands.push(JudgedCommand { words: Vec::new(), effect, why, rule, range: 0..0, prefix: 0 });
        self
    }
}

/// Subcommands of git that change the repository and start nothing that the line names.
const CHANGING: [&str; 25] = [
    "add",
    "am",
    "apply",
    "branch",
    "checkout",
    "cherry-pick",
    "clean",
    "commit",
    "fetch",
    "gc",
    "init",
    "merge",
    "mv",
    "notes",
    "pull",
    "push",
    "remote",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
    "tag",
    "worktree",
];

impl JudgedCommand {
    fn is_git(&self) -> bool {
        let mut words = self.words.iter().map(|word| word.as_deref());
        if words.next() != Some(Some("git")) {
            return false;
        }
        match words.next().flatten() {
            // `-x make`
            Some("rebase") => words
                .all(|word| word.is_some_and(|word| !word.starts_with("-x") && !word.starts_with("--ex"))),
            name => name.is_some_and(|name| CHANGING.contains(&name)),
        }
    }
}
