//! Protected files of a work directory: repositories' own data, files that are executed or trusted later, files with
//! secrets. The list is data: `table/files.toml`.
//!
//! The patterns ignore case and small differences in spelling, because some file systems do: `.GIT/config`, `.env.` and
//! `.g\u{200c}it` are other names of the same files there.

use std::{borrow::Cow, sync::LazyLock};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;

/// What happens to a call that touches a file of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protection {
    /// Tools for files may not write it; a command that does asks every time.
    Repository,
    /// Writing asks every time, in every mode.
    Write,
    /// Like `Write`; reading asks, too, unless a rule names the file or the mode is `yolo`.
    Secret,
}

/// Files that are protected for the same reason. Patterns apply in every folder, not only at the top.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileGroup {
    pub name: String,
    pub protection: Protection,
    /// Completes "It changes `path`, …".
    pub because: String,
    /// Explains the group to a person.
    pub note: String,
    /// Separated by blanks.
    pub patterns: String,
    #[serde(default)]
    pub except: String,
}

/// The groups of protected files.
#[derive(Debug, Default)]
pub struct ProtectedFiles {
    groups: Vec<Compiled>,
}

#[derive(Debug)]
struct Compiled {
    group: FileGroup,
    patterns: GlobSet,
    except: GlobSet,
    /// Folders that hold such files: a command that names only the folder puts something into it.
    folders: GlobSet,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    group: Vec<FileGroup>,
}

/// Why the list cannot be used. A test reads the built-in list.
#[derive(Debug, thiserror::Error)]
enum ListError {
    #[error("the list of protected files cannot be read: {0}")]
    Form(#[from] toml::de::Error),
    #[error("the list of protected files has a wrong pattern: {0}")]
    Pattern(#[from] globset::Error),
}

static BUILT_IN: LazyLock<Result<ProtectedFiles, ListError>> =
    LazyLock::new(|| ProtectedFiles::read(include_str!("../table/files.toml")));
static EMPTY: ProtectedFiles = ProtectedFiles { groups: Vec::new() };

impl ProtectedFiles {
    /// The list of the program.
    pub fn built_in() -> &'static Self {
        BUILT_IN.as_ref().unwrap_or(&EMPTY)
    }

    fn read(text: &str) -> Result<Self, ListError> {
        let form: Form = toml::from_str(text)?;
        let groups = form.group.into_iter().map(Compiled::new).collect::<Result<_, _>>()?;
        Ok(Self { groups })
    }

    pub fn groups(&self) -> impl Iterator<Item = &FileGroup> {
        self.groups.iter().map(|compiled| &compiled.group)
    }

    /// The groups that a file belongs to, in the order of the list.
    pub fn of_file(&self, path: &str) -> impl Iterator<Item = &FileGroup> {
        let folded = folded(path);
        self.groups.iter().filter(move |compiled| compiled.covers(&folded)).map(|compiled| &compiled.group)
    }

    /// Whether a file usually holds secrets. Searches ask about every file.
    pub fn is_secret(&self, path: &str) -> bool {
        let folded = folded(path);
        let mut secret =
            self.groups.iter().filter(|compiled| compiled.group.protection == Protection::Secret);
        secret.any(|compiled| compiled.covers(&folded))
    }

    /// The group of a file that a command names, or of a folder that it may put such a file into. Secrets count most.
    pub(crate) fn of_operand(&self, path: &str) -> Option<&FileGroup> {
        let folded = folded(path.trim_end_matches('/'));
        let found = self
            .groups
            .iter()
            .filter(|compiled| compiled.covers(&folded) || compiled.folders.is_match(folded.as_ref()));
        // Of equals the first explains best.
        found
            .rev()
            .max_by_key(|compiled| compiled.group.protection == Protection::Secret)
            .map(|found| &found.group)
    }
}

impl Compiled {
    fn new(group: FileGroup) -> Result<Self, globset::Error> {
        let mut folders = Vec::new();
        for pattern in group.patterns.split_whitespace() {
            let mut rest = pattern.strip_suffix("/**").filter(|_| group.protection != Protection::Secret);
            // Of `.github/workflows/**`, both; an ordinary name such as `gradle` alone says nothing.
            while let Some(folder) = rest {
                if folder == pattern.trim_end_matches("/**") || folder.starts_with('.') {
                    folders.push(folder);
                }
                rest = folder.rsplit_once('/').map(|(parent, _)| parent);
            }
        }
        Ok(Self {
            patterns: anywhere(group.patterns.split_whitespace())?,
            except: anywhere(group.except.split_whitespace())?,
            folders: anywhere(folders.into_iter())?,
            group,
        })
    }

    fn covers(&self, folded: &str) -> bool {
        self.patterns.is_match(folded) && !self.except.is_match(folded)
    }
}

/// Compiles patterns so that they apply in every folder. Patterns and paths are in lower case, which is faster than
/// ignoring case.
fn anywhere<'a>(patterns: impl Iterator<Item = &'a str>) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let pattern = format!("**/{pattern}");
        let mut glob = GlobBuilder::new(&pattern);
        set.add(glob.literal_separator(true).backslash_escape(true).empty_alternates(true).build()?);
    }
    set.build()
}

/// Writes a path in the form in which the patterns are compared: lower case, `/` between components, without the
/// characters that some file systems ignore.
fn folded(path: &str) -> Cow<'_, str> {
    let is_folded = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase() && byte != b'\\' && byte != b':';
    let is_trimmed = |component: &str| !component.ends_with(['.', ' ']);
    if path.bytes().all(is_folded) && path.split('/').all(is_trimmed) {
        return Cow::Borrowed(path);
    }
    let is_kept = |c: &char| !matches!(*c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let plain: String =
        path.replace('\\', "/").chars().filter(is_kept).flat_map(char::to_lowercase).collect();
    let components = plain.split('/').map(|component| {
        let name = component.split(':').next().unwrap_or(component);
        name.trim_end_matches(['.', ' '])
    });
    Cow::Owned(components.collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_read_and_is_written_in_its_folded_form() {
        assert!(BUILT_IN.is_ok(), "{:?}", BUILT_IN.as_ref().err());
        let mut names = std::collections::BTreeSet::new();
        for group in ProtectedFiles::built_in().groups() {
            assert!(names.insert(&group.name) && !group.note.is_empty() && !group.because.ends_with('.'));
            for pattern in group.patterns.split_whitespace().chain(group.except.split_whitespace()) {
                assert_eq!(pattern, pattern.to_lowercase());
            }
        }
    }

    #[test]
    fn a_command_that_names_only_a_folder_may_put_a_file_into_it() {
        let name = |path: &str| ProtectedFiles::built_in().of_operand(path).map(|group| group.name.as_str());
        for (path, group) in [
            (".github", Some("pipelines")),
            (".github/workflows/", Some("pipelines")),
            ("a/.git/hooks", Some("repository")),
            (".husky", Some("hooks")),
            (".npmrc", Some("secrets")),
            (".ENV", Some("secrets")),
            (".ssh", Some("secrets")),
            ("gradle", None),
            ("gradle/wrapper", Some("package-managers")),
            (".env.example", None),
            ("src", None),
        ] {
            assert_eq!(name(path), group, "{path}");
        }
    }
}
