//! Finds paths, glob patterns and quoted texts in a sentence and replaces each by one word, so that rules can compare the
//! rest of the sentence without reading them.

use super::super::{
    politeness,
    terms::trim_start,
    utterance::{Unit, Utterance, is_han},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanKind {
    Path,
    Glob,
    Quote,
}

/// A part of the sentence that is taken as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) kind: SpanKind,
    /// The text that counts: a quotation without its marks.
    pub(super) text: String,
    /// The text as it was written.
    written: String,
}

/// A sentence whose spans are replaced by one word each.
pub(super) struct Masked {
    pub(super) utterance: Utterance,
    spans: Vec<Span>,
}

impl Masked {
    pub(super) fn new(text: &str) -> Self {
        let mut masked = String::with_capacity(text.len());
        let mut spans: Vec<Span> = Vec::new();
        let mut rest = text;
        let mut before = ' ';
        while let Some(character) = rest.chars().next() {
            let found = quotation(rest, before).or_else(|| path(rest, before, &masked));
            let Some((span, length)) = found else {
                masked.push(character);
                before = character;
                rest = &rest[character.len_utf8()..];
                continue;
            };
            let name = word(spans.len());
            // A Chinese file name was copied before its end was seen.
            let own = span.written.len() - length;
            masked.truncate(masked.len() - own);
            let open = masked.chars().next_back().is_some_and(|c| c.is_alphanumeric() && !is_han(c));
            masked.push_str(if open { " " } else { "" });
            masked.push_str(&name);
            masked.push(' ');
            spans.push(span);
            rest = &rest[length..];
            before = 'a';
        }
        Self { utterance: Utterance::new(&masked), spans }
    }

    /// The span that this unit stands for.
    pub(super) fn span(&self, unit: &Unit) -> Option<&Span> {
        let number = unit.norm.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
        self.spans.get(number.parse::<usize>().ok()?)
    }

    /// The text of these units as the person wrote it; a quotation alone without its marks.
    pub(super) fn text(&self, units: &[Unit]) -> String {
        if let [only] = units
            && let Some(span) = self.span(only)
        {
            return span.text.clone();
        }
        let mut text = self.utterance.quote(units).to_owned();
        for (number, span) in self.spans.iter().enumerate() {
            let name = word(number);
            // The space that was put around the word is not the person's.
            text = text.replace(&format!("{name} "), &span.written).replace(&name, &span.written);
        }
        text.trim().to_owned()
    }
}

const PREFIX: &str = "zzspan";
const SUFFIX: &str = "zz";

fn word(number: usize) -> String {
    format!("{PREFIX}{number}{SUFFIX}")
}

const QUOTES: &[(char, char)] =
    &[('"', '"'), ('`', '`'), ('“', '”'), ('‘', '’'), ('「', '」'), ('『', '』'), ('《', '》'), ('\'', '\'')];

/// A quotation at the start of `rest`, and its length in bytes.
fn quotation(rest: &str, before: char) -> Option<(Span, usize)> {
    let open = rest.chars().next()?;
    let (_, close) = QUOTES.iter().find(|(quote, _)| *quote == open)?;
    // An apostrophe inside a word opens nothing: don't.
    if matches!(open, '\'' | '‘') && before.is_alphanumeric() && !is_han(before) {
        return None;
    }
    let inner = &rest[open.len_utf8()..];
    let end = inner.char_indices().find(|(at, c)| {
        let next = inner.get(at + c.len_utf8()..).and_then(|after| after.chars().next());
        c == close && (*close != '\'' || next.is_none_or(|next| !next.is_alphanumeric() || is_han(next)))
    });
    let (end, _) = end.filter(|(end, _)| *end > 0)?;
    let length = open.len_utf8() + end + close.len_utf8();
    let kind = if inner[..end].contains('*') && !inner[..end].contains(' ') {
        SpanKind::Glob
    } else {
        SpanKind::Quote
    };
    Some((Span { kind, text: inner[..end].to_owned(), written: rest[..length].to_owned() }, length))
}

/// A path or a glob pattern at the start of `rest`, and its length in bytes. `masked` is the sentence so far: Chinese
/// characters at its end may belong to the name.
fn path(rest: &str, before: char, masked: &str) -> Option<(Span, usize)> {
    let starts = !before.is_alphanumeric() || is_han(before);
    if !starts || before == '.' || before == '/' {
        return None;
    }
    let end = rest.find(|c: char| !is_path_character(c)).unwrap_or(rest.len());
    let run = rest[..end].trim_end_matches(['.', '?', '!', '-', '+', ',']);
    if run.is_empty() || run.starts_with("//") || run.starts_with("www.") {
        return None;
    }
    if run.contains('*') {
        return Some((
            Span { kind: SpanKind::Glob, text: run.to_owned(), written: run.to_owned() },
            run.len(),
        ));
    }
    let lead = if run.starts_with('.') || is_path(run) { chinese_name(masked) } else { "" };
    let whole = format!("{lead}{run}");
    is_path(&whole).then(|| (Span { kind: SpanKind::Path, text: whole.clone(), written: whole }, run.len()))
}

fn is_path_character(character: char) -> bool {
    !is_han(character)
        && (character.is_alphanumeric()
            || matches!(character, '.' | '_' | '-' | '/' | '~' | '+' | '@' | '*' | '?' | '{' | '}'))
}

