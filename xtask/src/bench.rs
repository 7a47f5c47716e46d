//! The comparison with other servers, when the shared harness lies beside the repository. It builds and installs its own
//! parts, in a copy under the target folder.

use std::process::Command;

use anyhow::{Result, bail};

use crate::{
    command::{self, cargo},
    mirror::mirror,
    project::Project,
    rust_tests, soak,
    steps::Steps,
};

/// The short comparison with our own bound: ratios only, for every machine.
pub fn smoke(project: &Project) -> Result<()> {
    let mut steps = Steps::default();
    let outcome = steps.run("smoke", |notes| {
        rust_tests::run_counted(soak::release_test(project, "smoke").env("SMOKE_TURNS", "400"), notes)
    });
    steps.conclude(outcome)
}

pub fn run(project: &Project, arguments: &[String]) -> Result<()> {
    let Some(harness) = project.shared("bench") else {
        bail!(
            "the harness is not here: put the shared material, with its `bench` folder, beside this repository as ../shared"
        );
    };
    command::run(cargo(project).args(["build", "--release", "--workspace", "--bin", "concertino"]))?;
    let binary = project.target.join("release/concertino");
    let copy = project.target.join("bench");
    mirror(&harness, &copy, &|name| !matches!(name, "node_modules" | "target" | ".venv"))?;
    let server = format!(
        "concertino=env CONCERTINO_LISTEN=127.0.0.1:{{port}} CONCERTINO_DATA_DIR={{dir}} CONCERTINO_AUTH=off \
         CONCERTINO_AUTO_TITLE=off CONCERTINO_ENABLE=bench {} serve",
        binary.display()
    );
    command::run(Command::new("./run.sh").current_dir(&copy).args(["--spawn", &server]).args(arguments))
}
