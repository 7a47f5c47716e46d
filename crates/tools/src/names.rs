//! Finds the tool a model meant when the name it wrote is not quite one: wrong case, other separators, a prefix of
//! its training, a typing error. Only where one tool alone fits: a guess between two is no repair.

/// What some models write before a name.
const PREFIXES: [&str; 8] = [
    "functions.",
    "function.",
    "functions::",
    "tools.",
    "tool.",
    "default_api.",
    "default_api:",
    "multi_tool_use.",
];

/// Typing errors are looked for in names of at least this length, and one more for each further four letters.
const SHORTEST_WITH_AN_ERROR: usize = 5;
const LONGEST: usize = 128;

/// The one of `names` that `written` means.
pub fn resolve<'a>(written: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    if let Some(exact) = names.clone().find(|name| *name == written) {
        return Some(exact);
    }
    if written.len() > LONGEST {
        return None;
    }
    let plain = letters(bare(written));
    if plain.is_empty() {
        return None;
    }
    let same = only(names.clone().filter(|name| letters(name) == plain));
    same.or_else(|| nearest(&plain, names))
}

/// Without what models put around a name: quotes, prefixes, call brackets, tokens of their own.
fn bare(written: &str) -> &str {
    let mut name = written.trim();
    for end in ["<|", "("] {
        name = name.split(end).next().unwrap_or(name);
    }
    let quote = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`');
    name = name.trim_matches(quote);
    PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// `Read_File`, `readFile` and `read-file` are the same letters.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn only<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

fn nearest<'a>(plain: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let length = plain.chars().count();
    let most = (length + 4).checked_sub(SHORTEST_WITH_AN_ERROR)? / 4;
    let most = most.min(2);
    let mut best: Option<(usize, &str)> = None;
    let mut tied = false;
    for name in names {
        let far = distance(plain, &letters(name));
        if far > most {
            continue;
        }
        match best {
            Some((nearest, _)) if far > nearest => {}
            Some((nearest, _)) if far == nearest => tied = true,
            _ => {
                best = Some((far, name));
                tied = false;
            }
        }
    }
    best.filter(|_| !tied).map(|(_, name)| name)
}

/// Letters to add, leave out, change or swap with a neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, right) in b.iter().enumerate() {
            let change = last[j] + usize::from(left != right);
            let mut best = change.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *left == b[j - 1] && a[i - 1] == *right {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 6] = ["read-file", "read-files", "update-plan", "conf_echo", "time-now", "echo"];

    fn meant(written: &str) -> Option<&'static str> {
        resolve(written, NAMES.into_iter())
    }

    #[test]
    fn a_name_that_exists_is_never_taken_for_another() {
        for name in NAMES {
            assert_eq!(meant(name), Some(name));
        }
    }

    #[test]
    fn case_separators_prefixes_and_quotes_do_not_matter() {
        for written in [
            "Update-Plan",
            "update_plan",
            "updatePlan",
            "UPDATE PLAN",
            "functions.update-plan",
            "`update-plan`",
        ] {
            assert_eq!(meant(written), Some("update-plan"), "{written}");
        }
        assert_eq!(meant("conf_echo<|channel|>commentary"), Some("conf_echo"));
        assert_eq!(meant("time-now()"), Some("time-now"));
    }

    #[test]
    fn a_typing_error_is_forgiven_where_one_tool_alone_fits() {
        assert_eq!(meant("udpate-plan"), Some("update-plan"));
        assert_eq!(meant("tmie-now"), Some("time-now"));
        assert_eq!(meant("conf_ecko"), Some("conf_echo"));
        assert_eq!(meant("read-filex"), None, "two are equally near");
        assert_eq!(meant("ehco"), None, "too short to guess");
    }

    #[test]
    fn anything_else_is_unknown() {
        for written in ["", "--", "write-file", "plan", "search_google", &"x".repeat(10_000)] {
            assert_eq!(meant(written), None, "{written}");
        }
    }
}
