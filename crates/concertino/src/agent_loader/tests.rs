//! Files that appear, change, break and vanish while the engine is in use.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use testkit::TestApp;

use super::*;
use crate::config::main_agents::MainAgentsPath;

/// A work directory, a home folder and a folder of agents, and an engine to load them into.
struct Files {
    folder: tempfile::TempDir,
    app: TestApp,
    loader: AgentLoader,
}

impl Files {
    async fn searched() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let places = ["work/.concertino", "work/.snow", "home/.concertino", "home/.snow"];
        let paths = places.map(|place| folder.path().join(place).join("main-agents.toml"));
        let loader = AgentLoader::of(MainAgentsPath::Search(paths.to_vec()), folder.path().join("agents"));
        Self { folder, app: TestApp::scripted([]).await, loader }
    }

    async fn named() -> Self {
        let files = Self::searched().await;
        let path = files.folder.path().join("named.toml");
        let loader = AgentLoader::of(MainAgentsPath::Named(path), files.folder.path().join("agents"));
        Self { loader, ..files }
    }

    fn write(&self, name: &str, text: &str) {
        write(self.folder.path(), name, text);
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.folder.path().join(name)).unwrap();
    }

    async fn load(&mut self) -> LoadReport {
        self.loader.load(&self.app.engine).await
    }

    /// The main agents after the built-in ones.
    fn listed(&self) -> Vec<String> {
        let list = self.app.engine.agents().main_agents(&WorkspaceId::default_workspace());
        assert_eq!(
            [&*list[0].name, &*list[1].name, &*list[2].name],
            ["general", "requirement_analyzer", "debugger"]
        );
        list[3..].iter().map(|agent| agent.name.clone()).collect()
    }
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn agent(name: &str) -> String {
    format!("[agents.{name}]\nmainAgentRole = \"r\"\nbasicInfo.name = \"N\"\n")
}

#[tokio::test]
async fn the_first_file_that_is_not_empty_is_used_alone() {
    let mut files = Files::searched().await;
    assert_eq!((files.load().await, files.listed()), (LoadReport::default(), vec![]));
    for (place, name) in
        [("home/.snow", "d"), ("home/.concertino", "c"), ("work/.snow", "b"), ("work/.concertino", "a")]
    {
        files.write(&format!("{place}/main-agents.toml"), &agent(name));
        let report = files.load().await;
        assert!(report.main_file.unwrap().ends_with(format!("{place}/main-agents.toml")));
        assert_eq!(files.listed(), [name], "files are not merged");
    }
    for empty in ["", " \n", "# only a comment\n"] {
        files.write("work/.concertino/main-agents.toml", empty);
        files.load().await;
        assert_eq!(files.listed(), ["b"], "{empty:?} counts as absent");
    }
    files.write("work/.concertino/main-agents.toml", "not toml");
    assert!(files.load().await.unusable.is_some(), "the next file does not replace one that is broken");
}

#[tokio::test]
async fn a_broken_file_keeps_the_last_version_and_a_vanished_one_does_not() {
    let mut files = Files::searched().await;
    let path = "work/.snow/main-agents.toml";
    files.write(path, "[agents.a\n");
    let report = files.load().await;
    let problem = report.unusable.as_ref().unwrap();
    assert_eq!((problem.line, problem.column), (1, Some(10)), "{problem}");
    assert!(!report.named_file_is_unusable() && !report.has_last_version);
    assert!(files.listed().is_empty());
    files.write(path, &agent("a"));
    assert!(files.load().await.public_warnings().is_empty());
    for broken in ["[agents.a\n", "agents = 1", &"# ".repeat(600_000), "\u{0}"] {
        files.write(path, broken);
        let report = files.load().await;
        assert!(report.has_last_version, "{broken:.20}");
        assert_eq!(files.listed(), ["a"]);
        assert_eq!(files.app.engine.agent_warnings(), report.public_warnings());
        assert!(report.public_warnings()[0].contains("the last version"), "{report:?}");
    }
    fs::write(files.folder.path().join(path), b"[agents.a]\n# \xff").unwrap();
    let problem = files.load().await.unusable.unwrap();
    assert_eq!((problem.line, problem.column), (2, Some(3)), "{problem}");
    files.remove(path);
    assert_eq!((files.load().await, files.listed()), (LoadReport::default(), vec![]));
    fs::create_dir(files.folder.path().join(path)).unwrap();
    assert!(files.load().await.unusable.unwrap().text.contains("not a file"));
}

