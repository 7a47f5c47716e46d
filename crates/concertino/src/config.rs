//! Settings, read once at the start. Flags override environment variables, these override `concertino.toml`, and this
//! overrides the defaults. An empty variable counts as unset.

use std::{
    collections::HashMap,
    fmt,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use clap::Args;
use engine::{
    ApprovalSettings, CONTENT_LIMIT, CommandSettings, ContextSettings, FileSettings, agents::WorkspaceTools,
};
use files::HardLinks;
use protocol::{WorkspaceId, wire::chat::Profile};
use serde::Deserialize;
use server::{Auth, ConnectionLimits, Limits};
use store::Durability;

use main_agents::MainAgentsPath;

mod approvals;
pub(crate) mod commands;
mod limits;
pub(crate) mod main_agents;
pub(crate) mod workdir;

const DEFAULT_LISTEN: &str = "127.0.0.1:4860";
/// No model has a smaller context window, in tokens.
const MIN_WINDOW: u64 = 1_000;

#[derive(Args, Clone, Default)]
pub(crate) struct Flags {
    /// Address of the server [default: 127.0.0.1:4860].
    #[arg(long, global = true, help_heading = "Settings", value_name = "ADDRESS")]
    listen: Option<String>,
    /// Folder with the chats, the access token and your own providers and agents
    /// [default: ~/.local/share/concertino].
    #[arg(long, global = true, help_heading = "Settings", value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// Settings file [default: concertino.toml in the current folder, if it exists].
    #[arg(long, global = true, help_heading = "Settings", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Default model, as provider/model or only a provider. `concertino models` lists them.
    #[arg(long, global = true, help_heading = "Settings", value_name = "PROVIDER/MODEL")]
    model: Option<String>,
    /// Work directory: the folder whose files agents read and change [default: the current
    /// folder].
    #[arg(long, global = true, help_heading = "Settings", value_name = "FOLDER")]
    workdir: Option<PathBuf>,
    /// File with main agents [default: .concertino/main-agents.toml or .snow/main-agents.toml in
    /// the work directory, else in the home folder].
    #[arg(long, global = true, help_heading = "Settings", value_name = "FILE")]
    main_agents: Option<PathBuf>,
    /// Which calls ask first: ask, auto-read-only or yolo [default: auto-read-only].
    #[arg(long, global = true, help_heading = "Settings", value_name = "MODE")]
    approvals: Option<String>,
}

/// The keys of `concertino.toml`. Each can also be set as a variable `CONCERTINO_<KEY>`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct File {
    listen: Option<String>,
    data_dir: Option<PathBuf>,
    transcripts: Option<PathBuf>,
    model: Option<String>,
    fallback: Option<Vec<String>>,
    discover: Option<bool>,
    auth: Option<String>,
    token: Option<String>,
    enable: Option<String>,
    allowed_hosts: Option<Vec<String>>,
    allowed_origins: Option<Vec<String>>,
    max_body_bytes: Option<usize>,
    max_kept_bytes: Option<u64>,
    heartbeat_ms: Option<u64>,
    max_connections: Option<usize>,
    max_event_connections: Option<usize>,
    max_connections_per_token: Option<usize>,
    max_head_bytes: Option<usize>,
    max_bodies_bytes: Option<usize>,
    min_body_rate: Option<u64>,
    head_timeout_ms: Option<u64>,
    idle_timeout_ms: Option<u64>,
    body_timeout_ms: Option<u64>,
    write_timeout_ms: Option<u64>,
    threads: Option<usize>,
    durability: Option<String>,
    stream_profile: Option<String>,
    auto_title: Option<bool>,
    max_crashes: Option<u32>,
    auto_compact: Option<bool>,
    context_window: Option<u64>,
    log: Option<String>,
    workspace_tools: Option<HashMap<String, Vec<String>>>,
    workdir: Option<PathBuf>,
    main_agents: Option<PathBuf>,
    hard_links: Option<String>,
    approvals: Option<String>,
    forbid_yolo: Option<bool>,
    rules: Option<Vec<approvals::FileRule>>,
    sandbox: Option<String>,
    sandbox_read: Option<Vec<PathBuf>>,
    sandbox_write: Option<Vec<PathBuf>>,
    command_environment: Option<Vec<String>>,
}

