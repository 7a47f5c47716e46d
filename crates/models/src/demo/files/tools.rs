//! Finds the tools for files by the words of their descriptions and the shape of their input, and builds the arguments.

use protocol::ToolSpec;
use serde_json::{Value, json};

use super::super::{
    find_tool::{DescriptionWords, best, unknown_required},
    schema::{Object, Property},
};

/// The tools of a request that work with files.
#[derive(Clone, Copy)]
pub(in super::super) struct FileTools<'t>(pub(in super::super) &'t [ToolSpec]);

/// One replacement in a file.
pub(in super::super) struct Edit<'e> {
    pub(in super::super) path: &'e str,
    pub(in super::super) old: &'e str,
    pub(in super::super) new: &'e str,
    pub(in super::super) all: bool,
}

impl<'t> FileTools<'t> {
    /// The tool that returns the text of a file.
    pub(in super::super) fn reader(self) -> Option<&'t ToolSpec> {
        best(self.0, 5, |tool| {
            if !has(tool, is_path) || changes(tool) || has(tool, is_pattern) {
                return 0;
            }
            let words = DescriptionWords::of(tool).weigh(&[
                (3, &["read", "reads", "读取", "读"]),
                (2, &["file", "文件"]),
                (1, &["text", "lines", "文本"]),
                (-3, &["list", "entries", "folder", "列出"]),
                (-4, &["table", "slides", "cells", "pdf", "image", "picture", "url"]),
            ]);
            words - 3 * unknown_required(tool, is_path)
        })
    }

    /// The tool that lists a folder.
    pub(in super::super) fn lister(self) -> Option<&'t ToolSpec> {
        best(self.0, 4, |tool| {
            if !has(tool, is_path) || changes(tool) || has(tool, is_pattern) {
                return 0;
            }
            let depth = has(tool, |property| property.is_number() && property.is_named(&["depth", "levels"]));
            let words = DescriptionWords::of(tool).weigh(&[
                (3, &["list", "lists", "entries", "列出"]),
                (2, &["folder", "directory", "folders", "directories", "文件夹", "目录"]),
                (1, &["files", "文件"]),
                (-3, &["read", "allowed", "granted"]),
            ]);
            words + if depth { 2 } else { 0 } - 3 * unknown_required(tool, is_path)
        })
    }

    /// The tool that searches the text of files.
    pub(in super::super) fn searcher(self) -> Option<&'t ToolSpec> {
        best(self.0, 5, |tool| {
            if !has(tool, is_pattern) || has(tool, is_glob) || changes(tool) {
                return 0;
            }
            let words = DescriptionWords::of(tool).weigh(&[
                (3, &["search", "searches", "grep", "find", "搜索", "查找"]),
                (2, &["file", "files", "文件"]),
                (2, &["regular", "regex", "expression", "text", "lines", "contents", "content", "正则"]),
                (-4, &["web", "internet", "page", "pages"]),
            ]);
            words - 3 * unknown_required(tool, |property| is_pattern(property) || is_path(property))
        })
    }

    /// The tool that finds files by their names.
    pub(in super::super) fn finder(self) -> Option<&'t ToolSpec> {
        best(self.0, 5, |tool| {
            let glob = has(tool, is_glob) || DescriptionWords::of(tool).weigh(&[(1, &["glob"])]) > 0;
            if !has(tool, is_pattern) || !glob || changes(tool) {
                return 0;
            }
            let words = DescriptionWords::of(tool).weigh(&[
                (3, &["names", "name", "paths", "path", "文件名"]),
                (2, &["file", "files", "文件"]),
            ]);
            words - 3 * unknown_required(tool, |property| is_pattern(property) || is_path(property))
        })
    }

    /// The tool that writes a whole file.
    pub(in super::super) fn writer(self) -> Option<&'t ToolSpec> {
        best(self.0, 4, |tool| {
            if !has(tool, is_path) || !has(tool, is_content) || edit_list(tool).is_some() {
                return 0;
            }
            let words = DescriptionWords::of(tool).weigh(&[
                (4, &["write", "writes", "create", "creates", "写入", "创建"]),
                (1, &["file", "文件"]),
            ]);
            words - 3 * unknown_required(tool, |property| is_path(property) || is_content(property))
        })
    }

    /// The tool that replaces passages of a file.
    pub(in super::super) fn editor(self) -> Option<&'t ToolSpec> {
        best(self.0, 1, |tool| {
            let fits = has(tool, is_path) && edit_list(tool).is_some();
            let known = |property: &Property<'_>| is_path(property) || property.schema["type"] == "array";
            if fits { 4 - 3 * unknown_required(tool, known) } else { 0 }
        })
    }

    /// The tool that applies a patch.
    pub(in super::super) fn patcher(self) -> Option<&'t ToolSpec> {
        best(self.0, 1, |tool| if has(tool, is_patch) { 4 - 3 * unknown_required(tool, is_patch) } else { 0 })
    }
}

/// Arguments with the path, and a line range if one is given.
pub(in super::super) fn path_input(
    tool: &ToolSpec,
    path: &str,
    lines: Option<(usize, usize)>,
    purpose: &str,
) -> Value {
    let input = Object::of(tool);
    let properties = input.properties();
    let mut values: Vec<(&str, Value)> = Vec::new();
    let path = if path.is_empty() { "." } else { path };
    values.extend(properties.iter().find(|property| is_path(property)).map(|own| (own.name, json!(path))));
    if let Some((first, last)) = lines {
        let number = |names: &[&str]| {
            properties.iter().find(|own| own.is_number() && own.is_named(names)).map(|own| own.name)
        };
        values.extend(number(&["offset", "start", "first", "from"]).map(|name| (name, json!(first))));
        values.extend(number(&["limit", "count"]).map(|name| (name, json!(last.saturating_sub(first) + 1))));
    }
    input.fill(&values, purpose)
}

