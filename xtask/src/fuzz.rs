//! Coverage-guided fuzzing of every hand-written parser of input from models, model servers and clients. The targets are in
//! `fuzz/`, outside the workspace. New findings go to the target folder; the ordinary tests of `models`, `tools`, `protocol`,
//! `patch`, `commands` and `engine` replay the small corpus in `fuzz/corpus`. `FUZZ_SECONDS` sets how long each target runs, `FUZZ_TARGETS` which
//! targets run, separated by commas.

use std::{fs, process::Command};

use anyhow::{Context, Result};

use crate::{command, project::Project};

const TARGETS: [&str; 10] = [
    "sse",
    "openai",
    "openai_responses",
    "anthropic",
    "gemini",
    "repair",
    "planted",
    "template",
    "patch",
    "commands",
];
const PLATFORM: &str = "x86_64-unknown-linux-gnu";
/// The instrumentation that libFuzzer needs: counters on every edge, and compared values.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";
/// Longer inputs did not find more.
const LONGEST_INPUT: &str = "-max_len=8192";

pub fn run(project: &Project) -> Result<()> {
    let seconds = std::env::var("FUZZ_SECONDS").unwrap_or_else(|_| "600".to_owned());
    let targets = chosen(std::env::var("FUZZ_TARGETS").ok().as_deref())?;
    let folder = project.root.join("fuzz");
    let target = project.target.join("fuzz");
    let mut build = command::cargo_in(&folder);
    build.args(["build", "--release", "--target", PLATFORM]);
    build.args(targets.iter().flat_map(|name| ["--bin", *name]));
    build.env("CARGO_TARGET_DIR", &target).env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", COVERAGE);
    command::run(&mut build)?;
    for name in targets {
        let found = target.join("found").join(name);
        fs::create_dir_all(&found).with_context(|| format!("{} cannot be made", found.display()))?;
        let mut fuzzer = Command::new(target.join(PLATFORM).join("release").join(name));
        fuzzer.arg(&found).arg(folder.join("corpus").join(name));
        fuzzer.args([LONGEST_INPUT, "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]);
        fuzzer.arg(format!("-max_total_time={seconds}"));
        fuzzer.arg(format!("-artifact_prefix={}/crash-{name}-", target.display()));
        command::run(&mut fuzzer)?;
    }
    Ok(())
}

/// The targets to run: all, or those that are named.
fn chosen(named: Option<&str>) -> Result<Vec<&'static str>> {
    let Some(named) = named else { return Ok(TARGETS.to_vec()) };
    let find = |name: &str| {
        let found = TARGETS.into_iter().find(|target| *target == name.trim());
        found.with_context(|| {
            format!("there is no fuzz target named {name}; there are: {}", TARGETS.join(", "))
        })
    };
    named.split(',').map(find).collect()
}
