//! Commands as a person would run them: output, input, terminal, limits, ends.
#![cfg(target_os = "linux")]

mod support;

use std::time::{Duration, Instant};

use process::{Access, ProcessLimits, SandboxLevel, StartError, TtySize, start};
use support::{Place, collect, exists, read_until};

#[tokio::test]
async fn a_line_gives_output_in_order_and_its_code() {
    let place = Place::new(SandboxLevel::Required);
    let (output, exit) = place.run_line("cat hello.txt; echo err >&2; echo out; exit 7").await;
    assert_eq!(output, "hello\nerr\nout\n");
    assert_eq!((exit.code, exit.signal, exit.timed_out), (Some(7), None, false));
    assert_eq!(exit.report.missing, Vec::<String>::new(), "{}", exit.report.short());
    eprintln!("{}\n{:?}", exit.report.short(), exit.report.weaker);
}

#[tokio::test]
async fn an_argument_is_not_read_by_a_shell() {
    let place = Place::new(SandboxLevel::Required);
    let (output, exit) =
        place.run(place.argv(Access::ReadOnly, &["printf", "%s|", "$(id)", "a b", ""])).await;
    assert_eq!((output.as_str(), exit.code), ("$(id)|a b||", Some(0)));
}

#[tokio::test]
async fn input_reaches_the_command() {
    let place = Place::new(SandboxLevel::Required);
    let mut running = place.start(place.argv(Access::ReadOnly, &["cat"])).await;
    running.write_stdin(b"one\n").await.unwrap();
    assert_eq!(read_until(&mut running, "one\n").await, "one\n");
    running.write_stdin(b"two\n").await.unwrap();
    running.close_stdin().await.unwrap();
    assert_eq!(collect(&mut running).await, "two\n");
    assert_eq!(running.wait().await.code, Some(0));
    assert!(running.write_stdin(b"x").await.is_err());
}

#[tokio::test]
async fn a_terminal_is_one() {
    let place = Place::new(SandboxLevel::Required);
    let mut spec =
        place.line(Access::Workspace, "tty -s && stty size && tty; read word; stty size; echo got $word");
    spec.tty = Some(TtySize { columns: 100, rows: 30 });
    let mut running = place.start(spec).await;
    let seen = read_until(&mut running, "/dev/pts/").await;
    assert!(seen.starts_with("30 100\r\n"), "{seen:?}");
    running.resize(TtySize { columns: 90, rows: 20 }).unwrap();
    running.write_stdin(b"hi\r").await.unwrap();
    let rest = collect(&mut running).await;
    assert!(rest.contains("20 90\r\n") && rest.contains("got hi\r\n"), "{rest:?}");
    assert_eq!(running.wait().await.code, Some(0));
}

#[tokio::test]
async fn an_interactive_shell_has_job_control_and_can_be_interrupted() {
    let place = Place::new(SandboxLevel::Required);
    let mut spec = place.argv(Access::Workspace, &["bash", "--norc", "-i"]);
    spec.tty = Some(TtySize::default());
    spec.env.push(("PS1".into(), "prompt> ".into()));
    let mut running = place.start(spec).await;
    let seen = read_until(&mut running, "prompt> ").await;
    assert!(!seen.contains("no job control"), "{seen}");
    running.write_stdin(b"sleep 60\r").await.unwrap();
    read_until(&mut running, "sleep 60").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    running.interrupt().await.unwrap();
    read_until(&mut running, "prompt> ").await;
    running.write_stdin(b"echo code $?\r").await.unwrap();
    read_until(&mut running, "code 130").await;
    running.write_stdin(b"exit 3\r").await.unwrap();
    assert_eq!(running.wait().await.code, Some(3));
}

#[tokio::test]
async fn an_interrupt_reaches_a_command_without_a_terminal() {
    let place = Place::new(SandboxLevel::Required);
    let mut running =
        place
            .start(place.line(
                Access::ReadOnly,
                "trap 'echo caught; exit 4' INT; echo up; while :; do sleep 0.05; done",
            ))
            .await;
    read_until(&mut running, "up").await;
    running.interrupt().await.unwrap();
    assert_eq!(collect(&mut running).await, "caught\n");
    assert_eq!(running.wait().await.code, Some(4));
}

#[tokio::test]
async fn the_time_limit_ends_a_command_that_nobody_reads() {
    let place = Place::new(SandboxLevel::Required);
    let mut spec = place.line(Access::ReadOnly, "trap '' TERM; while :; do echo y; done");
    spec.limits = ProcessLimits { time: Duration::from_millis(400), ..ProcessLimits::default() };
    let started = Instant::now();
    let mut running = place.start(spec).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let exit = running.wait().await;
    assert!(exit.timed_out && exit.signal == Some(9), "{exit:?}");
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
}

#[tokio::test]
async fn the_environment_is_the_given_one() {
    let place = Place::new(SandboxLevel::Required);
    let (output, _) = place.run(place.argv(Access::ReadOnly, &["env"])).await;
    let mut names: Vec<&str> = output.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    let mut expected: Vec<String> = place.env().into_iter().map(|(name, _)| name).collect();
    expected.extend(["PWD".to_owned(), "TMPDIR".to_owned()]);
    expected.sort();
    assert_eq!(names, expected);
}

