//! Builds a root folder that holds only what a command may reach, and moves into it.

use std::{
    ffi::CStr,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change,
    mount_remount, unmount,
};

use super::files::DEVICES;
use crate::{
    roots::{Root, RootAccess},
    wire::LaunchRequest,
};

/// Where the private temporary folder appears.
pub(super) const TEMPORARY: &str = "/tmp";
const SMALL_TMPFS: &CStr = c"mode=755,size=4m,nr_inodes=8k";
const EMPTY_TMPFS: &CStr = c"mode=000,size=4k,nr_inodes=2";
const SHARED_MEMORY: &CStr = c"mode=1777,size=256m";
const PLAIN: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV);

/// Moves into a new root. Needs a mount namespace; the caller is process 1 of a process namespace.
pub(super) fn enter(request: &LaunchRequest, terminal: Option<&Path>) -> Result<(), String> {
    build(request, terminal).map_err(|(what, error)| format!("{what}: {error}"))
}

type Step<T> = Result<T, (String, io::Error)>;

fn step<E: Into<io::Error>>(what: impl Into<String>, result: Result<(), E>) -> Step<()> {
    result.map_err(|error| (what.into(), error.into()))
}

fn build(request: &LaunchRequest, terminal: Option<&Path>) -> Step<()> {
    let new = request.private.join("root");
    step(
        "mounts cannot be made private",
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC),
    )?;
    step("no tmpfs", mount("tmpfs", &new, "tmpfs", PLAIN, SMALL_TMPFS))?;
    step("/dev", devices(&new, terminal))?;
    step("/proc", process_files(&new))?;
    step("/tmp", bind(&request.private.join("tmp"), &inside(&new, Path::new(TEMPORARY))))?;
    for root in request.roots.iter().filter(|root| !root.covered) {
        let target = inside(&new, &root.path);
        step(root.path.display().to_string(), bind(&root.path, &target))?;
    }
    for (link, path) in request.roots.iter().filter_map(|root| Some((root.link.as_ref()?, &root.path))) {
        let place = inside(&new, link);
        if place.symlink_metadata().is_err() {
            step(link.display().to_string(), link_in(&place, path))?;
        }
    }
    for hidden in request.hidden.iter().chain(&request.secrets) {
        step(hidden.display().to_string(), cover(&inside(&new, hidden)))?;
    }
    for kept in &request.kept {
        step(kept.display().to_string(), hold(&new, &request.roots, kept))?;
    }
    step("read-only", make_read_only(&new, &request.roots, &request.kept))?;
    step("the new root", change_root(&new))
}

/// A path below the new root.
fn inside(new: &Path, path: &Path) -> PathBuf {
    new.join(path.strip_prefix("/").unwrap_or(path))
}

/// Makes a file or folder appear at another place. A source that is gone is left out.
fn bind(source: &Path, target: &Path) -> io::Result<()> {
    let Ok(data) = source.metadata() else { return Ok(()) };
    if target.symlink_metadata().is_err() {
        if data.is_dir() {
            fs::create_dir_all(target)?;
        } else {
            fs::create_dir_all(target.parent().unwrap_or(target))?;
            File::create_new(target)?;
        }
    }
    Ok(mount_bind_recursive(source, target)?)
}

fn link_in(place: &Path, target: &Path) -> io::Result<()> {
    fs::create_dir_all(place.parent().unwrap_or(place))?;
    std::os::unix::fs::symlink(target, place)
}

/// Hides a path behind an empty folder or the null device.
fn cover(target: &Path) -> io::Result<()> {
    match target.symlink_metadata() {
        Ok(data) if data.is_dir() => {
            Ok(mount("tmpfs", target, "tmpfs", PLAIN | MountFlags::RDONLY, EMPTY_TMPFS)?)
        }
        Ok(data) if data.is_file() => Ok(mount_bind_recursive("/dev/null", target)?),
        _ => Ok(()),
    }
}

