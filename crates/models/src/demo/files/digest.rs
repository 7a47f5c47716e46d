//! A mechanical summary of a text: counts, headings, definitions, the first sentences. It states only what is in the text.

use super::super::{outcome, utterance::Language};

const MOST_LINES: usize = 12;

/// Describes the lines of a file. `whole` says whether they are all of it.
pub(in super::super) fn digest(path: &str, lines: &[String], whole: bool, language: Language) -> String {
    let words: usize = lines.iter().map(|line| line.split_whitespace().count()).sum();
    let count = lines.len();
    let mut text = match (language, whole) {
        (Language::English, true) => {
            format!("`{path}` has {count} {} and {words} {}.\n", plural(count, "line"), plural(words, "word"))
        }
        (Language::English, false) => {
            format!(
                "I read the first {count} {} of `{path}` ({words} {}).\n",
                plural(count, "line"),
                plural(words, "word")
            )
        }
        (Language::Chinese, true) => format!("`{path}` 共 {count} 行，{words} 个以空格分开的词。\n"),
        (Language::Chinese, false) => {
            format!("我读了 `{path}` 的前 {count} 行（{words} 个以空格分开的词）。\n")
        }
    };
    if lines.iter().all(|line| line.trim().is_empty()) {
        text.push_str(language.pick("It is empty.\n", "它是空的。\n"));
        return text;
    }
    let headings = headings(lines);
    let definitions = definitions(lines);
    if !headings.is_empty() {
        add(&mut text, language.pick("Its headings:", "它的标题："), &headings, language);
    } else if definitions.len() > 1 {
        add(&mut text, language.pick("It defines:", "它定义了："), &definitions, language);
    }
    if let Some(sentence) = first_sentences(lines) {
        // Without a blank line the sentence would belong to the last item of the list.
        if text.lines().next_back().is_some_and(|line| line.starts_with("- ")) {
            text.push('\n');
        }
        text.push_str(
            &language.pick(format!("It begins: \"{sentence}\"\n"), format!("它的开头是：“{sentence}”\n")),
        );
    }
    text
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

fn add(text: &mut String, title: &str, items: &[String], language: Language) {
    text.push_str(title);
    text.push('\n');
    for item in items.iter().take(MOST_LINES) {
        text.push_str(&format!("- {item}\n"));
    }
    if let Some(more) = items.len().checked_sub(MOST_LINES).filter(|more| *more > 0) {
        text.push_str(&language.pick(format!("- … and {more} more\n"), format!("- ……还有 {more} 个\n")));
    }
}

/// Markdown headings outside of code.
fn headings(lines: &[String]) -> Vec<String> {
    let mut in_code = false;
    let mut found = Vec::new();
    for line in lines {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        let marks = line.chars().take_while(|c| *c == '#').count();
        let title = line
            .get(marks..)
            .and_then(|rest| rest.strip_prefix(' '))
            .map(str::trim)
            .filter(|title| !title.is_empty());
        if let Some(title) = title.filter(|_| !in_code && (1..=6).contains(&marks)) {
            found.push(outcome::short(title));
        }
    }
    // One mark alone is also how many languages write a comment.
    let code = lines.iter().any(|line| is_definition(line) || line.starts_with("#!"));
    if code { Vec::new() } else { found }
}

fn is_definition(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "fn ",
        "pub fn ",
        "pub(crate) fn ",
        "async fn ",
        "pub async fn ",
        "struct ",
        "pub struct ",
        "enum ",
        "pub enum ",
        "trait ",
        "pub trait ",
        "impl ",
        "mod ",
        "pub mod ",
        "def ",
        "async def ",
        "class ",
        "function ",
        "export ",
        "interface ",
        "func ",
        "type ",
        "public class ",
        "public interface ",
        "async function ",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}

fn definitions(lines: &[String]) -> Vec<String> {
    let trimmed =
        |line: &String| outcome::short(line.trim_end().trim_end_matches(['{', ':', ';', '(']).trim_end());
    lines.iter().filter(|line| is_definition(line)).map(trimmed).collect()
}

/// The first sentences of the first paragraph that is no heading.
fn first_sentences(lines: &[String]) -> Option<String> {
    let is_text = |line: &&String| {
        line.chars().any(char::is_alphanumeric) && !line.starts_with('#') && !line.starts_with("```")
    };
    let start = lines.iter().position(|line| is_text(&line))?;
    let paragraph: Vec<&str> =
        lines.get(start..)?.iter().take(6).take_while(|line| is_text(line)).map(|line| line.trim()).collect();
    let paragraph = paragraph.join(" ");
    let mut end = paragraph.len();
    let mut sentences = 0;
    for (at, character) in paragraph.char_indices() {
        let next = paragraph.get(at + character.len_utf8()..).and_then(|rest| rest.chars().next());
        let stops = matches!(character, '。' | '！' | '？')
            || (matches!(character, '.' | '!' | '?') && next.is_none_or(char::is_whitespace));
        if stops {
            sentences += 1;
            if sentences == 2 {
                end = at + character.len_utf8();
                break;
            }
        }
    }
    Some(outcome::short(paragraph.get(..end)?)).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_document_is_described_by_its_headings_and_first_sentences() {
        let text = "# Tea\n\nTea is a drink. It is hot. It is old.\n\n## Green\n```\n# no heading\n```\n";
        assert_eq!(
            digest("tea.md", &lines(text), true, Language::English),
            "`tea.md` has 8 lines and 19 words.\nIts headings:\n- Tea\n- Green\n\n\
             It begins: \"Tea is a drink. It is hot.\"\n"
        );
    }

    #[test]
    fn code_is_described_by_what_it_defines() {
        let text = "//! Adds.\n\npub fn add(a: i32) -> i32 {\n    a\n}\n\nstruct A;\n# comment\n";
        assert_eq!(
            digest("a.rs", &lines(text), false, Language::Chinese),
            "我读了 `a.rs` 的前 8 行（15 个以空格分开的词）。\n它定义了：\n- pub fn add(a: i32) -> i32\n- struct A\n\n\
             它的开头是：“//! Adds.”\n"
        );
    }

    #[test]
    fn an_empty_file_is_called_empty_and_nothing_is_invented() {
        assert_eq!(digest("e", &[], true, Language::English), "`e` has 0 lines and 0 words.\nIt is empty.\n");
    }
}
