//! The long versions of the tests: the same code with more cases.

use std::process::Command;

use anyhow::Result;
use clap::ValueEnum;

use crate::{
    command::cargo, conformance, fuzz, local_model, prepare, project::Project, rust_tests, steps::Steps,
    web_tests,
};

#[derive(Clone, Copy, ValueEnum)]
pub enum Name {
    /// Our fold against the real client's, on 20,000 streams, and the properties on 3,000 logs
    Fold,
    /// The conformance suite, five times in a row
    Conformance,
    /// 500 times kill -9 at random moments, under a mixed load: nothing that a client saw is lost
    Crash,
    /// 100 power losses under a mixed load, on a disk that drops unsynced writes: nothing that was acknowledged is lost
    Power,
    /// Every store call failing once, at random and for long; model servers that cut at every byte
    Faults,
    /// A run dropped and resumed at every event, by our fold and by the real clients
    Resume,
    /// 200 random trees of agents against a simple reference, 200 stops and kills at random moments, the heap of 200
    /// agents, 200 chats exported and imported
    Agents,
    /// 10,000 messages beside 10, 10,000 sessions beside 100: the same cost
    Flat,
    /// Memory with slow readers, 10,000 idle sessions, 5,000 live streams, an answer of 20 MiB
    Memory,
    /// Half an hour of chats that are created, used and deleted: memory and files do not grow
    Churn,
    /// 200 runs at once against a server that answers 429 to two thirds of its calls: all finish, in a fair order
    Scheduler,
    /// 200 random sequences of edits to files and reverts, as many with edits of somebody else in between, and 200 times
    /// kill -9 while a patch changes 300 files
    Files,
    /// 100 stops of runs and 20 kills of the server with commands at work, 500 terminals, 10 GB of output, and 1,500 lines
    /// judged beside real shells
    Commands,
    /// 2,000 connections of the events surface, 200 of them switching agents and talking for a minute
    Events,
    /// Ten minutes of coverage-guided fuzzing for each decoder, the JSON repair and the messages of a client
    Fuzz,
    /// Twenty minutes of hostile model output, through the whole server with every agent and tool
    Hostile,
    /// A chat with a small model that runs on this machine
    LocalModel,
    /// Half an hour of streaming in a browser: the heap does not grow
    Web,
    /// Every test that is marked as too long for the everyday run
    Ignored,
}

pub fn run(project: &Project, name: Option<Name>) -> Result<()> {
    let mut steps = Steps::default();
    let names = name.as_ref().map_or(Name::value_variants(), std::slice::from_ref);
    let outcome = names.iter().try_for_each(|name| one(project, *name, &mut steps));
    steps.conclude(outcome)
}

/// A test of the release binary, one case after the other.
pub fn release_test(project: &Project, name: &str) -> Command {
    let mut tests = cargo(project);
    tests.args(["test", "--release", "--package", "concertino", "--test", name]);
    tests.args(["--", "--nocapture", "--test-threads", "1"]);
    tests
}

