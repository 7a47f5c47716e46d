//! Requests about the files of the work directory: how they are understood, which tools serve them, how results are
//! read and summarised. The steps of an answer are in `intents/files/`.

mod chinese;
mod digest;
mod english;
mod pattern;
mod request;
mod results;
mod spans;
mod tools;

pub(super) use digest::digest;
pub(super) use request::{FileRequest, Place};
pub(super) use results::{ReadText, entries, matches, read_text};
pub(super) use tools::{Edit, FileTools, edit_input, patch_input, path_input, pattern_input, write_input};

/// Whether a word is the name of a file rather than of a folder.
pub(super) fn is_file_name(name: &str) -> bool {
    spans::is_path(name) && !spans::is_folder_like(name)
}