/// Whether a word is the name of a file or a folder: it has a slash, a known name, or an ending with a letter.
pub(super) fn is_path(word: &str) -> bool {
    const NAMES: &[&str] = &[
        "README",
        "LICENSE",
        "Makefile",
        "makefile",
        "Dockerfile",
        "CHANGELOG",
        "AUTHORS",
        "Justfile",
        "Procfile",
    ];
    const HOSTS: &[&str] = &["com", "org", "net", "cn", "io", "de", "ai", "dev"];
    if word.contains('/') {
        let parts: Vec<&str> = word.split('/').filter(|part| !part.is_empty()).collect();
        let counts = parts.iter().all(|part| part.chars().all(|c| c.is_ascii_digit()));
        return word != "/"
            && !counts
            && !["and/or", "he/she", "km/h", "i/o"].contains(&word.to_lowercase().as_str());
    }
    if NAMES.contains(&word) {
        return true;
    }
    let Some((stem, ending)) = word.rsplit_once('.') else { return false };
    let named = (1..=10).contains(&ending.chars().count())
        && ending.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && ending.chars().any(|c| c.is_ascii_alphabetic());
    named && (!stem.is_empty() || ending.len() > 1) && !HOSTS.contains(&ending)
}

/// Whether a path looks like a folder: its last part has no ending.
pub(super) fn is_folder_like(path: &str) -> bool {
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    path.ends_with('/')
        || last == "."
        || last == ".."
        || (!last.trim_start_matches('.').contains('.') && !is_path(last))
}

/// The Chinese characters at the end of the sentence so far that can belong to a file name: those after the last word of
/// the request.
fn chinese_name(masked: &str) -> &str {
    const WORDS: &str = "
        请, 帮我, 帮忙, 麻烦, 你, 能不能, 能, 可以, 给我, 我想, 我要, 把, 将, 在, 从, 往, 向, 给, 到, 对, 读取, 读一下, 读读, 读, 阅读,
        打开, 打印, 看看, 看一下, 看, 查看, 显示, 展示, 输出, 念一下, 念, 总结一下, 总结, 概括一下, 概括, 概述, 归纳, 摘要, 一下, 文件,
        名为, 叫做, 叫, 名叫, 创建, 新建, 建立, 生成, 写, 写入, 写进, 写到, 保存到, 保存为, 存到, 存为, 一个, 一份, 个, 新的, 新, 空的, 空, 编辑, 修改,
        找一下, 找到, 找, 查找, 搜索, 加到, 追加到, 添加到, 下, 里, 的, 用, 替换, 删除, 删掉, 去掉, 中, 和, 有没有, 列出, 这个, 我的, 说说, 介绍, 讲讲, 文本, 简述, 小结, 并, 再, 然后, 先, 里面";
    let run_start = masked.char_indices().rev().take_while(|(_, c)| is_han(*c)).last().map(|(at, _)| at);
    let Some(run) = run_start.and_then(|at| masked.get(at..)) else { return "" };
    let utterance = Utterance::new(run);
    let mut units = utterance.all();
    loop {
        let next = trim_start(trim_start(units, politeness::CHINESE_LEAD), WORDS);
        if next.len() == units.len() {
            break;
        }
        units = next;
    }
    let left = units.len();
    let at = run.char_indices().rev().take(left).last().map_or(run.len(), |(at, _)| at);
    let name = run.get(at..).unwrap_or_default();
    if left > 20 { "" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str) -> Vec<(SpanKind, String)> {
        Masked::new(text).spans.into_iter().map(|span| (span.kind, span.text)).collect()
    }

    fn paths(text: &str) -> Vec<String> {
        spans(text).into_iter().filter(|(kind, _)| *kind == SpanKind::Path).map(|(_, text)| text).collect()
    }

    #[test]
    fn paths_are_found_in_sentences() {
        assert_eq!(paths("Read notes.txt, please."), ["notes.txt"]);
        assert_eq!(paths("open ./src/my-app/main.rs?"), ["./src/my-app/main.rs"]);
        assert_eq!(paths("what is in .gitignore and docs/"), [".gitignore", "docs/"]);
        assert_eq!(paths("读一下notes.txt的内容"), ["notes.txt"]);
        assert_eq!(paths("把会议记录.md里的苹果改成梨"), ["会议记录.md"]);
        assert_eq!(paths("帮我打开开发计划.md"), ["开发计划.md"]);
        assert_eq!(paths("README and Makefile's rules"), ["README", "Makefile"]);
        assert_eq!(
            paths("see v1.2, 3.5, example.com, https://a.b/c.txt and and/or 1/2 etc."),
            Vec::<String>::new()
        );
    }

    #[test]
    fn quotations_are_kept_as_they_are() {
        let quote = |text: &str| (SpanKind::Quote, text.to_owned());
        assert_eq!(spans("replace \"a. b\" with 'c, d'"), [quote("a. b"), quote("c, d")]);
        assert_eq!(spans("don't say “hello world”"), [quote("hello world")]);
        assert_eq!(spans("把「旧的」改成‘新的’"), [quote("旧的"), quote("新的")]);
        assert_eq!(spans("find *.rs"), [(SpanKind::Glob, "*.rs".to_owned())]);
        assert_eq!(spans("say \"unclosed"), []);
    }

    #[test]
    fn the_original_text_comes_back() {
        let masked = Masked::new("put see a.txt and \"b\" here");
        assert_eq!(masked.text(masked.utterance.all()), "put see a.txt and \"b\" here");
        let masked = Masked::new("说“你好”吧");
        assert_eq!(masked.text(masked.utterance.all()), "说“你好”吧");
    }

    #[test]
    fn folders_have_no_ending() {
        for folder in ["src", "docs/", "a/b", "."] {
            assert!(is_folder_like(folder), "{folder}");
        }
        for file in ["a.txt", "src/main.rs", "Makefile", "a/README"] {
            assert!(!is_folder_like(file), "{file}");
        }
    }
}
