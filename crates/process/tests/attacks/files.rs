//! Reading what is hidden and writing outside.

use std::os::{fd::AsRawFd, unix::fs::MetadataExt};

use process::{Access, SandboxLevel, start};

use crate::{
    Attack, By, compare, run, script,
    support::{Place, SECRET},
};

#[tokio::test]
async fn reading_the_hidden_folder() {
    let attacks = [
        Attack {
            name: "read-token",
            code: "read(TOKEN)",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "read-database",
            code: "read(DATA + '/chats.sqlite3')",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "list-hidden",
            code: "os.listdir(DATA)",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "read-outside",
            code: "read(OUT + '/note')",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "hard-link",
            code: "os.link(TOKEN, 'linked')",
            with: ("ENOENT", By::Mounts),
            without: ("EXDEV", By::Landlock),
        },
        Attack {
            name: "rename-in",
            code: "os.rename(TOKEN, 'renamed')",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "symlink",
            code: "(os.symlink(TOKEN, 'sym'), read('sym'))",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "symlinked-folder",
            code: "(os.symlink(DATA, 'symdir'), read('symdir/token'))",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "dot-dot",
            code: "read('../data/token')",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "own-root",
            code: "read('/proc/self/root' + TOKEN)",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "own-cwd",
            code: "read('/proc/self/cwd/../data/token')",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "folder-handle",
            code: "os.open('data/token', os.O_RDONLY, dir_fd=os.open('..', os.O_PATH))",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "truncate-token",
            code: "os.truncate(TOKEN, 0)",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "delete-token",
            code: "os.unlink(TOKEN)",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "chroot",
            code: "os.chroot('/')",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "stat-token",
            code: "os.stat(TOKEN).st_size",
            with: ("ENOENT", By::Mounts),
            without: ("REACHED", By::Nothing),
        },
        Attack {
            name: "shadow",
            code: "read('/etc/shadow')",
            with: ("REACHED b''", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "ssh-keys",
            code: "os.listdir(os.path.expanduser('~/.ssh'))",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
    ];
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".ssh")).unwrap();
    run(
        "os.environ['HOME'] = os.environ['FAKE_HOME']",
        &attacks,
        &[("FAKE_HOME", home.path().display().to_string())],
    )
    .await;
}

#[tokio::test]
async fn reading_the_hidden_folder_by_way_of_other_processes() {
    let token = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(token.path(), SECRET).unwrap();
    let attacks = [
        Attack {
            name: "server-root",
            code: "read(f'/proc/{SERVER}/root' + TOKEN)",
            with: ("ENOENT", By::Processes),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "server-cwd",
            code: "os.listdir(f'/proc/{SERVER}/cwd/')",
            with: ("ENOENT", By::Processes),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "server-descriptor",
            code: "read(f'/proc/{SERVER}/fd/' + os.environ['FD'])",
            with: ("ENOENT", By::Processes),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "server-descriptor-name",
            code: "os.readlink(f'/proc/{SERVER}/fd/0')",
            with: ("ENOENT", By::Processes),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "server-environ",
            code: "read(f'/proc/{SERVER}/environ')",
            with: ("ENOENT", By::Processes),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "server-memory",
            code: "read(f'/proc/{SERVER}/mem')",
            with: ("ENOENT", By::Processes),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "server-maps",
            code: "read(f'/proc/{SERVER}/maps')",
            with: ("ENOENT", By::Processes),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "server-task",
            code: "read(f'/proc/{SERVER}/task/{SERVER}/environ')",
            with: ("ENOENT", By::Processes),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "parent-root",
            code: "read(f'/proc/{PARENT}/root' + TOKEN)",
            with: ("EACCES", By::Privileges),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "parent-environ",
            code: "read(f'/proc/{PARENT}/environ')",
            with: ("EACCES", By::Privileges),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "parent-descriptor",
            code: "os.readlink(f'/proc/{PARENT}/fd/0')",
            with: ("EACCES", By::Privileges),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "parent-memory",
            code: "opened(f'/proc/{PARENT}/mem', os.O_RDWR)",
            with: ("EACCES", By::Landlock),
            without: ("EACCES", By::Landlock),
        },
    ];
    run("", &attacks, &[("FD", token.as_file().as_raw_fd().to_string())]).await;
}

