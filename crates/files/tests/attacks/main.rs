//! Attempts to reach files outside of the work directory, or the server's own: each is refused with a code, and the secret
//! stays what it was.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what breaks here must fail the test")]

mod links;
mod ordinary_use;
mod paths;
mod protected;
mod special_files;
mod swapped_names;
#[path = "../workspace/mod.rs"]
mod workspace;

use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
        net::UnixListener,
    },
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use files::{
    ContentStore, FileDomain, FileError, GlobQuery, GrepQuery, HardLinks, IgnoreRules, LogicalPath,
    NewContent, NewFile, WalkQuery, Watch, apply, stage,
};
use protocol::FailureCode::{self, AccessDenied, InvalidArgument, InvalidPath, NotFound};
use rustix::fs::{CWD, RenameFlags};
use workspace::{SECRET, Workspace};

/// Every way to use a path: what each returns when it is refused.
fn every_use(workspace: &Workspace, path: &str) -> Vec<(&'static str, Result<(), FailureCode>)> {
    let domain = &workspace.domain;
    let path = match domain.resolve(path) {
        Err(error) => return vec![("resolve", Err(error.code))],
        Ok(path) => path,
    };
    let code = |result: Result<(), FileError>| result.map_err(|error| error.code);
    let new = |after| NewContent { path: path.clone(), before: None, after };
    let change = |new: NewContent| {
        stage(domain, &workspace.contents, vec![new])
            .and_then(|staged| staged.apply(domain, &workspace.contents))
    };
    let written = change(new(Some(NewFile { bytes: b"overwritten".to_vec(), mode: None })));
    vec![
        ("open", code(domain.open_file(&path).map(|_| ()))),
        ("read", code(domain.read(&path, 1 << 20).map(|_| ()))),
        ("lines", code(domain.lines(&path, 1, 10, &Watch::ALWAYS).map(|_| ()))),
        ("version", code(domain.version(&path).map(|_| ()))),
        ("list", code(domain.list(&path).map(|_| ()))),
        ("walk", code(domain.walk(&walk(&path), &Watch::ALWAYS).map(|_| ()))),
        ("grep", code(domain.grep(&grep(&path), &Watch::ALWAYS).map(|_| ()))),
        ("glob", code(domain.glob(&glob(&path), &Watch::ALWAYS).map(|_| ()))),
        ("write", code(written)),
    ]
}

fn walk(path: &LogicalPath) -> WalkQuery {
    WalkQuery { path: path.clone(), depth: 5, rules: IgnoreRules::None }
}

fn grep(path: &LogicalPath) -> GrepQuery {
    GrepQuery {
        pattern: "SECRET".to_owned(),
        ignore_case: false,
        path: path.clone(),
        include: None,
        rules: IgnoreRules::None,
        lines_per_file: 5,
    }
}

fn glob(path: &LogicalPath) -> GlobQuery {
    GlobQuery { pattern: "*".to_owned(), path: path.clone(), rules: IgnoreRules::None, limit: 100 }
}

fn assert_refused(workspace: &Workspace, path: &str, codes: &[FailureCode]) {
    for (used, result) in every_use(workspace, path) {
        let code = result.expect_err(&format!("{path:?} could be used: {used}"));
        assert!(codes.contains(&code), "{used} of {path:?}: {code}");
    }
    workspace.assert_secret_is_safe();
}

fn file(text: &str) -> NewFile {
    NewFile { bytes: text.as_bytes().to_vec(), mode: None }
}
