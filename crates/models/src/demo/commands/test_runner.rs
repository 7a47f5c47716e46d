//! The command that runs the tests of a project, by the files in its folder. The files are only looked for: nothing that
//! is written in them is run.

const RUNNERS: &[(&str, &str)] = &[
    ("Cargo.toml", "cargo test"),
    ("package.json", "npm test"),
    ("go.mod", "go test ./..."),
    ("pyproject.toml", "python3 -m pytest"),
    ("pytest.ini", "python3 -m pytest"),
    ("setup.py", "python3 -m pytest"),
    ("tox.ini", "python3 -m pytest"),
    ("pom.xml", "mvn test"),
    ("build.gradle", "gradle test"),
    ("build.gradle.kts", "gradle test"),
    ("Makefile", "make test"),
];

/// The line that runs the tests, from the entries of the work directory as a tool lists them.
pub(in super::super) fn test_line(entries: &[String]) -> Option<&'static str> {
    // Entries of inner folders are indented; a size may follow the name.
    let names: Vec<&str> = entries
        .iter()
        .filter(|entry| !entry.starts_with(' '))
        .map(|entry| entry.split(" (").next().unwrap_or(entry))
        .collect();
    RUNNERS.iter().find(|(file, _)| names.contains(file)).map(|(_, line)| *line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_folder_decide() {
        let line = |entries: &[&str]| {
            test_line(&entries.iter().map(|entry| (*entry).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(line(&["Cargo.toml (1 KB)", "src/", "  package.json"]), Some("cargo test"));
        assert_eq!(line(&["src/", "  Cargo.toml (1 KB)", "package.json (3 B)"]), Some("npm test"));
        assert_eq!(line(&["notes.txt"]), None);
        assert_eq!(line(&[]), None);
    }
}
