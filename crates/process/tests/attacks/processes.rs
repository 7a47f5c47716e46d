//! Other processes, privileges, namespaces and the terminal.

use std::os::unix::fs::PermissionsExt;

use process::{Access, SandboxLevel, TtySize};

use crate::{
    Attack, By, compare, program, run, script,
    support::{Place, collect},
};

#[tokio::test]
async fn touching_the_server_and_the_supervisor() {
    let attacks = [
        Attack {
            name: "signal-server",
            code: "os.kill(SERVER, signal.SIGCONT)",
            with: ("ESRCH", By::Processes),
            without: ("EPERM", By::Landlock),
        },
        Attack {
            name: "probe-server",
            code: "os.kill(SERVER, 0)",
            with: ("ESRCH", By::Processes),
            without: ("EPERM", By::Landlock),
        },
        Attack {
            name: "signal-thread",
            code: "call(234, SERVER, SERVER, 18)",
            with: ("ESRCH", By::Processes),
            without: ("EPERM", By::Landlock),
        },
        Attack {
            name: "queue-signal",
            code: "signal.pidfd_send_signal(os.pidfd_open(SERVER), signal.SIGCONT)",
            with: ("ESRCH", By::Processes),
            without: ("EPERM", By::Landlock),
        },
        Attack {
            name: "take-descriptor",
            code: "call(438, os.pidfd_open(PARENT), 0, 0)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "trace-server",
            code: "call(101, 16, SERVER, 0, 0)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "trace-parent",
            code: "call(101, 16, PARENT, 0, 0)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "seize-server",
            code: "call(101, 0x4206, SERVER, 0, 0)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "read-memory",
            code: "call(310, SERVER, 0, 0, 0, 0, 0)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "write-memory",
            code: "call(311, SERVER, 0, 0, 0, 0, 0)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "limit-server",
            code: "call(302, SERVER, 7, 0, ctypes.create_string_buffer(16))",
            with: ("ESRCH", By::Processes),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "slow-server",
            code: "os.setpriority(os.PRIO_PROCESS, SERVER, 19)",
            with: ("ESRCH", By::Processes),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "pin-server",
            code: "os.sched_setaffinity(SERVER, {0})",
            with: ("ESRCH", By::Processes),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "stop-supervisor",
            code: "os.kill(PARENT, signal.SIGCONT)",
            with: ("REACHED", By::Nothing),
            without: ("EPERM", By::Landlock),
        },
    ];
    run("", &attacks, &[]).await;
}

/// Process 1 of the namespace cannot be ended from inside, and a killed one would end the command.
#[tokio::test]
async fn killing_process_1_does_nothing() {
    let place = Place::new(SandboxLevel::Required);
    let (output, exit) =
        place.run_line("kill -9 1; kill -STOP 1; kill -TERM -1; sleep 0.2; echo alive; exit 5").await;
    // `kill -1` spares the sender and process 1.
    assert!(output.ends_with("alive\n"), "{output}");
    assert_eq!(exit.code, Some(5));
}

#[tokio::test]
async fn namespaces_mounts_and_the_kernel() {
    let attacks = [
        Attack {
            name: "unshare-users",
            code: "call(272, 0x10000000)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "unshare-mounts",
            code: "call(272, 0x20000)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "enter-namespace",
            code: "call(308, os.open('/proc/self/ns/net', os.O_RDONLY), 0)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "clone-users",
            code: "call(56, 0x10000000 | 17, 0, 0, 0, 0)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "clone-network",
            code: "call(56, 0x40000000 | 17, 0, 0, 0, 0)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "clone3",
            code: "call(435, ctypes.create_string_buffer(88), 88)",
            with: ("ENOSYS", By::Seccomp),
            without: ("ENOSYS", By::Seccomp),
        },
        Attack {
            name: "mount",
            code: "call(165, b'none', b'/tmp', b'tmpfs', 0, 0)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "unmount",
            code: "call(166, b'/proc', 2)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "open-tree",
            code: "call(428, -100, b'/', 1)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "new-mount",
            code: "call(430, b'tmpfs', 0)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "pivot-root",
            code: "call(155, b'/', b'/')",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "bpf",
            code: "call(321, 0, 0, 0)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "perf",
            code: "call(298, 0, 0, -1, -1, 0)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "keys",
            code: "call(250, 0, -3, 0, 0, 0)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "userfaultfd",
            code: "call(323, 0)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "load-module",
            code: "call(175, 0, 0, b'')",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "other-interface",
            code: "call(0x40000000 | 39)",
            with: ("ENOSYS", By::Seccomp),
            without: ("ENOSYS", By::Seccomp),
        },
        Attack {
            name: "file-handle",
            code: "call(304, -100, ctypes.create_string_buffer(64), 0)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "host-name",
            code: "socket.sethostname('x')",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "change-owner",
            code: "os.chown('hello.txt', 12345, 12345)",
            with: ("EINVAL", By::Privileges),
            without: ("EPERM", By::Privileges),
        },
        Attack {
            name: "change-user",
            code: "os.setuid(12345)",
            with: ("EINVAL", By::Privileges),
            without: ("EPERM", By::Privileges),
        },
    ];
    // The numbers are those of x86-64.
    if cfg!(target_arch = "x86_64") {
        run("", &attacks, &[]).await;
    }
}

