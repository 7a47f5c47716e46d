//! Python packages that tests need, in a virtual environment below the target folder. They are pinned and installed once,
//! within a time limit; without the package index the tests that need them are skipped with a note in the summary.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::project::Project;

/// The time limit for installing one environment.
const LONGEST_INSTALL: Duration = Duration::from_secs(480);

/// Returns the `bin` folder of an environment with the packages of `tests/<name>/requirements.txt`.
pub fn environment(project: &Project, name: &str) -> Result<PathBuf> {
    let requirements = project.root.join("tests").join(name).join("requirements.txt");
    let wanted = fs::read(&requirements).with_context(|| format!("{} is missing", requirements.display()))?;
    let folder = project.target.join("python").join(name);
    let bin = folder.join("bin");
    let stamp = folder.join("installed-requirements.txt");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(bin);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    bounded(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    let mut pip = Command::new(bin.join("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps"]);
    pip.args(["--timeout", "30", "--retries", "2", "--requirement"]).arg(&requirements);
    bounded(&mut pip)?;
    fs::write(&stamp, wanted).with_context(|| format!("{} cannot be written", stamp.display()))?;
    Ok(bin)
}

/// Whether this machine can create environments.
pub fn is_available() -> bool {
    let mut python = Command::new("python3");
    python.args(["-c", "import venv, ensurepip"]).stdout(Stdio::null()).stderr(Stdio::null());
    python.status().is_ok_and(|status| status.success())
}

fn bounded(command: &mut Command) -> Result<()> {
    let name = Path::new(command.get_program()).display().to_string();
    let mut child = command.spawn().with_context(|| format!("{name} cannot be started"))?;
    let until = Instant::now() + LONGEST_INSTALL;
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => bail!("{name} failed ({status})"),
            None if Instant::now() > until => {
                child.kill()?;
                child.wait()?;
                bail!("{name} took longer than {} s", LONGEST_INSTALL.as_secs());
            }
            None => thread::sleep(Duration::from_millis(200)),
        }
    }
}
