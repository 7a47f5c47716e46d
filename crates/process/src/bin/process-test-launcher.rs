//! For tests only: the part of the product's binary that starts commands, and a small server that uses it.
//!
//! The name it is started by takes protections away, so that tests see what a weaker machine does:
//! `no-landlock` has neither Landlock nor namespaces, `no-mounts` allows namespaces but no mounts in them.

#[cfg(target_os = "linux")]
fn main() {
    let mut arguments = std::env::args();
    let name = arguments.next().unwrap_or_default();
    let role = arguments.next().unwrap_or_default();
    if role == "serve" {
        return server::serve(&arguments.collect::<Vec<_>>());
    }
    if name.ends_with("no-landlock") {
        weaker::refuse(&[libc::SYS_landlock_create_ruleset, libc::SYS_unshare]);
    } else if name.ends_with("no-mounts") {
        weaker::refuse(&[libc::SYS_mount]);
    }
    process::launcher_main()
}

#[cfg(not(target_os = "linux"))]
fn main() {}

/// Takes system calls away, as an older kernel or a container would.
#[cfg(target_os = "linux")]
mod weaker {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

    pub fn refuse(calls: &[i64]) {
        let filter = TargetArch::try_from(std::env::consts::ARCH)
            .map_err(|error| error.to_string())
            .and_then(|arch| {
                let rules = calls.iter().map(|call| (*call, vec![])).collect();
                SeccompFilter::new(
                    rules,
                    SeccompAction::Allow,
                    SeccompAction::Errno(libc::EPERM as u32),
                    arch,
                )
                .and_then(BpfProgram::try_from)
                .map_err(|error| error.to_string())
            });
        match filter.and_then(|filter| seccompiler::apply_filter(&filter).map_err(|error| error.to_string()))
        {
            Ok(()) => {}
            Err(_) => std::process::exit(70),
        }
    }
}

/// A server that starts commands and waits to be killed.
#[cfg(target_os = "linux")]
mod server {
    use std::{path::PathBuf, time::Duration};

    use process::{Access, CommandSpec, Program, Running, Sandbox, SandboxLevel, StartError, TtySize};

    /// Arguments: work directory, mark, "spaces" or not. Prints "ready" when everything runs.
    pub fn serve(arguments: &[String]) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let result = runtime.map_err(StartError::from).and_then(|runtime| runtime.block_on(run(arguments)));
        if let Err(error) = result {
            println!("failed: {error}");
        }
    }

    async fn run(arguments: &[String]) -> Result<(), StartError> {
        let [workdir, mark, spaces] = arguments else { return Err(StartError::Empty) };
        let sandbox = Sandbox {
            level: SandboxLevel::Required,
            workdir: PathBuf::from(workdir),
            read: vec![],
            write: vec![],
            hidden: vec![],
            launcher: "/proc/self/exe".into(),
        };
        let lines = [
            format!("sleep {mark}; :"),
            format!("trap '' TERM HUP INT; sleep {mark}; sleep {mark}"),
            format!(
                "setsid sleep {mark} & nohup sleep {mark} >/dev/null 2>&1 & (setsid sh -c 'sleep {mark} & sleep {mark}' &); sleep {mark}; :"
            ),
            format!("while :; do sleep {mark} & sleep 0.05; kill $!; done"),
        ];
        let mut running: Vec<Running> = Vec::new();
        for (number, line) in lines.into_iter().enumerate() {
            let mut spec =
                CommandSpec::new(Program::Line(line), sandbox.workdir.clone(), Access::Workspace, vec![]);
            spec.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
            spec.tty = (number % 2 == 1).then(TtySize::default);
            running.push(if spaces == "spaces" {
                process::start(&sandbox, spec).await?
            } else {
                process::start_without_namespaces(&sandbox, spec).await?
            });
        }
        tokio::time::sleep(Duration::from_millis(150)).await;
        println!("ready");
        tokio::time::sleep(Duration::from_secs(600)).await;
        Ok(())
    }
}
