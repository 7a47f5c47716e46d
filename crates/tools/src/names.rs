//! Finds the tool for a misspelt name: wrong case, other separators, a prefix from the model's training, a typing error.
//! A name that could mean two tools is not resolved.

/// Prefixes that some models add to a name.
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

/// One typing error is accepted in a name of at least this length, and two in a name of four more letters.
const SHORTEST_WITH_AN_ERROR: usize = 5;
const LONGEST: usize = 128;

/// Returns the one of `names` that `written` means.
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

/// Removes what models add to a name: quotes, prefixes, call brackets, special tokens.
fn bare(written: &str) -> &str {
    let mut name = written.trim();
    for end in ["<|", "("] {
        name = name.split(end).next().unwrap_or(name);
    }
    let quote = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`');
    name = name.trim_matches(quote);
    PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// The lower-case letters and digits of a name: the same for `Read_File`, `readFile` and `read-file`.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn only<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// The name with the fewest typing errors: letters that are added, missing, changed or swapped with a neighbour.
fn nearest<'a>(plain: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let length = plain.chars().count();
    let most = ((length + 4).checked_sub(SHORTEST_WITH_AN_ERROR)? / 4).min(2);
    let errors = |name: &str| strsim::osa_distance(plain, &letters(name));
    let fewest = names.clone().map(errors).min().filter(|errors| *errors <= most)?;
    only(names.filter(|name| errors(name) == fewest))
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
