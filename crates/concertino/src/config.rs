//! Settings: built-in < `concertino.toml` < environment < flags, read once. An empty variable counts as unset.

use std::{
    collections::HashMap,
    fmt,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use clap::Args;
use engine::{ContextSettings, agents::WorkspaceTools};
use protocol::{WorkspaceId, wire::chat::Profile};
use serde::Deserialize;
use server::{Auth, Limits};
use store::Durability;

mod limits;

const DEFAULT_LISTEN: &str = "127.0.0.1:4860";
/// No model reads less, in tokens.
const SMALLEST_WINDOW: u64 = 1_000;

#[derive(Args, Clone, Default)]
pub(crate) struct Flags {
    /// Address to listen on [default: 127.0.0.1:4860].
    #[arg(long, global = true, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Where chats and the token are kept.
    #[arg(long, global = true, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// Settings file [default: concertino.toml in the present folder, if there].
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Model, as provider/model, or a provider alone; `concertino models` lists them.
    #[arg(long, global = true, value_name = "PROVIDER/MODEL")]
    model: Option<String>,
}

/// `concertino.toml`; every key may also be a variable `CONCERTINO_<KEY>`.
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
    heartbeat_ms: Option<u64>,
    max_connections: Option<usize>,
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
}

#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    pub(crate) data_dir: PathBuf,
    /// Where a folder of every session is kept up to date.
    pub(crate) transcripts: Option<PathBuf>,
    pub(crate) auth: Auth,
    /// A token given from outside instead of the one in the data directory.
    pub(crate) token: Option<String>,
    pub(crate) tool_groups: Vec<tools::Group>,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) max_body_bytes: usize,
    pub(crate) heartbeat: Duration,
    pub(crate) limits: Limits,
    /// How many threads serve; the store has its own.
    pub(crate) threads: usize,
    /// What an acknowledged write survives.
    pub(crate) durability: Durability,
    pub(crate) profile: Profile,
    /// Whether chats are named by their model.
    pub(crate) auto_title: bool,
    /// A run that was active in so many crashes in a row is ended.
    pub(crate) max_crashes: u32,
    pub(crate) context: ContextSettings,
    pub(crate) log: String,
    pub(crate) model: ModelConfig,
    /// The only tools that agents of these workspaces may use.
    pub(crate) workspace_tools: WorkspaceTools,
}

/// What says which model answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelConfig {
    pub(crate) chosen: Option<String>,
    /// Asked in this order when the default model gives up.
    pub(crate) fallback: Vec<String>,
    /// Whether to look for model servers on this machine.
    pub(crate) discover: bool,
    /// Keys and addresses of providers are in here, under the names that the registry knows.
    pub(crate) variables: Variables,
}

/// The environment at the start. Never shown: there are keys in it.
#[derive(Clone, Default)]
pub(crate) struct Variables(HashMap<String, String>);

impl Variables {
    fn of_this_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        std::env::vars_os().filter_map(text).collect()
    }

    /// An empty variable counts as unset.
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

    fn layer(flags: Flags, variables: Variables, here: &Path) -> Result<Self> {
        let variable = |name: &str| variables.get(name);
        let ours = |name: &str| variable(&format!("CONCERTINO_{name}"));
        let list = |value: String| value.split(',').map(|item| item.trim().to_owned()).collect::<Vec<_>>();
        let file = read_file(flags.config.as_deref(), here)?;
        let max_body_bytes =
            number("MAX_BODY_BYTES", ours("MAX_BODY_BYTES"))?.or(file.max_body_bytes).unwrap_or(32 << 20);
        let limits = limits::limits(&file, ours, max_body_bytes)?;

        let listen = flags.listen.or_else(|| ours("LISTEN")).or(file.listen);
        let listen = listen.as_deref().unwrap_or(DEFAULT_LISTEN);
        let listen: SocketAddr =
            listen.parse().with_context(|| format!("listen must be ADDRESS:PORT, not \"{listen}\""))?;
        let auth = match ours("AUTH").or(file.auth).as_deref() {
            None | Some("token") => Auth::Token,
            Some("off") if listen.ip().is_loopback() => Auth::Off,
            Some("off") => bail!(
                "authentication can be switched off on loopback only; {listen} can be reached by others. \
                 Set CONCERTINO_AUTH=token"
            ),
            Some(other) => bail!("auth must be \"token\" or \"off\", not \"{other}\""),
        };
        let data_dir = match flags.data_dir.or_else(|| ours("DATA_DIR").map(PathBuf::from)).or(file.data_dir)
        {
            Some(folder) => folder,
            None => default_data_dir(variable)?,
        };
        let groups = ours("ENABLE").or(file.enable).unwrap_or_default();
        let mut hosts = ours("ALLOWED_HOSTS").map(list).or(file.allowed_hosts).unwrap_or_default();
        if !listen.ip().is_unspecified() {
            hosts.push(listen.ip().to_string());
        }
        Ok(Self {
            listen,
            data_dir,
            limits,
            transcripts: ours("TRANSCRIPTS").map(PathBuf::from).or(file.transcripts),
            auth,
            token: ours("TOKEN").or(file.token),
            tool_groups: tools::Group::parse_list(&groups)?,
            hosts,
            origins: ours("ALLOWED_ORIGINS").map(list).or(file.allowed_origins).unwrap_or_default(),
            max_body_bytes,
            heartbeat: Duration::from_millis(
                number("HEARTBEAT_MS", ours("HEARTBEAT_MS"))?.or(file.heartbeat_ms).unwrap_or(12_000).max(10),
            ),
            threads: match number("THREADS", ours("THREADS"))?.or(file.threads) {
                Some(0) => bail!("threads must be at least 1"),
                Some(threads) => threads,
                None => all_but_one_core(),
            },
            durability: match ours("DURABILITY").or(file.durability) {
                Some(text) => text.parse().map_err(anyhow::Error::msg)?,
                None => Durability::default(),
            },
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
                    .max(SMALLEST_WINDOW),
            },
            workspace_tools: match ours("WORKSPACE_TOOLS") {
                Some(text) => workspace_tools(parse_workspace_tools(&text)?)?,
                None => workspace_tools(file.workspace_tools.unwrap_or_default())?,
            },
            log: ours("LOG").or(file.log).unwrap_or_else(|| "warn".to_owned()),
            model: ModelConfig {
                chosen: flags.model.or_else(|| ours("MODEL")).or(file.model),
                fallback: ours("FALLBACK").map(list).or(file.fallback).unwrap_or_default(),
                discover: switch("DISCOVER", ours("DISCOVER"))?.or(file.discover).unwrap_or(true),
                variables: variables.clone(),
            },
        })
    }

    /// Where a browser or the terminal client finds this server.
    pub(crate) fn url(&self) -> String {
        let mut address = self.listen;
        if address.ip().is_unspecified() {
            address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        format!("http://{address}")
    }
}

