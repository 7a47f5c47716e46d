//! Paths as tools write them, and the one form in which they are used.

use std::{
    fmt,
    path::{Component, Path},
    sync::Arc,
};

use crate::FileError;

/// The name of the work directory in logical paths.
const WORKSPACE: &str = "/workspace";
const MAX_BYTES: usize = 1024;
const MAX_NAME_BYTES: usize = 255;
const TEMP_PREFIX: &str = ".concertino-";
const TEMP_SUFFIX: &str = ".tmp";

/// The path of a file of the workspace: normalised, without `.` and `..`, below the work directory.
///
/// It is made only by validation, and it is only a name: what it leads to is checked whenever it is used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogicalPath {
    relative: Arc<str>,
}

impl LogicalPath {
    /// The work directory itself.
    pub fn root() -> Self {
        Self { relative: Arc::from("") }
    }

    /// Reads a relative path or one below `/workspace`.
    pub fn parse(written: &str) -> Result<Self, FileError> {
        check_text(written)?;
        match below_workspace(written) {
            Some(relative) => Self::from_parts(relative),
            None if written.starts_with('/') => Err(outside()),
            None => Self::from_parts(written),
        }
    }

    /// As [`LogicalPath::parse`]; also reads an absolute path of the operating system below one of `roots`.
    pub(crate) fn parse_below(written: &str, roots: &[&Path]) -> Result<Self, FileError> {
        check_text(written)?;
        if !written.starts_with('/') || below_workspace(written).is_some() {
            return Self::parse(written);
        }
        let absolute = normalised_absolute(written).ok_or_else(outside)?;
        let absolute = Path::new(&absolute);
        let relative = roots.iter().find_map(|root| absolute.strip_prefix(root).ok()).ok_or_else(outside)?;
        // It came from a `str`, so that it is one.
        Self::from_parts(relative.to_str().ok_or_else(outside)?)
    }

    fn from_parts(relative: &str) -> Result<Self, FileError> {
        let mut parts: Vec<&str> = Vec::new();
        for part in relative.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    let leaves = || FileError::denied("the path leaves the work directory through `..`");
                    parts.pop().ok_or_else(leaves)?;
                }
                part if part.len() > MAX_NAME_BYTES => {
                    return Err(FileError::invalid_path("a name in the path is longer than 255 bytes"));
                }
                part if is_temp_name(part) => {
                    return Err(FileError::denied("the name is reserved for the server's temporary files"));
                }
                part => parts.push(part),
            }
        }
        Ok(Self { relative: parts.join("/").into() })
    }

    /// Relative to the work directory: `src/main.rs`, empty for the work directory itself.
    pub fn relative(&self) -> &str {
        &self.relative
    }

    pub fn is_root(&self) -> bool {
        self.relative.is_empty()
    }

    /// The last name; empty for the work directory itself.
    pub fn name(&self) -> &str {
        self.relative.rsplit('/').next().unwrap_or_default()
    }

    /// The folder that contains it; `None` for the work directory itself.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        let relative = self.relative.rsplit_once('/').map_or("", |(parent, _)| parent);
        Some(Self { relative: relative.into() })
    }

    /// An entry of this folder; `None` when the name cannot be used.
    pub fn join(&self, name: &str) -> Option<Self> {
        let path = if self.is_root() { name.to_owned() } else { format!("{}/{name}", self.relative) };
        let joined = Self::parse(&path).ok()?;
        (joined.name() == name).then_some(joined)
    }

    /// The names from the work directory to the file.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.relative.split('/').filter(|part| !part.is_empty())
    }

    /// Whether this is a folder that contains `other`, at any depth.
    pub fn contains(&self, other: &Self) -> bool {
        let rest = other.relative.strip_prefix(&*self.relative);
        rest.is_some_and(|rest| rest.starts_with('/') || (self.is_root() && !rest.is_empty()))
    }
}

impl fmt::Display for LogicalPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WORKSPACE)?;
        if self.is_root() { Ok(()) } else { write!(f, "/{}", self.relative) }
    }
}

/// Whether a file is one of ours that is about to be renamed: such files are never listed.
pub(crate) fn is_temp_name(name: &str) -> bool {
    name.len() > TEMP_PREFIX.len() + TEMP_SUFFIX.len()
        && name.starts_with(TEMP_PREFIX)
        && name.ends_with(TEMP_SUFFIX)
}

