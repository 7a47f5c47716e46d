//! The patterns of rules: names of tools with `*`, globs over paths.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use protocol::policy::{Rule, RuleEffect};

/// Whether refusals and questions ignore the case of a path: two names are one file where the file system says so.
const FILES_IGNORE_CASE: bool = cfg!(any(target_os = "macos", windows));

/// Compiles a glob: `*` stays within one component, `**` crosses folders, `\` takes the next character literally.
pub(crate) fn compile_glob(glob: &str, ignore_case: bool) -> Result<Glob, globset::Error> {
    GlobBuilder::new(glob)
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .case_insensitive(ignore_case)
        .build()
}

/// Returns the pattern relative to the work directory: `/workspace/src/` and `./src/` become `src/**`. `None` for patterns
/// that can cover no path of the work directory.
pub(crate) fn plain_glob(written: &str) -> Option<String> {
    let mut path = written.trim();
    path = match path {
        "/workspace" | "/workspace/" => "**",
        other => other.strip_prefix("/workspace/").unwrap_or(other),
    };
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    if path.is_empty() || path.starts_with('/') {
        return None;
    }
    let folder = path.strip_suffix('/');
    let glob = folder.map_or_else(|| path.to_owned(), |folder| format!("{folder}/**"));
    let plain = glob.split('/').all(|component| !matches!(component, "" | "." | ".."));
    plain.then_some(glob)
}

/// Escapes a path so that it is a pattern for itself only.
pub(crate) fn literal_glob(path: &str) -> String {
    globset::escape(&path.replace('\\', "\\\\"))
}

/// Returns the path that a pattern stands for if it contains no wildcards.
pub(crate) fn literal_of(glob: &str) -> Option<String> {
    let mut path = String::with_capacity(glob.len());
    let mut rest = glob.chars();
    while let Some(c) = rest.next() {
        match c {
            '*' | '?' | '{' | '}' | ']' => return None,
            '\\' => path.push(rest.next()?),
            '[' => {
                path.push(rest.next()?);
                if rest.next()? != ']' {
                    return None;
                }
            }
            other => path.push(other),
        }
    }
    Some(path)
}

/// Whether a name matches a pattern in which `*` stands for any characters.
pub(crate) fn name_matches(pattern: &str, name: &str) -> bool {
    let Some((first, mut pattern)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    while let Some((part, after)) = pattern.split_once('*') {
        let Some(at) = name.find(part) else { return false };
        name = name.get(at + part.len()..).unwrap_or_default();
        pattern = after;
    }
    name.ends_with(pattern)
}

/// What a call touches, as rules see it.
#[derive(Clone, Copy)]
pub(crate) enum Touched<'a> {
    /// The call is not about files.
    NoFile,
    Path(&'a str),
}

impl<'a> Touched<'a> {
    pub(crate) fn path(self) -> Option<&'a str> {
        match self {
            Self::NoFile => None,
            Self::Path(path) => Some(path),
        }
    }
}

/// The rules of one layer, compiled.
///
/// The paths of all rules are one [`GlobSet`]: a set of rules costs a few kilobytes and one pass over the path.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    rules: Vec<Rule>,
    paths: GlobSet,
    /// The rule of each glob in `paths`; a rule may have several.
    rule_of_glob: Vec<usize>,
    /// Rules whose path could not be compiled. They come from damaged data only: [`crate::check`] accepts no such rule.
    broken: Vec<usize>,
    /// Rules that cover the work directory itself.
    root: Vec<usize>,
}

impl Layer {
    /// Compiles rules. Their order does not matter.
    pub(crate) fn new(mut rules: Vec<Rule>) -> Self {
        rules.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        let mut layer = Self { rules, ..Self::default() };
        let mut globs = GlobSetBuilder::new();
        for (at, rule) in layer.rules.iter().enumerate() {
            let Some(path) = &rule.calls.path else { continue };
            let compiled = plain_glob(path).and_then(|glob| {
                let covered = covered_globs(&glob, rule.effect);
                let ignore_case = FILES_IGNORE_CASE && rule.effect != RuleEffect::Allow;
                let compiled: Result<Vec<Glob>, _> =
                    covered.iter().map(|glob| compile_glob(glob, ignore_case)).collect();
                compiled.ok().map(|compiled| (compiled, glob == "**"))
            });
            match compiled {
                Some((compiled, is_root)) => {
                    layer.rule_of_glob.extend(compiled.iter().map(|_| at));
                    compiled.into_iter().for_each(|glob| {
                        globs.add(glob);
                    });
                    layer.root.extend(is_root.then_some(at));
                }
                None => layer.broken.push(at),
            }
        }
        match globs.build() {
            Ok(paths) => layer.paths = paths,
            // The set is too large to compile: no rule of it allows anything.
            Err(_) => layer.broken = (0..layer.rules.len()).filter(|at| layer.has_path(*at)).collect(),
        }
        layer
    }

