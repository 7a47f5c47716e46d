//! `$'…'`: strings with escapes as in C.

/// Decodes the inside of `$'…'`. Returns the text and the bytes that were read, the closing quote included. `None` for
/// escapes whose result is not certain.
pub(crate) fn decode(inside: &str) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut chars = inside.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => return Some((text, at + 1)),
            '\\' => {
                let (_, escape) = chars.next()?;
                let decoded = match escape {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'a' => '\u{7}',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'v' => '\u{b}',
                    'e' | 'E' => '\u{1b}',
                    '\\' | '\'' | '"' | '?' => escape,
                    'x' => number(&mut chars, 0, 16, 2)?,
                    'u' => number(&mut chars, 0, 16, 4)?,
                    'U' => number(&mut chars, 0, 16, 8)?,
                    '0'..='7' => number(&mut chars, escape.to_digit(8)?, 8, 2)?,
                    _ => return None,
                };
                text.push(decoded);
            }
            _ => text.push(c),
        }
    }
    None
}

/// Reads up to `digits` digits. Only ASCII characters other than NUL are certain: others depend on the locale.
fn number(
    chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>,
    start: u32,
    radix: u32,
    digits: usize,
) -> Option<char> {
    let mut value = start;
    let mut read = 0;
    while read < digits
        && let Some(digit) = chars.peek().and_then(|(_, c)| c.to_digit(radix))
    {
        value = value.checked_mul(radix)?.checked_add(digit)?;
        chars.next();
        read += 1;
    }
    if (read == 0 && radix == 16) || value == 0 || value > 0x7f {
        return None;
    }
    char::from_u32(value)
}