#[tokio::test]
async fn the_temporary_folder_is_private_and_removed() {
    let place = Place::new(SandboxLevel::Required);
    let (output, exit) = place
        .run(place.line(Access::ReadOnly, "echo x > \"$TMPDIR/file\" && cat \"$TMPDIR/file\" && stat -c %a \"$TMPDIR\"; mktemp >/dev/null && echo made"))
        .await;
    assert_eq!((output.as_str(), exit.code), ("x\n700\nmade\n", Some(0)));
    let (output, _) = place.run(place.line(Access::ReadOnly, "ls \"$TMPDIR\"")).await;
    assert!(!output.contains("file"), "{output}");
}

#[tokio::test]
async fn the_work_directory_is_writable_only_when_allowed() {
    let place = Place::new(SandboxLevel::Required);
    let (_, exit) = place
        .run(place.line(
            Access::Workspace,
            "mkdir -p a/b && echo 1 > a/b/c && mv a/b/c a/d && rm -r a/b && ln -s d a/e",
        ))
        .await;
    assert_eq!(exit.code, Some(0));
    assert_eq!(std::fs::read_to_string(place.root.join("work/a/e")).unwrap(), "1\n");
    let (output, exit) = place
        .run(place.line(Access::ReadOnly, "echo 2 > a/d || rm hello.txt || touch new || chmod 777 hello.txt"))
        .await;
    assert_ne!(exit.code, Some(0), "{output}");
    assert_eq!(std::fs::read_to_string(place.root.join("work/a/d")).unwrap(), "1\n");
    assert!(exists(&place.root.join("work/hello.txt")) && !exists(&place.root.join("work/new")));
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let place = Place::new(SandboxLevel::Required);
    let error =
        start(&place.sandbox, place.argv(Access::ReadOnly, &["no-such-program-here"])).await.err().unwrap();
    assert_eq!(
        error.to_string(),
        "`no-such-program-here` cannot be started: there is no program `no-such-program-here`"
    );
    let error = start(&place.sandbox, place.line(Access::ReadOnly, "  ")).await.err().unwrap();
    assert!(matches!(error, StartError::Empty));
    let error = start(&place.sandbox, place.line(Access::ReadOnly, "a\0b")).await.err().unwrap();
    assert!(matches!(error, StartError::Nul));
    let mut spec = place.line(Access::ReadOnly, "true");
    spec.cwd = place.root.join("outside");
    assert!(matches!(start(&place.sandbox, spec).await.err().unwrap(), StartError::OutsideCwd { .. }));
    let mut sandbox = place.sandbox.clone();
    sandbox.launcher = "/bin/true".into();
    let error = start(&sandbox, place.line(Access::ReadOnly, "true")).await.err().unwrap();
    assert!(matches!(error, StartError::Launcher { .. }), "{error}");
}

#[tokio::test]
async fn switched_off_it_only_supervises() {
    let place = Place::new(SandboxLevel::Off);
    let (output, exit) = place.run_line("cat ../outside/note; sleep 50 & echo done").await;
    assert_eq!(output, format!("{}done\n", support::SECRET));
    assert_eq!((exit.code, exit.left_behind), (Some(0), 1));
    assert_eq!(exit.report.short(), "no sandbox; missing: the sandbox is switched off");
}

/// Tools that a person uses every day work in both kinds of sandbox.
#[tokio::test]
async fn everyday_tools_work() {
    let lines = [
        (
            "git",
            "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm first && git status --short && git log --oneline | wc -l",
            "1\n",
        ),
        (
            "python3",
            "python3 -c 'import tempfile, subprocess, threading, json; f = tempfile.NamedTemporaryFile(); print(subprocess.check_output([\"echo\", \"py\"]).decode().strip())'",
            "py\n",
        ),
        (
            "node",
            "node -e 'const w = new (require(\"worker_threads\").Worker)(\"console.log(6*7)\", {eval: true})'",
            "42\n",
        ),
        ("make", "printf 'all:\\n\\t@echo made\\n' > Makefile && make -j4", "made\n"),
        (
            "cargo",
            "cargo init -q --offline --name tiny --vcs none tiny && cd tiny && cargo run -q --offline",
            "Hello, world!\n",
        ),
        (
            "gcc",
            "printf 'int main(){return 0;}' > a.c && gcc a.c -o a.out && ./a.out && echo compiled",
            "compiled\n",
        ),
        ("tar", "tar -czf a.tgz hello.txt && tar -xzOf a.tgz hello.txt", "hello\n"),
        ("find", "find . -name 'hello.*' -newermt 2000-01-01 | xargs -n1 basename | sort -u", "hello.txt\n"),
    ];
    for namespaces in [true, false] {
        let place = Place::new(SandboxLevel::Required);
        let place = if namespaces { place } else { place.without_namespaces() };
        for (tool, line, expected) in lines {
            let found = std::env::var("PATH")
                .unwrap()
                .split(':')
                .any(|folder| exists(&std::path::Path::new(folder).join(tool)));
            if !found {
                println!("{tool} is not here");
                continue;
            }
            let (output, exit) = place.run_line(line).await;
            assert_eq!((output.as_str(), exit.code), (expected, Some(0)), "{tool}, namespaces: {namespaces}");
        }
    }
}