    fn has_path(&self, rule: usize) -> bool {
        self.rules.get(rule).is_some_and(|rule| rule.calls.path.is_some())
    }

    /// The rules for a tool, whatever else they name.
    pub(crate) fn naming(&self, tool: &str) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| names_tool(rule, tool))
    }

    /// Lists the rules that cover a call, in an order that does not depend on how they were given.
    pub(crate) fn covering(&self, tool: &str, touched: Touched<'_>) -> Vec<&Rule> {
        if self.rules.is_empty() {
            return Vec::new();
        }
        let by_path: Vec<usize> = match touched {
            Touched::NoFile => Vec::new(),
            Touched::Path("") => self.root.clone(),
            Touched::Path(path) => self
                .paths
                .matches(path)
                .into_iter()
                .filter_map(|glob| self.rule_of_glob.get(glob).copied())
                .collect(),
        };
        let covers = |(at, rule): &(usize, &Rule)| {
            // Rules for commands: `command.rs`.
            if rule.calls.command.is_some() || !names_tool(rule, tool) {
                return false;
            }
            if rule.calls.path.is_none() || by_path.contains(at) {
                return true;
            }
            // What a damaged rule covers is unknown: it allows nothing and forbids everything that it could be about.
            matches!(touched, Touched::Path(_))
                && rule.effect != RuleEffect::Allow
                && self.broken.contains(at)
        };
        self.rules.iter().enumerate().filter(covers).map(|(_, rule)| rule).collect()
    }
}

fn names_tool(rule: &Rule, tool: &str) -> bool {
    rule.calls.tools.is_empty() || rule.calls.tools.iter().any(|pattern| name_matches(pattern, tool))
}

/// Returns the globs that a rule stands for. `src/**` also covers the folder `src` itself, so that it can be listed. A rule
/// that asks or refuses and names a folder without wildcards covers what is in the folder; a rule that allows does not.
fn covered_globs(glob: &str, effect: RuleEffect) -> Vec<String> {
    let mut globs = vec![glob.to_owned()];
    if let Some(folder) = glob.strip_suffix("/**") {
        globs.push(folder.to_owned());
    } else if effect != RuleEffect::Allow && literal_of(glob).is_some() {
        globs.push(format!("{glob}/**"));
    }
    globs
}

type SortKey<'a> = (&'a str, &'a [String], &'a Option<String>, &'a Option<String>, &'a Option<String>, u8);

fn sort_key(rule: &Rule) -> SortKey<'_> {
    let calls = &rule.calls;
    (rule.id.as_str(), &calls.tools, &calls.path, &calls.command, &rule.note, rule.effect as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_in_the_name_of_a_tool_stands_for_any_characters() {
        for (pattern, name, expected) in [
            ("*", "shell", true),
            ("shell", "shell", true),
            ("shell", "shell2", false),
            ("", "", true),
            ("read-*", "read-file", true),
            ("read-*", "read", false),
            ("*-file", "write-file", true),
            ("*-file", "file", false),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("**", "x", true),
            ("Shell", "shell", false),
        ] {
            assert_eq!(name_matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_literal_pattern_is_for_its_path_only() {
        for path in ["a.txt", "a/[id]/b", "x*y?z", "{a,b}", "a\\b", "[!a]", "ü/字", "a]b[c"] {
            let glob = literal_glob(path);
            assert!(compile_glob(&glob, false).unwrap().compile_matcher().is_match(path), "{path} {glob}");
            assert_eq!(literal_of(&glob).as_deref(), Some(path), "{glob}");
        }
        for glob in ["*", "a/**", "[ab]", "{a,b}", "a?"] {
            assert_eq!(literal_of(glob), None, "{glob}");
        }
    }

    #[test]
    fn patterns_are_made_relative() {
        assert_eq!(plain_glob("/workspace/src/").as_deref(), Some("src/**"));
        assert_eq!(plain_glob("/workspace").as_deref(), Some("**"));
        assert_eq!(plain_glob("././src").as_deref(), Some("src"));
        assert_eq!(plain_glob("/etc"), None);
        assert_eq!(plain_glob("a//b"), None);
    }
}
