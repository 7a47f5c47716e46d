//! Splits a text into lines and their endings.

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The last line of a text without a final newline.
    None,
    Lf,
    CrLf,
}

impl Ending {
    pub fn text(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

/// A line of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// The text without the ending.
    pub text: &'a str,
    pub ending: Ending,
}

pub(crate) const BOM: char = '\u{feff}';

/// Splits a text into its lines. A text that ends with a newline has no empty line behind it.
pub(crate) fn split(text: &str) -> Vec<Line<'_>> {
    text.split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            None => Line { text: line, ending: Ending::None },
            Some(line) => match line.strip_suffix('\r') {
                None => Line { text: line, ending: Ending::Lf },
                Some(line) => Line { text: line, ending: Ending::CrLf },
            },
        })
        .collect()
}

/// Shortens a line for an error message.
pub(crate) fn shown(line: &str) -> String {
    const LONGEST: usize = 100;
    let line = line.trim_end();
    match line.char_indices().nth(LONGEST) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_keeps_its_ending() {
        let lines = split("a\nb\r\n\r\nc\rd");
        let expected = [("a", Ending::Lf), ("b", Ending::CrLf), ("", Ending::CrLf), ("c\rd", Ending::None)];
        assert_eq!(lines, expected.map(|(text, ending)| Line { text, ending }));
        assert_eq!(split(""), []);
        assert_eq!(split("\n"), [Line { text: "", ending: Ending::Lf }]);
    }

    #[test]
    fn long_lines_are_shortened_between_characters() {
        assert_eq!(shown("ü  "), "ü");
        assert_eq!(shown(&"ü".repeat(101)), format!("{}…", "ü".repeat(100)));
    }
}