#[tokio::test]
async fn a_named_file_must_exist_and_be_valid() {
    let mut files = Files::named().await;
    let report = files.load().await;
    assert!(report.named_file_is_unusable() && report.unusable.unwrap().text.contains("does not exist"));
    files.write("work/.concertino/main-agents.toml", &agent("searched"));
    files.write("named.toml", "");
    assert!(!files.load().await.named_file_is_unusable());
    assert!(files.listed().is_empty(), "no other file is searched");
    files.write("named.toml", &agent("a"));
    files.load().await;
    files.remove("named.toml");
    assert!(files.load().await.named_file_is_unusable());
    assert_eq!(files.listed(), ["a"], "the last version stays in use");
}

#[tokio::test]
async fn one_bad_agent_is_left_out_and_public_warnings_have_no_names() {
    let mut files = Files::named().await;
    let bad =
        "[agents.\"../../etc/x.toml\"]\n[agents.b]\ntools = 3\n[agents.c]\ntools = [\"/etc/no.toml\"]\n";
    files.write("named.toml", &format!("{bad}{}", agent("a")));
    let report = files.load().await;
    assert_eq!(files.listed(), ["c", "a"]);
    assert_eq!((report.dropped.len(), report.warnings.len()), (2, 3));
    assert!(
        report.dropped[1].to_string().contains("named.toml:3:9: the agent \"b\""),
        "{}",
        report.dropped[1]
    );
    let public = report.public_warnings();
    assert_eq!(public.len(), 2);
    assert!(!public.join("").contains(['/', '\\']) && !public.join("").contains(".toml"), "{public:?}");
    let health = files.app.get("/health").await.json();
    assert_eq!(health["warnings"], serde_json::json!(public));
}

#[tokio::test]
async fn agents_of_the_folder_change_with_their_files() {
    let mut files = Files::searched().await;
    let names = |files: &Files| {
        let list = files.app.engine.agents().list(&WorkspaceId::default_workspace());
        let own = list.into_iter().filter(|one| one.agent.source == AgentSource::File);
        own.map(|one| format!("{}:{}", one.agent.name, one.agent.prompt.text())).collect::<Vec<_>>()
    };
    files.write("agents/one/agent.toml", "description = \"d\"\n");
    files.write("agents/one/prompt.md", "first");
    files.write("agents/two.toml", "description = \"d\"\nprompt = \"two\"\nallowedSubAgents = [\"one\"]\n");
    assert_eq!(files.load().await, LoadReport::default());
    assert_eq!(names(&files), ["one:first", "two:two"]);
    assert_eq!(
        files.load().await,
        LoadReport::default(),
        "a file does not collide with its own last version"
    );
    files.write("agents/one/prompt.md", "second");
    files.write("agents/two.toml", "tools = [\n");
    let report = files.load().await;
    assert_eq!(report.folder.len(), 1);
    assert_eq!(report.public_warnings().len(), 1);
    assert_eq!(names(&files), ["one:second", "two:two"], "the broken file keeps its last version");
    files.remove("agents/two.toml");
    assert_eq!(files.load().await, LoadReport::default());
    assert_eq!(names(&files), ["one:second"]);
}

