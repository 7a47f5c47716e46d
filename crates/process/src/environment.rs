//! The environment of a command: a short list, so that no secret of the server gets in.

use std::path::Path;

/// Variables taken over from the server when they are set.
const KEPT: [&str; 9] =
    ["HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LOGNAME", "RUSTUP_TOOLCHAIN", "TZ", "USER"];
/// Variables that name the folder of a tool chain; commands may read those folders.
pub(crate) const TOOL_FOLDERS: [&str; 9] = [
    "CARGO_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PNPM_HOME",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "VIRTUAL_ENV",
];
/// Where programs are looked for when the server has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Fixed values: no pager, no question, no lock by a reader.
const FIXED: [(&str, &str); 9] = [
    ("GIT_ASKPASS", "/bin/false"),
    ("GIT_EDITOR", "false"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("MANPAGER", "cat"),
    ("PAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("TERM", "xterm-256color"),
];
/// Settings of git that win over those of a repository: nothing is executed by reading.
const GIT_SETTINGS: [(&str, &str); 6] = [
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("log.showSignature", "false"),
    ("protocol.ext.allow", "never"),
    ("submodule.recurse", "false"),
];

/// Returns the environment for a command.
///
/// `server` looks a variable of the server up; `operator` names more variables to take over; folders of `PATH` inside of
/// `workdir` are left out, so that a repository cannot replace `git` or `ls`.
pub fn clean_environment(
    server: impl Fn(&str) -> Option<String>,
    operator: &[String],
    workdir: &Path,
) -> Vec<(String, String)> {
    let mut env: Vec<(String, String)> = Vec::new();
    let mut set = |name: &str, value: String| {
        let valid = !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0');
        if valid && !env.iter().any(|(known, _)| known == name) {
            env.push((name.to_owned(), value));
        }
    };
    set("PATH", program_path(server("PATH").as_deref().unwrap_or(DEFAULT_PATH), workdir));
    for name in KEPT.into_iter().chain(TOOL_FOLDERS).chain(operator.iter().map(String::as_str)) {
        if let Some(value) = server(name) {
            set(name, value);
        }
    }
    set("LANG", "C.UTF-8".to_owned());
    for (name, value) in FIXED {
        set(name, value.to_owned());
    }
    set("GIT_CONFIG_COUNT", GIT_SETTINGS.len().to_string());
    for (index, (key, value)) in GIT_SETTINGS.into_iter().enumerate() {
        set(&format!("GIT_CONFIG_KEY_{index}"), key.to_owned());
        set(&format!("GIT_CONFIG_VALUE_{index}"), value.to_owned());
    }
    env
}

/// `PATH` without relative folders, folders of the work directory and repetitions.
fn program_path(path: &str, workdir: &Path) -> String {
    let mut folders: Vec<&str> = Vec::new();
    for folder in path.split(':') {
        let inside = Path::new(folder).starts_with(workdir)
            || Path::new(folder).canonicalize().is_ok_and(|real| real.starts_with(workdir));
        if folder.starts_with('/') && !inside && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    if folders.is_empty() { DEFAULT_PATH.to_owned() } else { folders.join(":") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(name: &str) -> Option<String> {
        let value = match name {
            "PATH" => "relative::/work/bin:/usr/bin:.:/usr/bin:/bin",
            "HOME" => "/home/ann",
            "CONCERTINO_TOKEN" | "OPENAI_API_KEY" => "secret",
            "CI" => "1",
            _ => return None,
        };
        Some(value.to_owned())
    }

    fn value<'a>(env: &'a [(String, String)], name: &str) -> Option<&'a str> {
        env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    #[test]
    fn keeps_no_secret_and_no_program_folder_of_the_work_directory() {
        let env = clean_environment(server, &["CI".to_owned(), "PATH".to_owned()], Path::new("/work"));
        assert_eq!(value(&env, "PATH"), Some("/usr/bin:/bin"));
        assert_eq!(value(&env, "HOME"), Some("/home/ann"));
        assert_eq!(value(&env, "CI"), Some("1"));
        assert_eq!(value(&env, "LANG"), Some("C.UTF-8"));
        assert_eq!(value(&env, "GIT_PAGER"), Some("cat"));
        assert!(env.iter().all(|(_, value)| value != "secret"), "{env:?}");
        let count: usize = value(&env, "GIT_CONFIG_COUNT").unwrap().parse().unwrap();
        assert_eq!(env.iter().filter(|(name, _)| name.starts_with("GIT_CONFIG_KEY_")).count(), count);
    }

    #[test]
    fn has_a_path_when_the_server_has_none() {
        let env = clean_environment(|_| None, &[], Path::new("/work"));
        assert_eq!(value(&env, "PATH"), Some(DEFAULT_PATH));
        let env =
            clean_environment(|name| (name == "PATH").then(|| ".:/work".to_owned()), &[], Path::new("/work"));
        assert_eq!(value(&env, "PATH"), Some(DEFAULT_PATH));
    }
}