#[tokio::test]
async fn writing_outside() {
    let attacks = [
        Attack {
            name: "create",
            code: "open(OUT + '/new', 'w')",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "append",
            code: "open(OUT + '/note', 'a')",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "delete",
            code: "os.unlink(OUT + '/note')",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "make-folder",
            code: "os.mkdir(OUT + '/folder')",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "move-out",
            code: "os.rename('hello.txt', OUT + '/hello.txt')",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "link-out",
            code: "os.link('hello.txt', OUT + '/hello.txt')",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "root-folder",
            code: "os.mkdir('/made-by-a-command')",
            with: ("EROFS", By::ReadOnly),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "system-file",
            code: "opened('/etc/passwd', os.O_WRONLY | os.O_APPEND)",
            with: ("EROFS", By::ReadOnly),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "system-folder",
            code: "opened('/usr/bin/made-by-a-command', os.O_WRONLY | os.O_CREAT)",
            with: ("EROFS", By::ReadOnly),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "system-mode",
            code: "os.chmod('/usr/bin/env', os.stat('/usr/bin/env').st_mode)",
            with: ("EROFS", By::ReadOnly),
            without: ("REACHED", By::Nothing),
        },
        Attack {
            name: "make-device",
            code: "os.mknod('device', 0o600 | 0o020000, os.makedev(1, 1))",
            with: ("EACCES", By::Landlock),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "disk",
            code: "opened('/dev/vda', os.O_RDONLY)",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "kernel-log",
            code: "opened('/dev/kmsg', os.O_WRONLY)",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "sys-write",
            code: "opened('/sys/kernel/mm/ksm/run', os.O_WRONLY)",
            with: ("ENOENT", By::Mounts),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "core-pattern",
            code: "opened('/proc/sys/kernel/core_pattern', os.O_WRONLY)",
            with: ("EROFS", By::ReadOnly),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "pid-max",
            code: "opened('/proc/sys/kernel/pid_max', os.O_WRONLY)",
            with: ("EROFS", By::ReadOnly),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "own-memory",
            code: "opened('/proc/self/mem', os.O_RDWR)",
            with: ("EACCES", By::Landlock),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "own-users",
            code: "opened('/proc/self/uid_map', os.O_WRONLY)",
            with: ("EACCES", By::Landlock),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "own-oom-score",
            code: "opened('/proc/self/oom_score_adj', os.O_WRONLY)",
            with: ("EACCES", By::Landlock),
            without: ("EACCES", By::Landlock),
        },
    ];
    run("", &attacks, &[]).await;
}

/// A link that changes between an allowed and a hidden target while it is read.
#[tokio::test]
async fn a_link_that_changes_while_it_is_read() {
    let attacks = [Attack {
        name: "link-race",
        code: "race()",
        with: ("REACHED (0, True)", By::Mounts),
        without: ("REACHED (0, True)", By::Landlock),
    }];
    let setup = r"
def race():
    stop = time.time() + 1.0
    def swap():
        turn = 0
        while time.time() < stop:
            turn += 1
            os.symlink(TOKEN if turn % 2 else 'hello.txt', f'next{turn % 4}')
            os.rename(f'next{turn % 4}', 'racing')
    thread = threading.Thread(target=swap); thread.start()
    stolen, reads = 0, 0
    while time.time() < stop:
        try:
            text = read('racing'); reads += 1
            if b's3cret' in text: stolen += 1
        except OSError: pass
    thread.join()
    return (stolen, reads > 0)
";
    run(setup, &attacks, &[]).await;
}

/// Without write access, the work directory itself is out of reach for changes, metadata included.
#[tokio::test]
async fn a_reader_changes_nothing() {
    let attacks = [
        Attack {
            name: "write",
            code: "open('hello.txt', 'w')",
            with: ("EROFS", By::ReadOnly),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "create",
            code: "open('new', 'w')",
            with: ("EROFS", By::ReadOnly),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "delete",
            code: "os.unlink('hello.txt')",
            with: ("EROFS", By::ReadOnly),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "rename",
            code: "os.rename('hello.txt', 'other')",
            with: ("EROFS", By::ReadOnly),
            without: ("EACCES", By::Landlock),
        },
        Attack {
            name: "times",
            code: "os.utime('hello.txt', (1, 1))",
            with: ("EROFS", By::ReadOnly),
            without: ("EPERM", By::Seccomp),
        },
    ];
    crate::peer::show("", &attacks, &[]);
    for namespaces in [true, false] {
        let place = Place::new(SandboxLevel::Required);
        let place = if namespaces { place } else { place.without_namespaces() };
        let mut spec = script(&place, &crate::program("", &attacks), &[]);
        spec.access = Access::ReadOnly;
        // Also the network stays closed for readers.
        spec.network = true;
        let (output, exit) = place.run(spec).await;
        compare(&output, &attacks, namespaces);
        assert_ne!(exit.report.network, process::NetworkProtection::Open);
        assert_eq!(std::fs::read_to_string(place.root.join("work/hello.txt")).unwrap(), "hello\n");
    }
}

/// The data directory in the work directory: covered by a mount, refused where there are no mounts.
#[tokio::test]
async fn a_hidden_folder_in_the_work_directory() {
    let mut place = Place::new(SandboxLevel::Required);
    let hidden = place.root.join("work/.data");
    std::fs::create_dir(&hidden).unwrap();
    std::fs::write(hidden.join("token"), SECRET).unwrap();
    place.sandbox.hidden = vec![hidden.clone()];
    let line = "cat .data/token; ls -a .data; mv .data moved; rm -rf .data; umount .data; echo x > .data/new; ls -d .data; ls moved";
    let (output, _) = place.run_line(line).await;
    assert!(!output.contains(SECRET), "{output}");
    assert_eq!(std::fs::read_to_string(hidden.join("token")).unwrap(), SECRET);
    assert_eq!(hidden.metadata().unwrap().nlink(), 2);

    let spec = place.line(Access::Workspace, "true");
    let error = process::start_without_namespaces(&place.sandbox, spec).await.err().unwrap();
    assert!(matches!(error, process::StartError::HiddenInside { .. }), "{error}");
    // Deeper, its parent could be renamed: refused everywhere.
    std::fs::create_dir(place.root.join("work/sub")).unwrap();
    std::fs::rename(&hidden, place.root.join("work/sub/data")).unwrap();
    place.sandbox.hidden = vec![place.root.join("work/sub/data")];
    let error = start(&place.sandbox, place.line(Access::Workspace, "true")).await.err().unwrap();
    assert!(matches!(error, process::StartError::HiddenInside { .. }), "{error}");
}
