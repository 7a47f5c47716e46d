//! Characters in a line that people do not see or take for others.

/// The longest line that is judged. A longer one asks.
pub const MAX_LINE_BYTES: usize = 16 * 1024;

/// Says what is wrong with the characters of a text, if anything is.
pub(crate) fn problem(text: &str) -> Option<(&'static str, String)> {
    if text.len() > MAX_LINE_BYTES {
        return Some((
            "line/too-long",
            format!("It is longer than {MAX_LINE_BYTES} bytes, so it was not examined."),
        ));
    }
    let control = |c: char| c.is_control() && c != '\n' && c != '\t';
    if let Some(found) = text.chars().find(|&c| control(c)) {
        let code = u32::from(found);
        return Some(("line/control-character", format!("It contains the control character U+{code:04X}.")));
    }
    if let Some(found) = text.chars().find(|&c| invisible(c)) {
        let code = u32::from(found);
        return Some((
            "line/invisible-character",
            format!(
                "It contains the character U+{code:04X}, which is invisible or changes how the line looks."
            ),
        ));
    }
    None
}

/// Characters without a shape of their own: other blanks, zero-width and directional marks, tags, variation selectors.
fn invisible(c: char) -> bool {
    matches!(c,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
        | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffd}' | '\u{e000}'..='\u{f8ff}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{10ffff}')
}
