//! Prints what the judge says about lines: `cargo run -p commands --example judge -- 'ls | wc -l'`, or lines on the
//! standard input. The current directory is the work directory.

use std::{env, fs, io, path::PathBuf};

use commands::{CommandTable, Judgement, PathPlace, Surroundings, judge_line};

struct Here {
    root: PathBuf,
    home: Option<String>,
}

impl Surroundings for Here {
    fn place(&self, cwd: &str, written: &str) -> PathPlace {
        let mut path = self.root.join(cwd).join(written);
        // What does not exist yet is placed by the nearest folder above it.
        let mut missing = PathBuf::new();
        let found = loop {
            match fs::canonicalize(&path) {
                Ok(found) => break found.join(&missing),
                Err(_) => {
                    let Some(name) = path.file_name() else { return PathPlace::Outside };
                    missing = if missing.as_os_str().is_empty() {
                        PathBuf::from(name)
                    } else {
                        PathBuf::from(name).join(&missing)
                    };
                    if !path.pop() {
                        return PathPlace::Outside;
                    }
                }
            }
        };
        match found.strip_prefix(&self.root) {
            Ok(inside) => PathPlace::Workspace(inside.display().to_string()),
            Err(_) if found == *"/dev/null" => PathPlace::Null,
            Err(_) => PathPlace::Outside,
        }
    }

    fn read_small(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok().filter(|text| text.len() <= 64 * 1024)
    }

    fn home(&self) -> Option<&str> {
        self.home.as_deref()
    }
}

fn main() -> io::Result<()> {
    let here = Here { root: fs::canonicalize(env::current_dir()?)?, home: env::var("HOME").ok() };
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.is_empty() {
        for line in io::stdin().lines() {
            show(&line?, &here);
        }
    }
    for line in arguments {
        show(&line, &here);
    }
    Ok(())
}

fn show(line: &str, here: &Here) {
    let Judgement { effect, why, rule, commands, reads, writes, network, always } =
        judge_line(CommandTable::built_in(), line, "", here);
    println!("{line}\n  {effect:?} [{rule}] {why}");
    for command in commands {
        let words: Vec<String> =
            command.words.into_iter().map(|word| word.unwrap_or_else(|| "…".to_owned())).collect();
        println!("    {:?} [{}] {}", command.effect, command.rule, words.join(" "));
    }
    println!("    reads {reads:?} writes {writes:?} network {network} always {always:?}");
}
