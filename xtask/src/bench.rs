//! Compares the release build with other servers, when the shared harness is beside the repository. The harness builds and
//! installs its own parts, in a copy below the target folder.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::{
    command::{self, cargo},
    mirror::mirror,
    project::Project,
    rust_tests, soak,
    steps::Steps,
};

/// Runs a short comparison with our own bound. It checks ratios only, so it works on every machine.
pub fn smoke(project: &Project) -> Result<()> {
    let mut steps = Steps::default();
    let outcome = steps.run("smoke", |notes| {
        rust_tests::run_counted(soak::release_test(project, "smoke").env("SMOKE_TURNS", "400"), notes)
    });
    steps.conclude(outcome)
}

/// What to measure beside the release build, in the same run.
#[derive(Args)]
pub struct Beside {
    /// Another build, as `old`: its release binary
    #[arg(long, value_name = "BINARY")]
    against: Option<PathBuf>,
    /// The release build again with `durability = "power"`, as `power`; otherwise it is `process`, which is what the peers do
    #[arg(long)]
    power: bool,
}

pub fn run(project: &Project, beside: &Beside, arguments: &[String]) -> Result<()> {
    let Some(harness) = project.shared("bench") else {
        bail!(
            "the harness is not here: put the shared material, with its `bench` folder, beside this repository as ../shared"
        );
    };
    command::run(cargo(project).args(["build", "--release", "--workspace", "--bin", "concertino"]))?;
    let binary = project.target.join("release/concertino");
    let copy = project.target.join("bench");
    mirror(&harness, &copy, &|name| !matches!(name, "node_modules" | "target" | ".venv"))?;
    let mut servers = vec![server("concertino", "process", &binary)];
    if let Some(old) = &beside.against {
        let old = old.canonicalize().with_context(|| format!("there is no binary {}", old.display()))?;
        servers.push(server("old", "process", &old));
    }
    if beside.power {
        servers.push(server("power", "power", &binary));
    }
    let mut harness = Command::new("./run.sh");
    harness.current_dir(&copy);
    for server in &servers {
        harness.args(["--spawn", server]);
    }
    command::run(harness.args(arguments))
}

/// The command with which the harness starts a build. A build that does not know the durability setting ignores it.
fn server(name: &str, durability: &str, binary: &Path) -> String {
    format!(
        "{name}=env CONCERTINO_LISTEN=127.0.0.1:{{port}} CONCERTINO_DATA_DIR={{dir}} CONCERTINO_AUTH=off \
         CONCERTINO_AUTO_TITLE=off CONCERTINO_ENABLE=bench CONCERTINO_DURABILITY={durability} {} serve",
        binary.display()
    )
}
