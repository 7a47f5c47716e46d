//! A whole server in this process, and its restart on the same data.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::Router;
use engine::{CONTENT_LIMIT, Engine, EngineParts, EngineSettings, FileSettings, SubAgentLimits};
use files::HardLinks;
use models::{Catalog, Model, Scripted, scripted::Reply};
use protocol::{Clock, LogEntry, PrincipalId, SessionId, WorkspaceId, wire::chat::Profile};
use server::{Auth, Resources, ServerSettings, ServerState};
use sha2::{Digest, Sha256};
use store::{
    Durability, FrameRecord, Frames, Log, NewToken, OwnerToken, SessionRecord, Sessions, SqliteStore, Tokens,
};
use tempfile::TempDir;
use tools::{AnyTool, Group, Limits, NameTaken, Registry};

use crate::{
    Caller, Chat, CountingIds, FixedClock, HttpResponse, LoopbackServer, Turn,
    faults::{Faults, FaultyStore},
};

/// The token of the default workspace when authentication is on.
const TOKEN: &str = "token-of-the-default-workspace";
/// How long the shutdown of an old server may take; a run that a gate holds never ends by itself.
const GRACE: Duration = Duration::from_millis(300);

/// The work directory, in the data folder.
const WORKDIR: &str = "work";

pub struct TestApp {
    /// The scripted model; its `requests()` are what it was sent.
    pub model: Scripted,
    pub engine: Engine,
    pub store: Arc<SqliteStore>,
    pub clock: Arc<FixedClock>,
    /// The caller of the default workspace.
    pub caller: Caller,
    /// A tab on the chat `chat`, open from the start.
    pub main: Chat,
    router: Router,
    resources: Resources,
    setup: Setup,
    folder: TempDir,
}

#[derive(Clone)]
struct Setup {
    server: ServerSettings,
    engine: EngineSettings,
    tools: Vec<Arc<dyn AnyTool>>,
    ids: Arc<CountingIds>,
    clock: Arc<FixedClock>,
    faults: Option<Faults>,
}

pub struct Builder {
    setup: Setup,
    script: Scripted,
    model: Option<Arc<dyn Model>>,
    catalog: Option<Arc<Catalog>>,
}

impl Builder {
    #[must_use]
    pub fn replies(mut self, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.script = Scripted::new(replies);
        self
    }

    #[must_use]
    pub fn script(mut self, script: Scripted) -> Self {
        self.script = script;
        self
    }

    /// Uses this model instead of the script.
    #[must_use]
    pub fn model(mut self, model: impl Model + 'static) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// Uses this catalog of several models.
    #[must_use]
    pub fn catalog(mut self, catalog: Catalog) -> Self {
        self.catalog = Some(Arc::new(catalog));
        self
    }

    #[must_use]
    pub fn tool(mut self, tool: Arc<dyn AnyTool>) -> Self {
        self.setup.tools.push(tool);
        self
    }

    #[must_use]
    pub fn with_auth(mut self) -> Self {
        self.setup.server.auth = Auth::Token;
        self
    }

    #[must_use]
    pub fn server(mut self, change: impl FnOnce(&mut ServerSettings)) -> Self {
        change(&mut self.setup.server);
        self
    }

    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.setup.engine.profile = profile;
        self
    }

    #[must_use]
    pub fn tool_limits(mut self, limits: Limits) -> Self {
        self.setup.engine.tool_limits = limits;
        self
    }

    /// Changes a setting of the engine.
    #[must_use]
    pub fn engine(mut self, change: impl FnOnce(&mut EngineSettings)) -> Self {
        change(&mut self.setup.engine);
        self
    }

    #[must_use]
    pub fn sub_agents(mut self, limits: SubAgentLimits) -> Self {
        self.setup.engine.sub_agents = limits;
        self
    }

    /// Injects faults into the server's store; the app's own `store` has none.
    #[must_use]
    pub fn faults(mut self, faults: &Faults) -> Self {
        self.setup.faults = Some(faults.clone());
        self
    }