/// All settings of this process.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    pub(crate) data_dir: PathBuf,
    /// Folder in which every session is mirrored as files.
    pub(crate) transcripts: Option<PathBuf>,
    pub(crate) auth: Auth,
    /// The owner's token from the settings, instead of the one in the data folder.
    pub(crate) token: Option<String>,
    pub(crate) tool_groups: Vec<tools::Group>,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) max_body_bytes: usize,
    pub(crate) heartbeat: Duration,
    pub(crate) event_connections: ConnectionLimits,
    /// Whether clients of the events surface may have calls run unasked.
    pub(crate) allow_yolo: bool,
    pub(crate) limits: Limits,
    /// Worker threads of the server; the store has its own threads.
    pub(crate) threads: usize,
    /// What an acknowledged write survives.
    pub(crate) durability: Durability,
    pub(crate) profile: Profile,
    /// Whether the model names new chats.
    pub(crate) auto_title: bool,
    /// A run that was active in this many crashes in a row is ended.
    pub(crate) max_crashes: u32,
    pub(crate) context: ContextSettings,
    pub(crate) log: String,
    pub(crate) model: ModelConfig,
    /// The only tools that agents of these workspaces may use.
    pub(crate) workspace_tools: WorkspaceTools,
    /// The folders whose files agents read and change.
    pub(crate) files: FileSettings,
    /// Where the main agents of the operator are.
    pub(crate) main_agents: MainAgentsPath,
    /// Which calls a person is asked about.
    pub(crate) approvals: ApprovalSettings,
    /// How commands run.
    pub(crate) commands: CommandSettings,
}

/// Settings that decide which model is used.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelConfig {
    pub(crate) chosen: Option<String>,
    /// Models that are tried in this order when the default model fails.
    pub(crate) fallback: Vec<String>,
    /// Whether this machine is searched for model servers.
    pub(crate) discover: bool,
    /// The environment, with the keys and addresses of providers.
    pub(crate) variables: Variables,
}

/// The environment variables at the start. `Debug` does not show them because they contain API keys.
#[derive(Clone, Default)]
pub(crate) struct Variables(HashMap<String, String>);

impl Variables {
    fn of_this_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        std::env::vars_os().filter_map(text).collect()
    }

    /// Returns a variable; an empty one counts as unset.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }
}

impl FromIterator<(String, String)> for Variables {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(all: T) -> Self {
        Self(all.into_iter().filter(|(_, value)| !value.trim().is_empty()).collect())
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variables({})", self.0.len())
    }
}

impl Config {
    pub(crate) fn read(flags: Flags) -> Result<Self> {
        Self::layer(flags, Variables::of_this_process(), Path::new("."))
    }

