//! Machines that offer less: what is missing is named, and "required" refuses.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod support;

use std::path::PathBuf;

use process::{
    Access, NetworkProtection, ProcessProtection, SandboxLevel, StartError, probe, start,
    start_without_namespaces,
};
use support::{Place, SECRET};

/// The launcher with protections taken away by its name.
fn weaker(place: &mut Place, name: &str) {
    let link: PathBuf = place.root.join(name);
    std::os::unix::fs::symlink(&place.sandbox.launcher, &link).unwrap();
    place.sandbox.launcher = link;
}

#[tokio::test]
async fn required_refuses_without_landlock() {
    let mut place = Place::new(SandboxLevel::Required);
    weaker(&mut place, "no-landlock");
    let error =
        start(&place.sandbox, place.line(Access::ReadOnly, "echo started > marker")).await.err().unwrap();
    let StartError::SandboxIncomplete { missing } = error else { panic!("{error}") };
    assert_eq!(
        missing,
        [
            "files are not protected (neither Landlock nor a mount namespace)",
            "other processes of the same user can be signalled"
        ]
    );
    assert!(!place.root.join("work/marker").exists());
}

#[tokio::test]
async fn when_available_starts_and_names_what_is_missing() {
    let mut place = Place::new(SandboxLevel::WhenAvailable);
    weaker(&mut place, "no-landlock");
    let (output, exit) = place.run_line("cat ../outside/note").await;
    assert_eq!(output, SECRET);
    let report = exit.report;
    assert_eq!(report.missing.len(), 2);
    assert!(report.weaker.iter().any(|text| text.starts_with("no namespaces: ")), "{:?}", report.weaker);
    assert_eq!(
        report.short(),
        "files: none; network: seccomp; processes: supervisor; system calls: seccomp; missing: files are not protected \
         (neither Landlock nor a mount namespace), other processes of the same user can be signalled"
    );
    let probed = probe(&place.sandbox).await;
    let blocked: Vec<bool> = probed.attempts.iter().map(|attempt| attempt.blocked).collect();
    assert_eq!(blocked, [false, false, true], "{probed:?}");
    assert!(!probed.all_blocked());
}

/// Namespaces that can be made but not used, as on systems that restrict them: a second attempt does without.
#[tokio::test]
async fn half_of_a_namespace_is_given_up() {
    let mut place = Place::new(SandboxLevel::Required);
    weaker(&mut place, "no-mounts");
    let (output, exit) = place.run_line("cat hello.txt ../outside/note").await;
    assert!(output.starts_with("hello\n") && !output.contains(SECRET), "{output}");
    assert_eq!(exit.report.processes, ProcessProtection::Landlock);
    assert_eq!(exit.report.network, NetworkProtection::Seccomp);
    assert!(
        exit.report.weaker.iter().any(|text| text.contains("no namespaces: ")),
        "{:?}",
        exit.report.weaker
    );
}

#[tokio::test]
async fn the_probe_is_blocked() {
    let place = Place::new(SandboxLevel::Required);
    let probed = probe(&place.sandbox).await;
    assert!(probed.all_blocked(), "{probed:?}");
    println!("{}", serde_json::to_string_pretty(&probed).unwrap());
    let without =
        start_without_namespaces(&place.sandbox, place.line(Access::ReadOnly, "true")).await.unwrap();
    assert_eq!(without.report().missing, Vec::<String>::new());
}

#[tokio::test]
async fn the_probe_sees_an_open_machine() {
    let place = Place::new(SandboxLevel::Off);
    let probed = probe(&place.sandbox).await;
    let blocked: Vec<bool> = probed.attempts.iter().map(|attempt| attempt.blocked).collect();
    assert_eq!(blocked, [false, false, false], "{probed:?}");
    let mut sandbox = place.sandbox.clone();
    sandbox.launcher = "/nonexistent/launcher".into();
    assert!(probe(&sandbox).await.error.is_some());
}