    pub async fn start(self) -> TestApp {
        let folder = tempfile::tempdir().unwrap();
        TestApp::start(self.setup, self.script, self.model, self.catalog, folder).await
    }
}

impl TestApp {
    /// Starts an app with authentication off, all tool groups, and these replies of the model in order.
    pub async fn scripted(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::builder().replies(replies).start().await
    }

    pub fn builder() -> Builder {
        let setup = Setup {
            server: ServerSettings { auth: Auth::Off, ..ServerSettings::default() },
            engine: EngineSettings::default(),
            tools: Vec::new(),
            ids: Arc::default(),
            clock: Arc::default(),
            faults: None,
        };
        Builder { setup, script: Scripted::new([]), model: None, catalog: None }
    }

    async fn start(
        setup: Setup,
        script: Scripted,
        model: Option<Arc<dyn Model>>,
        catalog: Option<Arc<Catalog>>,
        folder: TempDir,
    ) -> Self {
        // No test here cuts the power, so no write needs to be synced.
        let database = folder.path().join("concertino.db");
        let store = Arc::new(SqliteStore::open_with(&database, Durability::Process).unwrap());
        let mut tools = Registry::builtin(&Group::ALL).unwrap();
        for tool in &setup.tools {
            tools.register_or(Arc::clone(tool), NameTaken::Replace).unwrap();
        }
        let mut settings = setup.engine.clone();
        settings.files.get_or_insert_with(|| FileSettings {
            workdir: folder.path().join(WORKDIR),
            data_dir: folder.path().to_owned(),
            protected: Vec::new(),
            hard_links: HardLinks::Refuse,
            content_limit: CONTENT_LIMIT,
            durability: Durability::Process,
        });
        let engine = Engine::new(EngineParts {
            store: match &setup.faults {
                Some(faults) => Arc::new(FaultyStore::new(Arc::clone(&store) as _, faults)),
                None => Arc::clone(&store) as _,
            },
            catalog: catalog
                .unwrap_or_else(|| Arc::new(Catalog::of(model.unwrap_or_else(|| Arc::new(script.clone()))))),
            tools,
            clock: Arc::clone(&setup.clock) as _,
            ids: Arc::clone(&setup.ids) as _,
            settings,
        });
        engine.load_agents().await.unwrap();
        let state = ServerState::new(engine.clone(), setup.server.clone());
        let resources = state.resources();
        let router = server::router(state);
        let token = match setup.server.auth {
            Auth::Off => None,
            Auth::Token => {
                let owner = store.set_owner_token(&digest(TOKEN), setup.clock.now()).await.unwrap();
                assert!(matches!(owner, OwnerToken::Set { .. }), "{owner:?}");
                Some(TOKEN)
            }
        };
        let caller = Caller::new(router.clone(), token);
        let main = caller.chat("chat");
        let clock = Arc::clone(&setup.clock);
        Self { model: script, engine, store, clock, caller, main, router, resources, setup, folder }
    }

    /// Ends the server and starts another on the same data. An active run must be held by a gate that stays shut: its
    /// task cannot be killed from here, it just never continues.
    pub async fn restart(self, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.restart_with(Scripted::new(replies), None).await
    }

    /// Restarts with this model instead of a script.
    pub async fn restart_with_model(self, model: impl Model + 'static) -> Self {
        self.restart_with(Scripted::new([]), Some(Arc::new(model))).await
    }

    async fn restart_with(self, script: Scripted, model: Option<Arc<dyn Model>>) -> Self {
        let Self { engine, store, setup, folder, .. } = self;
        engine.shut_down(GRACE).await;
        drop((engine, store));
        let app = Self::start(setup, script, model, None, folder).await;
        app.engine.recover().await.unwrap();
        app
    }

    /// A caller with a token of this workspace. Authentication must be on.
    pub async fn caller_of(&self, workspace: &str) -> Caller {
        let token = format!("token-of-{workspace}");
        remember(&self.store, &token, WorkspaceId::new(workspace), &*self.clock).await;
        Caller::new(self.router.clone(), Some(&token))
    }

