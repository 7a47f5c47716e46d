//! Patterns for the names of files: what they could match.

use globset::Glob;

/// Names that a pattern must not pick out by chance.
const SECRET_SAMPLES: [&str; 12] = [
    ".env",
    ".env.local",
    ".netrc",
    ".npmrc",
    ".git-credentials",
    ".pypirc",
    "id_rsa",
    "id_ed25519",
    "server.pem",
    "server.key",
    "credentials",
    "secrets.yml",
];

/// More of them, for patterns that are compared with every name of a tree.
const MORE_SECRETS: [&str; 12] = [
    "id_dsa",
    "id_ecdsa",
    ".pgpass",
    ".htpasswd",
    ".vault-token",
    ".bash_history",
    "server.p12",
    "server.pfx",
    "x.tfstate",
    "x.tfvars",
    "credentials.json",
    "secrets.toml",
];

/// Names that a pattern matches that was not written to find secrets.
const ORDINARY: [&str; 6] = ["x.yml", "main.yml", "x.json", "x.toml", ".x", "readme"];

/// The folders of a pattern before its first special character, with the last slash.
pub(super) fn fixed_folder(pattern: &str) -> &str {
    let end = pattern.find(['*', '?', '[', '\\']).unwrap_or(pattern.len());
    let fixed = pattern.get(..end).unwrap_or_default();
    fixed.rfind('/').and_then(|slash| fixed.get(..=slash)).unwrap_or_default()
}

pub(super) fn fixed_part_holds_all_parents(pattern: &str, fixed: &str) -> bool {
    !pattern.get(fixed.len()..).unwrap_or_default().split('/').any(|part| part == "..")
}

/// Whether a pattern that is more exact than `*` matches a name that usually holds secrets.
pub(super) fn picks_secrets(pattern: &str) -> bool {
    let last = pattern.rsplit('/').next().unwrap_or_default();
    if matches!(last, "*" | "**" | "?*" | "*?") {
        return false;
    }
    let hidden = last.starts_with(['.', '[']);
    SECRET_SAMPLES.iter().any(|sample| (hidden || !sample.starts_with('.')) && could_match(last, sample))
}

/// Whether a shell pattern could match a name. A bracket counts as any one character, and may be followed by anything.
fn could_match(pattern: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    // The lengths of the beginnings of the name that the pattern read so far matches.
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for c in pattern.chars() {
        match c {
            '[' => return reached.contains(&true),
            '\\' => {}
            '*' => {
                let first = reached.iter().position(|reached| *reached).unwrap_or(name.len() + 1);
                reached.iter_mut().skip(first).for_each(|reached| *reached = true);
            }
            _ => {
                let step = |at: usize| {
                    at > 0 && reached.get(at - 1) == Some(&true) && (c == '?' || name.get(at - 1) == Some(&c))
                };
                reached = (0..=name.len()).map(step).collect();
            }
        }
    }
    reached.last() == Some(&true)
}

/// Whether a pattern that is compared with every name of a tree was written to find files that hold secrets: it matches such
/// a name, but not an ordinary one of the same kind.
pub(super) fn names_secrets(pattern: &str) -> bool {
    let pattern = pattern.to_lowercase();
    let last = pattern.rsplit('/').next().unwrap_or_default();
    let mut samples = SECRET_SAMPLES.iter().chain(&MORE_SECRETS);
    // Classes of characters are read in different ways.
    if ["[:", "[.", "[="].iter().any(|class| last.contains(class)) {
        return samples.any(|sample| could_match(last, sample));
    }
    let Ok(glob) = Glob::new(last).map(|glob| glob.compile_matcher()) else {
        return samples.any(|sample| could_match(last, sample));
    };
    samples.any(|sample| glob.is_match(sample)) && !ORDINARY.iter().any(|name| glob.is_match(name))
}

/// A regular expression of `find`, written as a shell pattern that matches as much or more.
pub(super) fn from_expression(expression: &str) -> String {
    expression.replace(".*", "*").replace('\\', "").replace(['^', '$'], "")
}
