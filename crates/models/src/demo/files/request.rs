//! What a person wants to be done with files.

use super::{
    super::{
        politeness,
        terms::{has_any, trim_end, trim_start},
        utterance::{Language, Unit, Utterance, is_han},
    },
    chinese, english,
    pattern::{self, Bound, Piece},
    spans::Masked,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum FileRequest {
    /// The work directory is "".
    List {
        folder: String,
    },
    /// `lines` are the first and the last line, counted from 1.
    Read {
        path: String,
        lines: Option<(usize, usize)>,
    },
    Search {
        text: String,
        place: String,
    },
    Find {
        pattern: String,
    },
    Summarise {
        path: String,
    },
    /// `direct`: by the agent itself, without a sub-agent.
    SummariseFolder {
        folder: String,
        direct: bool,
    },
    /// An empty `new` removes the text.
    Replace {
        path: String,
        old: String,
        new: String,
    },
    Insert {
        path: String,
        line: String,
        at: Place,
    },
    Create {
        path: String,
        content: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Place {
    Start,
    End,
}

impl FileRequest {
    /// The request in a message and the language it was made in.
    pub(in super::super) fn of(utterance: &Utterance) -> Option<(Self, Language)> {
        let masked = Masked::new(utterance.text());
        let parts = masked.utterance.parts();
        parts.into_iter().find_map(|part| {
            let found = first(english::RULES, &masked, english_core(part));
            let found = found
                .or_else(|| first(english::RULES, &masked, part))
                .map(|request| (request, Language::English));
            found.or_else(|| {
                let request = first(chinese::RULES, &masked, chinese_core(part));
                Some((request.or_else(|| first(chinese::RULES, &masked, part))?, Language::Chinese))
            })
        })
    }
}

/// A pattern, and the request that its places make.
pub(super) struct Rule {
    pub(super) pattern: &'static [Piece],
    pub(super) make: fn(&Masked, &Bound<'_>) -> Option<FileRequest>,
}

fn first(rules: &[&[Rule]], masked: &Masked, units: &[Unit]) -> Option<FileRequest> {
    rules
        .iter()
        .copied()
        .flatten()
        .find_map(|rule| (rule.make)(masked, &pattern::find(masked, units, rule.pattern)?))
}

fn english_core(units: &[Unit]) -> &[Unit] {
    let units = trim_start(units, politeness::ENGLISH_LEAD);
    trim_end(units, politeness::ENGLISH_TRAIL)
}

fn chinese_core(units: &[Unit]) -> &[Unit] {
    let units = trim_start(politeness::trim_chinese_end(units), "请问, 我想知道, 问一下");
    trim_start(units, politeness::CHINESE_LEAD)
}

/// The makers of requests that both languages use.
pub(super) mod make {
    use super::*;

    pub(in super::super) fn list(_: &Masked, bound: &Bound<'_>) -> Option<FileRequest> {
        Some(FileRequest::List { folder: bound.folders.last().cloned().unwrap_or_default() })
    }

    pub(in super::super) fn read(_: &Masked, bound: &Bound<'_>) -> Option<FileRequest> {
        let path = bound.files.last()?.clone();
        if super::super::spans::is_folder_like(&path) && path.ends_with('/') {
            return Some(FileRequest::List { folder: path });
        }
        let lines = match bound.numbers.as_slice() {
            [first, last] if first <= last => Some((*first, *last)),
            [only] => Some((*only, *only)),
            _ => None,
        };
        Some(FileRequest::Read { path, lines })
    }

    pub(in super::super) fn read_beginning(_: &Masked, bound: &Bound<'_>) -> Option<FileRequest> {
        let last = bound.numbers.first().copied().filter(|last| *last > 0)?;
        Some(FileRequest::Read { path: bound.files.last()?.clone(), lines: Some((1, last)) })
    }

    pub(in super::super) fn search(masked: &Masked, bound: &Bound<'_>) -> Option<FileRequest> {
        let text = masked.text(bound.texts.last()?);
        let place = bound.files.last().or(bound.folders.last()).cloned().unwrap_or_default();
        Some(FileRequest::Search { text, place })
    }

    /// A quoted text; a quoted file name is looked for by name instead.
    pub(in super::super) fn search_quote(masked: &Masked, bound: &Bound<'_>) -> Option<FileRequest> {
        let text = masked.text(bound.texts.last()?);
        (!super::super::spans::is_path(&text)).then(|| FileRequest::Search { text, place: String::new() })
    }

    /// A word or two without a place to search; a file name is looked for by name instead.
    pub(in super::super) fn search_words(masked: &Masked, bound: &Bound<'_>) -> Option<FileRequest> {
        /// These words begin or belong to a sentence about something else than files.
        const OTHERS: &str = "
            a, an, the, some, any, my, your, our, me, us, it, this, that, them, something, in, on, at, to, from, for, of, with, about, near, online, web, internet, news, weather, all, every, files, file, and, or, by, how, what, who, where, why, when, best, cheap,
            的, 在, 一, 上, 网, 新闻, 天气, 图片, 附近, 哪, 什么, 怎么, 谁, 最, 和, 文件, 目录, 这, 那, 我, 你, 他, 它";
        let units = bound.texts.last()?;
        let han = units.iter().filter(|unit| unit.norm.chars().all(is_han)).count();
        let short = if han == 0 { units.len() <= 2 } else { units.len() <= 8 };
        if !short || has_any(units, OTHERS) {
            return None;
        }
        let text = masked.text(units);
        Some(if super::super::spans::is_path(&text) {
            FileRequest::Find { pattern: pattern::anywhere(text.trim_start_matches("./")) }
        } else {
            FileRequest::Search { text, place: String::new() }
        })
    }

    pub(in super::super) fn find(_: &Masked, bound: &Bound<'_>) -> Option<FileRequest> {
        let pattern = match (bound.kinds.last(), bound.files.last()) {
            (Some(kind), _) => match bound.folders.last().map(|folder| folder.trim_matches('/')) {
                Some(file)
                    if super::super::spans::is_path(file) && !super::super::spans::is_folder_like(file) =>
                {
                    return None;
                }
                Some(folder) if !folder.is_empty() => format!("{folder}/{kind}"),
                _ => kind.clone(),
            },
            (None, Some(file)) => pattern::anywhere(file.trim_start_matches("./")),
            (None, None) => return None,
        };
        Some(FileRequest::Find { pattern })
    }

    pub(in super::super) fn summarise(_: &Masked, bound: &Bound<'_>) -> Option<FileRequest> {
        let path = bound.files.last()?.clone();
        let folder = super::super::spans::is_folder_like(&path) && path.contains('/');
        Some(if folder {
            FileRequest::SummariseFolder { folder: path, direct: false }
        } else {
            FileRequest::Summarise { path }
        })
    }

    pub(in super::super) fn summarise_folder(_: &Masked, bound: &Bound<'_>) -> Option<FileRequest> {
        Some(FileRequest::SummariseFolder { folder: bound.folders.last()?.clone(), direct: false })
    }

    pub(in super::super) fn summarise_directly(_: &Masked, bound: &Bound<'_>) -> Option<FileRequest> {
        Some(FileRequest::SummariseFolder { folder: bound.folders.last()?.clone(), direct: true })
    }

    pub(in super::super) fn replace(masked: &Masked, bound: &Bound<'_>) -> Option<FileRequest> {
        let [old, new] = bound.texts.as_slice() else { return None };
        let (old, new) = (masked.text(old), masked.text(new));
        (old != new && !old.is_empty())
            .then(|| Some(FileRequest::Replace { path: bound.files.last()?.clone(), old, new }))?
    }

    /// The new text comes first: "use X instead of Y in Z".
    pub(in super::super) fn replace_reversed(masked: &Masked, bound: &Bound<'_>) -> Option<FileRequest> {
        let [new, old] = bound.texts.as_slice() else { return None };
        let (old, new) = (masked.text(old), masked.text(new));
        Some(FileRequest::Replace { path: bound.files.last()?.clone(), old, new })
    }

    pub(in super::super) fn remove(masked: &Masked, bound: &Bound<'_>) -> Option<FileRequest> {
        let old = masked.text(bound.texts.last()?);
        Some(FileRequest::Replace { path: bound.files.last()?.clone(), old, new: String::new() })
    }

    pub(in super::super) fn append(masked: &Masked, bound: &Bound<'_>) -> Option<FileRequest> {
        insert(masked, bound, Place::End)
    }

    pub(in super::super) fn prepend(masked: &Masked, bound: &Bound<'_>) -> Option<FileRequest> {
        insert(masked, bound, Place::Start)
    }

    fn insert(masked: &Masked, bound: &Bound<'_>, at: Place) -> Option<FileRequest> {
        let line = masked.text(bound.texts.last()?);
        Some(FileRequest::Insert { path: bound.files.last()?.clone(), line, at })
    }

    pub(in super::super) fn create(masked: &Masked, bound: &Bound<'_>) -> Option<FileRequest> {
        let content = bound.texts.last().map(|units| masked.text(units)).unwrap_or_default();
        Some(FileRequest::Create { path: bound.files.last()?.clone(), content })
    }
}