    /// Combines flags, variables and the settings file of the folder `here`.
    fn layer(flags: Flags, variables: Variables, here: &Path) -> Result<Self> {
        let variable = |name: &str| variables.get(name);
        let ours = |name: &str| variable(&format!("CONCERTINO_{name}"));
        let list = |value: String| value.split(',').map(|item| item.trim().to_owned()).collect::<Vec<_>>();
        let settings_file = flags.config.clone().unwrap_or_else(|| here.join("concertino.toml"));
        let file = read_file(flags.config.as_deref(), here)?;
        let max_body_bytes =
            number("MAX_BODY_BYTES", ours("MAX_BODY_BYTES"))?.or(file.max_body_bytes).unwrap_or(32 << 20);
        let limits = limits::limits(&file, ours, max_body_bytes)?;
        let event_connections = limits::event_connections(&file, ours)?;
        let allow_yolo = !approvals::is_yolo_forbidden(file.forbid_yolo, ours)?;

        let listen = listen_address(flags.listen.or_else(|| ours("LISTEN")).or(file.listen))?;
        let auth = auth(ours("AUTH").or(file.auth), listen)?;
        let data_dir = flags.data_dir.or_else(|| ours("DATA_DIR").map(PathBuf::from)).or(file.data_dir);
        let data_dir = match data_dir {
            Some(folder) => folder,
            None => default_data_dir(variable)?,
        };
        let workdir = flags.workdir.or_else(|| ours("WORKDIR").map(PathBuf::from)).or(file.workdir);
        let home = variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from);
        let workdir = workdir::workdir(workdir, &data_dir, here, home.as_deref())?;
        let main_agents =
            flags.main_agents.or_else(|| ours("MAIN_AGENTS").map(PathBuf::from)).or(file.main_agents);
        let approvals = approvals::Written {
            flag: flags.approvals,
            in_file: file.approvals,
            forbid_yolo: file.forbid_yolo,
            rules: file.rules.unwrap_or_default(),
        };
        let paths = |value: String| list(value).into_iter().map(PathBuf::from).collect();
        let commands = commands::Written {
            sandbox: ours("SANDBOX").or(file.sandbox),
            read: ours("SANDBOX_READ").map(paths).or(file.sandbox_read).unwrap_or_default(),
            write: ours("SANDBOX_WRITE").map(paths).or(file.sandbox_write).unwrap_or_default(),
            environment: ours("COMMAND_ENVIRONMENT")
                .map(list)
                .or(file.command_environment)
                .unwrap_or_default(),
        };
        let groups = ours("ENABLE").or(file.enable).unwrap_or_default();
        let mut hosts = ours("ALLOWED_HOSTS").map(list).or(file.allowed_hosts).unwrap_or_default();
        if !listen.ip().is_unspecified() {
            hosts.push(listen.ip().to_string());
        }
        let durability = match ours("DURABILITY").or(file.durability) {
            Some(text) => text.parse().map_err(anyhow::Error::msg)?,
            None => Durability::default(),
        };
        Ok(Self {
            listen,
            data_dir: data_dir.clone(),
            limits,
            transcripts: ours("TRANSCRIPTS").map(PathBuf::from).or(file.transcripts),
            auth,
            token: ours("TOKEN").or(file.token),
            tool_groups: tools::Group::parse_list(&groups)?,
            hosts,
            origins: ours("ALLOWED_ORIGINS").map(list).or(file.allowed_origins).unwrap_or_default(),
            max_body_bytes,
            event_connections,
            allow_yolo,
            heartbeat: Duration::from_millis(
                number("HEARTBEAT_MS", ours("HEARTBEAT_MS"))?.or(file.heartbeat_ms).unwrap_or(12_000).max(10),
            ),
            threads: match number("THREADS", ours("THREADS"))?.or(file.threads) {
                Some(0) => bail!("threads must be at least 1"),
                Some(threads) => threads,
                None => all_but_one_core(),
            },
            durability,
            profile: match ours("STREAM_PROFILE").or(file.stream_profile).as_deref() {
                None | Some("common") => Profile::Common,
                Some("v7") => Profile::V7,
                Some(other) => bail!("stream_profile must be \"common\" or \"v7\", not \"{other}\""),
            },
            max_crashes: match number("MAX_CRASHES", ours("MAX_CRASHES"))?.or(file.max_crashes) {
                Some(0) => bail!("max_crashes must be at least 1"),
                Some(crashes) => crashes,
                None => 3,
            },
            auto_title: switch("AUTO_TITLE", ours("AUTO_TITLE"))?.or(file.auto_title).unwrap_or(true),
            context: ContextSettings {
                auto_compact: switch("AUTO_COMPACT", ours("AUTO_COMPACT"))?
                    .or(file.auto_compact)
                    .unwrap_or(true),
                default_window: number("CONTEXT_WINDOW", ours("CONTEXT_WINDOW"))?
                    .or(file.context_window)
                    .unwrap_or(ContextSettings::default().default_window)
                    .max(MIN_WINDOW),
            },
            workspace_tools: match ours("WORKSPACE_TOOLS") {
                Some(text) => workspace_tools(parse_workspace_tools(&text)?)?,
                None => workspace_tools(file.workspace_tools.unwrap_or_default())?,
            },
            main_agents: main_agents::main_agents(main_agents, &workdir, home.as_deref()),
            files: FileSettings {
                workdir,
                data_dir: data_dir.clone(),
                // It may hold keys, and says what agents may do.
                protected: vec![settings_file],
                hard_links: match ours("HARD_LINKS").or(file.hard_links).as_deref() {
                    None | Some("refuse") => HardLinks::Refuse,
                    Some("allow") => HardLinks::Allow,
                    Some(other) => bail!("hard_links must be \"refuse\" or \"allow\", not \"{other}\""),
                },
                content_limit: number("MAX_KEPT_BYTES", ours("MAX_KEPT_BYTES"))?
                    .or(file.max_kept_bytes)
                    .unwrap_or(CONTENT_LIMIT),
                durability,
            },
            approvals: approvals::approvals(approvals, ours)?,
            commands: commands::commands(commands, &data_dir)?,
            log: ours("LOG").or(file.log).unwrap_or_else(|| "warn".to_owned()),
            model: ModelConfig {
                chosen: flags.model.or_else(|| ours("MODEL")).or(file.model),
                fallback: ours("FALLBACK").map(list).or(file.fallback).unwrap_or_default(),
                discover: switch("DISCOVER", ours("DISCOVER"))?.or(file.discover).unwrap_or(true),
                variables: variables.clone(),
            },
        })
    }

    /// Returns the URL at which browsers and `concertino chat` on this machine reach the server.
    pub(crate) fn url(&self) -> String {
        let mut address = self.listen;
        if address.ip().is_unspecified() {
            address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        format!("http://{address}")
    }

    /// Returns the flags with which another command finds this server and its data folder: those that differ from the
    /// defaults, whether they came from flags, variables or the settings file.
    pub(crate) fn flags_to_reach(&self) -> Vec<String> {
        let mut flags = Vec::new();
        if self.listen.to_string() != DEFAULT_LISTEN {
            flags.extend(["--listen".to_owned(), self.listen.to_string()]);
        }
        let default = default_data_dir(|name| self.model.variables.get(name)).ok();
        if default.as_ref() != Some(&self.data_dir) {
            let folder = std::path::absolute(&self.data_dir).unwrap_or_else(|_| self.data_dir.clone());
            flags.extend(["--data-dir".to_owned(), folder.display().to_string()]);
        }
        flags
    }
}

