//! The same attacks through the sandbox of another program, for the comparison in `docs/commands.md`.
//!
//! `PEER_SANDBOX="/path/to/codex sandbox -P :workspace --"` names the command that runs another in that sandbox. Nothing is
//! asserted: the results are printed beside ours. Run it as a user without privileges, because an attack may succeed.

use std::{
    fs::File,
    process::{Child, Command, Stdio},
};

use process::{CommandSpec, Program, SandboxLevel};

use crate::{Attack, program, script, support::Place};

/// The words of the command that starts another one in the sandbox of the peer.
fn peer() -> Option<Vec<String>> {
    let words: Vec<String> =
        std::env::var("PEER_SANDBOX").ok()?.split_whitespace().map(str::to_owned).collect();
    (!words.is_empty()).then_some(words)
}

/// A process that stands for the server: an attack that reaches it does no harm. It has the token open.
struct StandIn(Child);

impl StandIn {
    fn new(place: &Place) -> Self {
        let token = File::open(place.root.join("data/token")).unwrap();
        Self(Command::new("sleep").arg("60").env("API_KEY", crate::SECRET).stdin(token).spawn().unwrap())
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Runs attacks in the sandbox of the peer and prints what became of each.
pub fn show(setup: &str, attacks: &[Attack], variables: &[(&str, String)]) {
    show_in(&Place::new(SandboxLevel::Required), setup, attacks, variables);
}

pub fn show_in(place: &Place, setup: &str, attacks: &[Attack], variables: &[(&str, String)]) {
    let Some(peer) = peer() else { return };
    let server = StandIn::new(place);
    let mut spec = script(place, &program(setup, attacks), variables);
    for (name, value) in [("SERVER", server.0.id().to_string()), ("FD", "0".to_owned())] {
        spec.env.retain(|(known, _)| known != name);
        spec.env.push((name.to_owned(), value));
    }
    let output = through(&peer, &spec);
    for attack in attacks {
        let named = |line: &&str| line.split_once(' ').is_some_and(|(name, _)| name == attack.name);
        let result = output.lines().find(named).unwrap_or("nothing").trim_start_matches(attack.name);
        println!("{:<9} {:<34}{result}", "peer", attack.name);
    }
    if !attacks.iter().all(|attack| output.contains(attack.name)) {
        println!("peer said:\n{output}");
    }
}

fn through(peer: &[String], spec: &CommandSpec) -> String {
    let Program::Argv(argv) = &spec.program else { return String::new() };
    let mut command = Command::new(&peer[0]);
    command.args(&peer[1..]).args(argv).current_dir(&spec.cwd).stdin(Stdio::null());
    command.env_clear().envs(spec.env.iter().cloned());
    for name in ["CODEX_HOME", "HOME"] {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}
