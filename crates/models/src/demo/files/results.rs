//! Reads the results of the tools for files: lines of a file, entries of a folder, places that a search found. Results are
//! plain text or JSON.

use serde_json::Value;

/// A part of a text file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in super::super) struct ReadText {
    /// The number of the first line, counted from 1.
    pub(in super::super) first: usize,
    pub(in super::super) lines: Vec<String>,
    /// Whether the file goes on behind the last line.
    pub(in super::super) more: bool,
}

impl ReadText {
    pub(in super::super) fn next_line(&self) -> usize {
        self.first + self.lines.len()
    }
}

/// The lines of a file: `L<n>: <text>`, or the text itself.
pub(in super::super) fn read_text(result: &str) -> ReadText {
    let value: Value = serde_json::from_str(result).unwrap_or(Value::Null);
    let text = ["text", "content", "lines"].iter().find_map(|field| value[*field].as_str()).unwrap_or(result);
    let numbered: Vec<(usize, &str)> = text.lines().filter_map(numbered).collect();
    let says_more = |field: &str| value[field] == Value::Bool(true) || value[field].is_u64();
    let mut read = match numbered.first() {
        Some((first, _)) => ReadText {
            first: *first,
            lines: numbered.iter().map(|(_, line)| (*line).to_owned()).collect(),
            more: ["truncated", "more", "cut", "hasMore", "nextOffset"].iter().any(|field| says_more(field)),
        },
        // A remark in brackets, such as "(a.txt is empty)".
        None if text.starts_with('(') && text.ends_with(')') => ReadText { first: 1, ..ReadText::default() },
        None => ReadText { first: 1, lines: text.lines().map(str::to_owned).collect(), more: false },
    };
    let remarks = text.lines().rev().take_while(|line| line.starts_with('('));
    read.more |= remarks.into_iter().any(|line| line.contains("read on"));
    let total = ["totalLines", "total"].iter().find_map(|field| value[*field].as_u64());
    let end = read.next_line() as u64;
    read.more |= total.is_some_and(|total| total >= end);
    read
}

fn numbered(line: &str) -> Option<(usize, &str)> {
    let (number, text) = line.strip_prefix('L')?.split_once(':')?;
    Some((number.parse().ok()?, text.strip_prefix(' ').unwrap_or(text)))
}

/// The entries of a folder or the paths that were found, as a tool lists them.
pub(in super::super) fn entries(result: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(result).unwrap_or(Value::Null);
    let list =
        ["entries", "paths", "files", "items", "matches"].iter().find_map(|field| value[*field].as_array());
    if let Some(list) = list.or(value.as_array()) {
        return list.iter().filter_map(entry).collect();
    }
    let mut lines = lines_of_result(result);
    // The folder itself and the counts stand above the entries, which are indented.
    if lines.first().is_some_and(|line| line.starts_with('/')) {
        lines.retain(|line| line.starts_with([' ', '(']));
        lines.iter_mut().for_each(|line| *line = line.strip_prefix("  ").unwrap_or(line).to_owned());
    }
    lines.retain(|line| !line.starts_with("No file"));
    lines
}

fn entry(value: &Value) -> Option<String> {
    if let Some(text) = value.as_str() {
        return Some(text.to_owned());
    }
    let name = ["path", "name", "file"].iter().find_map(|field| value[*field].as_str())?;
    let folder = ["kind", "type"]
        .iter()
        .any(|field| matches!(value[*field].as_str(), Some("directory" | "folder" | "dir")));
    let depth = value["depth"].as_u64().unwrap_or(0).min(8);
    let indent = "  ".repeat(usize::try_from(depth.saturating_sub(1)).unwrap_or(0));
    let slash = if folder && !name.ends_with('/') { "/" } else { "" };
    Some(format!("{indent}{name}{slash}"))
}

/// What a search found, one line for each place.
pub(in super::super) fn matches(result: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(result).unwrap_or(Value::Null);
    let list = ["matches", "lines", "files", "results"].iter().find_map(|field| value[*field].as_array());
    let Some(list) = list else { return lines_of_result(result) };
    list.iter()
        .filter_map(|found| {
            let path = found
                .as_str()
                .or_else(|| ["path", "file"].iter().find_map(|field| found[*field].as_str()))?;
            let line = ["line", "lineNumber", "number"].iter().find_map(|field| found[*field].as_u64());
            let text = ["text", "content"].iter().find_map(|field| found[*field].as_str());
            Some(match (line, text) {
                (Some(line), Some(text)) => format!("{path}:{line}: {}", text.trim()),
                (Some(line), None) => format!("{path}:{line}"),
                _ => path.to_owned(),
            })
        })
        .collect()
}

/// The lines of a plain result, or of its only text.
pub(in super::super) fn lines_of_result(result: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(result).unwrap_or(Value::Null);
    let text = ["text", "output", "content"]
        .iter()
        .find_map(|field| value[*field].as_str())
        .or(value.as_str())
        .unwrap_or(result);
    text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbered_lines_lose_their_numbers() {
        let read = read_text("L3: a\nL4:   b\nL5: ");
        assert_eq!(
            read,
            ReadText { first: 3, lines: vec!["a".into(), "  b".into(), String::new()], more: false }
        );
        assert_eq!(read.next_line(), 6);
        let read = read_text(&json!({ "text": "L1: x", "totalLines": 3 }).to_string());
        assert!(read.more && read.lines == ["x"]);
        assert!(!read_text(&json!({ "text": "L1: x", "totalLines": 1 }).to_string()).more);
        assert_eq!(read_text("plain\ntext").lines, ["plain", "text"]);
        let part = read_text("L1: a\n(the file continues; read on with offset 2)");
        assert!(part.more && part.lines == ["a"]);
        assert_eq!(read_text("(/workspace/a.txt is empty)").lines, Vec::<String>::new());
    }

    #[test]
    fn entries_and_matches_are_read_from_text_and_json() {
        assert_eq!(entries("a.txt\n\nsrc/\n"), ["a.txt", "src/"]);
        let tree = "/workspace\n1 folder, 2 files\n  a.txt (1 B)\n  src/\n    b.rs (2 B)\n(3 more; list on with offset 26)";
        assert_eq!(
            entries(tree),
            ["a.txt (1 B)", "src/", "  b.rs (2 B)", "(3 more; list on with offset 26)"]
        );
        assert_eq!(entries("No file matches the pattern."), Vec::<String>::new());
        let listed = json!({ "entries": [{ "path": "src", "kind": "directory" }, { "path": "a", "kind": "file" }, "b"] });
        assert_eq!(entries(&listed.to_string()), ["src/", "a", "b"]);
        let found = json!({ "matches": [{ "path": "a", "line": 2, "text": " x " }, "b"] });
        assert_eq!(matches(&found.to_string()), ["a:2: x", "b"]);
        assert_eq!(matches("a:1: x"), ["a:1: x"]);
    }
}