fn listen_address(text: Option<String>) -> Result<SocketAddr> {
    let text = text.as_deref().unwrap_or(DEFAULT_LISTEN);
    text.parse()
        .with_context(|| format!("listen must be ADDRESS:PORT, for example {DEFAULT_LISTEN}, not \"{text}\""))
}

fn auth(text: Option<String>, listen: SocketAddr) -> Result<Auth> {
    match text.as_deref() {
        None | Some("token") => Ok(Auth::Token),
        Some("off") if listen.ip().is_loopback() => Ok(Auth::Off),
        Some("off") => bail!(
            "authentication can be switched off on loopback only, and other machines can reach {listen}. Set \
             CONCERTINO_AUTH=token, or listen on 127.0.0.1"
        ),
        Some(other) => bail!("auth must be \"token\" or \"off\", not \"{other}\""),
    }
}

/// Parses `guests=time-now,update-plan; others=time-now`.
fn parse_workspace_tools(text: &str) -> Result<HashMap<String, Vec<String>>> {
    let entry = |entry: &str| match entry.split_once('=') {
        Some((workspace, tools)) => {
            let tools = tools.split(',').map(|tool| tool.trim().to_owned()).filter(|tool| !tool.is_empty());
            Ok((workspace.trim().to_owned(), tools.collect()))
        }
        None => {
            bail!("CONCERTINO_WORKSPACE_TOOLS must look like guests=time-now,update-plan; not \"{entry}\"")
        }
    };
    text.split(';').map(str::trim).filter(|part| !part.is_empty()).map(entry).collect()
}

fn workspace_tools(limits: HashMap<String, Vec<String>>) -> Result<WorkspaceTools> {
    let mut all = WorkspaceTools::default();
    for (workspace, tools) in limits {
        let workspace = WorkspaceId::from_outside(&workspace)
            .context("workspace_tools names a workspace that is not valid")?;
        all.limit(workspace, tools);
    }
    Ok(all)
}

fn read_file(named: Option<&Path>, here: &Path) -> Result<File> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => here.join("concertino.toml"),
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => toml::from_str(&text)
            .with_context(|| format!("the settings file {} is not valid", path.display())),
        Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => Ok(File::default()),
        Err(error) => Err(error).with_context(|| format!("cannot read the settings file {}", path.display())),
    }
}

fn switch(name: &str, value: Option<String>) -> Result<Option<bool>> {
    match value.as_deref() {
        None => Ok(None),
        Some("true" | "on") => Ok(Some(true)),
        Some("false" | "off") => Ok(Some(false)),
        Some(other) => bail!("CONCERTINO_{name} must be \"on\" or \"off\", not \"{other}\""),
    }
}

fn number<T: std::str::FromStr>(name: &str, value: Option<String>) -> Result<Option<T>> {
    match value {
        None => Ok(None),
        Some(text) => match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => bail!("CONCERTINO_{name} must be a number, not \"{text}\""),
        },
    }
}

/// Returns the number of cores less one, which is left to the threads of the store (ADR 18).
fn all_but_one_core() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores.saturating_sub(1).max(1)
}

fn default_data_dir(variable: impl Fn(&str) -> Option<String>) -> Result<PathBuf> {
    if let Some(data) = variable("XDG_DATA_HOME") {
        return Ok(PathBuf::from(data).join("concertino"));
    }
    let home = variable("HOME").or_else(|| variable("USERPROFILE"));
    let home = home
        .context("the home folder is unknown because HOME is not set; name a data folder with --data-dir")?;
    Ok(PathBuf::from(home).join(".local/share/concertino"))
}

#[cfg(test)]
mod tests;
