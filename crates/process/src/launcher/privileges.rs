//! Gives privileges up and sets the resource limits.

use std::{fs, io};

use rustix::{
    process::{Resource, Rlimit, setrlimit},
    thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets},
};

use crate::{report::ProcessCount, spec::ProcessLimits};

/// The highest capability number to try; the kernel says where its own end.
const CAPABILITIES: u32 = 64;

/// Keeps the capabilities of a new user namespace for the next program, which would lose them for any user but root.
pub(super) fn keep_capabilities() -> io::Result<()> {
    let sets = rustix::thread::capabilities(None)?;
    rustix::thread::set_capabilities(None, CapabilitySets { inheritable: sets.permitted, ..sets })?;
    for bit in 0..CAPABILITIES {
        let capability = CapabilitySet::from_bits_retain(1 << bit);
        if sets.permitted.contains(capability) {
            rustix::thread::configure_capability_in_ambient_set(capability, true)?;
        }
    }
    Ok(())
}

/// Drops every capability for good, also from the bounding set, so that a program run as root gains none.
pub(super) fn drop_capabilities() -> io::Result<()> {
    for bit in 0..CAPABILITIES {
        let capability = CapabilitySet::from_bits_retain(1 << bit);
        match rustix::thread::capability_is_in_bounding_set(capability) {
            // Fails without CAP_SETPCAP: then there is nothing to gain either, see below.
            Ok(true) => {
                rustix::thread::remove_capability_from_bounding_set(capability).ok();
            }
            Ok(false) => {}
            Err(_) => break,
        }
    }
    let locked = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    rustix::thread::set_capabilities_secure_bits(locked).ok();
    rustix::thread::clear_ambient_capability_set().ok();
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(
        None,
        CapabilitySets { effective: none, permitted: none, inheritable: none },
    )?;
    // Root without capabilities would get those of the bounding set back with the next program.
    let regained = rustix::process::geteuid().is_root()
        && !rustix::thread::capabilities_secure_bits()
            .is_ok_and(|bits| bits.contains(CapabilitiesSecureBits::NO_ROOT));
    if regained { Err(io::Error::other("the bounding set could not be cleared")) } else { Ok(()) }
}

/// Sets the resource limits of the process and of everything it starts.
pub(super) fn set_limits(limits: &ProcessLimits, process_count: ProcessCount) -> io::Result<()> {
    let mut all = vec![
        (Resource::Core, 0),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, limits.open_files),
        (Resource::Data, limits.memory),
    ];
    if process_count == ProcessCount::ResourceLimit {
        all.push((Resource::Nproc, u64::from(limits.processes)));
    }
    for (resource, wanted) in all {
        let highest = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let value = Some(wanted.min(highest));
        setrlimit(resource, Rlimit { current: value, maximum: value })?;
    }
    Ok(())
}

/// Bounds the number of processes by the highest process id of the current process namespace.
///
/// Only for process 1 of a namespace of its own and kernels that keep this number for each namespace (6.14 and later):
/// on an older one the same file changes the whole machine.
pub(super) fn bound_process_ids(processes: u32) -> io::Result<()> {
    if rustix::process::getpid().as_raw_nonzero().get() != 1 || !kernel_at_least(6, 14) {
        return Err(io::Error::from(io::ErrorKind::Unsupported));
    }
    let mut value = processes.max(301);
    loop {
        match fs::write("/proc/sys/kernel/pid_max", value.to_string()) {
            // The smallest value depends on the number of processors.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput && value < 1 << 15 => value *= 2,
            result => return result,
        }
    }
}

fn kernel_at_least(major: u32, minor: u32) -> bool {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy();
    let mut numbers = release.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (major, minor)
}
