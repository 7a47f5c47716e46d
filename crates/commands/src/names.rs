//! Whether a rule that names words of a command is about it.

use crate::JudgedCommand;

/// Says whether the pattern of a rule, such as `git push`, names a command: word by word from the beginning, after quotes
/// are removed. A word that is known only at run time is named by no pattern.
pub fn names(pattern: &str, command: &JudgedCommand) -> bool {
    let mut wanted = pattern.split_ascii_whitespace().peekable();
    if wanted.peek().is_none() {
        return false;
    }
    let mut words = command.words.iter();
    wanted.all(|wanted| words.next().is_some_and(|word| word.as_deref() == Some(wanted)))
}
