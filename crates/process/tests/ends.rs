//! Nothing survives: neither the end of the server nor the end of a command leaves a process, a descriptor or a folder.
//!
//! `PROCESS_KILLS`, `PROCESS_ENDS` and `PROCESS_SESSIONS` set how often; the soak uses 20, 100 and 500.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod support;

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use process::{Access, SandboxLevel, TtySize};
use rustix::process::{Pid, Signal, kill_process};
use support::{Place, count, marked, read_until, remaining};

/// A duration for `sleep` that no other test uses.
fn mark(test: &str, number: usize) -> String {
    let letters: u32 = test.bytes().map(u32::from).sum();
    format!("600.{}{letters:05}{number:04}", std::process::id())
}

#[test]
fn the_end_of_the_server_is_the_end_of_its_commands() {
    let kills = count("PROCESS_KILLS", 2);
    for number in 0..kills {
        for (kind, signal) in [(0, Signal::KILL), (1, Signal::TERM), (2, Signal::INT)] {
            for spaces in ["spaces", "no-spaces"] {
                let place = Place::new(SandboxLevel::Required);
                let mark = mark(spaces, number * 3 + kind);
                let mut server = Command::new(env!("CARGO_BIN_EXE_process-test-launcher"))
                    .args(["serve", place.sandbox.workdir.to_str().unwrap(), &mark, spaces])
                    .stdout(Stdio::piped())
                    .spawn()
                    .unwrap();
                let mut line = String::new();
                BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
                assert_eq!(line, "ready\n");
                assert!(marked(&mark).len() >= 8, "{:?}", marked(&mark));
                kill_process(Pid::from_child(&server), signal).unwrap();
                let killed = Instant::now();
                let left = remaining(&mark, Duration::from_secs(2));
                assert_eq!(left, Vec::<i32>::new(), "{signal:?} {spaces}");
                if number == 0 {
                    println!("{signal:?}, {spaces}: all ended after {:?}", killed.elapsed());
                }
                server.wait().unwrap();
            }
        }
    }
}

/// The supervisor is killed, by the kernel for want of memory perhaps.
#[tokio::test]
async fn the_end_of_the_supervisor_is_the_end_of_the_command() {
    for (number, namespaces) in [true, false].into_iter().enumerate() {
        let place = Place::new(SandboxLevel::Required);
        let place = if namespaces { place } else { place.without_namespaces() };
        let mark = mark("supervisor", number);
        let mut running =
            place.start(place.line(Access::ReadOnly, &format!("echo up; exec sleep {mark}"))).await;
        read_until(&mut running, "up").await;
        // The parent of the command's process, or of process 1.
        let mut found = marked(&mark);
        while !found.iter().any(|pid| exe(*pid).ends_with("sleep")) {
            tokio::time::sleep(Duration::from_millis(5)).await;
            found = marked(&mark);
        }
        let mut pid = found[0];
        while !std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap().ends_with("launch-command\0")
        {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            pid = stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
        }
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
        assert_eq!(remaining(&mark, Duration::from_secs(2)), Vec::<i32>::new(), "namespaces: {namespaces}");
        assert_eq!(running.wait().await.signal, Some(9));
    }
}

#[tokio::test]
async fn end_ends_everything_within_two_seconds() {
    let ends = count("PROCESS_ENDS", 4);
    let mut slowest = Duration::ZERO;
    for number in 0..ends {
        let place = Place::new(SandboxLevel::Required);
        let place = if number % 2 == 0 { place } else { place.without_namespaces() };
        let mark = mark("end", number);
        let line = format!(
            "trap '' TERM HUP INT; setsid sleep {mark} & nohup sleep {mark} >/dev/null 2>&1 & \
             (setsid sh -c 'trap \"\" TERM; sleep {mark} & sleep {mark}' &); echo up; while :; do sleep {mark}; done"
        );
        let mut spec = place.line(Access::Workspace, &line);
        spec.tty = (number % 4 >= 2).then(TtySize::default);
        let mut running = place.start(spec).await;
        read_until(&mut running, "up").await;
        let started = Instant::now();
        let exit = running.end().await;
        let elapsed = started.elapsed();
        assert_eq!(marked(&mark), Vec::<i32>::new(), "{number}");
        assert!(elapsed < Duration::from_secs(2), "{elapsed:?}");
        assert!(exit.signal == Some(9) && !exit.timed_out, "{exit:?}");
        slowest = slowest.max(elapsed);
    }
    println!("{ends} ends of commands that ignore SIGTERM, the slowest in {slowest:?}");
}

