//! `concertino serve`: listens, resumes the unfinished answers of the last process, and serves until it is asked to end.

use std::{io::Write, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use engine::{SystemClock, transcript::Mirror};
use models::{Catalog, catalog::DefaultStatus};
use protocol::WorkspaceId;
use server::{Auth, Limits, ServerSettings, ServerState};
use store::Store;
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::{chat::session::quoted, token::owner};
use crate::{
    agent_loader::AgentLoader,
    build_engine::build_engine,
    config::{Config, workdir},
    data_dir::DataDir,
    lifecycle::{EndRequests, Hangups},
    model_choice, open_files, output,
};

/// How long runs may continue after the process was asked to end. Unfinished runs are resumed at the next start.
const GRACE: Duration = Duration::from_secs(3);

/// The exit code when the file that the settings name for main agents cannot be used.
const UNUSABLE_MAIN_AGENTS: u8 = 2;

/// How long the last checkpoint of the write-ahead log may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) async fn serve(config: &Config) -> Result<ExitCode> {
    let hangups = Hangups::listen()?;
    if !SystemClock::is_set() {
        bail!("the clock of this machine shows a year before 1970 or after 9999; set it and start again");
    }
    let data = DataDir::open(config)?;
    workdir::prepare(&config.files.workdir, &config.data_dir)?;
    let _lock = data.lock()?;
    let database = Arc::new(data.store_locked(config)?);
    let store: Arc<dyn Store> = Arc::clone(&database) as _;
    let token = data.token(config)?;
    // While authentication is off nobody needs the token, so one that was revoked does not matter.
    let replaced = match config.auth {
        Auth::Token => owner::set(&data, config, &*store, &token).await?,
        Auth::Off => 0,
    };
    if replaced > 0 {
        output::note(
            "The owner's token has changed. The old one was revoked, and its browsers are signed out.",
        );
    }
    let catalog = Arc::new(model_choice::catalog(&config.model, &data.providers())?);
    let mirror = config.transcripts.clone().map(Mirror::new);
    let engine = build_engine(config, Arc::clone(&store), Arc::clone(&catalog), mirror.clone()).await?;
    let mut agents = AgentLoader::new(config, &data);
    let loaded = agents.load(&engine).await;
    loaded.print();
    if loaded.named_file_is_unusable() {
        output::note("concertino: the server does not start with a main agents file that cannot be read.");
        return Ok(ExitCode::from(UNUSABLE_MAIN_AGENTS));
    }
    // Registered before anybody can know that the server listens and ask it to end.
    let mut end_requests = EndRequests::listen()?;
    let listener = listen(config).await?;
    let state = ServerState::new(engine.clone(), server_settings(config));
    let resources = state.resources();
    let router = server::router(state);
    // The server runs even when nobody reads its standard output.
    announce(config, &catalog, &token).unwrap_or_default();
    let mut background = JoinSet::new();
    if config.model.discover {
        background.spawn(async move {
            model_choice::discover_default(&catalog, |found| output::note(found)).await;
        });
    }
    let reloading = engine.clone();
    background.spawn(async move { agents.watch(&reloading, hangups).await });
    let stop_mirror = CancellationToken::new();
    let mirroring = stop_mirror.clone().drop_guard();
    if let Some(mirror) = mirror {
        let workspaces = workspaces(&*store).await?;
        background.spawn(async move { mirror.run(&store, &workspaces, &stop_mirror).await });
    }
    match engine.recover().await {
        Ok(0) => {}
        Ok(1) => output::note("Resuming 1 unfinished answer."),
        Ok(count) => output::note(format_args!("Resuming {count} unfinished answers.")),
        Err(error) => tracing::error!(%error, "unfinished answers could not be resumed"),
    }

    let shutdown = CancellationToken::new();
    let serving = server::serve(listener, router, resources, shutdown.clone().cancelled_owned());
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => {}
        result = end_requests.first() => {
            result?;
            shutdown.cancel();
            // The streams of unfinished runs do not end by themselves, so they are cut after the grace period.
            let finished = async { tokio::join!(engine.shut_down(GRACE), serving) };
            if tokio::time::timeout(GRACE + Duration::from_secs(1), finished).await.is_err() {
                tracing::debug!("the streams of unfinished answers were cut");
            }
        }
    }
    drop(mirroring);
    background.shutdown().await;
    // Afterwards the database file alone contains everything.
    if let Err(error) = database.close(CLOSE_TIMEOUT).await {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "the write-ahead log could not be written back to the database; the next start does it"
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn server_settings(config: &Config) -> ServerSettings {
    ServerSettings {
        auth: config.auth,
        hosts: config.hosts.clone(),
        origins: config.origins.clone(),
        max_body_bytes: config.max_body_bytes,
        heartbeat: config.heartbeat,
        limits: Limits {
            connections: open_files::connection_limit(config.limits.connections),
            ..config.limits.clone()
        },
        event_connections: config.event_connections.clone(),
        allow_yolo: config.allow_yolo,
    }
}

/// Returns all workspaces that a token gives access to.
async fn workspaces(store: &dyn Store) -> Result<Vec<WorkspaceId>> {
    let mut workspaces = vec![WorkspaceId::default_workspace()];
    workspaces.extend(store.tokens().await?.into_iter().map(|token| token.workspace));
    workspaces.sort();
    workspaces.dedup();
    Ok(workspaces)
}

async fn listen(config: &Config) -> Result<TcpListener> {
    let socket = match config.listen {
        std::net::SocketAddr::V4(_) => tokio::net::TcpSocket::new_v4()?,
        std::net::SocketAddr::V6(_) => tokio::net::TcpSocket::new_v6()?,
    };
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    let bound = socket.bind(config.listen).and_then(|()| socket.listen(4096));
    bound.with_context(|| {
        format!(
            "cannot listen on {}: another program may be using this address. Choose another one with --listen",
            config.listen
        )
    })
}

/// Prints where the server listens, which model it uses, and how to open it.
fn announce(config: &Config, catalog: &Catalog, token: &str) -> std::io::Result<()> {
    let url = config.url();
    let model = catalog.default_model();
    let searching = if model.status == DefaultStatus::LastResort && config.model.discover {
        "; searching this machine for a model server"
    } else {
        ""
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "Concertino is listening on {url}")?;
    writeln!(out, "  model: {} ({}{searching})", model.name, model.why)?;
    writeln!(out, "  files: {}", config.files.workdir.display())?;
    match config.auth {
        Auth::Token => writeln!(out, "  open:  {url}/?token={token}")?,
        Auth::Off => writeln!(out, "  open:  {url}/ (authentication is off)")?,
    }
    writeln!(out, "  chat:  {}", chat_command(config, program_path()))?;
    out.flush()
}

/// The path by which this program was called; it need not be in PATH.
fn program_path() -> PathBuf {
    std::env::args_os().next().unwrap_or_else(|| "concertino".into()).into()
}

/// Returns a command that can be pasted into another terminal to chat with this server.
fn chat_command(config: &Config, program: PathBuf) -> String {
    let mut words = vec![program.display().to_string(), "chat".to_owned()];
    words.extend(config.flags_to_reach());
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("{} \"what can you do?\"", words.join(" "))
}
