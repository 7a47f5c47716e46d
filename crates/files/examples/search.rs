//! Times searches in a folder: `cargo run --release -p files --example search -- <folder> <pattern> [rounds]`, and one line
//! of a big file: `… -- <folder> --line <file> <number>`.

#![allow(clippy::expect_used, reason = "a program for measurements")]

use std::{path::Path, time::Instant};

use files::{FileDomain, GrepQuery, HardLinks, IgnoreRules, LogicalPath, Watch};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |place: usize| arguments.get(place).map(String::as_str);
    let folder = argument(0).expect("a folder");
    let domain = FileDomain::open(Path::new(folder), &[], HardLinks::Refuse).expect("the folder");
    if argument(1) == Some("--line") {
        return one_line(&domain, argument(2).expect("a file"), argument(3).expect("a line"));
    }
    let pattern = argument(1).expect("a pattern").to_owned();
    let rounds = argument(2).and_then(|text| text.parse().ok()).unwrap_or(1);
    for _ in 0..rounds {
        let query = GrepQuery {
            pattern: pattern.clone(),
            ignore_case: false,
            path: LogicalPath::root(),
            include: None,
            rules: IgnoreRules::Gitignore,
            lines_per_file: 20,
        };
        let begin = Instant::now();
        let report = domain.grep(&query, &Watch::ALWAYS).expect("a search");
        let matches: u64 = report.files.iter().map(|file| file.matches).sum();
        println!(
            "{:.3} s: {matches} lines in {} of {} files",
            begin.elapsed().as_secs_f64(),
            report.files.len(),
            report.searched
        );
    }
}

fn one_line(domain: &FileDomain, file: &str, number: &str) {
    let path = domain.resolve(file).expect("a path");
    let begin = Instant::now();
    let lines = domain.lines(&path, number.parse().expect("a number"), 1, &Watch::ALWAYS).expect("a line");
    let memory = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = memory.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    println!("{:.3} s: {:?}; {peak}", begin.elapsed().as_secs_f64(), lines.lines);
}
