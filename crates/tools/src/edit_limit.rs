//! Which files a call may create or change, by the suffix of their names.

use std::sync::Arc;

use files::LogicalPath;
use protocol::FailureCode;

use crate::ToolError;

/// The suffixes of the calling agent and of those that delegated to it; every list that is not empty must allow a file.
/// The default allows all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditLimit {
    /// In lower case.
    lists: Arc<[Vec<String>]>,
}

impl EditLimit {
    /// How many suffixes one agent may have.
    pub const MOST_SUFFIXES: usize = 128;
    const LONGEST_SUFFIX: usize = 64;

    /// Whether this text can be compared with the end of a file's name: a dot and what follows it.
    pub fn is_suffix(text: &str) -> bool {
        let is_allowed =
            |letter: char| !letter.is_control() && !letter.is_whitespace() && !"/\\*".contains(letter);
        text.starts_with('.')
            && (2..=Self::LONGEST_SUFFIX).contains(&text.chars().count())
            && text.chars().all(is_allowed)
    }

    /// The limit of an agent that works under this one. An empty list adds nothing.
    pub fn with(&self, suffixes: &[String]) -> Self {
        if suffixes.is_empty() {
            return self.clone();
        }
        let added = suffixes.iter().map(|suffix| suffix.to_lowercase()).collect();
        Self { lists: self.lists.iter().cloned().chain([added]).collect() }
    }

    /// Whether some files may not be changed.
    pub fn is_limited(&self) -> bool {
        !self.lists.is_empty()
    }

    /// Fails when one of the files may not be created, changed, moved or deleted.
    pub(crate) fn check<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a LogicalPath>,
    ) -> Result<(), ToolError> {
        if !self.is_limited() {
            return Ok(());
        }
        for path in paths {
            let name = path.relative().to_lowercase();
            let refuses = |list: &&Vec<String>| !list.iter().any(|suffix| name.ends_with(suffix));
            if let Some(list) = self.lists.iter().find(refuses) {
                let message = format!(
                    "you may change only files whose names end in {}; {} was not changed",
                    list.join(", "),
                    path.relative()
                );
                return Err(ToolError::Failed { code: FailureCode::AccessDenied, message });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "edit_limit_tests.rs"]
mod tests;