/// Arguments with a pattern, and the place to search if one is given.
pub(in super::super) fn pattern_input(tool: &ToolSpec, pattern: &str, place: &str, purpose: &str) -> Value {
    let input = Object::of(tool);
    let properties = input.properties();
    let mut values: Vec<(&str, Value)> = Vec::new();
    values.extend(properties.iter().find(|own| is_pattern(own)).map(|own| (own.name, json!(pattern))));
    if !place.is_empty() {
        values.extend(properties.iter().find(|own| is_path(own)).map(|own| (own.name, json!(place))));
    }
    input.fill(&values, purpose)
}

pub(in super::super) fn write_input(tool: &ToolSpec, path: &str, content: &str, purpose: &str) -> Value {
    let input = Object::of(tool);
    let properties = input.properties();
    let mut values: Vec<(&str, Value)> = Vec::new();
    values.extend(properties.iter().find(|own| is_path(own)).map(|own| (own.name, json!(path))));
    values.extend(properties.iter().find(|own| is_content(own)).map(|own| (own.name, json!(content))));
    input.fill(&values, purpose)
}

pub(in super::super) fn edit_input(tool: &ToolSpec, edit: &Edit<'_>, purpose: &str) -> Value {
    let input = Object::of(tool);
    let properties = input.properties();
    let Some((list, item)) = edit_list(tool) else { return json!({}) };
    let mut fields = vec![(item.old, json!(edit.old)), (item.new, json!(edit.new))];
    fields.extend(item.all.filter(|_| edit.all).map(|all| (all, json!(true))));
    let items = properties.iter().find(|own| own.name == list).and_then(|own| input.items_of(own));
    let row = items.map_or_else(|| json!({}), |items| items.fill(&fields, purpose));
    let mut values: Vec<(&str, Value)> = vec![(list, json!([row]))];
    values.extend(properties.iter().find(|own| is_path(own)).map(|own| (own.name, json!(edit.path))));
    input.fill(&values, purpose)
}

/// A patch that changes whole lines; `lines` are the lines of the file.
pub(in super::super) fn patch_input(
    tool: &ToolSpec,
    edit: &Edit<'_>,
    lines: &[String],
    purpose: &str,
) -> Value {
    let mut patch = format!("*** Begin Patch\n*** Update File: {}\n", edit.path);
    let mut hunk = |before: Option<&String>, old: &str, new: &str| {
        patch.push_str("@@\n");
        patch.extend(before.map(|line| format!(" {line}\n")));
        patch.extend(old.split('\n').map(|line| format!("-{line}\n")));
        patch.extend(new.split('\n').map(|line| format!("+{line}\n")));
    };
    if edit.old.contains('\n') {
        hunk(None, edit.old, edit.new);
    } else {
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.contains(edit.old)) {
            let before = at.checked_sub(1).and_then(|at| lines.get(at));
            hunk(before, line, &line.replace(edit.old, edit.new));
        }
    }
    patch.push_str("*** End Patch\n");
    let input = Object::of(tool);
    let properties = input.properties();
    let values: Vec<_> =
        properties.iter().find(|own| is_patch(own)).map(|own| (own.name, json!(patch))).into_iter().collect();
    input.fill(&values, purpose)
}

struct EditFields<'s> {
    old: &'s str,
    new: &'s str,
    all: Option<&'s str>,
}

/// The list of replacements in a tool's input: entries with an old and a new text.
fn edit_list(tool: &ToolSpec) -> Option<(&str, EditFields<'_>)> {
    let input = Object::of(tool);
    input.properties().iter().find_map(|list| {
        let items = input.items_of(list)?.properties();
        let text = |names: &[&str]| {
            items.iter().find(|own| own.is_text() && own.is_named(names)).map(|own| own.name)
        };
        let old = text(&["old", "search", "find", "before"])?;
        let new = text(&["new", "replacement", "after"])?;
        let all = items
            .iter()
            .find(|own| own.schema["type"] == "boolean" && own.is_named(&["all"]))
            .map(|own| own.name);
        Some((list.name, EditFields { old, new, all }))
    })
}

fn has(tool: &ToolSpec, is: fn(&Property<'_>) -> bool) -> bool {
    Object::of(tool).properties().iter().any(is)
}

fn changes(tool: &ToolSpec) -> bool {
    has(tool, is_content) || has(tool, is_patch) || edit_list(tool).is_some()
}

fn is_path(property: &Property<'_>) -> bool {
    property.is_text()
        && !property.is_purpose()
        && property.is_named(&["path", "file", "filename", "folder", "directory", "dir"])
}

fn is_pattern(property: &Property<'_>) -> bool {
    property.is_text() && property.is_named(&["pattern", "regex", "glob", "query"])
}

fn is_glob(property: &Property<'_>) -> bool {
    is_pattern(property) && property.mentions(&["glob"])
}

fn is_content(property: &Property<'_>) -> bool {
    property.is_text() && property.is_named(&["content", "contents"])
}

fn is_patch(property: &Property<'_>) -> bool {
    property.is_text() && property.is_named(&["patch", "diff"])
}
