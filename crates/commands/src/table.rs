//! The rules about commands, as data: `table/*.toml`, one file per family.
//!
//! `table/README.md` explains the fields. An operator's additions have the same form ([`CommandTable::with`]).

mod form;
mod rule;

use std::{collections::HashMap, sync::LazyLock};

pub(crate) use form::{Guard, Operands, Options, Special, Starts, Style};
pub(crate) use rule::{OptionKind, Rule};

/// Why a table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("the command table cannot be read: {0}")]
    Form(#[from] toml::de::Error),
    #[error("the command table {family} is wrong at {name}: {problem}")]
    Rule { family: String, name: String, problem: String },
}

/// What is known about commands: names, options, operands and their effects.
#[derive(Clone, Debug)]
pub struct CommandTable {
    commands: HashMap<String, Rule>,
    variables: Vec<String>,
}

const BUILT_IN: [(&str, &str); 13] = [
    ("readers", include_str!("../table/readers.toml")),
    ("search", include_str!("../table/search.toml")),
    ("system", include_str!("../table/system.toml")),
    ("shell", include_str!("../table/shell.toml")),
    ("wrappers", include_str!("../table/wrappers.toml")),
    ("git", include_str!("../table/git.toml")),
    ("writers", include_str!("../table/writers.toml")),
    ("archives", include_str!("../table/archives.toml")),
    ("builds", include_str!("../table/builds.toml")),
    ("packages", include_str!("../table/packages.toml")),
    ("network", include_str!("../table/network.toml")),
    ("containers", include_str!("../table/containers.toml")),
    ("administration", include_str!("../table/administration.toml")),
];

static TABLE: LazyLock<Result<CommandTable, TableError>> = LazyLock::new(|| {
    let mut table = CommandTable::empty();
    for (family, text) in BUILT_IN {
        table.add(family, text)?;
    }
    Ok(table)
});
static EMPTY: LazyLock<CommandTable> = LazyLock::new(CommandTable::empty);

impl CommandTable {
    /// The table of the program.
    pub fn built_in() -> &'static Self {
        // The tests check that the table can be read. Without it every command asks.
        TABLE.as_ref().unwrap_or(&EMPTY)
    }

    /// This table with an operator's additions. A command that is in both is taken from the additions.
    pub fn with(&self, extra_toml: &str) -> Result<Self, TableError> {
        let mut table = self.clone();
        table.add("operator", extra_toml)?;
        Ok(table)
    }

    /// Whether the table has a rule for a command.
    pub fn knows(&self, name: &str) -> bool {
        self.commands.contains_key(name)
    }

    pub(crate) fn rule(&self, name: &str) -> Option<&Rule> {
        self.commands.get(name)
    }

    /// Whether a variable of the environment cannot change what commands do.
    pub(crate) fn harmless_variable(&self, name: &str) -> bool {
        self.variables.iter().any(|known| known == name)
    }

    fn empty() -> Self {
        Self { commands: HashMap::new(), variables: Vec::new() }
    }

    fn add(&mut self, family: &str, text: &str) -> Result<(), TableError> {
        let form: form::Form = toml::from_str(text)?;
        self.variables.extend(form.variables.split_whitespace().map(str::to_owned));
        for command in form.command {
            for name in command.names.split_whitespace() {
                let rule = Rule::compile(family, name, &command).map_err(|problem| TableError::Rule {
                    family: family.to_owned(),
                    name: name.to_owned(),
                    problem,
                })?;
                self.commands.insert(name.to_owned(), rule);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_can_be_read() {
        assert!(TABLE.is_ok(), "{:?}", TABLE.as_ref().err());
        assert!(CommandTable::built_in().commands.len() > 600, "{}", CommandTable::built_in().commands.len());
    }

    #[test]
    fn every_name_has_one_rule() {
        let mut seen = std::collections::HashSet::new();
        for (family, text) in BUILT_IN {
            let form: form::Form = toml::from_str(text).unwrap();
            for name in form.command.iter().flat_map(|command| command.names.split_whitespace()) {
                assert!(seen.insert(name.to_owned()), "{family} has {name} again");
            }
        }
    }

    #[test]
    fn an_operator_adds_and_replaces_rules() {
        let extra = "[[command]]\nnames = \"mytool ls\"\ndoes = \"prints\"\neffect = \"asks\"\nalways = 1\n";
        let table = CommandTable::built_in().with(extra).unwrap();
        assert_eq!(table.rule("mytool").unwrap().id, "operator/mytool");
        assert_eq!(table.rule("ls").unwrap().effect, crate::CommandEffect::Asks);
        assert!(table.knows("cat") && !CommandTable::built_in().knows("mytool"));
    }

    #[test]
    fn a_wrong_table_is_refused_with_its_reason() {
        let with = |text: &str| CommandTable::built_in().with(text).unwrap_err().to_string();
        let start = "[[command]]\nnames = \"x\"\ndoes = \"prints\"\neffect = \"asks\"\n";
        let twice = with(&format!("{start}flags = \"-a -a\""));
        assert_eq!(twice, "the command table operator is wrong at x: -a is listed twice");
        assert!(with(&format!("{start}flags = \"a\"")).ends_with("a is not an option"));
        assert!(with(&format!("{start}colour = 1")).contains("unknown field `colour`"));
    }
}
