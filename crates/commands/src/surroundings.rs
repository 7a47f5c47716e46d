//! What the judge may ask about the file system. The caller answers; tests answer from a table.

/// Where a path lies after symbolic links were followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathPlace {
    /// Inside the work directory, as a plain path relative to it; `""` is the directory itself.
    Workspace(String),
    /// A file of the system that anybody may read and that holds no secrets, such as `/etc/hostname`.
    PublicSystem,
    /// A device that keeps nothing, such as `/dev/null` or `/dev/stdout`.
    Null,
    /// Anywhere else, or unknown.
    Outside,
}

/// Answers questions about the file system.
pub trait Surroundings {
    /// Finds a path as it is written in a command. `cwd` is relative to the work directory (`""` is the work directory
    /// itself). Symbolic links are followed, also those in the middle of a path that does not exist yet.
    fn place(&self, cwd: &str, written: &str) -> PathPlace;

    /// Reads a small text file of the work directory (64 KiB at most), such as `.git/config`. `None` when it is absent,
    /// too large or not text.
    fn read_small(&self, path: &str) -> Option<String>;

    /// The home directory of the commands, for `~`.
    fn home(&self) -> Option<&str>;

    /// The paths that a shell pattern matches in `cwd`, as the shell would write them. `None` when they are not known; then
    /// only the fixed beginning of the pattern is judged.
    fn matches(&self, _cwd: &str, _pattern: &str) -> Option<Vec<String>> {
        None
    }
}
