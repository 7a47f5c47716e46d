//! Text on a terminal: its width, cutting, folding and removing control characters.
//!
//! Text of a model or a tool must not control the terminal: control characters and marks that change the reading direction
//! are removed, or shown as escapes where a person decides by what they read.

/// Returns the columns that a character takes: two for East Asian wide characters and emoji, none for combining marks.
pub(crate) fn char_width(c: char) -> usize {
    match c {
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => 0,
        ' '..='\u{2ff}' => 1,
        '\u{300}'..='\u{36f}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{fe20}'..='\u{fe2f}'
        | '\u{feff}'
        | '\u{1f3fb}'..='\u{1f3ff}'
        | '\u{e0000}'..='\u{e01ef}' => 0,
        c if is_wide(c) => 2,
        _ => 1,
    }
}

fn is_wide(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{115f}'
        | '\u{231a}'..='\u{231b}'
        | '\u{23e9}'..='\u{23ec}'
        | '\u{23f0}' | '\u{23f3}'
        | '\u{25fd}'..='\u{25fe}'
        | '\u{2614}'..='\u{2615}'
        | '\u{2648}'..='\u{2653}'
        | '\u{267f}' | '\u{2693}' | '\u{26a1}'
        | '\u{26aa}'..='\u{26ab}'
        | '\u{26bd}'..='\u{26be}'
        | '\u{26c4}'..='\u{26c5}'
        | '\u{26ce}' | '\u{26d4}' | '\u{26ea}'
        | '\u{26f2}'..='\u{26f3}'
        | '\u{26f5}' | '\u{26fa}' | '\u{26fd}' | '\u{2705}'
        | '\u{270a}'..='\u{270b}'
        | '\u{2728}' | '\u{274c}' | '\u{274e}'
        | '\u{2753}'..='\u{2755}'
        | '\u{2757}'
        | '\u{2795}'..='\u{2797}'
        | '\u{27b0}' | '\u{27bf}'
        | '\u{2b1b}'..='\u{2b1c}'
        | '\u{2b50}' | '\u{2b55}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff01}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f004}' | '\u{1f0cf}' | '\u{1f18e}'
        | '\u{1f191}'..='\u{1f19a}'
        | '\u{1f200}'..='\u{1f64f}'
        | '\u{1f680}'..='\u{1f6ff}'
        | '\u{1f7e0}'..='\u{1f7eb}'
        | '\u{1f900}'..='\u{1f9ff}'
        | '\u{1fa70}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}')
}

/// Returns the columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Returns whether a character would control the terminal or change the reading direction. Line ends and tabs count too.
pub(crate) fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the text as one line: white space becomes single spaces, control characters are removed.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace()) {
        let word: String = word.chars().filter(|c| !is_control(*c)).collect();
        if !word.is_empty() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
    }
    line
}

/// Returns the text with everything in it visible: control characters and characters without width become escapes. Line
/// ends stay.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let hidden = is_control(c)
            || matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
        if c != '\n' && hidden {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// Cuts the text to at most `columns`; an ellipsis marks the missing end.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let next = used + char_width(c);
        if next + 1 > columns {
            break;
        }
        used = next;
        out.push(c);
    }
    if columns > 0 {
        out.truncate(out.trim_end().len());
        out.push('…');
    }
    out
}

/// Returns the end of the text, at most `columns` wide; an ellipsis marks the missing beginning.
pub(crate) fn cut_front(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut start = text.len();
    let mut used = 1;
    for (place, c) in text.char_indices().rev() {
        used += char_width(c);
        if used > columns {
            break;
        }
        start = place;
    }
    format!("…{}", text[start..].trim_start())
}

/// Breaks the text into lines of at most `columns`, also within words; nothing is left out.
pub(crate) fn folded(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut part = String::new();
        let mut used = 0;
        for c in line.chars() {
            if used + char_width(c) > columns {
                lines.push(std::mem::take(&mut part));
                used = 0;
            }
            used += char_width(c);
            part.push(c);
        }
        lines.push(part);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_takes_two_columns_and_marks_take_none() {
        assert_eq!(width("abc"), 3);
        assert_eq!(width("现在几点了？"), 12);
        assert_eq!(width("e\u{301}"), 1);
        assert_eq!(width("✅ ok"), 5);
        assert_eq!(width("● › ✓ …"), 7);
    }

    #[test]
    fn a_cut_never_exceeds_its_columns() {
        for columns in 0..14 {
            for text in ["hello world", "现在几点了", "a现b在c", ""] {
                assert!(width(&cut(text, columns)) <= columns, "{text} {columns}");
                assert!(width(&cut_front(text, columns)) <= columns.max(1), "{text} {columns}");
            }
        }
        assert_eq!(cut("hello world", 8), "hello w…");
        assert_eq!(cut("现在几点了", 6), "现在…");
        assert_eq!(cut_front("hello world", 6), "…world");
    }

    #[test]
    fn nothing_controls_the_terminal() {
        assert_eq!(one_line("a\r\n\u{1b}[31mred\u{202e}  b"), "a [31mred b");
        assert_eq!(visible("a\u{1b}[2J\u{202e}b\nc\u{200b}"), "a\\u{1b}[2J\\u{202e}b\nc\\u{200b}");
    }

    #[test]
    fn folding_loses_nothing() {
        assert_eq!(folded("abcdef\ng", 4), ["abcd", "ef", "g"]);
        assert_eq!(folded("现在几点", 5), ["现在", "几点"]);
    }
}
