//! A text cut to so many tokens: its beginning and its end, cut at the ends of lines, and between them how much is left out.

use std::borrow::Cow;

use super::frame::grouped;
use crate::token_estimate;

/// What the line in the middle costs.
const NOTICE: u64 = 20;

/// The text, or its first two thirds and its last third of `tokens`.
pub(super) fn cut(text: &str, tokens: u64) -> Cow<'_, str> {
    if token_estimate::first_beyond(text.char_indices(), tokens).is_none() {
        return text.into();
    }
    let room = tokens.saturating_sub(NOTICE);
    let tail_room = room / 3;
    let head =
        token_estimate::first_beyond(text.char_indices(), room - tail_room).map_or(text.len(), |(at, _)| at);
    let tail = token_estimate::first_beyond(text.char_indices().rev(), tail_room)
        .map_or(0, |(at, character)| at + character.len_utf8())
        .max(head);
    let head_line = text[..head].rfind('\n').map(|at| at + 1);
    let tail_line = text[tail..].find('\n').map(|at| tail + at + 1).filter(|at| *at < text.len());
    let (head, tail, left_out) = match (head_line, tail_line) {
        (Some(head), Some(tail)) => (head, tail, lines(&text[head..tail], text)),
        // Not a single end of a line fits: the beginning and the end of long lines.
        _ => (head, tail, characters(&text[head..tail], text)),
    };
    let gap = if text[..head].ends_with('\n') || head == 0 { "" } else { "\n" };
    Cow::Owned(format!("{}{gap}[… {left_out} omitted …]\n{}", &text[..head], &text[tail..]))
}

pub(super) fn count_lines(text: &str) -> usize {
    let ends = text.bytes().filter(|byte| *byte == b'\n').count();
    ends + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

fn lines(left_out: &str, all: &str) -> String {
    format!("{} of {} lines", grouped(count_lines(left_out)), grouped(count_lines(all)))
}

fn characters(left_out: &str, all: &str) -> String {
    format!("{} of {} characters", grouped(left_out.chars().count()), grouped(all.chars().count()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_text_stays_and_a_long_one_keeps_its_ends() {
        assert_eq!(cut("a\nb\n", 100), "a\nb\n");
        let long: String = (1..=20_000).map(|line| format!("line {line}\n")).collect();
        let short = cut(&long, 1_000);
        assert!(
            short.starts_with("line 1\nline 2\n") && short.ends_with("\nline 19999\nline 20000\n"),
            "{short}"
        );
        let notice = short.lines().find(|line| line.starts_with("[… ")).unwrap();
        assert!(notice.ends_with(" of 20,000 lines omitted …]"), "{notice}");
        let left: usize = notice[5..].split(' ').next().unwrap().replace(',', "").parse().unwrap();
        assert_eq!(short.lines().count() - 1 + left, 20_000);
    }

    #[test]
    fn one_long_line_is_cut_within_it() {
        let short = cut(&"x".repeat(50_000), 100).into_owned();
        assert!(short.starts_with("xxx") && short.ends_with("xxx"), "{short}");
        assert!(short.contains(" of 50,000 characters omitted …]"), "{short}");
        assert_eq!(cut("abc\ndef\nghi\n", 0), "[… 12 of 12 characters omitted …]\n");
    }

    proptest! {
        #[test]
        fn a_cut_is_bounded_and_made_of_the_text(text in "([a-z\u{e9}猫😀 ]{0,40}\n){0,60}.{0,300}", tokens in 0_u64..400) {
            let text = text.replace('…', "");
            let short = cut(&text, tokens);
            match short.split_once("[… ") {
                None => prop_assert_eq!(&*short, &text),
                Some((head, rest)) => {
                    prop_assert!(token_estimate::of_text(&short) <= tokens.max(NOTICE) + 1, "{}", short);
                    let (_, tail) = rest.split_once(" omitted …]\n").unwrap();
                    prop_assert!(text.starts_with(head.trim_end_matches('\n')) && text.ends_with(tail));
                }
            }
        }
    }
}