#[tokio::test]
async fn no_privileges_are_left_or_gained() {
    for namespaces in [true, false] {
        let place = Place::new(SandboxLevel::Required);
        let place = if namespaces { place } else { place.without_namespaces() };
        // A program that would change the user: its owner is another one.
        let program = place.root.join("work/set-uid-id");
        std::fs::copy("/usr/bin/id", &program).unwrap();
        let root = rustix::process::getuid().is_root();
        if root {
            std::os::unix::fs::chown(&program, Some(65534), None).unwrap();
        }
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o4755)).unwrap();
        let line = "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status; ./set-uid-id -u; id -u";
        let (output, exit) = place.run_line(line).await;
        let lines: Vec<&str> = output.lines().collect();
        for name in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
            assert!(lines.contains(&format!("{name}:\t0000000000000000").as_str()), "{output}");
        }
        // With namespaces every user can clear the bounding set, without only root can; nobody else needs to.
        if root || exit.report.files.mounts {
            assert!(lines.contains(&"CapBnd:\t0000000000000000"), "{output}");
        }
        assert!(lines.contains(&"NoNewPrivs:\t1") && lines.contains(&"Seccomp:\t2"), "{output}");
        let users: Vec<&&str> = lines.iter().rev().take(2).collect();
        assert_eq!(users[0], users[1], "{output}");
        assert!(exit.report.no_new_privileges && exit.report.no_capabilities);
    }
}

#[tokio::test]
async fn the_terminal_outside_receives_no_input() {
    let attacks = [
        Attack {
            name: "push-input",
            code: "fcntl.ioctl(0, 0x5412, b'x')",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "push-input-wide",
            code: "call(16, 0, 0x1_0000_5412, ctypes.create_string_buffer(b'x'))",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "console-paste",
            code: "fcntl.ioctl(0, 0x541C, b'\\3')",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "other-terminal",
            code: "opened(os.environ['TERMINAL'], os.O_RDWR | os.O_NOCTTY)",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
    ];
    let flags = rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY;
    let other = rustix::pty::openpt(flags).unwrap();
    rustix::pty::unlockpt(&other).unwrap();
    let name = rustix::pty::ptsname(&other, Vec::new()).unwrap().into_string().unwrap();
    for namespaces in [true, false] {
        let place = Place::new(SandboxLevel::Required);
        let place = if namespaces { place } else { place.without_namespaces() };
        let mut spec = script(&place, &program("", &attacks), &[("TERMINAL", name.clone())]);
        spec.tty = Some(TtySize::default());
        let mut running = place.start(spec).await;
        let output = collect(&mut running).await.replace('\r', "");
        compare(&output, &attacks, namespaces);
    }
}

/// The server's environment and the specification of the command are nowhere to be read.
#[tokio::test]
async fn the_launcher_shows_nothing() {
    let place = Place::new(SandboxLevel::Required).without_namespaces();
    let mark = "visible-argument-46213";
    let mut running = place.start(place.line(Access::ReadOnly, &format!("sleep 30; : {mark}"))).await;
    let parents: Vec<i32> = crate::support::marked("launch-command");
    assert!(!parents.is_empty());
    for pid in parents {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        assert!(!line.contains(mark), "{line}");
        assert_eq!(std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default(), b"");
    }
    running.end().await;
}

/// A descriptor that the server inherited does not reach the command.
#[tokio::test]
async fn no_descriptor_is_inherited() {
    for namespaces in [true, false] {
        let place = Place::new(SandboxLevel::Required);
        let place = if namespaces { place } else { place.without_namespaces() };
        let leaked = std::fs::File::open(place.root.join("data/token")).unwrap();
        rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
        // The fourth is that of the listing itself.
        let (output, _) = place.run(place.argv(Access::ReadOnly, &["ls", "/proc/self/fd"])).await;
        assert_eq!(output, "0\n1\n2\n3\n", "namespaces: {namespaces}");
    }
}
