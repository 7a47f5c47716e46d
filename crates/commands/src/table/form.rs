//! How a rule is written in TOML. Lists are texts with spaces between the entries.

use serde::Deserialize;

use crate::judgement::CommandEffect;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Form {
    #[serde(default)]
    pub(super) command: Vec<CommandForm>,
    /// Variables of the environment that commands may be given without a question.
    #[serde(default)]
    pub(super) variables: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct CommandForm {
    pub(super) names: String,
    /// Completes "It …", for example "reads files".
    pub(super) does: String,
    pub(super) effect: CommandEffect,
    #[serde(default)]
    pub(super) options: Options,
    #[serde(default)]
    pub(super) style: Style,
    #[serde(default)]
    pub(super) operands: Operands,
    /// Options without a value. A trailing `=` means that a value may be attached.
    #[serde(default)]
    pub(super) flags: String,
    /// Options with a value that is neither a file nor a command.
    #[serde(default)]
    pub(super) values: String,
    /// Options whose value is a file or folder that is read.
    #[serde(default)]
    pub(super) reads: String,
    /// Options whose value is a file that is written.
    #[serde(default)]
    pub(super) writes: String,
    /// Flags that ask, and with which the operands that would be read are written. A trailing `=` means that the ending of
    /// the names of safety copies may be attached.
    #[serde(default)]
    pub(super) in_place: String,
    /// Options whose value is a pattern for the names of the files that are read.
    #[serde(default)]
    pub(super) file_patterns: String,
    /// Options that ask, with or without a value.
    #[serde(default)]
    pub(super) asks: String,
    /// Options that ask every time.
    #[serde(default)]
    pub(super) sensitive: String,
    /// Options that name a program which is started: they ask every time.
    #[serde(default)]
    pub(super) executes: String,
    /// Options that are refused.
    #[serde(default)]
    pub(super) refused: String,
    /// Options that take the place of the pattern in `operands = "pattern"`.
    #[serde(default)]
    pub(super) patterns: String,
    /// Flags without which the first operand is a pattern, and with which it is a file.
    #[serde(default)]
    pub(super) no_pattern: String,
    /// Flags with which the operands are only names: nothing is started or created.
    #[serde(default)]
    pub(super) names_only: String,
    /// Whether `-5` is an option.
    #[serde(default)]
    pub(super) numbers: bool,
    /// Whether operands that are whole system or home folders are refused.
    #[serde(default)]
    pub(super) guards_roots: Guard,
    #[serde(default)]
    pub(super) network: bool,
    /// How many leading words a lasting permission may name; 0 means none.
    #[serde(default)]
    pub(super) always: usize,
    /// The command that this one starts.
    #[serde(default)]
    pub(super) starts: Starts,
    /// How many operands come before the command that is started.
    #[serde(default)]
    pub(super) skip: usize,
    /// A check in the program for what data cannot express.
    #[serde(default)]
    pub(super) special: Special,
    /// Whether a pipe into the command is executed as code.
    #[serde(default)]
    pub(super) runs_input: bool,
    /// Subcommands.
    #[serde(default)]
    pub(super) sub: Vec<CommandForm>,
}

/// What happens to options that are not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Options {
    /// They ask.
    #[default]
    Listed,
    /// They are harmless: no option of the command writes or executes.
    Any,
}

/// How options are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Style {
    /// `-ab`, `-n5`, `--long=value`; options may follow operands.
    #[default]
    Gnu,
    /// Like `gnu`, but the first operand ends the options.
    Leading,
    /// `-name value`, each word on its own.
    Words,
    /// There are no options; every word is an operand.
    None,
}

/// What the operands are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Operands {
    /// Files and folders that are read.
    #[default]
    Paths,
    /// Text; a word that is known only at run time is harmless.
    Text,
    /// There are none. One that is given asks.
    None,
    /// The first is a pattern or program text, the others are files that are read.
    Pattern,
    /// Files that are written, created or deleted.
    Writes,
    /// The last is written, the others are read.
    Copy,
    /// Like `copy`, and the others vanish.
    Move,
    /// The first is read, a second is written.
    InOut,
    /// Revisions of a repository or paths in it, of which only names and facts are printed.
    Revisions,
    /// Revisions of a repository or paths in it, whose contents are printed.
    Contents,
    /// The first is a pattern, the others are files that are read, or `revision:path`.
    PatternContents,
    /// Must start with `+`.
    Format,
    /// Not looked at; the rule asks anyway.
    Any,
}

/// Which options make the operands guarded: see `guards-roots`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Guard {
    #[default]
    Never,
    /// Together with an option of `sensitive`.
    WhenSensitive,
    Always,
}

/// How a command starts another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Starts {
    #[default]
    Nothing,
    /// The words behind the options and `skip` operands.
    Words,
    /// Like `words`, with operands that are known only at run time.
    WordsAndMore,
    /// Like `words`, behind assignments.
    Environment,
    /// The operands, joined, as a shell line.
    Line,
    /// The value of `-c` as a shell line.
    Shell,
}

/// Checks in the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Special {
    #[default]
    None,
    Awk,
    Cd,
    Dd,
    /// Files that are downloaded get the names of their addresses.
    Download,
    Find,
    Git,
    /// The format may not ask for signatures, which another program checks.
    GitFormat,
    /// A setting that starts programs asks every time.
    GitConfig,
    /// What is pushed may delete or overwrite branches.
    GitPush,
    /// Paths behind `--` are written.
    GitCheckout,
    /// The query may not load other files.
    Query,
    Sed,
    Tar,
    Test,
}
