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
