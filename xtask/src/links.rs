//! Links between the pages of this repository: every relative link of a Markdown file leads to a file that exists.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result, bail};

use crate::{command, project::Project};

pub fn check(project: &Project) -> Result<()> {
    let listed = command::output_of(
        Command::new("git")
            .args(["ls-files", "--cached", "--others", "--exclude-standard", "*.md"])
            .current_dir(&project.root),
    )?;
    let (mut pages, mut problems) = (0, Vec::new());
    for name in listed.lines().filter(|name| project.root.join(name).is_file()) {
        let page = project.root.join(name);
        let text = fs::read_to_string(&page).with_context(|| name.to_owned())?;
        let folder = page.parent().unwrap_or(&project.root);
        pages += 1;
        for (line, link) in relative_links(&text) {
            if !folder.join(Path::new(link)).exists() {
                problems.push(format!("{name}:{line}: the link leads to `{link}`, which does not exist"));
            }
        }
    }
    if !problems.is_empty() {
        bail!("{}", problems.join("\n"));
    }
    println!("{pages} pages, every relative link leads to a file");
    Ok(())
}

/// The targets of `[text](target)` outside of code blocks, without anchors, with the number of their line.
fn relative_links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut in_code = false;
    for (place, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        for rest in line.split("](").skip(1) {
            let target = rest.split([')', ' ', '#']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                links.push((place + 1, target));
            }
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_relative_links_outside_of_code_are_found() {
        let text = "See [a](docs/a.md#part), ![b](b.webp \"t\") and [c](https://x.y).\n\
                    ```rust\nlet x = list[0](no.md);\n```\n[same page](#part) [d](../d.rs)";
        assert_eq!(relative_links(text), [(1, "docs/a.md"), (1, "b.webp"), (5, "../d.rs")]);
    }
}
