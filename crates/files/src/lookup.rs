//! Finds what a path leads to, one component at a time, by folder handles.
//!
//! A link is read and its target is looked up in the same way, below the work directory. `..` in a target goes back to a
//! folder that was opened on the way, never to whatever the operating system calls its parent.

use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    path::{Component, Path},
};

use cap_std::fs::{Dir, Metadata};

use crate::{
    LogicalPath,
    domain::Root,
    handle::{Refusal, SharedDir},
    protected::FileId,
};

const MAX_LINKS: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// Those that stay below the work directory.
    Follow,
    /// Those on the way, but not the last component.
    KeepLast,
    Refuse,
}

/// What a path leads to.
#[expect(clippy::large_enum_variant, reason = "it is short-lived and most paths lead to files")]
pub(crate) enum Found {
    Folder(SharedDir),
    /// An entry that is no folder, as it was when it was looked at.
    Entry {
        parent: SharedDir,
        name: OsString,
        metadata: Metadata,
    },
}

enum Step {
    Down(OsString),
    Up,
    ToRoot,
}

pub(crate) fn look_up(root: &Root, path: &LogicalPath, links: Links) -> Result<Found, Refusal> {
    look_up_named(root, path, links, &mut Vec::new())
}

/// As [`look_up`]; `names` becomes the way to what was found, without links.
pub(crate) fn look_up_named(
    root: &Root,
    path: &LogicalPath,
    links: Links,
    names: &mut Vec<OsString>,
) -> Result<Found, Refusal> {
    let mut steps: VecDeque<Step> = path.parts().map(|part| Step::Down(part.into())).collect();
    let mut folders: Vec<SharedDir> = Vec::new();
    let mut followed = 0;
    while let Some(step) = steps.pop_front() {
        let name = match step {
            Step::ToRoot => {
                folders.clear();
                names.clear();
                continue;
            }
            Step::Up => {
                folders.pop().ok_or(Refusal::Escapes)?;
                names.pop();
                continue;
            }
            Step::Down(name) => name,
        };
        let parent = SharedDir::clone(folders.last().unwrap_or(&root.dir));
        let is_last = steps.is_empty();
        let metadata = match enter(root, &parent, &name, is_last)? {
            Entered::Folder(dir) => {
                folders.push(dir.into());
                names.push(name);
                continue;
            }
            Entered::Other(metadata) => metadata,
        };
        if metadata.file_type().is_symlink() && !(is_last && links == Links::KeepLast) {
            followed += 1;
            if links == Links::Refuse {
                return Err(Refusal::ThroughLink);
            }
            if followed > MAX_LINKS {
                return Err(Refusal::TooManyLinks);
            }
            let target = parent.read_link_contents(&name)?;
            for step in target_steps(root, &target)?.into_iter().rev() {
                steps.push_front(step);
            }
            continue;
        }
        if !is_last {
            return Err(Refusal::Io(std::io::ErrorKind::NotADirectory.into()));
        }
        names.push(name.clone());
        return Ok(Found::Entry { parent, name, metadata });
    }
    Ok(Found::Folder(folders.pop().unwrap_or_else(|| SharedDir::clone(&root.dir))))
}

enum Entered {
    Folder(Dir),
    Other(Metadata),
}

/// Opens a folder, or says what else the entry is.
fn enter(root: &Root, parent: &Dir, name: &OsStr, is_last: bool) -> Result<Entered, Refusal> {
    if !is_last {
        match root.guard.open_folder(parent, name) {
            Ok(dir) => return Ok(Entered::Folder(dir)),
            Err(Refusal::Protected) => return Err(Refusal::Protected),
            Err(_) => {}
        }
    }
    let metadata = parent.symlink_metadata(name)?;
    if metadata.is_dir() {
        return Ok(Entered::Folder(root.guard.open_folder(parent, name)?));
    }
    if root.guard.protected.contains(FileId::of(&metadata)) {
        return Err(Refusal::Protected);
    }
    Ok(Entered::Other(metadata))
}

/// The way to the target of a link. An absolute target must name the work directory.
fn target_steps(root: &Root, target: &Path) -> Result<Vec<Step>, Refusal> {
    let mut steps = Vec::new();
    let relative = if target.is_absolute() {
        steps.push(Step::ToRoot);
        root.paths().iter().find_map(|path| target.strip_prefix(path).ok()).ok_or(Refusal::Escapes)?
    } else {
        target
    };
    for component in relative.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => steps.push(Step::Up),
            Component::Normal(name) => steps.push(Step::Down(name.to_owned())),
            Component::RootDir | Component::Prefix(_) => return Err(Refusal::Escapes),
        }
    }
    Ok(steps)
}
