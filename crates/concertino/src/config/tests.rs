//! Precedence of flags, variables and the file; defaults; errors that name the setting.

use protocol::ApprovalMode;

use super::*;

fn layer(flags: Flags, variables: &[(&str, &str)], file: &str) -> Result<Config> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("concertino.toml"), file).unwrap();
    let variables = variables.iter().copied().chain([("HOME", "/home/someone")]);
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Config::layer(flags, variables, folder.path())
}

#[test]
fn flags_override_variables_override_the_file_override_the_defaults() {
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
    let default = layer(Flags::default(), &[], "").unwrap().limits;
    assert_eq!((default.connections, default.write_time), (10_000, Duration::from_secs(60)));
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
fn threads_can_be_set_but_not_to_zero() {
    assert!(layer(Flags::default(), &[], "").unwrap().threads >= 1);
    assert_eq!(layer(Flags::default(), &[], "threads = 3").unwrap().threads, 3);
    let error = layer(Flags::default(), &[("CONCERTINO_THREADS", "0")], "threads = 3").unwrap_err();
    assert_eq!(error.to_string(), "threads must be at least 1");
}

#[test]
fn writes_survive_a_power_loss_unless_set_otherwise() {
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
fn the_mode_of_approvals_can_be_set_and_yolo_can_be_forbidden() {
    let mode = |flag: Option<&str>, variables: &[(&str, &str)], file: &str| {
        let flags = Flags { approvals: flag.map(str::to_owned), ..Flags::default() };
        layer(flags, variables, file).map(|config| config.approvals.mode)
    };
    assert_eq!(mode(None, &[], "").unwrap(), ApprovalMode::AutoReadOnly);
    assert_eq!(mode(None, &[], "approvals = \"ask\"").unwrap(), ApprovalMode::Ask);
    let variables = [("CONCERTINO_APPROVALS", "yolo")];
    assert_eq!(mode(None, &variables, "approvals = \"ask\"").unwrap(), ApprovalMode::Yolo);
    assert_eq!(mode(Some("ask"), &variables, "").unwrap(), ApprovalMode::Ask);
    let error = mode(Some("never"), &[], "").unwrap_err().to_string();
    assert_eq!(error, "approvals must be \"ask\", \"auto-read-only\" or \"yolo\", not \"never\"");
    let forbid = "forbid_yolo = true";
    assert_eq!(mode(None, &[], forbid).unwrap(), ApprovalMode::AutoReadOnly);
    for variables in [&variables[..], &[variables[0], ("CONCERTINO_FORBID_YOLO", "off")]] {
        let error = mode(None, variables, forbid).unwrap_err().to_string();
        assert!(error.contains("forbid_yolo is set"), "{error}");
    }
    let error = mode(Some("yolo"), &[("CONCERTINO_FORBID_YOLO", "on")], "").unwrap_err().to_string();
    assert!(error.contains("forbid_yolo is set"), "{error}");
}

#[test]
fn rules_of_the_server_are_read_and_checked() {
    let file = "[[rules]]\neffect = \"refuse\"\npath = \"vendor/**\"\nnote = \"generated\"\n\n\
                [[rules]]\neffect = \"allow\"\ntools = [\"edit-file\"]\npath = \"docs/**\"\n";
    let rules = layer(Flags::default(), &[], file).unwrap().approvals.rules;
    let shown: Vec<_> = rules.iter().map(|rule| (rule.id.as_str(), policy::describe(rule))).collect();
    assert_eq!(
        shown,
        [
            ("rul_server-1", "Refuse reading and changing below vendor/.".to_owned()),
            ("rul_server-2", "Allow calls of edit-file below docs/.".to_owned())
        ]
    );
    assert_eq!(rules[0].note.as_deref(), Some("generated"));
    for (file, expected) in [
        (
            "[[rules]]\neffect = \"allow\"\n",
            "rule 1 in the settings file is not valid: tools: The rule does not say",
        ),
        (
            "[[rules]]\neffect = \"allow\"\npath = \"/etc\"\n",
            "path: The path is not inside the work directory.",
        ),
        ("[[rules]]\neffect = \"maybe\"\ntools = [\"*\"]\n", "maybe"),
        ("[[rules]]\neffect = \"allow\"\npth = \"a\"\n", "pth"),
    ] {
        let error = format!("{:#}", layer(Flags::default(), &[], file).unwrap_err());
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn the_work_directory_is_the_current_folder_unless_that_is_the_home_folder_or_the_root() {
    let data = Path::new("/data");
    let default = |chosen: Option<&str>, here: &Path, home: Option<&Path>| {
        workdir::workdir(chosen.map(PathBuf::from), data, here, home).unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let (here, home) = (folder.path(), Path::new("/home/someone"));
    assert_eq!(default(None, here, Some(home)), here);
    assert_eq!(default(None, here, Some(here)), Path::new("/data/workspace"));
    assert_eq!(default(None, Path::new("/"), None), Path::new("/data/workspace"));
    assert_eq!(default(Some("/srv/project"), here, Some(here)), Path::new("/srv/project"));
    assert!(default(Some("project"), here, None).is_absolute());

    let variables = [("CONCERTINO_WORKDIR", "/srv/b")];
    let file = "workdir = \"/srv/a\"";
    let set = |flags: Flags, variables: &[(&str, &str)]| layer(flags, variables, file).unwrap().files.workdir;
    assert_eq!(set(Flags::default(), &[]), Path::new("/srv/a"));
    assert_eq!(set(Flags::default(), &variables), Path::new("/srv/b"));
    let flags = Flags { workdir: Some(PathBuf::from("/srv/c")), ..Flags::default() };
    assert_eq!(set(flags, &variables), Path::new("/srv/c"));
}

#[test]
fn a_work_directory_that_was_named_must_exist_and_the_own_one_is_created() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let named = workdir::workdir(Some(folder.path().join("typo")), &data, folder.path(), None).unwrap();
    let error = workdir::prepare(&named, &data).unwrap_err().to_string();
    assert!(error.contains("does not exist") && error.contains("--workdir"), "{error}");
    let own = workdir::workdir(None, &data, folder.path(), Some(folder.path())).unwrap();
    workdir::prepare(&own, &data).unwrap();
    assert!(data.join("workspace").is_dir());
}

#[test]
fn hard_links_are_refused_unless_set_otherwise() {
    let allowed = |file: &str| {
        layer(Flags::default(), &[], file).map(|config| config.files.hard_links == HardLinks::Allow)
    };
    assert!(!allowed("").unwrap());
    assert!(!allowed("hard_links = \"refuse\"").unwrap());
    assert!(allowed("hard_links = \"allow\"").unwrap());
    let error = allowed("hard_links = \"maybe\"").unwrap_err().to_string();
    assert_eq!(error, "hard_links must be \"refuse\" or \"allow\", not \"maybe\"");
}

#[test]
fn mistakes_name_the_setting() {
    let error = format!("{:#}", layer(Flags::default(), &[], "listn = \"x\"").unwrap_err());
    assert!(error.contains("concertino.toml") && error.contains("listn"), "{error}");
    let error = layer(Flags::default(), &[("CONCERTINO_ENABLE", "magic")], "").unwrap_err().to_string();
    assert!(error.contains("conformance"), "{error}");
}

#[test]
fn other_commands_reach_the_server_by_the_flags_that_differ_from_the_defaults() {
    let flags =
        |variables: &[(&str, &str)], file| layer(Flags::default(), variables, file).unwrap().flags_to_reach();
    assert_eq!(flags(&[], ""), Vec::<String>::new());
    assert_eq!(flags(&[], "listen = \"127.0.0.1:5000\""), ["--listen", "127.0.0.1:5000"]);
    let variables = [("CONCERTINO_DATA_DIR", "/srv/my chats"), ("CONCERTINO_LISTEN", "0.0.0.0:4860")];
    assert_eq!(flags(&variables, ""), ["--listen", "0.0.0.0:4860", "--data-dir", "/srv/my chats"]);
    let relative = flags(&[("CONCERTINO_DATA_DIR", "data")], "");
    assert!(std::path::Path::new(&relative[1]).is_absolute(), "{relative:?}");
}

#[test]
fn main_agents_are_searched_in_the_work_directory_and_then_in_the_home_folder_unless_named() {
    let found = |variables: &[(&str, &str)], file: &str, flag: Option<&str>| {
        let flags = Flags {
            main_agents: flag.map(PathBuf::from),
            workdir: Some("/project".into()),
            ..Flags::default()
        };
        layer(flags, variables, file).unwrap().main_agents
    };
    let places =
        ["/project/.concertino", "/project/.snow", "/home/someone/.concertino", "/home/someone/.snow"];
    let paths = places.map(|place| Path::new(place).join("main-agents.toml"));
    assert_eq!(found(&[], "", None), MainAgentsPath::Search(paths.to_vec()));
    let variables = [("CONCERTINO_MAIN_AGENTS", "/v.toml")];
    let file = "main_agents = \"/f.toml\"";
    assert_eq!(found(&[], file, None), MainAgentsPath::Named("/f.toml".into()));
    assert_eq!(found(&variables, file, None), MainAgentsPath::Named("/v.toml".into()));
    assert_eq!(found(&variables, file, Some("/a.toml")), MainAgentsPath::Named("/a.toml".into()));
}
