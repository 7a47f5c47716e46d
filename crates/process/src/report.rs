//! Which protections were active for a command.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How files outside of the allowed folders are protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileProtection {
    /// The version of Landlock that was enforced.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub landlock: Option<u32>,
    /// Whether the command saw only the allowed folders (a mount namespace).
    pub mounts: bool,
}

impl fmt::Display for FileProtection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.landlock, self.mounts) {
            (Some(version), true) => write!(f, "landlock {version} + mount namespace"),
            (Some(version), false) => write!(f, "landlock {version}"),
            (None, true) => write!(f, "mount namespace"),
            (None, false) => write!(f, "none"),
        }
    }
}

/// How the network is kept away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkProtection {
    /// A network namespace with only a loopback of its own.
    Namespace,
    /// System calls that open network sockets fail.
    Seccomp,
    /// The network was allowed for this command.
    Open,
    /// The network should be closed but is not.
    #[default]
    None,
}

impl fmt::Display for NetworkProtection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Namespace => "namespace",
            Self::Seccomp => "seccomp",
            Self::Open => "open",
            Self::None => "none",
        })
    }
}

/// How the processes of a command are kept together and away from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessProtection {
    /// A process namespace: others are invisible, and all inside end at once.
    Namespace,
    /// Landlock refuses signals to others; the supervisor finds and ends all descendants.
    Landlock,
    /// Only the supervisor: others of the same user can be signalled.
    #[default]
    Supervisor,
}

impl fmt::Display for ProcessProtection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Namespace => "namespace",
            Self::Landlock => "landlock",
            Self::Supervisor => "supervisor",
        })
    }
}

/// What enforces the limit on the number of processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessCount {
    /// The highest process id of the process namespace.
    Namespace,
    /// The resource limit of the user.
    ResourceLimit,
    /// The supervisor counts several times a second and ends the command when there are too many.
    #[default]
    Watched,
}

/// The protections that were active for one command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxReport {
    pub files: FileProtection,
    pub network: NetworkProtection,
    pub processes: ProcessProtection,
    /// Whether seccomp refuses dangerous system calls.
    pub syscalls: bool,
    /// Whether the resource limits were set.
    pub limits: bool,
    pub process_count: ProcessCount,
    pub no_new_privileges: bool,
    pub no_capabilities: bool,
    /// Paths of the work directory that were read-only although it could be changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// Protections that should be there and are not. [`crate::SandboxLevel::Required`] refuses to start with any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Protections that have a weaker replacement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weaker: Vec<String>,
}

impl SandboxReport {
    /// One line for a person.
    pub fn short(&self) -> String {
        let off = self.files == FileProtection::default() && !self.syscalls && !self.no_new_privileges;
        let mut line = if off {
            "no sandbox".to_owned()
        } else {
            format!(
                "files: {}; network: {}; processes: {}; system calls: {}",
                self.files,
                self.network,
                self.processes,
                if self.syscalls { "seccomp" } else { "none" }
            )
        };
        if !self.kept.is_empty() {
            line.push_str("; read-only: ");
            line.push_str(&self.kept.join(", "));
        }
        if !self.missing.is_empty() {
            line.push_str("; missing: ");
            line.push_str(&self.missing.join(", "));
        }
        line
    }

    /// Fills `missing` and `weaker` from what was active. `reason` says why there are no namespaces.
    pub(crate) fn judge(&mut self, network_wanted: bool, reason: Option<&str>) {
        let mut missing = Vec::new();
        let mut weaker = Vec::new();
        if self.files == FileProtection::default() {
            missing.push("files are not protected (neither Landlock nor a mount namespace)".to_owned());
        } else if self.files.landlock.is_none() {
            weaker.push("files: no Landlock, only a mount namespace".to_owned());
        } else if !self.files.mounts {
            weaker
                .push("files: outside of the allowed folders, names and sizes are visible, and a command that may write can change modes and times".to_owned());
        }
        if self.network == NetworkProtection::None && !network_wanted {
            missing.push("the network is not closed".to_owned());
        }
        match self.processes {
            ProcessProtection::Namespace => {}
            ProcessProtection::Landlock => {
                weaker.push("processes: others are visible in /proc, but out of reach".to_owned());
            }
            ProcessProtection::Supervisor => {
                missing.push("other processes of the same user can be signalled".to_owned());
            }
        }
        if !self.syscalls {
            missing.push("dangerous system calls are not refused (no seccomp)".to_owned());
        }
        if !self.no_new_privileges {
            missing.push("set-uid programs gain privileges".to_owned());
        }
        if !self.no_capabilities {
            missing.push("capabilities are not dropped".to_owned());
        }
        if !self.limits {
            missing.push("resource limits are not set".to_owned());
        }
        if self.process_count == ProcessCount::Watched {
            weaker.push("number of processes: only watched by the supervisor".to_owned());
        }
        if let Some(reason) = reason {
            weaker.push(format!("no namespaces: {reason}"));
        }
        (self.missing, self.weaker) = (missing, weaker);
    }
}
