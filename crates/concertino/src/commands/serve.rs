//! `concertino serve`: listen first, then take up what the last process left, then wait for the end.

use std::{io::Write, process::ExitCode, sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use engine::{SystemClock, transcript::Mirror};
use models::{Catalog, catalog::Standing};
use protocol::WorkspaceId;
use server::{Auth, Limits, ServerSettings, ServerState};
use store::Store;
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::token::owner;
use crate::{
    config::Config,
    data_dir::DataDir,
    lifecycle::{EndRequests, ignore_hangup},
    model_choice, open_files, parts,
};

/// How long runs may go on after the process was asked to end; what is left is taken up at the next start.
const GRACE: Duration = Duration::from_secs(3);

/// How long it may take to bring the write-ahead log into the database at the end.
const CLOSE: Duration = Duration::from_secs(5);

pub(crate) async fn serve(config: &Config) -> Result<ExitCode> {
    ignore_hangup()?;
    if !SystemClock::is_set() {
        bail!("the clock of this machine is before 1970 or after 9999; set it, then start again");
    }
    let data = DataDir::open(config)?;
    let _lock = data.lock()?;
    let database = Arc::new(data.store_locked(config)?);
    let store: Arc<dyn Store> = Arc::clone(&database) as _;
    let token = data.token(config)?;
    let replaced = owner::set(&data, config, &*store, &token).await?;
    if replaced > 0 {
        eprintln!(
            "The owner's token is another than before; the old one is revoked, and its browsers are signed out."
        );
    }
    let catalog = Arc::new(model_choice::catalog(&config.model, &data.providers())?);
    let mirror = config.transcripts.clone().map(Mirror::new);
    let engine =
        parts::engine(config, &data, Arc::clone(&store), Arc::clone(&catalog), mirror.clone()).await?;
    let settings = ServerSettings {
        auth: config.auth,
        hosts: config.hosts.clone(),
        origins: config.origins.clone(),
        max_body_bytes: config.max_body_bytes,
        heartbeat: config.heartbeat,
        limits: Limits {
            connections: open_files::room_for(config.limits.connections),
            ..config.limits.clone()
        },
    };
    // Whoever is told that the server listens may ask it to end.
    let mut end_requests = EndRequests::listen()?;
    let listener = listen(config).await?;
    let state = ServerState::new(engine.clone(), settings);
    let resources = state.resources();
    let router = server::router(state);
    // A closed standard output is no reason to end.
    announce(config, &catalog, &token).unwrap_or_default();
    let mut background = JoinSet::new();
    if config.model.discover {
        background.spawn(async move {
            model_choice::keep_looking(&catalog, |found| say(format_args!("{found}"))).await;
        });
    }
    let end = CancellationToken::new();
    let mirroring = end.clone().drop_guard();
    if let Some(mirror) = mirror {
        let workspaces = workspaces(&*store).await?;
        background.spawn(async move { mirror.run(&store, &workspaces, &end).await });
    }
    match engine.recover().await {
        Ok(0) => {}
        Ok(count) => say(format_args!("Taking up {count} unfinished answers.")),
        Err(error) => tracing::error!(%error, "unfinished answers could not be taken up"),
    }

    let (ask_to_end, asked) = tokio::sync::oneshot::channel::<()>();
    // An error means that the asking side is gone, which is the end as well.
    let serving = server::serve(listener, router, resources, async { asked.await.unwrap_or_default() });
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => {}
        result = end_requests.first() => {
            result?;
            drop(ask_to_end);
            // Streams of unfinished runs would keep the server for ever: they are cut, not closed.
            let finished = async { tokio::join!(engine.shut_down(GRACE), serving) };
            if tokio::time::timeout(GRACE + Duration::from_secs(1), finished).await.is_err() {
                tracing::debug!("open streams were cut");
            }
        }
    }
    drop(mirroring);
    background.shutdown().await;
    // The database file alone holds everything from here on.
    if let Err(error) = database.close(CLOSE).await {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "the write-ahead log stays beside the database"
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// To standard error, which may be a terminal that has gone.
fn say(what: impl std::fmt::Display) {
    writeln!(std::io::stderr(), "{what}").unwrap_or_default();
}

/// Those that anybody has access to.
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
            "cannot listen on {}; is another server there? Choose another address with --listen",
            config.listen
        )
    })
}

fn announce(config: &Config, catalog: &Catalog, token: &str) -> std::io::Result<()> {
    let url = config.url();
    let model = catalog.default_model();
    let and_now = if model.standing == Standing::LastResort && config.model.discover {
        "; looking on this machine"
    } else {
        ""
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "Concertino is listening on {url}")?;
    writeln!(out, "  model: {} ({}{and_now})", model.name, model.why)?;
    match config.auth {
        Auth::Token => writeln!(out, "  open:  {url}/?token={token}")?,
        Auth::Off => writeln!(out, "  open:  {url}/ (authentication is off)")?,
    }
    // As this program was called, so that the line can be copied: it need not be on the path.
    let program = std::env::args().next().unwrap_or_else(|| "concertino".to_owned());
    writeln!(out, "  chat:  {program} chat \"what can you do?\"")?;
    out.flush()
}
