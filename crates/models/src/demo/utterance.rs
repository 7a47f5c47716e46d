//! The text of the person, split into units that rules can compare: an English word, a number, or one Chinese character.
//!
//! Every unit has its position in the original text, so that a subject is quoted as it was written.

use std::cell::OnceCell;

use super::{files::FileRequest, spelling};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    English,
    Chinese,
}

impl Language {
    /// The one of two texts that is in this language.
    pub(super) fn pick<T>(self, english: T, chinese: T) -> T {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unit {
    pub(super) norm: String,
    start: usize,
    end: usize,
    /// The punctuation between this unit and the next.
    pause: Pause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pause {
    None,
    Clause,
    Sentence,
}

pub(super) struct Utterance {
    text: String,
    /// Whether the message is longer than what was read of it.
    cut: bool,
    units: Vec<Unit>,
    /// Read once, because several intents ask for it.
    file_request: OnceCell<Option<(FileRequest, Language)>>,
}

impl Utterance {
    /// Reads only the beginning: the requests that the rules know are short, and a message may be megabytes.
    pub(super) fn new(text: &str) -> Self {
        const LONGEST: usize = 2_000;
        let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at);
        let (read, rest) = text.split_at(end);
        Self { text: read.to_owned(), cut: !rest.is_empty(), units: cut(read), file_request: OnceCell::new() }
    }

    /// The request about files in this text, and the language it was made in.
    pub(super) fn file_request(&self) -> Option<&(FileRequest, Language)> {
        self.file_request.get_or_init(|| FileRequest::of(self)).as_ref()
    }

    /// The text itself.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn was_cut(&self) -> bool {
        self.cut
    }

    pub(super) fn all(&self) -> &[Unit] {
        &self.units
    }

    pub(super) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Chinese if at least half of the units are Chinese characters.
    pub(super) fn language(&self) -> Language {
        let chinese = self.units.iter().filter(|unit| unit.norm.chars().all(is_han)).count();
        let kana = self.text.chars().any(|c| ('\u{3040}'..='\u{30ff}').contains(&c));
        if chinese > 0 && chinese * 2 >= self.units.len() && !kana {
            Language::Chinese
        } else {
            Language::English
        }
    }

    /// The whole text, then each sentence, then each clause, in the order in which rules try them.
    pub(super) fn parts(&self) -> Vec<&[Unit]> {
        let mut parts = vec![self.all()];
        for least in [Pause::Sentence, Pause::Clause] {
            let cut: Vec<_> = self.units.split_inclusive(|unit| unit.pause >= least).collect();
            if cut.len() > 1 {
                parts.extend(cut);
            }
        }
        parts
    }

    /// The original text from the first to the last of these units.
    pub(super) fn quote(&self, units: &[Unit]) -> &str {
        match (units.first(), units.last()) {
            (Some(first), Some(last)) => self.text.get(first.start..last.end).unwrap_or_default().trim(),
            _ => "",
        }
    }

    /// The original text behind a unit.
    pub(super) fn text_after(&self, unit: &Unit) -> &str {
        self.text.get(unit.end..).unwrap_or_default()
    }

    /// The clauses around `part`, which is one of [`Utterance::parts`]: those before it from the nearest, then those after.
    pub(super) fn nearby_clauses(&self, part: &[Unit]) -> Vec<&[Unit]> {
        let (Some(first), Some(last)) = (part.first(), part.last()) else { return Vec::new() };
        let clauses: Vec<&[Unit]> = self.units.split_inclusive(|unit| unit.pause >= Pause::Clause).collect();
        let before =
            clauses.iter().rev().filter(|clause| clause.last().is_some_and(|unit| unit.start < first.start));
        let after =
            clauses.iter().filter(|clause| clause.first().is_some_and(|unit| unit.start > last.start));
        before.chain(after).copied().collect()
    }
}

/// The units up to the end of their first sentence.
pub(super) fn first_sentence(units: &[Unit]) -> &[Unit] {
    units.split_inclusive(|unit| unit.pause == Pause::Sentence).next().unwrap_or_default()
}

pub(super) fn is_han(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{2ffff}')
}

fn cut(text: &str) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let characters: Vec<(usize, char)> =
        text.char_indices().map(|(at, c)| (at, spelling::plain(c))).collect();
    let end_of = |place: usize| characters.get(place + 1).map_or(text.len(), |(at, _)| *at);
    let mut place = 0;
    while let Some(&(start, character)) = characters.get(place) {
        if is_han(character) {
            units.push(Unit { norm: character.into(), start, end: end_of(place), pause: Pause::None });
        } else if character.is_alphanumeric() {
            let first = place;
            while characters.get(place + 1).is_some_and(|_| goes_on(&characters, first, place + 1)) {
                place += 1;
            }
            let word: String = characters[first..=place].iter().map(|(_, c)| c).collect();
            let end = end_of(place);
            units.extend(spelling::words_of(&word).into_iter().map(|norm| Unit {
                norm,
                start,
                end,
                pause: Pause::None,
            }));
        } else if let Some(last) = units.last_mut() {
            last.pause = last.pause.max(pause_of(character));
        }
        place += 1;
    }
    spell_out_colloquial(units)
}

