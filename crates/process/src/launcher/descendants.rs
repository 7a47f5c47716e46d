//! Finds and ends every descendant of the supervisor, for machines without process namespaces.

use std::{collections::BTreeSet, fs, time::Duration};

use rustix::process::{Pid, Signal, WaitOptions, kill_process};

/// The process ids below `root`, in no order.
pub(super) fn descendants(root: Pid) -> BTreeSet<i32> {
    let mut found = BTreeSet::new();
    let mut pending = vec![root.as_raw_nonzero().get()];
    while let Some(pid) = pending.pop() {
        for child in children(pid) {
            if found.insert(child) {
                pending.push(child);
            }
        }
    }
    found
}

/// The children of all threads of a process.
fn children(pid: i32) -> Vec<i32> {
    let mut all = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        let text = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        all.extend(text.split_whitespace().filter_map(|number| number.parse::<i32>().ok()));
    }
    all
}

/// Ends all descendants of this process and returns how many there were.
///
/// Each is stopped before it is ended: a stopped process cannot start another one. What its parent leaves behind is
/// adopted by this process (it is a subreaper) and found by the next pass.
pub(super) fn end_all() -> u32 {
    let own = rustix::process::getpid();
    let mut seen = BTreeSet::new();
    loop {
        reap();
        let alive = descendants(own);
        if alive.is_empty() {
            return u32::try_from(seen.len()).unwrap_or(u32::MAX);
        }
        for pid in &alive {
            if seen.insert(*pid) {
                signal(*pid, Signal::STOP);
            }
        }
        for pid in &alive {
            signal(*pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Takes the status of children that ended.
fn reap() {
    while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
}

/// Sends a signal to a process, which may have ended in the meantime.
pub(super) fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        kill_process(pid, signal).ok();
    }
}