/// Makes a path and the folders between it and its root mounts of their own, so that they can be neither renamed nor replaced.
fn hold(new: &Path, roots: &[Root], kept: &Path) -> io::Result<()> {
    let is_root = |path: &&Path| roots.iter().any(|root| root.path == **path);
    let mut held: Vec<&Path> = kept.ancestors().take_while(|path| !is_root(path)).collect();
    held.reverse();
    for path in held {
        let target = inside(new, path);
        if target.symlink_metadata().is_ok_and(|data| !data.is_symlink()) {
            mount_bind_recursive(&target, &target)?;
        }
    }
    Ok(())
}

fn devices(new: &Path, terminal: Option<&Path>) -> io::Result<()> {
    for device in DEVICES.iter().map(Path::new).chain(terminal) {
        bind(device, &inside(new, device))?;
    }
    for (name, target) in [("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")]
    {
        std::os::unix::fs::symlink(target, new.join("dev").join(name))?;
    }
    let shared = new.join("dev/shm");
    fs::create_dir(&shared)?;
    Ok(mount("tmpfs", &shared, "tmpfs", PLAIN | MountFlags::NOEXEC, SHARED_MEMORY)?)
}

/// The process files of the new process namespace; those of the machine where the kernel refuses that.
fn process_files(new: &Path) -> io::Result<()> {
    let target = new.join("proc");
    fs::create_dir(&target)?;
    match mount("proc", &target, "proc", PLAIN | MountFlags::NOEXEC, None) {
        Ok(()) => Ok(()),
        Err(_) => Ok(mount_bind_recursive("/proc", &target)?),
    }
}

/// Makes the settings of the kernel read-only: root may change some of them without any capability.
///
/// Called last, because the bound on process ids is such a setting.
pub(super) fn protect_kernel_settings() -> Result<(), String> {
    let flags = MountFlags::BIND | MountFlags::RDONLY | PLAIN | MountFlags::NOEXEC;
    for path in ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"] {
        if Path::new(path).exists() {
            let done = mount_bind_recursive(path, path).and_then(|()| mount_remount(path, flags, ""));
            done.map_err(|error| format!("{path}: {error}"))?;
        }
    }
    Ok(())
}

/// Makes every mount of the new root read-only that is not part of a writable root, or that is kept as it is.
fn make_read_only(new: &Path, roots: &[Root], kept: &[PathBuf]) -> io::Result<()> {
    let table = fs::read_to_string("/proc/self/mountinfo")?;
    for line in table.lines() {
        let mut fields = line.split(' ').skip(4);
        let (Some(place), Some(options)) = (fields.next(), fields.next()) else { continue };
        let place = unescape(place);
        let Ok(path) = place.strip_prefix(new) else { continue };
        let path = Path::new("/").join(path);
        let root = roots.iter().rev().find(|root| !root.covered && path.starts_with(&root.path));
        let writable = match root {
            Some(root) => root.access == RootAccess::Write,
            None => [TEMPORARY, "/dev/", "/proc"].iter().any(|kept| path.starts_with(kept)),
        };
        let writable = writable && !kept.iter().any(|kept| path.starts_with(kept));
        if !writable && !options.split(',').any(|option| option == "ro") {
            let flags = options
                .split(',')
                .fold(MountFlags::BIND | MountFlags::RDONLY, |flags, option| flags | flag(option));
            mount_remount(&place, flags, "")?;
        }
    }
    Ok(())
}

/// A flag that must not be lost when a mount is changed.
fn flag(option: &str) -> MountFlags {
    match option {
        "nosuid" => MountFlags::NOSUID,
        "nodev" => MountFlags::NODEV,
        "noexec" => MountFlags::NOEXEC,
        "noatime" => MountFlags::NOATIME,
        "nodiratime" => MountFlags::NODIRATIME,
        "relatime" => MountFlags::RELATIME,
        _ => MountFlags::empty(),
    }
}

/// A path of the mount table, where `\040` is a space.
fn unescape(text: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let octal =
            after.get(..3).filter(|_| first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

/// Makes `new` the root and detaches the old one.
fn change_root(new: &Path) -> io::Result<()> {
    rustix::process::chdir(new)?;
    rustix::process::pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    Ok(rustix::process::chdir("/")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_paths_of_the_mount_table() {
        assert_eq!(unescape("/a\\040b\\134c"), PathBuf::from("/a b\\c"));
        assert_eq!(unescape("/plain\\9"), PathBuf::from("/plain\\9"));
    }
}
