//! Brace expansion: `{a,b}` is two words.

/// A piece of a word before braces are expanded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    /// A character. A quoted one has no special meaning.
    Char(char, bool),
    /// An unquoted `*`, `?` or `[`.
    Glob(char),
    /// The `~` at the beginning of a word.
    Tilde,
    /// `<(…)`
    Pipe,
    /// A text that is known only at run time.
    Runtime,
    Open,
    Comma,
    Close,
}

/// The most words that one word may become.
const MAX_WORDS: usize = 128;
/// The most opening braces of one word, so that looking for their ends takes bounded time.
const MAX_BRACES: usize = 64;

/// Expands the braces of a word. `None` when there are too many results.
pub(crate) fn expand(pieces: Vec<Piece>) -> Option<Vec<Vec<Piece>>> {
    if pieces.iter().filter(|piece| **piece == Piece::Open).count() > MAX_BRACES {
        return None;
    }
    let mut pending = vec![pieces];
    let mut done = Vec::new();
    while let Some(word) = pending.pop() {
        if pending.len() + done.len() > MAX_WORDS {
            return None;
        }
        match first_group(&word) {
            None => done.push(word),
            Some(Group::Alternatives { open, commas, close }) => {
                let (before, after) = (word.get(..open)?, word.get(close + 1..)?);
                let mut from = open + 1;
                let mut words = Vec::new();
                for end in commas.into_iter().chain([close]) {
                    words.push([before, word.get(from..end)?, after].concat());
                    from = end + 1;
                }
                pending.extend(words.into_iter().rev());
            }
            Some(Group::Range { open, close }) => {
                let (before, after) = (word.get(..open)?, word.get(close + 1..)?);
                pending.push([before, &[Piece::Runtime], after].concat());
            }
        }
    }
    Some(done)
}

enum Group {
    Alternatives {
        open: usize,
        commas: Vec<usize>,
        close: usize,
    },
    /// `{1..9}`; its members are not computed.
    Range {
        open: usize,
        close: usize,
    },
}

/// The first `{…}` that expands. Braces without a comma or `..` are ordinary characters.
fn first_group(word: &[Piece]) -> Option<Group> {
    let opens = word.iter().enumerate().filter(|(_, piece)| **piece == Piece::Open);
    for (open, _) in opens {
        let mut depth = 0_usize;
        let mut commas = Vec::new();
        for (at, piece) in word.iter().enumerate().skip(open + 1) {
            match piece {
                Piece::Open => depth += 1,
                Piece::Comma if depth == 0 => commas.push(at),
                Piece::Close if depth > 0 => depth -= 1,
                Piece::Close if !commas.is_empty() => {
                    return Some(Group::Alternatives { open, commas, close: at });
                }
                Piece::Close => {
                    let inside = word.get(open + 1..at).unwrap_or_default();
                    if inside.windows(2).any(|two| two == [Piece::Char('.', false), Piece::Char('.', false)])
                    {
                        return Some(Group::Range { open, close: at });
                    }
                    break;
                }
                _ => {}
            }
        }
    }
    None
}
