//! The launcher: the supervisor and the inner process, both our own binary started again.

mod descendants;
mod files;
mod inner;
mod mounts;
mod namespaces;
mod privileges;
mod supervisor;
mod syscalls;

use crate::wire::INNER_ARGUMENT;

/// Runs the launcher. The binary calls this first, before any thread exists, when its first argument is
/// [`crate::LAUNCH_ARGUMENT`].
pub fn launcher_main() -> ! {
    close_inherited();
    let inner = std::env::args_os().nth(2).is_some_and(|argument| argument == INNER_ARGUMENT);
    let code = if inner { inner::run() } else { supervisor::run() };
    std::process::exit(code)
}

/// Closes the file descriptors that the server got from its parent process, so that the command does not get them.
fn close_inherited() {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers: Vec<i32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // The one of the listing above is closed already.
        nix::unistd::close(number).ok();
    }
}
