//! Enters new namespaces: processes, network, and the user namespace that makes them possible.

use std::{fs, io, os::fd::OwnedFd};

use super::privileges;
use nix::sched::{CloneFlags, unshare};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType};

/// Enters new namespaces; the next child will be process 1 of the process namespace.
///
/// Users and groups keep their numbers. An error before anything changed is `Err(Refused::Unchanged)`.
pub(super) fn enter(network: bool) -> Result<(), Refused> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    // The mount namespace is left to the inner process: the supervisor keeps the files of the machine.
    let mut flags = CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC;
    if !network {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    if let Err(error) = unshare(flags | CloneFlags::CLONE_NEWUSER) {
        // Root without user namespaces can make the others.
        return unshare(flags).map_err(|_| Refused::Unchanged(describe(error)));
    }
    let written = fs::write("/proc/self/setgroups", "deny")
        .and_then(|()| fs::write("/proc/self/uid_map", format!("{user} {user} 1")))
        .and_then(|()| fs::write("/proc/self/gid_map", format!("{group} {group} 1")));
    written.map_err(|error| Refused::Changed(format!("the user namespace has no users ({error})")))?;
    privileges::keep_capabilities()
        .map_err(|error| Refused::Changed(format!("the user namespace gives no capabilities ({error})")))
}

/// Why there are no namespaces.
#[derive(Debug)]
pub(super) enum Refused {
    /// Nothing changed: go on without them.
    Unchanged(String),
    /// This process is in half of them: start again.
    Changed(String),
}

fn describe(error: nix::errno::Errno) -> String {
    match error {
        nix::errno::Errno::EPERM | nix::errno::Errno::EACCES => "this user may not create them".to_owned(),
        nix::errno::Errno::ENOSPC | nix::errno::Errno::EUSERS => {
            "the limit of user namespaces is reached".to_owned()
        }
        other => format!("the kernel refuses ({other})"),
    }
}

/// Switches the loopback interface of the network namespace on, so that a command can talk to itself.
pub(super) fn loopback_up() -> io::Result<()> {
    let socket: OwnedFd = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    // A netlink header (32 bytes, RTM_NEWLINK, request and acknowledge, sequence 1) and an interface description:
    // interface 1, flag "up", of which only that bit changes.
    let fields: [u32; 8] = [32, 16 | (1 | 4) << 16, 1, 0, 0, 1, 1, 1];
    let message: Vec<u8> = fields.iter().flat_map(|field| field.to_ne_bytes()).collect();
    rustix::net::send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0_u8; 64];
    let (count, _) = rustix::net::recv(&socket, &mut answer[..], RecvFlags::empty())?;
    let code =
        answer.get(..count).and_then(|answer| answer.get(16..20)).and_then(|code| code.try_into().ok());
    match code.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(-code)),
        None => Err(io::Error::from(io::ErrorKind::InvalidData)),
    }
}
