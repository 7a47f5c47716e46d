//! Refuses system calls that a command does not need and an attacker does.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

/// What depends on the other protections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    /// Internet sockets: in a network namespace of its own, or when the network is allowed.
    pub internet: bool,
    /// Reach with a path: where only the allowed folders exist.
    pub unix: bool,
    /// Priorities and limits of other processes: where a process namespace hides those outside.
    pub processes: bool,
    /// Modes, owners, times and attributes of files: where mounts are read-only, or files may be changed anyway.
    pub metadata: bool,
}

/// Calls that change the priority or the limits of another process of the same user, and the argument that names it.
/// Landlock does not cover them. Zero is the caller itself.
const ABOUT_PROCESSES: [(i64, u8); 7] = [
    (libc::SYS_prlimit64, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_sched_setattr, 0),
];

/// Refused with "operation not permitted".
const REFUSED: &[i64] = &[
    // Looking into other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_madvise,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    // Mounts, namespaces and other roots.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    // Keys, programs in the kernel, asynchronous calls that no filter sees.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
    libc::SYS_lookup_dcookie,
];
/// Calls that change the metadata of files, which Landlock does not cover.
const METADATA: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];
#[cfg(target_arch = "x86_64")]
const METADATA_HERE: &[i64] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const METADATA_HERE: &[i64] = &[];
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[i64] = &[
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_kexec_file_load,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS_sysfs,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[i64] = &[];
/// Flags of `clone` that make a namespace.
const NEW_NAMESPACES: i32 = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;
/// Puts characters into the input of a terminal, so that the shell outside would execute them.
const TIOCSTI: u64 = 0x5412;
/// The same by the selection of the text console.
const TIOCLINUX: u64 = 0x541C;
/// System calls of the x32 interface have numbers from here on; they would pass a filter for the plain numbers.
#[cfg(target_arch = "x86_64")]
const X32: u32 = 0x4000_0000;

/// Installs the filters for this process and everything it starts.
pub(super) fn refuse(reach: Reach) -> Result<(), String> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
    let permission = SeccompAction::Errno(libc::EPERM as u32);
    let absent = SeccompAction::Errno(libc::ENOSYS as u32);
    let programs = [
        compile(refused(reach)?, permission, arch)?,
        compile(BTreeMap::from([(libc::SYS_clone3, vec![])]), absent, arch)?,
    ];
    for program in programs.iter().chain(&other_interfaces()) {
        seccompiler::apply_filter(program).map_err(|error| error.to_string())?;
    }
    Ok(())
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn compile(rules: Rules, action: SeccompAction, arch: TargetArch) -> Result<BpfProgram, String> {
    let filter =
        SeccompFilter::new(rules, SeccompAction::Allow, action, arch).map_err(|error| error.to_string())?;
    filter.try_into().map_err(|error: seccompiler::BackendError| error.to_string())
}

fn refused(reach: Reach) -> Result<Rules, String> {
    let mut rules: Rules = REFUSED.iter().chain(REFUSED_HERE).map(|number| (*number, vec![])).collect();
    if !reach.metadata {
        rules.extend(METADATA.iter().chain(METADATA_HERE).map(|number| (*number, vec![])));
    }
    let ioctls = [TIOCSTI, TIOCLINUX].map(|number| rule(vec![condition(1, SeccompCmpOp::Eq, number)]));
    rules.insert(libc::SYS_ioctl, ioctls.into_iter().collect::<Result<_, _>>()?);
    let mut namespaces = Vec::new();
    for bit in (0..32).map(|bit| 1_u64 << bit).filter(|bit| NEW_NAMESPACES as u64 & bit != 0) {
        namespaces.push(rule(vec![condition(0, SeccompCmpOp::MaskedEq(bit), bit)])?);
    }
    rules.insert(libc::SYS_clone, namespaces);
    // A socket is refused when its family is none of the allowed ones.
    let mut families = vec![libc::AF_NETLINK];
    if reach.unix {
        families.push(libc::AF_UNIX);
    }
    if reach.internet {
        families.extend([libc::AF_INET, libc::AF_INET6]);
    }
    let other = families.iter().map(|family| condition(0, SeccompCmpOp::Ne, *family as u64)).collect();
    rules.insert(libc::SYS_socket, vec![rule(other)?]);
    for (number, argument) in ABOUT_PROCESSES.into_iter().filter(|_| !reach.processes) {
        rules.insert(number, vec![rule(vec![condition(argument, SeccompCmpOp::Ne, 0)])?]);
    }
    Ok(rules)
}

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, String> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
        .map_err(|error| error.to_string())
}

fn rule(conditions: Vec<Result<SeccompCondition, String>>) -> Result<SeccompRule, String> {
    SeccompRule::new(conditions.into_iter().collect::<Result<_, _>>()?).map_err(|error| error.to_string())
}

/// A filter that refuses the x32 interface: load the number, compare, "function not implemented" or allow.
#[cfg(target_arch = "x86_64")]
fn other_interfaces() -> Option<BpfProgram> {
    let statement = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    Some(vec![
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ])
}

#[cfg(not(target_arch = "x86_64"))]
fn other_interfaces() -> Option<BpfProgram> {
    None
}
