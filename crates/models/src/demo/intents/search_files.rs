//! "Search the files for …": searches the text of files.

use protocol::ToolSpec;

use super::{
    super::{
        context::DemoContext,
        files::{FileRequest, FileTools, matches, pattern_input},
        intent::Intent,
        outcome,
        reply::Reply,
        utterance::Language,
    },
    file_steps,
};

pub(in super::super) const INTENT: Intent = Intent {
    name: "search-files",
    understand: |utterance| {
        file_steps::understood(utterance, |request| match request {
            FileRequest::Search { text, .. } => Some(text.clone()),
            _ => None,
        })
    },
    answer,
    offer,
};

const MOST_SHOWN: usize = 40;

fn answer(context: &DemoContext, wanted: &str) -> Reply {
    let (place, language) = match file_steps::request(context) {
        Some((FileRequest::Search { place, .. }, language)) => (place, language),
        _ => (String::new(), context.language),
    };
    let Some(tool) = FileTools(&context.tools).searcher() else {
        return file_steps::no_tool("searches files", "搜索文件", language);
    };
    let short = outcome::short(wanted);
    let where_to = file_steps::shown(&place, language);
    let what =
        language.pick(format!("search {where_to} for \"{short}\""), format!("在{where_to}里搜索“{short}”"));
    let Some(made) = context.calls.last() else {
        let thought = language.pick(
            format!("The person is looking for \"{short}\"; a tool searches the text of files."),
            format!("用户在找“{short}”，有一个工具可以搜索文件内容。"),
        );
        let input = pattern_input(tool, &escaped(wanted), &place, &what);
        return file_steps::call(tool, thought, input);
    };
    let found = match file_steps::result(made, &what, language) {
        Ok(result) => matches(result),
        Err(trouble) => return Reply::Say(trouble),
    };
    let none = found.is_empty() || (found.len() == 1 && found.iter().any(|line| says_nothing(line)));
    if none {
        return Reply::Say(language.pick(
            format!("\"{short}\" does not occur in {where_to}."),
            format!("{where_to}里没有找到“{short}”。"),
        ));
    }
    let opening = language.pick(format!("\"{short}\" occurs here:"), format!("“{short}”出现在："));
    let mut text = format!("{opening}\n\n{}", file_steps::block(&found, MOST_SHOWN));
    if let Some(more) = found.len().checked_sub(MOST_SHOWN).filter(|more| *more > 0) {
        text.push_str(
            &language.pick(format!("\n{more} more are not shown."), format!("\n还有 {more} 处没有列出。")),
        );
    }
    Reply::Say(text.trim_end().to_owned())
}

/// The text as a pattern: the person named a text, not a regular expression.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\.+*?()|[]{}^$".contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

fn says_nothing(line: &str) -> bool {
    let line = line.to_lowercase();
    ["no match", "nothing", "no file", "not found", "does not occur", "没有"]
        .iter()
        .any(|word| line.contains(word))
}

fn offer(tools: &[ToolSpec], language: Language) -> Option<String> {
    FileTools(tools).searcher()?;
    Some(language.pick(
        "search the text of files: \"which files mention tea?\"".to_owned(),
        "搜索文件内容：“哪些文件提到了茶？”".to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_searched_literally() {
        assert_eq!(escaped("a.b(c)*"), r"a\.b\(c\)\*");
        assert_eq!(escaped("茶 tea_1-2"), "茶 tea_1-2");
    }
}
