//! File names in the headers of unified diffs.

/// The name in a `---` or `+++` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HeaderName {
    /// `/dev/null`: the file does not exist on this side.
    Absent,
    Named(String),
}

/// Reads a name with what may follow it: a tab and a time. Returns `None` when a quoted name is not closed.
pub(crate) fn header_name(rest: &str) -> Option<HeaderName> {
    let rest = rest.trim_end_matches('\r');
    let (name, time) = if rest.starts_with('"') {
        let (name, rest) = quoted(rest)?;
        (name, rest)
    } else {
        let (name, time) = rest.split_once('\t').unwrap_or((rest, ""));
        (name.trim_end().to_owned(), time)
    };
    let time = time.trim();
    // `diff -N` writes the beginning of time for a file that does not exist.
    let absent = name == "/dev/null" || time.starts_with("1970-01-01 ") || time.starts_with("1969-12-31 ");
    Some(if absent { HeaderName::Absent } else { HeaderName::Named(name) })
}

/// Reads a name in quotes as git writes it, and returns it with the text behind it.
pub(crate) fn quoted(text: &str) -> Option<(String, &str)> {
    let body = text.strip_prefix('"')?;
    let mut bytes = Vec::new();
    let mut rest = body.bytes().enumerate();
    while let Some((at, byte)) = rest.next() {
        let escaped = match byte {
            b'"' => return Some((String::from_utf8(bytes).ok()?, body.get(at + 1..)?)),
            b'\\' => rest.next()?.1,
            other => {
                bytes.push(other);
                continue;
            }
        };
        bytes.push(match escaped {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'0'..=b'3' => {
                let digit = |byte: u8| (b'0'..=b'7').contains(&byte).then(|| byte - b'0');
                let (high, middle, low) = (digit(escaped)?, digit(rest.next()?.1)?, digit(rest.next()?.1)?);
                high * 64 + middle * 8 + low
            }
            b'"' | b'\\' => escaped,
            _ => return None,
        });
    }
    None
}

/// Returns both names of a `diff --git` line. Without quotes they must be equal but for their prefixes.
pub(crate) fn git_names(rest: &str) -> Option<(String, String)> {
    let rest = rest.trim_end_matches('\r');
    if rest.starts_with('"') {
        let (old, rest) = quoted(rest)?;
        let rest = rest.strip_prefix(' ')?;
        let new = if rest.starts_with('"') { quoted(rest)?.0 } else { rest.to_owned() };
        return Some((old, new));
    }
    if let Some((old, _)) = rest.split_once(" \"") {
        return Some((old.to_owned(), quoted(rest.get(old.len() + 1..)?)?.0));
    }
    let middle = rest.len() / 2;
    let (old, new) = (rest.get(..middle)?, rest.get(middle..)?.strip_prefix(' ')?);
    let (bare_old, bare_new) = without_prefixes(old, new);
    (bare_old == bare_new).then(|| (old.to_owned(), new.to_owned()))
}

/// Removes `a/` and `b/` when both names have them. Other prefixes of git (`i/`, `w/`, `c/`, `o/`) are removed when the
/// names are equal otherwise.
pub(crate) fn without_prefixes<'a>(old: &'a str, new: &'a str) -> (&'a str, &'a str) {
    if let (Some(old), Some(new)) = (old.strip_prefix("a/"), new.strip_prefix("b/")) {
        return (old, new);
    }
    let split = |name: &'a str| name.split_once('/').filter(|(prefix, _)| prefix.len() == 1);
    match (split(old), split(new)) {
        (Some((of_old, bare_old)), Some((of_new, bare_new)))
            if of_old != of_new
                && "ico".contains(of_old)
                && "wi".contains(of_new)
                && bare_old == bare_new =>
        {
            (bare_old, bare_new)
        }
        _ => (old, new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(rest: &str) -> Option<Option<String>> {
        header_name(rest).map(|name| match name {
            HeaderName::Absent => None,
            HeaderName::Named(name) => Some(name),
        })
    }

    #[test]
    fn names_end_at_a_tab_and_may_be_quoted() {
        assert_eq!(name("a/x y.txt\t2024-01-01 00:00:00"), Some(Some("a/x y.txt".to_owned())));
        assert_eq!(name("\"a/\\303\\244 \\\"q\\\"\\\\.txt\""), Some(Some("a/ä \"q\"\\.txt".to_owned())));
        assert_eq!(name("/dev/null"), Some(None));
        assert_eq!(name("new.txt\t1970-01-01 01:00:00.000000000 +0100"), Some(None));
        assert_eq!(name("\"open"), None);
        assert_eq!(name("\"\\9\""), None);
        assert_eq!(name("\"\\377\""), None, "not UTF-8");
    }

    #[test]
    fn the_names_of_a_git_line_are_equal() {
        let names = |old: &str, new: &str| Some((old.to_owned(), new.to_owned()));
        assert_eq!(git_names("a/x b/x"), names("a/x", "b/x"));
        assert_eq!(git_names("a/x b/y b/x b/y"), names("a/x b/y", "b/x b/y"));
        assert_eq!(git_names("x x"), names("x", "x"));
        assert_eq!(git_names("\"a/\\303\\244\" \"b/\\303\\244\""), names("a/ä", "b/ä"));
        assert_eq!(git_names("a/x b/y"), None);
        assert_eq!(git_names(""), None);
    }

    #[test]
    fn prefixes_are_removed_in_pairs() {
        assert_eq!(without_prefixes("a/x", "b/x"), ("x", "x"));
        assert_eq!(without_prefixes("a/x", "a/x"), ("a/x", "a/x"));
        assert_eq!(without_prefixes("i/x", "w/x"), ("x", "x"));
        assert_eq!(without_prefixes("i/x", "w/y"), ("i/x", "w/y"));
        assert_eq!(without_prefixes("x", "b/x"), ("x", "b/x"));
    }
}