/// Whether the character at `place` belongs to the word that began at `first`.
fn goes_on(characters: &[(usize, char)], first: usize, place: usize) -> bool {
    let at = |place: usize| characters.get(place).map(|(_, c)| *c);
    let letter = |place: usize| at(place).is_some_and(|c| c.is_alphanumeric() && !is_han(c));
    let Some(character) = at(place) else { return false };
    match character {
        '\'' | '’' | '_' => true,
        '.' | '/' => letter(place + 1),
        // `Port-au-Prince` stays whole in a zone's name, `to-do` becomes two words.
        '-' | '+' => letter(place + 1) && characters[first..place].iter().any(|(_, c)| *c == '/'),
        _ => letter(place),
    }
}

fn pause_of(character: char) -> Pause {
    match character {
        '.' | '!' | '?' | '。' | '\n' | '…' => Pause::Sentence,
        ',' | ';' | ':' | '、' | '—' | '–' | '(' | ')' => Pause::Clause,
        _ => Pause::None,
    }
}

fn spell_out_colloquial(units: Vec<Unit>) -> Vec<Unit> {
    let mut out: Vec<Unit> = Vec::with_capacity(units.len());
    let mut place = 0;
    while let Some(unit) = units.get(place) {
        let known = spelling::COLLOQUIAL.iter().find_map(|(short, long)| {
            let length = super::terms::starts(&units[place..], short)?;
            Some((length, *long))
        });
        match known {
            Some((length, long)) => {
                let last = &units[place + length - 1];
                out.extend(long.chars().map(|character| Unit {
                    norm: character.into(),
                    start: unit.start,
                    end: last.end,
                    pause: Pause::None,
                }));
                if let Some(end) = out.last_mut() {
                    end.pause = last.pause;
                }
                place += length;
            }
            None => {
                out.push(unit.clone());
                place += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn norms(text: &str) -> Vec<String> {
        Utterance::new(text).all().iter().map(|unit| unit.norm.clone()).collect()
    }

    #[test]
    fn words_and_characters_become_units() {
        assert_eq!(
            norms("What's the time in Asia/Tokyo?"),
            ["what", "is", "the", "time", "in", "asia/tokyo"]
        );
        assert_eq!(norms("现在 Tokyo 幾點"), ["现", "在", "tokyo", "几", "点"]);
        assert_eq!(norms("你能干啥"), ["你", "能", "干", "什", "么"]);
        assert_eq!(norms("a to-do list, v1.2."), ["a", "to", "do", "list", "v1.2"]);
    }

    #[test]
    fn the_language_is_that_of_most_of_the_message() {
        assert_eq!(Utterance::new("what does 你好 mean").language(), Language::English);
        assert_eq!(Utterance::new("用 OpenAI 的 API key").language(), Language::English);
        assert_eq!(Utterance::new("怎么用 OpenAI 的 API key 连接模型").language(), Language::Chinese);
        assert_eq!(Utterance::new("何時ですか").language(), Language::English);
        assert_eq!(Utterance::new("").language(), Language::English);
    }

    #[test]
    fn quotes_keep_the_original_spelling() {
        let utterance = Utterance::new("Plan my trip to São Paulo!");
        assert_eq!(utterance.quote(&utterance.all()[2..]), "trip to São Paulo");
    }
}
