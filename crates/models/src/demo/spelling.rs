//! Normalises words: contractions, chat abbreviations, full-width letters, and traditional and colloquial forms of the
//! Chinese characters that the rules use.
//!
//! Rules are written in the normal form: lower case, contractions spelt out, simplified characters.

/// The normal form of a word, which may be several words: `what's` → `what is`.
pub(super) fn words_of(word: &str) -> Vec<String> {
    let word = word.to_lowercase().replace(['’', '‘', '`'], "'");
    if let Some((_, spelt_out)) = SHORT_FORMS.iter().find(|(short, _)| *short == word) {
        return spelt_out.split(' ').map(str::to_owned).collect();
    }
    for (ending, full) in ENDINGS {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| !stem.is_empty()) {
            return [stem, full].into_iter().filter(|part| !part.is_empty()).map(str::to_owned).collect();
        }
    }
    vec![word.replace('\'', "")]
}

/// The plain form of a character; most characters are returned unchanged.
pub(super) fn plain(character: char) -> char {
    match character {
        '\u{3000}' => ' ',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(character as u32 - 0xfee0).unwrap_or(character),
        _ => {
            let known = VARIANTS.chars().zip(PLAIN.chars()).find(|(variant, _)| *variant == character);
            known.map_or(character, |(_, plain)| plain)
        }
    }
}

/// Colloquial Chinese words and the form that the rules use.
pub(super) const COLLOQUIAL: &[(&str, &str)] = &[
    ("啥", "什么"),
    ("咋", "怎么"),
    ("干嘛", "干什么"),
    ("干吗", "干什么"),
    ("如何", "怎么"),
    ("怎样", "怎么"),
];

const SHORT_FORMS: &[(&str, &str)] = &[
    ("what's", "what is"),
    ("whats", "what is"),
    ("what're", "what are"),
    ("who's", "who is"),
    ("where's", "where is"),
    ("how's", "how is"),
    ("it's", "it is"),
    ("that's", "that is"),
    ("there's", "there is"),
    ("here's", "here is"),
    ("let's", "let us"),
    ("lets", "let us"),
    ("i'm", "i am"),
    ("im", "i am"),
    ("can't", "can not"),
    ("cannot", "can not"),
    ("cant", "can not"),
    ("won't", "will not"),
    ("dont", "do not"),
    ("doesnt", "does not"),
    ("u", "you"),
    ("ya", "you"),
    ("ur", "your"),
    ("r", "are"),
    ("pls", "please"),
    ("plz", "please"),
    ("plse", "please"),
    ("thx", "thanks"),
    ("tnx", "thanks"),
    ("thanx", "thanks"),
    ("ty", "thank you"),
    ("wanna", "want to"),
    ("gonna", "going to"),
    ("gotta", "have to"),
    ("gimme", "give me"),
    ("lemme", "let me"),
    ("wat", "what"),
    ("okay", "ok"),
    ("o'clock", "oclock"),
    ("todo", "to do"),
    ("organise", "organize"),
    ("organising", "organizing"),
    ("authorisation", "authorization"),
    ("signoff", "sign off"),
    ("roadmap", "road map"),
    ("timezone", "time zone"),
    ("setup", "set up"),
    ("helo", "hello"),
    ("hullo", "hello"),
];

/// Endings that stand for a word. The possessive `'s` is removed.
const ENDINGS: &[(&str, &str)] = &[
    ("n't", "not"),
    ("'ll", "will"),
    ("'re", "are"),
    ("'ve", "have"),
    ("'d", "would"),
    ("'s", ""),
    ("s'", ""),
];

/// Traditional and polite characters; the plain one is at the same index in [`PLAIN`].
const VARIANTS: &str = "\
     您妳點現時間麼們幫計劃畫請問誰謝會說許準確認連嗎學習訴個號幾東紐約倫實嘗經過審刪檔發執這裡\
     裏兒樣為給對應該週禮當開關讓於來還麽係機術語徵詢別寫單鐘見換設類紹煩擾";
const PLAIN: &str = "\
     你你点现时间么们帮计划划请问谁谢会说许准确认连吗学习诉个号几东纽约伦实尝经过审删档发执这里\
     里儿样为给对应该周礼当开关让于来还么系机术语征询别写单钟见换设类绍烦扰";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contractions_and_chat_spelling_are_spelt_out() {
        assert_eq!(words_of("What’s"), ["what", "is"]);
        assert_eq!(words_of("shouldn't"), ["should", "not"]);
        assert_eq!(words_of("today's"), ["today"]);
        assert_eq!(words_of("pls"), ["please"]);
        assert_eq!(words_of("Tokyo"), ["tokyo"]);
    }

    #[test]
    fn every_variant_has_its_plain_character() {
        assert_eq!(VARIANTS.chars().count(), PLAIN.chars().count());
    }

    #[test]
    fn full_width_and_traditional_characters_become_plain() {
        assert_eq!("現在幾點？您".chars().map(plain).collect::<String>(), "现在几点?你");
    }
}
