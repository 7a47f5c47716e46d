//! Restricts files, signals and abstract sockets with Landlock.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};

use crate::roots::{Grant, RootAccess};

/// Devices that every program may use.
pub(super) const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// The newest version this crate was tried with.
const NEWEST: ABI = ABI::V7;

/// What Landlock enforces.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Enforced {
    /// The version; `None` when the kernel has no Landlock.
    pub version: Option<u32>,
    /// Whether signals to processes outside are refused (version 6).
    pub signals: bool,
}

/// What is allowed besides the roots.
#[derive(Debug, Default)]
pub(super) struct Extra {
    /// Folders that may be written: the private temporary folder.
    pub write: Vec<PathBuf>,
    /// Terminals and other devices.
    pub devices: Vec<PathBuf>,
    /// Folders whose entries may be listed, with everything below.
    pub list: Vec<PathBuf>,
}

/// Restricts this process and everything it starts to the given paths.
pub(super) fn restrict(grants: &[Grant], extra: &Extra) -> Result<Enforced, String> {
    let read = make_bitflags!(AccessFs::{Execute | ReadFile | ReadDir});
    let all = AccessFs::from_all(NEWEST);
    // Making devices is nobody's business here.
    let write = all & !make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev});
    let device = make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate | IoctlDev});
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)
        .and_then(|rules| rules.scope(Scope::AbstractUnixSocket | Scope::Signal))
        .and_then(Ruleset::create)
        .map_err(|error| error.to_string())?;
    for grant in grants {
        let access = match grant.access {
            _ if grant.listing => continue,
            RootAccess::Read => read,
            RootAccess::Write => write,
        };
        rules = allow(rules, &grant.path, access)?;
    }
    for path in &extra.write {
        rules = allow(rules, path, write)?;
    }
    for path in ["/proc"].iter().map(Path::new) {
        rules = allow(rules, path, make_bitflags!(AccessFs::{ReadFile | ReadDir}))?;
    }
    for path in DEVICES.iter().map(PathBuf::from).chain(extra.devices.iter().cloned()) {
        rules = allow(rules, &path, device)?;
    }
    for path in &extra.list {
        rules = allow(rules, path, BitFlags::from(AccessFs::ReadDir))?;
    }
    let status = rules.restrict_self().map_err(|error| error.to_string())?;
    let version = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } if status.ruleset != RulesetStatus::NotEnforced => {
            Some(effective_abi as u32)
        }
        _ => None,
    };
    Ok(Enforced { version, signals: version.is_some_and(|version| version >= 6) })
}

/// Adds a rule; a path that does not exist needs none.
fn allow(rules: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, String> {
    let Ok(file) = PathFd::new(path) else { return Ok(rules) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
    if access.is_empty() {
        return Ok(rules);
    }
    rules.add_rule(PathBeneath::new(file, access)).map_err(|error| error.to_string())
}
