//! Attacks on the sandbox. Each must fail, with namespaces and without; the expected error names the protection that acted.
//!
//! The scripts do no harm where one succeeds: signals are SIGCONT, files of the system are opened and not written.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod support;

#[path = "attacks/bounds.rs"]
mod bounds;
#[path = "attacks/files.rs"]
mod files;
#[path = "attacks/network.rs"]
mod network;
#[path = "attacks/peer.rs"]
mod peer;
#[path = "attacks/processes.rs"]
mod processes;
#[path = "attacks/repository.rs"]
mod repository;

use std::collections::BTreeMap;

use process::{Access, CommandSpec, SandboxLevel};
use support::{Place, SECRET};

/// The protection that acted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The path does not exist in the mount namespace.
    Mounts,
    Landlock,
    Seccomp,
    /// The process does not exist in the process namespace.
    Processes,
    /// The network namespace has nobody else in it.
    Network,
    /// No capabilities, no new privileges.
    Privileges,
    /// The mount is read-only.
    ReadOnly,
    /// Nothing: a documented weakness of machines without namespaces.
    Nothing,
}

/// An attack and what stops it: the error and the protection, with namespaces and without.
pub struct Attack {
    pub name: &'static str,
    /// A Python expression.
    pub code: &'static str,
    pub with: (&'static str, By),
    pub without: (&'static str, By),
}

const PRELUDE: &str = r#"
import ctypes, errno, fcntl, os, signal, socket, struct, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
DATA, OUT, SERVER, PARENT = os.environ['DATA'], os.environ['OUT'], int(os.environ['SERVER']), os.getppid()
TOKEN = DATA + '/token'
def read(path):
    with open(path, 'rb') as file: return file.read(64)
def opened(path, flags): os.close(os.open(path, flags)); return 'opened'
def call(number, *arguments):
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result < 0: raise OSError(ctypes.get_errno(), '')
    return result
def attempt(name, attack):
    try: print(name, 'REACHED', repr(attack())[:80], flush=True)
    except OSError as error: print(name, errno.errorcode.get(error.errno, error.errno), flush=True)
"#;

/// The Python that is part of the system, if there is one.
pub fn python() -> &'static str {
    if std::path::Path::new("/usr/bin/python3").exists() { "/usr/bin/python3" } else { "python3" }
}

/// A command that runs a Python script with what the attacks need to know.
pub fn script(place: &Place, code: &str, variables: &[(&str, String)]) -> CommandSpec {
    let mut spec = place.argv(Access::Workspace, &[python(), "-c", code]);
    let known = [
        ("DATA", place.root.join("data").display().to_string()),
        ("OUT", place.root.join("outside").display().to_string()),
        ("SERVER", std::process::id().to_string()),
        ("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
    ];
    for (name, value) in known.into_iter().chain(variables.iter().cloned()) {
        spec.env.push((name.to_owned(), value));
    }
    spec
}

/// The whole script of some attacks, with definitions of their own.
pub fn program(setup: &str, attacks: &[Attack]) -> String {
    let mut code = format!("{PRELUDE}\n{setup}\n");
    for attack in attacks {
        code.push_str(&format!("attempt({:?}, lambda: {})\n", attack.name, attack.code));
    }
    code
}

/// Runs attacks with namespaces and without, compares each result, and prints the table.
pub async fn run(setup: &str, attacks: &[Attack], variables: &[(&str, String)]) {
    peer::show(setup, attacks, variables);
    for namespaces in [true, false] {
        let place = Place::new(SandboxLevel::Required);
        let place = if namespaces { place } else { place.without_namespaces() };
        let code = program(setup, attacks);
        let (output, exit) = place.run(script(&place, &code, variables)).await;
        assert_eq!(exit.code, Some(0), "{output}");
        compare(&output, attacks, namespaces);
        untouched(&place);
    }
}

/// Compares the output of a script with what was expected of each attack.
pub fn compare(output: &str, attacks: &[Attack], namespaces: bool) {
    assert!(!output.contains(SECRET), "the secret came out:\n{output}");
    let seen: BTreeMap<&str, &str> = output.lines().filter_map(|line| line.split_once(' ')).collect();
    let mut wrong = Vec::new();
    for attack in attacks {
        let (error, by) = if namespaces { attack.with } else { attack.without };
        let result = seen.get(attack.name).copied().unwrap_or("nothing");
        println!(
            "{:<9} {:<34} {result:<12} {by:?}",
            if namespaces { "spaces" } else { "no spaces" },
            attack.name
        );
        let as_expected = if by == By::Nothing { result.starts_with(error) } else { result == error };
        // For anybody but root the permissions of the file are in the way first.
        let as_expected = as_expected
            || !rustix::process::getuid().is_root()
                && matches!(by, By::Nothing | By::ReadOnly)
                && matches!(result, "EACCES" | "EPERM");
        if !as_expected {
            wrong.push(format!("{}: {result} instead of {error}", attack.name));
        }
    }
    assert!(wrong.is_empty(), "namespaces: {namespaces}\n{}", wrong.join("\n"));
}

/// Nothing outside of the work directory changed.
pub fn untouched(place: &Place) {
    for name in ["data/token", "data/chats.sqlite3", "outside/note"] {
        assert_eq!(std::fs::read_to_string(place.root.join(name)).unwrap(), SECRET, "{name}");
    }
    let names = |folder: &str| std::fs::read_dir(place.root.join(folder)).unwrap().count();
    assert_eq!((names("data"), names("outside")), (2, 1));
}
