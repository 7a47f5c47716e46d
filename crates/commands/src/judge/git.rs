//! Git: which repository a command reads, and whether the repository's own settings make git start programs.

use super::{At, Judge, Verdict, git_config, options::Scan};
use crate::{PathPlace, Surroundings};

/// Included files that are followed.
const MAX_INCLUDES: usize = 8;

impl Judge<'_> {
    /// The directory in which git works, after `-C`. `None` when it is not known.
    pub(super) fn git_directory(&self, scan: &Scan<'_>, at: &At) -> Option<String> {
        let mut dir = at.dir.clone();
        for (_, word) in scan.values.iter().filter(|(name, _)| name == "-C") {
            dir = match (dir, word.text()) {
                (Some(from), Some(path)) => match self.around.place(&from, path) {
                    PathPlace::Workspace(dir) => Some(dir),
                    _ => None,
                },
                _ => None,
            };
        }
        dir
    }

    /// Asks when the repository's settings could start programs, or cannot be examined.
    pub(super) fn git_repository(&self, at: &At, verdict: &mut Verdict) {
        let Some(dir) = &at.dir else {
            return verdict.ask("git/unknown-repository", "Which repository it reads is not known.");
        };
        match settings_files(self.around, dir) {
            Err((rule, why)) => verdict.ask(rule, why),
            Ok(files) => {
                if let Err((rule, why)) = examine(self.around, files) {
                    verdict.ask(rule, why);
                }
                for attributes in attribute_files(dir) {
                    if let Some(text) = self.around.read_small(&attributes)
                        && let Some(driver) = git_config::named_driver(&text)
                    {
                        let why = format!(
                            "{attributes} names the driver `{driver}`, with which git may start a program."
                        );
                        verdict.ask("git/attributes-run-programs", why);
                    }
                }
            }
        }
    }
}

type Doubt = (&'static str, String);

/// The configuration files of the repository that git finds from a directory.
fn settings_files(around: &dyn Surroundings, dir: &str) -> Result<Vec<String>, Doubt> {
    for folder in folders_upwards(dir) {
        if around.read_small(&join(folder, ".git/HEAD")).is_some() {
            return Ok(repository_files(&join(folder, ".git")));
        }
        if let Some(link) = around.read_small(&join(folder, ".git")) {
            return linked_repository(around, folder, &link);
        }
        if around.read_small(&join(folder, "HEAD")).is_some() {
            let why = format!(
                "The folder `{folder}` looks like the inside of a repository, whose settings git would follow."
            );
            return Err(("git/bare-repository", why));
        }
    }
    Err((
        "git/no-repository",
        "There is no repository in the work directory; git looks for one outside.".to_owned(),
    ))
}

/// The top folder of the repository that git finds from a directory.
pub(super) fn top_folder(around: &dyn Surroundings, dir: &str) -> Option<String> {
    let holds = |folder: &&str| {
        [".git/HEAD", ".git"].iter().any(|name| around.read_small(&join(folder, name)).is_some())
    };
    folders_upwards(dir).find(holds).map(str::to_owned)
}

fn repository_files(git_dir: &str) -> Vec<String> {
    vec![join(git_dir, "config"), join(git_dir, "config.worktree")]
}

/// `.git` is a file: a second work tree or a submodule.
fn linked_repository(around: &dyn Surroundings, folder: &str, link: &str) -> Result<Vec<String>, Doubt> {
    let outside =
        || ("git/linked-repository", "The repository's settings are outside the work directory.".to_owned());
    let target = link.trim_end().strip_prefix("gitdir:").map(str::trim).ok_or_else(outside)?;
    let PathPlace::Workspace(git_dir) = around.place(folder, target) else { return Err(outside()) };
    let mut files = repository_files(&git_dir);
    if let Some(shared) = around.read_small(&join(&git_dir, "commondir")) {
        let PathPlace::Workspace(shared) = around.place(&git_dir, shared.trim()) else {
            return Err(outside());
        };
        files = repository_files(&shared);
        files.push(join(&git_dir, "config.worktree"));
    }
    Ok(files)
}

/// Examines the files and what they include.
fn examine(around: &dyn Surroundings, mut files: Vec<String>) -> Result<(), Doubt> {
    let main = files.first().cloned().unwrap_or_default();
    let mut examined = Vec::new();
    while let Some(file) = files.pop() {
        if examined.contains(&file) {
            continue;
        }
        let Some(text) = around.read_small(&file) else {
            if file == main {
                return Err(("git/no-configuration", format!("{file} cannot be examined.")));
            }
            continue;
        };
        let settings = git_config::settings(&text)
            .ok_or_else(|| ("git/configuration-not-understood", format!("{file} is not understood.")))?;
        for (name, value) in settings {
            match git_config::kind(&name, &value) {
                git_config::Kind::Harmless => {}
                git_config::Kind::Includes => {
                    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
                    match around.place(folder, &value) {
                        PathPlace::Workspace(path) if !value.starts_with('~') => files.push(path),
                        _ => {
                            return Err((
                                "git/config-includes",
                                format!("{file} includes {value}, which is outside the work directory."),
                            ));
                        }
                    }
                }
                git_config::Kind::RunsPrograms => {
                    let why = format!("{file} sets {name}, with which git may start a program.");
                    return Err(("git/config-runs-programs", why));
                }
            }
        }
        examined.push(file);
        if examined.len() > MAX_INCLUDES {
            return Err(("git/config-includes", format!("{main} includes too many files.")));
        }
    }
    Ok(())
}

fn attribute_files(dir: &str) -> Vec<String> {
    let mut files: Vec<String> = folders_upwards(dir).map(|folder| join(folder, ".gitattributes")).collect();
    files.extend(folders_upwards(dir).map(|folder| join(folder, ".git/info/attributes")));
    files
}

/// A folder and those above it, up to the work directory.
fn folders_upwards(dir: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(dir), |folder| match folder.rsplit_once('/') {
        Some((parent, _)) => Some(parent),
        None if folder.is_empty() => None,
        None => Some(""),
    })
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
