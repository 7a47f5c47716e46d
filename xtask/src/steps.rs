//! Runs the steps of a task: prints each with its time, stops at the first failure, and prints a summary.
//!
//! The last line of the summary is always `N passed, M failed`, so that programs can read it.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

#[derive(Default)]
pub struct Steps {
    done: Vec<(&'static str, Duration)>,
    notes: Notes,
}

/// What a step adds to the summary.
#[derive(Default)]
pub struct Notes {
    pub passed: u64,
    pub failed: u64,
    lines: Vec<String>,
}

impl Notes {
    /// Notes something that cannot be run here. It is repeated in the summary.
    pub fn skip(&mut self, what: &str) {
        self.add(format!("SKIPPED: {what}"));
    }

    pub fn warn(&mut self, what: &str) {
        self.add(format!("warning: {what}"));
    }

    fn add(&mut self, line: String) {
        println!("{line}");
        self.lines.push(line);
    }
}

impl Steps {
    pub fn run(&mut self, name: &'static str, step: impl FnOnce(&mut Notes) -> Result<()>) -> Result<()> {
        println!("\n== {name}");
        let started = Instant::now();
        let outcome = step(&mut self.notes);
        let took = started.elapsed();
        self.done.push((name, took));
        println!("== {name}: {} in {}", if outcome.is_ok() { "ok" } else { "FAILED" }, seconds(took));
        outcome.with_context(|| format!("step `{name}`"))
    }

    /// Prints the summary and returns the outcome.
    pub fn conclude(self, outcome: Result<()>) -> Result<()> {
        println!("\n== summary");
        for line in &self.notes.lines {
            println!("{line}");
        }
        let failed = outcome.is_err().then(|| self.done.len() - 1);
        for (place, (name, took)) in self.done.iter().enumerate() {
            let mark = if Some(place) == failed { "  FAILED, the steps after it did not run" } else { "" };
            println!("{name:<14}{:>10}{mark}", seconds(*took));
        }
        let total = self.done.iter().map(|(_, took)| *took).sum();
        println!("{:<14}{:>10}", "total", seconds(total));
        // A step that fails without naming a test counts as one failure, so the line never says 0 failed wrongly.
        let failed = self.notes.failed.max(u64::from(outcome.is_err()));
        println!("{} passed, {failed} failed", self.notes.passed);
        outcome
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