#[tokio::test]
async fn changes_are_noticed_whatever_an_editor_does() {
    let mut files = Files::searched().await;
    let path = "work/.snow/main-agents.toml";
    // A file that was written a moment ago is read once more, so old ones are made.
    let age = |files: &Files| {
        for name in [path, "agents", "agents/a.toml", "agents/b/agent.toml", "agents/b", "agents/b/prompt.md"]
        {
            if let Ok(file) = fs::File::open(files.folder.path().join(name)) {
                file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
            }
        }
    };
    type Step<'a> = (&'a str, &'a dyn Fn(&Files));
    let changes: [Step<'_>; 8] = [
        ("created", &|files| files.write(path, &agent("a"))),
        ("same size", &|files| files.write(path, &agent("b"))),
        ("replaced", &|files| {
            files.write("new", &agent("c"));
            fs::rename(files.folder.path().join("new"), files.folder.path().join(path)).unwrap();
        }),
        ("another place", &|files| files.write("work/.concertino/main-agents.toml", &agent("d"))),
        ("vanished", &|files| files.remove(path)),
        ("folder", &|files| files.write("agents/a.toml", "prompt = \"p\"")),
        ("inner folder", &|files| files.write("agents/b/agent.toml", "prompt = \"p\"")),
        ("prompt", &|files| files.write("agents/b/prompt.md", "p")),
    ];
    for (what, change) in changes {
        age(&files);
        let state = files.loader.look().await;
        files.loader.loaded = Some(state);
        assert!(!files.loader.has_changed().await, "before {what}");
        change(&files);
        assert!(files.loader.has_changed().await, "{what}");
    }
    files.load().await;
    assert!(files.loader.has_changed().await, "what was written just now is read again");
}

/// Half of the versions are broken; readers must see whole versions only, and never an empty list.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_reloads_never_show_a_wrong_list() {
    let mut files = Files::named().await;
    let version = |number: usize| {
        let agent = |at: usize| {
            format!(
                "[agents.a{at}]\nmainAgentRole = \"version {number}\"\ntools = [\"read-file\"]\nbasicInfo.name = \"N\"\n"
            )
        };
        (0..20).map(agent).collect::<String>()
    };
    files.write("named.toml", &version(0));
    files.load().await;
    let (agents, done, newest) = (
        Arc::clone(files.app.engine.agents()),
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let reader = || {
        let (agents, done, newest) = (Arc::clone(&agents), Arc::clone(&done), Arc::clone(&newest));
        std::thread::spawn(move || {
            let (here, mut seen, mut reads) = (WorkspaceId::default_workspace(), 0, 0_u64);
            while !done.load(Ordering::Acquire) {
                let list = agents.main_agents(&here);
                assert_eq!(list.len(), 23);
                let role = list[3].prompt.text().to_owned();
                assert!(list[3..].iter().all(|agent| agent.prompt.text() == role), "a mixed list");
                let number: usize = role.strip_prefix("version ").unwrap().parse().unwrap();
                assert!(number >= seen && number <= newest.load(Ordering::Acquire), "{number} after {seen}");
                seen = number;
                reads += 1;
                assert!(agents.main_exact(&here, "a7").is_some() && agents.main(&here, Some("a7")).is_ok());
            }
            reads
        })
    };
    let readers = [reader(), reader(), reader()];
    let held = agents.main_exact(&WorkspaceId::default_workspace(), "a0").unwrap();
    for number in 1..=200 {
        let text = version(number);
        let text = match number % 4 {
            1 => text[..text.len() - 7].to_owned(),
            2 => format!("{text}\n[agents.a0]\n"),
            _ => text,
        };
        let is_broken = number % 4 == 1 || number % 4 == 2;
        if !is_broken {
            newest.store(number, Ordering::Release);
        }
        files.write("named.toml", &text);
        let report = files.load().await;
        assert_eq!((report.unusable.is_some(), report.has_last_version), (is_broken, is_broken));
        assert_eq!(files.app.engine.agent_warnings().is_empty(), !is_broken);
    }
    done.store(true, Ordering::Release);
    for reader in readers {
        assert!(reader.join().unwrap() > 0);
    }
    assert_eq!(held.prompt.text(), "version 0", "a run keeps what it began with");
    let newest = agents.main_exact(&WorkspaceId::default_workspace(), "a0").unwrap();
    assert_eq!(newest.prompt.text(), "version 200");
}
