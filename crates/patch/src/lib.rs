//! Patches as models write them, edits, and differences between texts. Pure functions, no I/O.
//!
//! [`parse`] reads a patch, [`apply_hunks`] applies the hunks of one file to its text, [`edit`] replaces exact text, and
//! [`diff`] shows what changed. A change is never put at a place that the patch does not determine: where several places
//! fit equally well, the result is an error that names them.
//!
//! ```
//! let text = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** End Patch\n";
//! let patch = patch::parse(text).unwrap();
//! let patch::FilePatch::Update { hunks, .. } = &patch.files[0] else { panic!() };
//! let applied = patch::apply_hunks("one\ntwo\nthree\n", hunks).unwrap();
//! assert_eq!(applied.text, "one\n2\nthree\n");
//! ```

mod apply;
mod diff;
mod edit;
mod envelope;
mod error;
mod file_header;
mod file_name;
mod hunk_body;
mod line_index;
mod lines;
mod parse;
mod place;
mod regions;
mod syntax;
mod unified;

pub use apply::{Applied, Exactness, Place, apply_hunks};
pub use diff::{TextDiff, cut, diff};
pub use edit::{Edit, EditError, MAX_EDITS, edit};
pub use error::{After, HunkError, PatchError, Places};
pub use parse::{MAX_FILES, MAX_HUNKS, MAX_LINES, MAX_PATCH_BYTES, parse};
pub use syntax::{FilePatch, Hunk, HunkLine, LineKind, Patch, Position};
