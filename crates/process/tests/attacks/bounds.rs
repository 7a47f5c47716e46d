//! Using too much: processes, output, memory, disk, time.

use std::time::{Duration, Instant};

use process::{Access, OutputWindow, ProcessCount, ProcessLimits, SandboxLevel};

use crate::{
    program, script,
    support::{Place, count, remaining},
};

/// Starts processes that only sleep until the kernel refuses. Runs only where the number of processes is bounded.
#[tokio::test]
async fn a_fork_bomb_where_the_kernel_bounds_it() {
    let place = Place::new(SandboxLevel::Required);
    let (_, exit) = place.run_line("true").await;
    if exit.report.process_count == ProcessCount::Watched {
        println!("not run: nothing here bounds the number of processes at once");
        return;
    }
    let code = program("", &[])
        + r"
made = 0
try:
    while made < 5000:
        if os.fork() == 0: time.sleep(60); os._exit(0)
        made += 1
    print('no bound')
except OSError as error: print(errno.errorcode[error.errno], made < 320)
";
    let mut spec = script(&place, &code, &[]);
    spec.limits = ProcessLimits { processes: 301, ..ProcessLimits::default() };
    let started = Instant::now();
    let (output, exit) = place.run(spec).await;
    assert_eq!(output, "EAGAIN True\n");
    assert!(exit.left_behind > 250, "{exit:?}");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

/// Without a bound of the kernel the supervisor counts and ends. The script stops at sixty by itself.
#[tokio::test]
async fn too_many_processes_where_only_the_supervisor_counts() {
    let place = Place::new(SandboxLevel::Required).without_namespaces();
    let mark = "41.7306112";
    let mut spec = place
        .line(Access::ReadOnly, &format!("for i in $(seq 60); do sleep {mark} & done; echo started; wait"));
    spec.limits = ProcessLimits { processes: 20, ..ProcessLimits::default() };
    let (_, exit) = place.run(spec).await;
    assert!(exit.too_many_processes && exit.signal == Some(9), "{exit:?}");
    assert_eq!(remaining(mark, Duration::from_secs(2)), Vec::<i32>::new());
}

/// A flood of output is counted and cut, and the memory stays bounded. `PROCESS_FLOOD_MB=10000` is the large one.
#[tokio::test]
async fn a_flood_of_output() {
    let megabytes = count("PROCESS_FLOOD_MB", 100) as u64;
    let place = Place::new(SandboxLevel::Required);
    let mut spec = place.line(Access::ReadOnly, &format!("yes | head -c {}", megabytes * 1_000_000));
    spec.limits.time = Duration::from_secs(600);
    let mut running = place.start(spec).await;
    let mut window = OutputWindow::new(64 * 1024);
    while let Some(chunk) = running.next_output().await {
        assert!(chunk.bytes.len() <= 128 * 1024);
        window.push(&chunk.bytes);
    }
    let exit = running.wait().await;
    let text = window.text();
    assert_eq!(text.total, megabytes * 1_000_000);
    assert_eq!((text.head.len(), text.tail.len()), (32 * 1024, 32 * 1024));
    println!("{megabytes} MB in {:?}", exit.duration);
}

/// An endless flood ends with the command, within two seconds.
#[tokio::test]
async fn an_endless_flood_is_ended() {
    let place = Place::new(SandboxLevel::Required);
    let mut running = place.start(place.argv(Access::ReadOnly, &["yes"])).await;
    for _ in 0..50 {
        running.next_output().await.unwrap();
    }
    let started = Instant::now();
    let exit = running.end().await;
    assert_eq!(exit.signal, Some(15));
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

#[tokio::test]
async fn memory_files_and_descriptors_are_bounded() {
    for namespaces in [true, false] {
        let place = Place::new(SandboxLevel::Required);
        let place = if namespaces { place } else { place.without_namespaces() };
        let code = program("", &[])
            + r"
try: bytearray(512 << 20); print('memory open')
except MemoryError: print('memory bounded')
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    with open('big', 'wb', 0) as file:
        for _ in range(40): file.write(bytes(1 << 20))
    print('file open')
except OSError as error: print('file', errno.errorcode[error.errno], os.path.getsize('big') >> 20)
try:
    kept = [os.dup(0) for _ in range(200)]; print('descriptors open')
except OSError as error: print('descriptors', errno.errorcode[error.errno])
";
        let mut spec = script(&place, &code, &[]);
        spec.limits = ProcessLimits {
            memory: 256 << 20,
            file_bytes: 16 << 20,
            open_files: 64,
            ..ProcessLimits::default()
        };
        let (output, _) = place.run(spec).await;
        assert_eq!(output, "memory bounded\nfile EFBIG 16\ndescriptors EMFILE\n");
    }
}

/// What a command leaves in the background ends with it, however it hides.
#[tokio::test]
async fn orphans_end_with_the_command() {
    for (number, namespaces) in [true, false].into_iter().enumerate() {
        let place = Place::new(SandboxLevel::Required);
        let place = if namespaces { place } else { place.without_namespaces() };
        let mark = format!("61.{}{number}", std::process::id());
        let line = format!(
            "sleep {mark} & nohup sleep {mark} >/dev/null 2>&1 & setsid sleep {mark} & \
             (setsid sh -c 'sleep {mark} & sleep {mark} &' &) ; trap '' TERM HUP; sleep 0.3; echo done"
        );
        let (output, exit) = place.run_line(&line).await;
        assert_eq!((output.as_str(), exit.code), ("done\n", Some(0)));
        assert_eq!(exit.left_behind, 5, "namespaces: {namespaces}");
        assert_eq!(remaining(&mark, Duration::from_millis(200)), Vec::<i32>::new());
    }
}
