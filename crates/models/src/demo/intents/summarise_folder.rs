//! "Summarise this folder": hands the folder to a sub-agent. The sub-agent, or an agent that cannot delegate, lists the
//! folder, reads its first text files and describes them.

use protocol::ToolSpec;
use serde_json::{Value, json};

use super::{
    super::{
        context::DemoContext,
        files::{FileRequest, FileTools, digest, entries, path_input, read_text},
        find_tool,
        intent::Intent,
        outcome::Outcome,
        reply::{DemoCall, Reply},
        schema::Object,
        utterance::Language,
    },
    file_steps, summarise_file,
};

pub(in super::super) const INTENT: Intent = Intent {
    name: "summarise-folder",
    understand: |utterance| {
        file_steps::understood(utterance, |request| match request {
            FileRequest::SummariseFolder { folder, .. } => Some(folder.clone()),
            _ => None,
        })
    },
    answer,
    offer,
};

/// How many files of a folder are read.
const MOST_READ: usize = 5;
const MOST_SHOWN: usize = 40;

fn answer(context: &DemoContext, folder: &str) -> Reply {
    let (direct, language) = match file_steps::request(context) {
        Some((FileRequest::SummariseFolder { direct, .. }, language)) => (direct, language),
        _ => (true, context.language),
    };
    let delegator = find_tool::delegator(&context.tools).filter(|_| !direct);
    let agent = delegator.and_then(|tool| Some((tool, find_tool::reading_agent(tool)?)));
    match agent {
        Some((tool, name)) => delegated(context, folder, tool, name, language),
        None => own_work(context, folder, language),
    }
}

fn delegated(context: &DemoContext, folder: &str, tool: &ToolSpec, agent: &str, language: Language) -> Reply {
    let shown = file_steps::shown(folder, language);
    let Some(made) = context.calls.last() else {
        let place =
            if folder.is_empty() { "this folder".to_owned() } else { format!("the folder \"{folder}\"") };
        let place_zh =
            if folder.is_empty() { "这个文件夹".to_owned() } else { format!("“{folder}”文件夹") };
        let task = language.pick(
            format!("Summarise {place} yourself, list it and read its files."),
            format!("请你自己总结一下{place_zh}里的文件。"),
        );
        let values: Vec<(&str, Value)> = vec![("name", json!(agent)), ("task", json!(task))];
        return Reply::Call {
            thought: language.pick(
                format!("Reading all of {shown} stands on its own, so I hand it to the sub-agent {agent}."),
                format!("通读{shown}是一项独立的工作，我交给子代理 {agent}。"),
            ),
            tool: tool.name.clone(),
            input: Object::of(tool).fill(&values, &task),
        };
    };
    let report = match &made.outcome {
        Outcome::Done(value) => match value.get("summary").and_then(Value::as_str) {
            Some(summary) if !summary.trim().is_empty() => summary.trim().to_owned(),
            _ => language.pick("It reported nothing.", "它没有报告任何内容。").to_owned(),
        },
        other => return Reply::Say(super::trouble(other, language).unwrap_or_default()),
    };
    Reply::Say(language.pick(
        format!("The sub-agent {agent} looked through {shown}. Its report:\n\n{report}"),
        format!("子代理 {agent} 看过了{shown}。它的报告：\n\n{report}"),
    ))
}

fn own_work(context: &DemoContext, folder: &str, language: Language) -> Reply {
    let tools = FileTools(&context.tools);
    let (Some(lister), Some(reader)) = (tools.lister(), tools.reader()) else {
        return file_steps::no_tool("lists and reads files", "列出并读取文件", language);
    };
    let shown = file_steps::shown(folder, language);
    let what = language.pick(format!("list {shown}"), format!("列出{shown}"));
    let Some(listed) = context.calls.first() else {
        let thought = language
            .pick(format!("To summarise {shown} I list it first."), format!("要总结{shown}，我先列出它。"));
        return file_steps::call(lister, thought, path_input(lister, folder, Some((1, 200)), &what));
    };
    let entries = match file_steps::result(listed, &what, language) {
        Ok(result) => entries(result),
        Err(trouble) => return Reply::Say(trouble),
    };
    let files = readable(&entries, folder);
    let read = context.calls.get(1..).unwrap_or_default();
    if read.is_empty() && !files.is_empty() {
        let calls = files.iter().map(|path| {
            let purpose = language.pick(format!("read `{path}`"), format!("读取 `{path}`"));
            DemoCall { tool: reader.name.clone(), input: path_input(reader, path, None, &purpose) }
        });
        let thought = language.pick(
            "I read the first text files of the folder, all at once.".to_owned(),
            "我同时读取文件夹里的前几个文本文件。".to_owned(),
        );
        return Reply::Calls { thought, calls: calls.collect() };
    }
    let mut text = language.pick(
        format!("There are {} entries in {shown}:\n\n", entries.len()),
        format!("{shown}里有 {} 项：\n\n", entries.len()),
    );
    text.push_str(&file_steps::block(&entries, MOST_SHOWN));
    text.push_str(&language.pick(
        format!("\nI read {} of its files.\n\n", read.len()),
        format!("\n我读了其中 {} 个文件。\n\n", read.len()),
    ));
    for (path, made) in files.iter().zip(read) {
        let what = language.pick(format!("read `{path}`"), format!("读取 `{path}`"));
        match file_steps::result(made, &what, language) {
            Ok(result) => {
                let read = read_text(result);
                text.push_str(&digest(path, &read.lines, !read.more, language));
            }
            Err(trouble) => text.push_str(&format!("{trouble}\n")),
        }
        text.push('\n');
    }
    text.push_str(summarise_file::honest(language));
    Reply::Say(text)
}

/// The paths of the first entries that look like text files. Deeper entries of a tree are left out, and so are hidden files
/// and keys: they say little about a folder, and reading some of them asks.
fn readable(entries: &[String], folder: &str) -> Vec<String> {
    const OTHER: &[&str] = &[
        "png", "jpg", "jpeg", "gif", "pdf", "zip", "gz", "ico", "woff", "woff2", "mp3", "mp4", "lock", "bin",
        "exe", "so", "o", "pem", "key", "p12", "pfx",
    ];
    let folder = folder.trim_end_matches('/');
    let names =
        entries.iter().filter(|entry| !entry.starts_with(char::is_whitespace)).map(|entry| name_in(entry));
    names
        .filter(|name| {
            let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
            !name.is_empty()
                && !name.starts_with('.')
                && !name.ends_with(['/', '@', ':'])
                && super::super::files::is_file_name(name)
                && !OTHER.contains(&ending)
        })
        .take(MOST_READ)
        .map(|name| {
            if folder.is_empty() || name.starts_with(folder) {
                name.to_owned()
            } else {
                format!("{folder}/{name}")
            }
        })
        .collect()
}

/// The name in a line of a listing, without a size behind it.
fn name_in(entry: &str) -> &str {
    let entry = entry.trim_start_matches("- ");
    let cut =
        entry.find("  ").or_else(|| entry.find(" (")).or_else(|| entry.find('\t')).unwrap_or(entry.len());
    entry.get(..cut).unwrap_or(entry).trim()
}

fn offer(tools: &[ToolSpec], language: Language) -> Option<String> {
    FileTools(tools).lister().map(|_| ()).or_else(|| find_tool::delegator(tools).map(|_| ()))?;
    Some(language.pick(
        "have a sub-agent look through a folder: \"summarise this folder\"".to_owned(),
        "让子代理通读文件夹：“总结这个文件夹”".to_owned(),
    ))
}
