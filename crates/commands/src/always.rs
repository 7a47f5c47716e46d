//! The words that a person can allow for good.

use crate::{JudgedCommand, judgement::CommandEffect};

/// The prefixes that "always" would allow, one for each command that asks. Empty when one of them has none, because
/// allowing the others would not make the line run.
pub(crate) fn prefixes(commands: &[JudgedCommand]) -> Vec<String> {
    let mut prefixes = Vec::new();
    for command in commands.iter().filter(|command| command.effect != CommandEffect::ReadOnly) {
        let Some(prefix) = prefix(command) else { return Vec::new() };
        if !prefixes.contains(&prefix) {
            prefixes.push(prefix);
        }
    }
    prefixes
}

fn prefix(command: &JudgedCommand) -> Option<String> {
    if command.effect != CommandEffect::Asks || command.prefix == 0 {
        return None;
    }
    let words: Option<Vec<&str>> =
        command.words.get(..command.prefix)?.iter().map(Option::as_deref).collect();
    let words = words?;
    words.iter().all(|word| plain(word)).then(|| words.join(" "))
}

/// Words that read the same as a pattern: no blanks, no option, nothing that a person could misread.
fn plain(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with('-')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:.@+/".contains(c))
}
