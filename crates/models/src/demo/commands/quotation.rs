//! Finds the quoted command of a sentence: in back-ticks, in quotation marks, or in a block of code.

use super::super::utterance::is_han;

/// The first quotation of a sentence and what stands around it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Quotation<'t> {
    pub(super) before: &'t str,
    pub(super) inner: &'t str,
    pub(super) after: &'t str,
    /// Back-ticks or a block of code: the marks that people put around commands and nothing else.
    pub(super) ticked: bool,
}

const MARKS: &[(char, char)] =
    &[('`', '`'), ('"', '"'), ('“', '”'), ('‘', '’'), ('「', '」'), ('『', '』'), ('\'', '\'')];
const FENCE: &str = "```";

/// The first quotation; `None` if there is none, or if it has no end.
pub(super) fn find(text: &str) -> Option<Quotation<'_>> {
    let mut previous = ' ';
    for (at, character) in text.char_indices() {
        // An apostrophe inside of a word opens nothing: don't.
        let inside = matches!(character, '\'' | '‘') && previous.is_alphanumeric() && !is_han(previous);
        previous = character;
        if let Some((_, close)) = MARKS.iter().find(|(open, _)| *open == character && !inside) {
            return quotation(text, at, character, *close);
        }
    }
    None
}

fn quotation(text: &str, at: usize, open: char, close: char) -> Option<Quotation<'_>> {
    let (before, rest) = (text.get(..at)?, text.get(at..)?);
    if let Some(rest) = rest.strip_prefix(FENCE) {
        let (inner, after) = rest.split_once(FENCE)?;
        return Some(Quotation { before, inner: without_language(inner), after, ticked: true });
    }
    let (inner, after) = rest.get(open.len_utf8()..)?.split_once(close)?;
    Some(Quotation { before, inner: inner.trim(), after, ticked: open == '`' })
}

/// The text of a block of code without the name of its language, which follows the fence.
fn without_language(inner: &str) -> &str {
    let text = match inner.split_once('\n') {
        Some((language, text)) if language.chars().all(char::is_alphanumeric) => text,
        _ => inner,
    };
    text.trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_quotation_is_found_with_what_stands_around_it() {
        let found = |before, inner, after, ticked| Some(Quotation { before, inner, after, ticked });
        assert_eq!(find("run `ls -la` please"), found("run ", "ls -la", " please", true));
        assert_eq!(find("don't run \"ls\""), found("don't run ", "ls", "", false));
        assert_eq!(find("运行“git log”吧"), found("运行", "git log", "吧", false));
        assert_eq!(find("run `echo \"a\"`"), found("run ", "echo \"a\"", "", true));
        assert_eq!(find("run\n```sh\nls\n```\nnow"), found("run\n", "ls", "\nnow", true));
        assert_eq!(find("run `ls"), None);
        assert_eq!(find("run ls"), None);
    }
}
