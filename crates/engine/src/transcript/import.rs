//! A folder to a session: everything is read and checked first, then stored in one go, or not at all.

use std::{collections::HashMap, path::Path, sync::Arc};

use protocol::{
    ArtifactId, Clock, IdSource, LogEntry, SessionId, WorkspaceId,
    transcript::{Agent, Line, SessionFile, Transcript, rename, to_log},
};
use store::{Append, DeltaRow, Row, SessionKey, SessionTarget, Store, StoreError};

use super::{
    Summary, TranscriptFault,
    folder::{self, Bounds},
};

/// Where a session goes.
pub struct Import<'a> {
    pub store: &'a Arc<dyn Store>,
    pub workspace: &'a WorkspaceId,
    pub clock: &'a dyn Clock,
    pub ids: &'a dyn IdSource,
    /// All that must be unique gets another id, the session as well.
    pub new_ids: bool,
}

pub async fn import(place: &Import<'_>, source: &Path) -> Result<Summary, TranscriptFault> {
    let from = source.to_owned();
    let read = tokio::task::spawn_blocking(move || read(&from)).await;
    let Read { mut transcript, mut bounds } =
        read.map_err(|error| StoreError::Unavailable(Box::new(error)))??;
    SessionId::from_outside(transcript.session.id.as_str()).map_err(TranscriptFault::Id)?;
    let renamed = if place.new_ids {
        let id = SessionId::new(format!("chat_{}", place.ids.time_ordered()));
        rename(&mut transcript, id, place.ids)
            .map_err(|error| TranscriptFault::unreadable(source, error.to_string()))?
    } else {
        HashMap::new()
    };
    let old: HashMap<&ArtifactId, &ArtifactId> = renamed.iter().map(|(old, new)| (new, old)).collect();
    let log = to_log(&transcript)?;
    is_free(place, &transcript).await?;
    let mut files = 0;
    for (line, artifact) in
        all_lines(&transcript).flat_map(|line| line.artifacts.iter().map(move |file| (line, file)))
    {
        let name = old.get(&artifact.id).copied().unwrap_or(&artifact.id);
        let path = source.join(folder::ARTIFACTS).join(folder::plain_name(name.as_str(), source)?);
        let bytes = folder::read_file(&path, &mut bounds)?;
        if bytes.len() as u64 != artifact.bytes {
            let wrong =
                format!("has {} bytes, and the message {} says {}", bytes.len(), line.id, artifact.bytes);
            return Err(TranscriptFault::unreadable(&path, wrong));
        }
        place.store.put_file(place.workspace, &artifact.id, bytes).await?;
        files += 1;
    }
    let mut rows = Vec::with_capacity(log.events.len());
    for (seq, (at, event)) in (1..).zip(log.events) {
        rows.push(match DeltaRow::start(seq, at, &event) {
            Some(row) => Row::Deltas(row),
            None => Row::Event(LogEntry { seq, at, event }),
        });
    }
    let session = &transcript.session;
    let append = Append {
        target: SessionTarget::New { workspace: place.workspace.clone(), id: session.id.clone() },
        at: place.clock.now(),
        high_water: Some(rows.len() as u64),
        rows,
        messages: log.messages,
    };
    let key = match place.store.append_past(Arc::new(append)).await {
        Err(StoreError::Conflict) => {
            return Err(TranscriptFault::Taken { what: "one of its agents, questions or files".to_owned() });
        }
        key => key?,
    };
    if let Err(error) = dress(place, key, session).await {
        place.store.delete_session(key).await?;
        return Err(error.into());
    }
    let agents = all_agents(&transcript.agents).count();
    Ok(Summary { session: session.id.clone(), messages: transcript.lines.len(), agents, files })
}

/// What the log does not say.
async fn dress(place: &Import<'_>, key: SessionKey, session: &SessionFile) -> Result<(), StoreError> {
    let store = place.store;
    if store.session_by_key(key).await?.is_some_and(|record| record.unsettled) {
        store.settle_planted(key).await?;
    }
    if session.is_user_rename {
        store.rename_session(key, session.title.clone()).await?;
    }
    if session.is_pin {
        store.pin_session(key, Some(place.clock.now())).await?;
    }
    if let Some(leaf) = &session.active_leaf {
        store.choose_branch(key, leaf).await?;
    }
    Ok(())
}

/// Nothing of another session may be written over, or be found in its place.
async fn is_free(place: &Import<'_>, transcript: &Transcript) -> Result<(), TranscriptFault> {
    let taken = |what: String| Err(TranscriptFault::Taken { what });
    let id = &transcript.session.id;
    if place.store.session(place.workspace, id).await?.is_some() {
        return taken(format!("the session {id:?}"));
    }
    for agent in all_agents(&transcript.agents) {
        let chat = &agent.file.id;
        if place.store.frame_of_chat(place.workspace, chat).await?.is_some() {
            return taken(format!("the agent {chat:?}"));
        }
    }
    for artifact in all_lines(transcript).flat_map(|line| &line.artifacts) {
        if place.store.artifact(place.workspace, &artifact.id).await?.is_some() {
            return taken(format!("the file {:?}", artifact.id));
        }
    }
    Ok(())
}

fn all_agents(agents: &[Agent]) -> Box<dyn Iterator<Item = &Agent> + Send + '_> {
    Box::new(agents.iter().flat_map(|agent| std::iter::once(agent).chain(all_agents(&agent.agents))))
}

fn all_lines(transcript: &Transcript) -> impl Iterator<Item = &Line> + Send {
    transcript.lines.iter().chain(all_agents(&transcript.agents).flat_map(|agent| &agent.lines))
}

struct Read {
    transcript: Transcript,
    bounds: Bounds,
}

fn read(source: &Path) -> Result<Read, TranscriptFault> {
    let mut bounds = Bounds::default();
    let session = folder::read_json(&source.join(folder::SESSION), &mut bounds)?;
    let lines = folder::read_lines(&source.join(folder::MESSAGES), &mut bounds)?;
    let agents = read_agents(source, &mut bounds, 0)?;
    Ok(Read { transcript: Transcript { session, lines, agents }, bounds })
}

fn read_agents(source: &Path, bounds: &mut Bounds, depth: usize) -> Result<Vec<Agent>, TranscriptFault> {
    const DEEPEST: usize = 16;
    let folder = source.join(folder::AGENTS);
    let mut agents: Vec<Agent> = Vec::new();
    for name in folder::folders(&folder, bounds)? {
        if depth >= DEEPEST {
            return Err(TranscriptFault::unreadable(
                &folder,
                format!("agents may be nested {DEEPEST} levels deep"),
            ));
        }
        let own = folder.join(&name);
        let path = own.join(folder::SESSION);
        let file: protocol::transcript::AgentFile = folder::read_json(&path, bounds)?;
        if file.id.as_str() != name || !name.starts_with(SessionId::PREFIX) {
            let wrong =
                format!("id: must be the name of its folder and begin with \"{}\"", SessionId::PREFIX);
            return Err(TranscriptFault::unreadable(&path, wrong));
        }
        let lines = folder::read_lines(&own.join(folder::MESSAGES), bounds)?;
        agents.push(Agent { file, lines, agents: read_agents(&own, bounds, depth + 1)? });
    }
    Ok(agents)
}
