//! The settings of git: which of them can start programs, in a configuration file or as `git config` changes them.

use super::{Verdict, options::Scan};
use crate::{judgement::CommandEffect, table::Rule};

/// What a setting can do to a command that reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Harmless,
    Includes,
    /// Can make git start a program, or is not known to be harmless.
    RunsPrograms,
}

/// The settings of a file as (`section.name` or `section.*.name` in lower case, value). `None` when the file has a form that
/// is not understood.
pub(super) fn settings(text: &str) -> Option<Vec<(String, String)>> {
    let mut section = String::new();
    let mut settings = Vec::new();
    for line in text.lines() {
        let mut line = line.trim();
        // Continued lines and files with a byte-order mark are rare in a repository's own file.
        if line.ends_with('\\') || line.starts_with('\u{feff}') {
            return None;
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let (header, after) = header(rest)?;
            section = header;
            line = after.trim();
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            if line.starts_with('[') {
                return None;
            }
        }
        let (name, value) = line.split_once('=').unwrap_or((line, "true"));
        let name = name.trim().to_lowercase();
        if section.is_empty()
            || name.is_empty()
            || !name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-')
        {
            return None;
        }
        settings.push((format!("{section}.{name}"), value.trim().trim_matches('"').to_owned()));
    }
    Some(settings)
}

/// `core]`, `remote "origin"]` → the section in lower case, with `.*` for a subsection, and the rest of the line.
fn header(rest: &str) -> Option<(String, &str)> {
    let name_end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '.'))?;
    let (name, rest) = rest.split_at(name_end);
    // The older form `[section.subsection]`.
    let (name, dotted) = name.split_once('.').map_or((name, false), |(name, _)| (name, true));
    if name.is_empty() {
        return None;
    }
    let rest = rest.trim_start();
    if let Some(after) = rest.strip_prefix(']') {
        return Some((if dotted { format!("{name}.*") } else { name.to_owned() }.to_lowercase(), after));
    }
    let quoted = rest.strip_prefix('"')?;
    let end = quoted.find('"')?;
    let subsection = quoted.get(..end)?;
    if subsection.contains('\\') || dotted {
        return None;
    }
    let after = quoted.get(end + 1..)?.trim_start().strip_prefix(']')?;
    Some((format!("{}.*", name.to_lowercase()), after))
}

/// Sections without a setting that a reading command executes, apart from those in `DANGEROUS`.
const HARMLESS_SECTIONS: [&str; 38] = [
    "branch.*",
    "user",
    "author",
    "committer",
    "color",
    "color.*",
    "column",
    "advice",
    "commit",
    "fetch",
    "gc",
    "gc.*",
    "gui",
    "init",
    "merge",
    "mergetool",
    "notes",
    "pack",
    "pull",
    "push",
    "rebase",
    "receive",
    "rerere",
    "stash",
    "status",
    "submodule",
    "submodule.*",
    "svn-remote.*",
    "tag",
    "transfer",
    "index",
    "blame",
    "lfs",
    "lfs.*",
    "feature",
    "maintenance",
    "log",
    "diff",
];
const HARMLESS_CORE: [&str; 27] = [
    "repositoryformatversion",
    "filemode",
    "bare",
    "logallrefupdates",
    "ignorecase",
    "precomposeunicode",
    "symlinks",
    "autocrlf",
    "eol",
    "safecrlf",
    "quotepath",
    "abbrev",
    "untrackedcache",
    "compression",
    "sharedrepository",
    "sparsecheckout",
    "sparsecheckoutcone",
    "commitgraph",
    "multipackindex",
    "bigfilethreshold",
    "longpaths",
    "protecthfs",
    "protectntfs",
    "trustctime",
    "checkstat",
    "whitespace",
    "preloadindex",
];
const HARMLESS_REMOTE: [&str; 9] =
    ["url", "fetch", "push", "pushurl", "tagopt", "mirror", "prune", "gh-resolved", "skipfetchall"];
const HARMLESS_EXTENSIONS: [&str; 3] = ["worktreeconfig", "objectformat", "refstorage"];
const DANGEROUS: [&str; 6] = [
    "log.showsignature",
    "diff.external",
    "submodule.*.update",
    "diff.orderfile",
    "commit.template",
    "blame.ignorerevsfile",
];

pub(super) fn kind(name: &str, value: &str) -> Kind {
    let (section, key) = name.rsplit_once('.').unwrap_or(("", name));
    let off = matches!(value.to_lowercase().as_str(), "false" | "no" | "off" | "0");
    let harmless = match section {
        "include" | "includeif.*" if key == "path" => return Kind::Includes,
        "core" if key == "fsmonitor" => off,
        "core" => HARMLESS_CORE.contains(&key),
        "remote.*" => HARMLESS_REMOTE.contains(&key),
        "extensions" => HARMLESS_EXTENSIONS.contains(&key),
        _ => HARMLESS_SECTIONS.contains(&section) && !DANGEROUS.contains(&name),
    };
    if harmless { Kind::Harmless } else { Kind::RunsPrograms }
}

/// Asks every time when `git config` changes a setting that can start programs.
pub(super) fn changed_setting(rule: &Rule, scan: &Scan<'_>, verdict: &mut Verdict) {
    const ACTIONS: [&str; 9] =
        ["set", "get", "list", "unset", "edit", "rename-section", "remove-section", "add", "replace-all"];
    let mut words = scan.operands.iter().map(|word| word.text()).peekable();
    let action = words.next_if(|word| word.is_some_and(|word| ACTIONS.contains(&word))).flatten();
    let (Some(name), Some(value)) = (words.next(), words.next()) else { return };
    if matches!(action, Some("get" | "list")) {
        return;
    }
    let is_harmless = |name: &str| {
        let (section, key) = name.split_once('.').unwrap_or((name, ""));
        let name = match key.rsplit_once('.') {
            Some((_, key)) => format!("{section}.*.{key}"),
            None => format!("{section}.{key}"),
        };
        kind(&name.to_lowercase(), value.unwrap_or_default()) == Kind::Harmless
    };
    if !name.is_some_and(is_harmless) {
        let name = name.unwrap_or("that is known only at run time");
        let why = format!("It changes the setting {name} of git, which can start programs.");
        verdict.raise(CommandEffect::Sensitive, &format!("{}/starts-programs", rule.id), why);
    }
}

/// Names that git knows without any configuration.
const BUILT_IN_DRIVERS: [&str; 29] = [
    "ada", "bash", "bibtex", "cpp", "csharp", "css", "dts", "elixir", "fortran", "fountain", "golang",
    "html", "java", "kotlin", "markdown", "matlab", "objc", "pascal", "perl", "php", "python", "ruby",
    "rust", "scheme", "tex", "ini", "astro", "default", "union",
];

/// The first `filter=…` or `diff=…` of an attributes file that needs a driver from a configuration.
pub(super) fn named_driver(attributes: &str) -> Option<&str> {
    let lines = attributes.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.flat_map(str::split_whitespace).find_map(|word| {
        let driver = word.strip_prefix("filter=").or_else(|| word.strip_prefix("diff="))?;
        (!BUILT_IN_DRIVERS.contains(&driver)).then_some(driver)
    })
}