    /// A caller without a token.
    pub fn stranger(&self) -> Caller {
        Caller::new(self.router.clone(), None)
    }

    /// Starts the same server on a real loopback port.
    pub async fn over_http(&self) -> LoopbackServer {
        LoopbackServer::start(self.router.clone(), self.resources.clone(), self.caller.token()).await
    }

    pub fn chat(&self, id: &str) -> Chat {
        self.caller.chat(id)
    }

    pub async fn send(&self, text: &str) -> Turn {
        self.main.send(text).await
    }

    pub async fn get(&self, path: &str) -> HttpResponse {
        self.caller.get(path).await
    }

    async fn session(&self, id: &str) -> SessionRecord {
        let workspace = WorkspaceId::default_workspace();
        self.store.session(&workspace, &SessionId::new(id)).await.unwrap().unwrap()
    }

    /// The stored log of a chat.
    pub async fn log(&self, id: &str) -> Vec<LogEntry> {
        let key = self.session(id).await.key;
        self.store.read_log(key, 0, usize::MAX).await.unwrap()
    }

    /// The sub-agents of the newest run of a chat, in the order they began.
    pub async fn frames(&self, id: &str) -> Vec<FrameRecord> {
        let session = self.session(id).await;
        let root = session.last_run.unwrap().message;
        self.store.frames_of_runs(session.key, vec![root]).await.unwrap()
    }

    /// The work directory of the default workspace.
    pub fn workdir(&self) -> PathBuf {
        self.folder.path().join(WORKDIR)
    }

    /// The folder with the database.
    pub fn data_dir(&self) -> &Path {
        self.folder.path()
    }

    /// How many files of artifacts there are.
    pub fn files(&self) -> usize {
        let folders = std::fs::read_dir(self.folder.path().join("artifacts"));
        let folders = folders.into_iter().flatten().map(|folder| folder.unwrap().path());
        folders.map(|folder| std::fs::read_dir(folder).unwrap().count()).sum()
    }

    /// Locks the database for writing until the guard is dropped; writers wait.
    pub fn hold_writes(&self) -> HeldWrites {
        let connection = self.connect();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        HeldWrites(connection)
    }

    /// Makes every write of the log fail, until [`TestApp::mend_log`].
    pub fn break_log(&self) {
        self.connect().execute_batch("ALTER TABLE log RENAME TO log_out_of_reach").unwrap();
    }

    pub fn mend_log(&self) {
        self.connect().execute_batch("ALTER TABLE log_out_of_reach RENAME TO log").unwrap();
    }

    /// Changes the database without the server, as damage would; returns the number of changed rows.
    pub fn tamper(&self, statement: &str) -> usize {
        self.connect().execute(statement, []).unwrap()
    }

    fn connect(&self) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(self.folder.path().join("concertino.db")).unwrap();
        connection.busy_timeout(Duration::from_secs(5)).unwrap();
        connection
    }

    /// Counts the rows of each table, which shows what was stored only in part.
    pub async fn rows(&self) -> BTreeMap<String, i64> {
        let connection = self.connect();
        let count = move || {
            let mut names = connection
                .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
                .unwrap();
            let names: Vec<String> =
                names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
            names
                .into_iter()
                .map(|name| {
                    let count =
                        connection
                            .query_row(&format!("SELECT count(*) FROM \"{name}\""), [], |row| row.get(0));
                    (name, count.unwrap())
                })
                .collect()
        };
        tokio::task::spawn_blocking(count).await.unwrap()
    }
}

/// Holds the write lock of the database.
pub struct HeldWrites(rusqlite::Connection);

impl Drop for HeldWrites {
    fn drop(&mut self) {
        self.0.execute_batch("ROLLBACK").unwrap();
    }
}

async fn remember(store: &SqliteStore, token: &str, workspace: WorkspaceId, clock: &dyn Clock) {
    let sha256 = digest(token);
    if store.token(&sha256).await.unwrap().is_none() {
        let principal = PrincipalId::new(format!("somebody of {workspace}"));
        store.add_token(NewToken { sha256, principal, workspace, created_at: clock.now() }).await.unwrap();
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}
