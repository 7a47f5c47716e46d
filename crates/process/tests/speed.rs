//! Figures: what a sandboxed start costs, and how fast output comes. Prints; asserts times only with `PROCESS_BENCH=1`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod support;

use std::{io::Write, time::Instant};

use process::{Access, SandboxLevel, start, start_without_namespaces};
use support::{Place, count};

/// The median and the smallest.
fn figures(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[0])
}

#[tokio::test]
async fn starting_true() {
    let runs = count("PROCESS_BENCH_RUNS", 15);
    let (sandboxed, off) = (Place::new(SandboxLevel::Required), Place::new(SandboxLevel::Off));
    let mut times = [vec![], vec![], vec![]];
    let mut plain = vec![];
    for _ in 0..runs {
        for (index, list) in times.iter_mut().enumerate() {
            let place = if index == 2 { &off } else { &sandboxed };
            let spec = place.argv(Access::Workspace, &["/bin/true"]);
            let begin = Instant::now();
            let running = match index {
                0 => start(&place.sandbox, spec).await,
                1 => start_without_namespaces(&place.sandbox, spec).await,
                _ => start(&place.sandbox, spec).await,
            };
            assert_eq!(running.unwrap().wait().await.code, Some(0));
            list.push(begin.elapsed().as_secs_f64() * 1e3);
        }
        let begin = Instant::now();
        assert!(tokio::process::Command::new("/bin/true").status().await.unwrap().success());
        plain.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    let [namespaces, landlock, supervised] = times.map(figures);
    let plain = figures(plain);
    for (name, (median, least)) in [
        ("plain", plain),
        ("supervised", supervised),
        ("landlock + seccomp", landlock),
        ("with namespaces", namespaces),
    ] {
        println!("true, {name}: median of {runs} {median:.2} ms, least {least:.2} ms");
    }
    if std::env::var_os("PROCESS_BENCH").is_some() {
        assert!(namespaces.0 - plain.0 <= 15.0, "{namespaces:?} against {plain:?} ms");
    }
}

#[tokio::test]
async fn streaming_output_into_a_file() {
    let megabytes = count("PROCESS_BENCH_MB", 20);
    let place = Place::new(SandboxLevel::Required);
    let line = format!("head -c {} /dev/zero", megabytes * 1_000_000);
    let path = place.root.join("outside/artifact");
    let mut file = std::fs::File::create(&path).unwrap();
    let mut running = place.start(place.line(Access::ReadOnly, &line)).await;
    let before = resident();
    let mut highest = before;
    let begin = Instant::now();
    while let Some(chunk) = running.next_output().await {
        file.write_all(&chunk.bytes).unwrap();
        highest = highest.max(resident());
    }
    let seconds = begin.elapsed().as_secs_f64();
    assert_eq!(running.wait().await.code, Some(0));
    assert_eq!(path.metadata().unwrap().len(), megabytes as u64 * 1_000_000);
    let rate = megabytes as f64 / seconds;
    println!("{megabytes} MB in {seconds:.3} s: {rate:.0} MB/s, {} kB more memory at most", highest - before);
    assert!(highest - before < 8_000, "{before} → {highest} kB");
    if std::env::var_os("PROCESS_BENCH").is_some() {
        assert!(rate >= 200.0, "{rate} MB/s");
    }
}

/// Resident memory in kilobytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4
}
