//! "Replace foo with bar in notes.txt", "add the line … to …": reads the file first, then changes it. The change waits for
//! the person's approval where the server's rules say so.

use protocol::ToolSpec;

use super::{
    super::{
        context::DemoContext,
        files::{
            Edit, FileRequest, FileTools, Place, ReadText, edit_input, patch_input, path_input, read_text,
        },
        intent::Intent,
        outcome,
        reply::Reply,
        utterance::Language,
    },
    file_steps,
};

pub(in super::super) const INTENT: Intent = Intent {
    name: "edit-file",
    understand: |utterance| {
        file_steps::understood(utterance, |request| match request {
            FileRequest::Replace { path, .. } | FileRequest::Insert { path, .. } => Some(path.clone()),
            _ => None,
        })
    },
    answer,
    offer,
};

/// How many parts of a long file are read before it is given up.
const MOST_PARTS: usize = 10;

fn answer(context: &DemoContext, path: &str) -> Reply {
    let Some((request, language)) = file_steps::request(context) else {
        return Reply::Say(String::new());
    };
    let tools = FileTools(&context.tools);
    let changer = tools.editor().or_else(|| tools.patcher());
    let (Some(reader), Some(changer)) = (tools.reader(), changer) else {
        return file_steps::no_tool("reads and edits files", "读取并修改文件", language);
    };
    let change = language.pick(format!("change `{path}`"), format!("修改 `{path}`"));
    if let Some(made) = context.calls.iter().find(|call| call.tool == changer.name) {
        return Reply::Say(match file_steps::result(made, &change, language) {
            Ok(_) if file_steps::was_edited(made) => language.pick(
                format!("You changed the call before you allowed it, and it ran as you wrote it: `{path}` was changed."),
                format!("你在允许之前改动了这次调用，它按你写的执行了：`{path}` 已修改。"),
            ),
            Ok(_) => done(&request, path, language),
            Err(trouble) => trouble,
        });
    }
    let what = language.pick(format!("read `{path}`"), format!("读取 `{path}`"));
    let mut whole = ReadText { first: 1, ..ReadText::default() };
    for made in &context.calls {
        match file_steps::result(made, &what, language) {
            Ok(result) => {
                let part = read_text(result);
                whole.lines.extend(part.lines);
                whole.more = part.more;
            }
            Err(trouble) => return Reply::Say(trouble),
        }
    }
    if context.calls.is_empty() || (whole.more && context.calls.len() < MOST_PARTS) {
        let thought = language
            .pick(format!("Before I change {path} I read it."), format!("修改 {path} 之前，我先读取它。"));
        let rest = (!context.calls.is_empty()).then(|| (whole.next_line(), whole.next_line() + 1_999));
        return file_steps::call(reader, thought, path_input(reader, path, rest, &what));
    }
    let edit = match planned(&request, path, &whole, language) {
        Ok(edit) => edit,
        Err(why_not) => return Reply::Say(why_not),
    };
    let edit = Edit { path, old: &edit.old, new: &edit.new, all: edit.all };
    let input = if tools.editor().is_some() {
        edit_input(changer, &edit, &change)
    } else {
        patch_input(changer, &edit, &whole.lines, &change)
    };
    let thought = language.pick(
        format!("I have read {path} and know what to change; I propose the change now."),
        format!("我已经读过 {path}，知道要改哪里，现在提出这个改动。"),
    );
    file_steps::call(changer, thought, input)
}

struct Planned {
    old: String,
    new: String,
    all: bool,
}

/// The replacement that fulfils the request, or a sentence why there is none.
fn planned(
    request: &FileRequest,
    path: &str,
    file: &ReadText,
    language: Language,
) -> Result<Planned, String> {
    let text = file.lines.join("\n");
    match request {
        FileRequest::Replace { old, new, .. } => match text.matches(old.as_str()).count() {
            0 => Err(language.pick(
                format!("\"{}\" does not occur in `{path}`, so I changed nothing.", outcome::short(old)),
                format!("`{path}` 里没有“{}”，所以我什么都没有改。", outcome::short(old)),
            )),
            count => Ok(Planned { old: old.clone(), new: new.clone(), all: count > 1 }),
        },
        FileRequest::Insert { line, at, .. } => {
            let anchor = anchor(&file.lines, *at).ok_or_else(|| {
                language.pick(
                    format!("I found no place in `{path}` that is unmistakable, so I changed nothing."),
                    format!("我在 `{path}` 里没有找到可以确定的位置，所以什么都没有改。"),
                )
            })?;
            let new = match at {
                Place::End => format!("{anchor}\n{line}"),
                Place::Start => format!("{line}\n{anchor}"),
            };
            Ok(Planned { old: anchor, new, all: false })
        }
        _ => Err(String::new()),
    }
}

/// The fewest lines at the end or the start of a file that occur once in it.
fn anchor(lines: &[String], at: Place) -> Option<String> {
    let text = lines.join("\n");
    (1..=lines.len())
        .map(|count| match at {
            Place::End => lines.get(lines.len() - count..),
            Place::Start => lines.get(..count),
        })
        .filter_map(|part| Some(part?.join("\n")))
        .find(|part| !part.trim().is_empty() && text.matches(part.as_str()).count() == 1)
}

fn done(request: &FileRequest, path: &str, language: Language) -> String {
    match request {
        FileRequest::Replace { old, new, .. } if new.is_empty() => language.pick(
            format!("Done: I removed \"{}\" from `{path}`.", outcome::short(old)),
            format!("完成了：我从 `{path}` 里删掉了“{}”。", outcome::short(old)),
        ),
        FileRequest::Replace { old, new, .. } => language.pick(
            format!(
                "Done: I replaced \"{}\" with \"{}\" in `{path}`.",
                outcome::short(old),
                outcome::short(new)
            ),
            format!("完成了：我把 `{path}` 里的“{}”改成了“{}”。", outcome::short(old), outcome::short(new)),
        ),
        FileRequest::Insert { line, at, .. } => {
            let line = outcome::short(line);
            let (english, chinese) = match at {
                Place::End => ("at the end", "末尾"),
                Place::Start => ("at the beginning", "开头"),
            };
            language.pick(
                format!("Done: I added the line \"{line}\" {english} of `{path}`."),
                format!("完成了：我在 `{path}` 的{chinese}加上了一行“{line}”。"),
            )
        }
        _ => String::new(),
    }
}

fn offer(tools: &[ToolSpec], language: Language) -> Option<String> {
    let tools = FileTools(tools);
    tools.reader().and(tools.editor().or_else(|| tools.patcher()))?;
    Some(language.pick(
        "change a file, after you allow it: \"replace foo with bar in notes.txt\"".to_owned(),
        "经你允许后修改文件：“把 notes.txt 里的 foo 改成 bar”".to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_anchor_is_the_shortest_part_that_occurs_once() {
        assert_eq!(anchor(&lines("a\nb\nc"), Place::End).as_deref(), Some("c"));
        assert_eq!(anchor(&lines("a\nb\na"), Place::End).as_deref(), Some("b\na"));
        assert_eq!(anchor(&lines("a\nb\na"), Place::Start).as_deref(), Some("a\nb"));
        assert_eq!(anchor(&lines(""), Place::End), None);
    }
}