fn one(project: &Project, name: Name, steps: &mut Steps) -> Result<()> {
    let mut node = None;
    steps.run("prepare", |notes| {
        node = prepare::everything(project, notes)?;
        Ok(())
    })?;
    match name {
        Name::Fold => steps.run("fold", |notes| {
            let mut tests = cargo(project);
            tests.args(["test", "--package", "protocol", "--test", "fold", "--", "--nocapture"]);
            tests.env("FOLD_STREAMS", "20000").env("FOLD_LOGS", "3000");
            if let Some(node) = &node {
                tests.env("CONCERTINO_TEST_NODE", node.program());
            }
            rust_tests::run_counted(&mut tests, notes)
        }),
        Name::Conformance => (0..5).try_for_each(|_| {
            steps.run("conformance", |notes| conformance::run(project, node.as_ref(), notes))
        }),
        Name::Crash => steps.run("crash", |notes| {
            let mut tests = release_test(project, "crash");
            tests.env("CRASH_KILLS", std::env::var("CRASH_KILLS").unwrap_or_else(|_| "500".to_owned()));
            rust_tests::run_counted(&mut tests, notes)
        }),
        Name::Power => steps.run("power", |notes| {
            let mut tests = release_test(project, "power");
            for (name, otherwise) in [("POWER_LOSSES", "100"), ("POWER_PROOFS", "20")] {
                tests.env(name, std::env::var(name).unwrap_or_else(|_| otherwise.to_owned()));
            }
            rust_tests::run_counted(&mut tests, notes)
        }),
        Name::Faults => steps.run("faults", |notes| {
            let mut tests = cargo(project);
            tests.args(["test", "--package", "server", "--test", "faults", "--", "--nocapture"]);
            tests.env("FAULT_ROUNDS", std::env::var("FAULT_ROUNDS").unwrap_or_else(|_| "20".to_owned()));
            rust_tests::run_counted(&mut tests, notes)
        }),
        Name::Resume => steps.run("resume", |notes| {
            let mut tests = cargo(project);
            tests.args(["test", "--package", "server", "--test", "resume_everywhere", "--", "--nocapture"]);
            tests.env("RESUME_ALL", "1");
            if let Some(node) = &node {
                tests.env("CONCERTINO_TEST_NODE", node.program());
            }
            rust_tests::run_counted(&mut tests, notes)
        }),
        Name::Agents => steps.run("agents", |notes| {
            let given =
                |name: &str, otherwise: &str| std::env::var(name).unwrap_or_else(|_| otherwise.to_owned());
            let mut tests = cargo(project);
            tests.args(["test", "--package", "server", "--test", "agents", "--test", "agent_heap"]);
            tests.args(["--test", "transcripts"]);
            tests.args(["--", "--nocapture", "--test-threads", "1"]);
            for name in ["AGENT_TREES", "AGENT_STOPS", "AGENT_HEAP", "TRANSCRIPTS"] {
                tests.env(name, given(name, "200"));
            }
            tests.env("AGENT_WORDS", given("AGENT_WORDS", "1000"));
            rust_tests::run_counted(&mut tests, notes)?;
            let mut kills = release_test(project, "agent_kills");
            kills.env("AGENT_KILLS", given("AGENT_KILLS", "200"));
            rust_tests::run_counted(&mut kills, notes)
        }),
        Name::Flat => steps.run("flat", |notes| {
            let mut tests = release_test(project, "flat");
            tests.env("FLAT_MESSAGES", "10000").env("FLAT_SESSIONS", "10000").env("FLAT_ROUNDS", "200");
            rust_tests::run_counted(&mut tests, notes)
        }),
        Name::Memory => steps.run("memory", |notes| {
            rust_tests::run_counted(release_test(project, "memory").env("MEMORY_LONG", "1"), notes)?;
            let mut heap = cargo(project);
            heap.args(["test", "--package", "server", "--test", "run_heap", "--", "--nocapture"]);
            rust_tests::run_counted(heap.env("RUN_HEAP_MIB", "20"), notes)
        }),
        Name::Churn => steps.run("churn", |notes| {
            let mut tests = release_test(project, "churn");
            tests.env("CHURN_SECONDS", std::env::var("CHURN_SECONDS").unwrap_or_else(|_| "1800".to_owned()));
            rust_tests::run_counted(&mut tests, notes)?;
            let mut heap = release_test(project, "churn_heap");
            rust_tests::run_counted(heap.env("CHURN_HEAP", "1000"), notes)
        }),
        Name::Scheduler => steps.run("scheduler", |notes| {
            let mut tests = cargo(project);
            tests.args(["test", "--package", "server", "--test", "scheduler", "--", "--nocapture"]);
            tests.env("SCHEDULER_RUNS", std::env::var("SCHEDULER_RUNS").unwrap_or_else(|_| "200".to_owned()));
            rust_tests::run_counted(&mut tests, notes)
        }),
        Name::Files => steps.run("files", |notes| {
            let mut tests = cargo(project);
            tests.args([
                "test",
                "--package",
                "engine",
                "--lib",
                "--",
                "--nocapture",
                "files::property_tests",
            ]);
            let count = std::env::var("REVERT_SEQUENCES").unwrap_or_else(|_| "200".to_owned());
            rust_tests::run_counted(tests.env("REVERT_SEQUENCES", count), notes)?;
            let mut kills = release_test(project, "file_kills");
            kills.env("FILE_KILLS", std::env::var("FILE_KILLS").unwrap_or_else(|_| "200".to_owned()));
            rust_tests::run_counted(&mut kills, notes)
        }),
        Name::Events => steps.run("events", |notes| {
            let mut tests = release_test(project, "events");
            let counts = [
                ("EVENTS_CONNECTIONS", "2000"),
                ("EVENTS_ACTIVE", "200"),
                ("EVENTS_SECONDS", "60"),
                ("EVENTS_STREAMS", "40"),
                ("EVENTS_DELTAS", "2000"),
            ];
            for (name, count) in counts {
                tests.env(name, std::env::var(name).unwrap_or_else(|_| count.to_owned()));
            }
            rust_tests::run_counted(&mut tests, notes)
        }),
        Name::Commands => steps.run("commands", |notes| {
            let mut server = cargo(project);
            server.args(["test", "--package", "concertino", "--test", "commands", "--"]);
            server.args(["--nocapture", "--test-threads", "1"]);
            rust_tests::run_counted(server.env("COMMAND_STOPS", "100").env("COMMAND_KILLS", "20"), notes)?;
            let mut flood = release_test(project, "commands");
            flood.arg("long_output");
            rust_tests::run_counted(flood.env("COMMAND_FLOOD_MB", "100").env("COMMAND_FLOODS", "5"), notes)?;
            let mut processes = cargo(project);
            processes.args(["test", "--package", "process", "--", "--nocapture"]);
            processes.env("PROCESS_KILLS", "20").env("PROCESS_ENDS", "100").env("PROCESS_SESSIONS", "500");
            rust_tests::run_counted(processes.env("PROCESS_FLOOD_MB", "10240"), notes)?;
            let mut lines = cargo(project);
            lines.args(["test", "--package", "commands", "--test", "differential", "--", "--nocapture"]);
            rust_tests::run_counted(lines.env("DIFFERENTIAL_LINES", "1500"), notes)
        }),
        Name::Fuzz => steps.run("fuzz", |_| fuzz::run(project)),
        Name::Hostile => steps.run("hostile", |notes| {
            let mut tests = cargo(project);
            tests.args([
                "test",
                "--package",
                "server",
                "--test",
                "attacks",
                "--",
                "--nocapture",
                "model_output",
            ]);
            tests.env(
                "HOSTILE_SECONDS",
                std::env::var("HOSTILE_SECONDS").unwrap_or_else(|_| "1200".to_owned()),
            );
            rust_tests::run_counted(&mut tests, notes)
        }),
        Name::LocalModel => steps.run("local model", |notes| local_model::run(project, notes)),
        Name::Web => steps.run("web", |notes| web_tests::soak(project, node.as_ref(), notes)),
        Name::Ignored => steps.run("ignored", |notes| {
            let mut tests = cargo(project);
            tests.args(["test", "--workspace", "--no-fail-fast", "--", "--ignored"]);
            rust_tests::run_counted(&mut tests, notes)
        }),
    }
}