/// A new name for a temporary file, which nobody can guess.
pub(crate) fn temp_name() -> Result<String, FileError> {
    Ok(format!("{TEMP_PREFIX}{}{TEMP_SUFFIX}", random_name()?))
}

/// A name of 24 hexadecimal digits that nobody has used.
pub(crate) fn random_name() -> Result<String, FileError> {
    let mut random = [0_u8; 12];
    let failed = |_| FileError::new(protocol::FailureCode::Internal, "the system has no random numbers");
    getrandom::fill(&mut random).map_err(failed)?;
    Ok(crate::contents::hex(&random))
}

fn check_text(written: &str) -> Result<(), FileError> {
    if written.len() > MAX_BYTES {
        return Err(FileError::invalid_path(format!("the path is longer than {MAX_BYTES} bytes")));
    }
    if written.chars().any(char::is_control) {
        return Err(FileError::invalid_path("the path contains a control character"));
    }
    Ok(())
}

fn below_workspace(written: &str) -> Option<&str> {
    let rest = written.strip_prefix(WORKSPACE)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

fn normalised_absolute(written: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for component in Path::new(written).components() {
        match component {
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::Prefix(_) => return None,
        }
    }
    Some(format!("/{}", parts.join("/")))
}

/// The path itself is not repeated: it may be one of the operating system.
fn outside() -> FileError {
    FileError::denied(
        "the path is outside of the work directory; write it relative to the work directory, or as /workspace/…",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(written: &str) -> Result<String, String> {
        let roots = [Path::new("/srv/project"), Path::new("/mnt/link")];
        LogicalPath::parse_below(written, &roots)
            .map(|path| path.relative().to_owned())
            .map_err(|error| error.code.to_string())
    }

    #[test]
    fn every_way_to_write_a_path_below_the_work_directory_is_read() {
        for (written, relative) in [
            ("a/b", "a/b"),
            ("./a//b/", "a/b"),
            ("a/../b", "b"),
            ("", ""),
            (".", ""),
            ("/workspace", ""),
            ("/workspace/", ""),
            ("/workspace/a/b", "a/b"),
            ("/workspace//a/./b", "a/b"),
            ("/srv/project/a/b", "a/b"),
            ("/srv/project", ""),
            ("/srv/x/../project/a", "a"),
            ("/mnt/link/a", "a"),
            ("a b/ü/文", "a b/ü/文"),
            ("a\\b", "a\\b"),
            ("...", "..."),
            (".concertino-.tmp", ".concertino-.tmp"),
        ] {
            assert_eq!(parsed(written), Ok(relative.to_owned()), "{written}");
        }
    }

    #[test]
    fn every_path_that_leaves_is_refused() {
        for written in [
            "..",
            "../x",
            "a/../../x",
            "/workspace/..",
            "/workspace/../etc/passwd",
            "/workspacex",
            "/",
            "/etc/passwd",
            "/srv",
            "/srv/projectx/a",
            "/srv/project/../secret",
            "/../srv/project/a",
            "/proc/self/root/srv/project/a",
            "/userinput/a",
            ".concertino-00ff.tmp",
        ] {
            assert_eq!(parsed(written), Err("access_denied".to_owned()), "{written}");
        }
        for written in ["a\0b", "a\nb", "a\u{1b}b", "a\u{85}b", &"x".repeat(256), &"x/".repeat(600)] {
            assert_eq!(parsed(written), Err("invalid_path".to_owned()), "{written:?}");
        }
    }

    #[test]
    fn a_refusal_does_not_repeat_a_path_of_the_system() {
        let error = LogicalPath::parse("/etc/shadow").unwrap_err();
        assert!(!error.to_string().contains("/etc"), "{error}");
    }

    #[test]
    fn the_parts_of_a_path_are_named() {
        let path = LogicalPath::parse("a/b/c.rs").unwrap();
        assert_eq!((path.to_string().as_str(), path.name()), ("/workspace/a/b/c.rs", "c.rs"));
        let parent = path.parent().unwrap();
        assert_eq!(parent.relative(), "a/b");
        assert!(parent.contains(&path) && !path.contains(&parent) && !path.contains(&path));
        assert!(LogicalPath::root().contains(&path) && LogicalPath::root().parent().is_none());
        assert!(!LogicalPath::parse("a/b").unwrap().contains(&LogicalPath::parse("a/bc").unwrap()));
        assert_eq!(LogicalPath::root().to_string(), "/workspace");
    }
}