/// `guests=time-now,update-plan; others=time-now`.
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
        let workspace = WorkspaceId::from_outside(&workspace).context("a workspace of workspace_tools")?;
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
        Ok(text) => toml::from_str(&text).with_context(|| format!("in {}", path.display())),
        Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => Ok(File::default()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
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

/// One core is left to the store's threads and to whatever else runs here: a thread more would mostly wake the others.
fn all_but_one_core() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores.saturating_sub(1).max(1)
}

fn default_data_dir(variable: impl Fn(&str) -> Option<String>) -> Result<PathBuf> {
    if let Some(data) = variable("XDG_DATA_HOME") {
        return Ok(PathBuf::from(data).join("concertino"));
    }
    let home = variable("HOME").or_else(|| variable("USERPROFILE"));
    let home = home.context("no home folder is known; name a folder with --data-dir")?;
    Ok(PathBuf::from(home).join(".local/share/concertino"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(flags: Flags, variables: &[(&str, &str)], file: &str) -> Result<Config> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("concertino.toml"), file).unwrap();
        let variables = variables.iter().copied().chain([("HOME", "/home/someone")]);
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Config::layer(flags, variables, folder.path())
    }

    #[test]
    fn flags_win_over_variables_over_the_file_over_what_is_built_in() {
        let file = "listen = \"127.0.0.1:1\"\nheartbeat_ms = 500\n";
        let variables = [("CONCERTINO_LISTEN", "127.0.0.1:2"), ("CONCERTINO_HEARTBEAT_MS", "")];
        let flags = Flags { listen: Some("127.0.0.1:3".to_owned()), ..Flags::default() };
        let config = layer(flags, &variables, file).unwrap();
        assert_eq!(config.listen.port(), 3);
        assert_eq!(config.heartbeat, Duration::from_millis(500), "an empty variable counts as unset");
        assert_eq!(layer(Flags::default(), &variables, file).unwrap().listen.port(), 2);
        assert_eq!(layer(Flags::default(), &[], file).unwrap().listen.port(), 1);
        assert_eq!(layer(Flags::default(), &[], "").unwrap().listen.port(), 4860);
    }

    #[test]
    fn limits_can_be_named_and_one_largest_body_always_fits() {
        let usual = layer(Flags::default(), &[], "").unwrap().limits;
        assert_eq!((usual.connections, usual.write_time), (10_000, Duration::from_secs(60)));
        let file = "max_connections = 5\nmax_bodies_bytes = 1\nmax_body_bytes = 9\nhead_timeout_ms = 0\n";
        let variables = [("CONCERTINO_WRITE_TIMEOUT_MS", "700"), ("CONCERTINO_MAX_CONNECTIONS", "6")];
        let limits = layer(Flags::default(), &variables, file).unwrap().limits;
        assert_eq!((limits.connections, limits.bodies_bytes), (6, 9));
        assert_eq!(
            (limits.write_time, limits.head_time),
            (Duration::from_millis(700), Duration::from_millis(100))
        );
        let error = layer(Flags::default(), &[("CONCERTINO_MIN_BODY_RATE", "fast")], "").unwrap_err();
        assert!(error.to_string().contains("CONCERTINO_MIN_BODY_RATE"), "{error}");
    }

    #[test]
    fn threads_can_be_named_but_not_none() {
        assert!(layer(Flags::default(), &[], "").unwrap().threads >= 1);
        assert_eq!(layer(Flags::default(), &[], "threads = 3").unwrap().threads, 3);
        let error = layer(Flags::default(), &[("CONCERTINO_THREADS", "0")], "threads = 3").unwrap_err();
        assert_eq!(error.to_string(), "threads must be at least 1");
    }

    #[test]
    fn writes_survive_a_power_loss_unless_it_is_said_otherwise() {
        let durability = |variables: &[(&str, &str)], file| {
            layer(Flags::default(), variables, file).map(|config| config.durability)
        };
        assert_eq!(durability(&[], "").unwrap(), Durability::Power);
        assert_eq!(durability(&[], "durability = \"process\"").unwrap(), Durability::Process);
        let variables = [("CONCERTINO_DURABILITY", "power")];
        assert_eq!(durability(&variables, "durability = \"process\"").unwrap(), Durability::Power);
        let error = durability(&[("CONCERTINO_DURABILITY", "fast")], "").unwrap_err().to_string();
        assert!(error.contains("\"power\" or \"process\""), "{error}");
    }

    #[test]
    fn authentication_cannot_be_switched_off_beyond_loopback() {
        let variables = [("CONCERTINO_AUTH", "off"), ("CONCERTINO_LISTEN", "0.0.0.0:4860")];
        let error = layer(Flags::default(), &variables, "").unwrap_err().to_string();
        assert!(error.contains("loopback only"), "{error}");
    }

    #[test]
    fn the_fallback_chain_is_a_list_in_the_file_and_in_the_variable_and_no_key_is_ever_shown() {
        let file = "fallback = [\"a/b\"]\ndiscover = false\n";
        let config = layer(Flags::default(), &[("OPENAI_API_KEY", "sk-secret")], file).unwrap();
        assert_eq!((config.model.fallback.clone(), config.model.discover), (vec!["a/b".to_owned()], false));
        assert!(!format!("{config:?}").contains("sk-secret"));
        let variables = [("CONCERTINO_FALLBACK", "c/d, e/f"), ("CONCERTINO_DISCOVER", "on")];
        let config = layer(Flags::default(), &variables, file).unwrap();
        assert_eq!(
            (config.model.fallback, config.model.discover),
            (vec!["c/d".to_owned(), "e/f".to_owned()], true)
        );
    }

    #[test]
    fn titles_and_compaction_can_be_switched_off_and_a_window_can_be_named() {
        let config = layer(Flags::default(), &[], "").unwrap();
        assert!(config.auto_title && config.context.auto_compact);
        assert_eq!(config.context.default_window, 128_000);
        let variables = [("CONCERTINO_AUTO_TITLE", "off"), ("CONCERTINO_CONTEXT_WINDOW", "32768")];
        let config = layer(Flags::default(), &variables, "auto_title = true\nauto_compact = false").unwrap();
        assert!(!config.auto_title && !config.context.auto_compact);
        assert_eq!(config.context.default_window, 32_768);
        let error = layer(Flags::default(), &[("CONCERTINO_AUTO_TITLE", "maybe")], "").unwrap_err();
        assert!(error.to_string().contains("CONCERTINO_AUTO_TITLE"), "{error}");
    }

    #[test]
    fn the_tools_of_a_workspace_are_limited_in_the_file_or_in_the_variable() {
        let file = "[workspace_tools]\nguests = [\"time-now\"]\n";
        let guests = WorkspaceId::new("guests");
        let limits = layer(Flags::default(), &[], file).unwrap().workspace_tools;
        assert!(limits.allow(&guests, "time-now") && !limits.allow(&guests, "update-plan"));
        assert!(limits.allow(&WorkspaceId::default_workspace(), "update-plan"));
        let variables = [("CONCERTINO_WORKSPACE_TOOLS", "guests=; a = x, y")];
        let limits = layer(Flags::default(), &variables, file).unwrap().workspace_tools;
        assert!(!limits.allow(&guests, "time-now") && limits.allow(&WorkspaceId::new("a"), "y"));
        let error = layer(Flags::default(), &[("CONCERTINO_WORKSPACE_TOOLS", "guests")], "").unwrap_err();
        assert!(error.to_string().contains("guests=time-now"), "{error}");
    }

    #[test]
    fn mistakes_name_the_setting() {
        let error = format!("{:#}", layer(Flags::default(), &[], "listn = \"x\"").unwrap_err());
        assert!(error.contains("concertino.toml") && error.contains("listn"), "{error}");
        let error = layer(Flags::default(), &[("CONCERTINO_ENABLE", "magic")], "").unwrap_err().to_string();
        assert!(error.contains("conformance"), "{error}");
    }
}