#[tokio::test]
async fn a_command_that_obeys_is_not_killed() {
    let place = Place::new(SandboxLevel::Required);
    let line = "trap 'echo bye; exit 9' TERM; echo up; while :; do sleep 0.05; done";
    let mut running = place.start(place.line(Access::ReadOnly, line)).await;
    read_until(&mut running, "up").await;
    let started = Instant::now();
    running.handle().end();
    read_until(&mut running, "bye").await;
    assert_eq!(running.wait().await.code, Some(9));
    assert!(started.elapsed() < Duration::from_millis(600), "{:?}", started.elapsed());
}

#[tokio::test]
async fn dropping_ends_the_command() {
    for (number, namespaces) in [true, false].into_iter().enumerate() {
        let place = Place::new(SandboxLevel::Required);
        let place = if namespaces { place } else { place.without_namespaces() };
        let mark = mark("drop", number);
        let mut running = place
            .start(place.line(Access::ReadOnly, &format!("echo up; setsid sleep {mark} & sleep {mark}")))
            .await;
        read_until(&mut running, "up").await;
        let handle = running.handle();
        drop(running);
        assert_eq!(remaining(&mark, Duration::from_secs(2)), Vec::<i32>::new(), "namespaces: {namespaces}");
        handle.end();
    }
}

fn exe(pid: i32) -> std::path::PathBuf {
    std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default()
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn private_folders() -> usize {
    let entries = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("concertino-command-")).count()
}

fn children() -> usize {
    let own = std::process::id();
    let tasks = std::fs::read_dir(format!("/proc/{own}/task")).unwrap().flatten();
    tasks
        .map(|task| {
            std::fs::read_to_string(task.path().join("children"))
                .unwrap_or_default()
                .split_whitespace()
                .count()
        })
        .sum()
}

fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4
}

/// Runs in a process of its own: other tests open descriptors too.
#[test]
fn sessions_with_a_terminal_leave_nothing() {
    let sessions = count("PROCESS_SESSIONS", 12);
    let alone = "PROCESS_SESSIONS_ALONE";
    if std::env::var_os(alone).is_none() {
        let folder = tempfile::tempdir().unwrap();
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["sessions_with_a_terminal_leave_nothing", "--exact", "--nocapture"])
            .env(alone, "1")
            .env("TMPDIR", folder.path())
            .status()
            .unwrap();
        assert!(status.success());
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let session = |number: usize| async move {
        let place = Place::new(SandboxLevel::Required);
        let place = if number % 4 == 3 { place.without_namespaces() } else { place };
        let mut spec = place.argv(Access::Workspace, &["bash", "--norc", "-i"]);
        spec.tty = Some(TtySize::default());
        spec.env.push(("PS1".into(), "ready> ".into()));
        let mut running = place.start(spec).await;
        read_until(&mut running, "ready> ").await;
        match number % 3 {
            0 => drop(running),
            1 => {
                running.end().await;
            }
            _ => {
                running.write_stdin(b"exit\r").await.unwrap();
                running.wait().await;
            }
        }
    };
    for number in 0..6 {
        runtime.block_on(session(number));
    }
    let settle = || {
        let deadline = Instant::now() + Duration::from_secs(5);
        while (children() > 0 || private_folders() > 0) && Instant::now() < deadline {
            runtime.block_on(async { tokio::time::sleep(Duration::from_millis(20)).await });
        }
        (descriptors(), children(), private_folders())
    };
    let (before, memory) = (settle(), resident());
    let started = Instant::now();
    for number in 0..sessions {
        runtime.block_on(session(number));
    }
    assert_eq!(settle(), before);
    assert_eq!((before.1, before.2), (0, 0));
    let more = resident().saturating_sub(memory);
    println!("{sessions} sessions in {:?}, {more} kB more memory", started.elapsed());
    assert!(more < 2_000, "{more} kB");
}
