//! A folder to a session: everything is read and checked first, then stored in one go, or not at all.

use std::{collections::HashMap, path::Path, sync::Arc};

use protocol::{
    ArtifactId, Clock, IdSource, LogEntry, MessageId, Seq, SessionEvent, SessionId, TitledBy, WorkspaceId,
    transcript::{Agent, Line, SessionFile, TimedEvent, Transcript, rename, to_log},
};
use store::{Append, DeltaRow, Row, SessionKey, SessionTarget, Store, StoreError};

use super::{
    Summary, TranscriptFault, blocking, check, folder,
    source::{Bounds, Source},
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
    let Read { mut transcript, bounds, folder } = blocking(move || read(&from)).await?;
    check::session(&mut transcript.session).map_err(|wrong| folder.wrong(folder::SESSION, wrong))?;
    SessionId::from_outside(transcript.session.id.as_str()).map_err(TranscriptFault::Id)?;
    let renamed = if place.new_ids {
        let id = SessionId::new(format!("chat_{}", place.ids.time_ordered()));
        rename(&mut transcript, id, place.ids)
            .map_err(|error| TranscriptFault::unreadable(source, error.to_string()))?
    } else {
        HashMap::new()
    };
    let log = to_log(&transcript)?;
    is_free(place, &transcript).await?;
    let files = store_files(place, source, folder, bounds, &transcript, &renamed).await?;
    let mut rows = Vec::with_capacity(log.events.len());
    for (seq, TimedEvent { at, event }) in (1..).zip(log.events) {
        rows.push(match DeltaRow::start(seq, at, &event) {
            Some(row) => Row::Deltas(row),
            None => Row::Event(LogEntry { seq, at, event }),
        });
    }
    let session = &transcript.session;
    let last = rows.len() as Seq;
    let append = Append {
        target: SessionTarget::New { workspace: place.workspace.clone(), id: session.id.clone() },
        at: place.clock.now(),
        high_water: Some(last),
        rows,
        messages: log.messages,
    };
    let key = match place.store.append_past(Arc::new(append)).await {
        Err(StoreError::Conflict) => {
            return Err(TranscriptFault::Taken { what: "one of its agents, questions or files".to_owned() });
        }
        key => key?,
    };
    if let Err(error) = dress(place, key, session, last).await {
        place.store.delete_session(key).await?;
        return Err(error.into());
    }
    let agents = all_agents(&transcript.agents).count();
    Ok(Summary { session: session.id.clone(), messages: transcript.lines.len(), agents, files })
}

/// Stores the files that the messages name, after all of them were found to be there and as long as they should be.
async fn store_files(
    place: &Import<'_>,
    source: &Path,
    folder: Source,
    mut bounds: Bounds,
    transcript: &Transcript,
    renamed: &HashMap<ArtifactId, ArtifactId>,
) -> Result<usize, TranscriptFault> {
    let old: HashMap<&ArtifactId, &ArtifactId> = renamed.iter().map(|(old, new)| (new, old)).collect();
    let mut named = Vec::new();
    for (line, artifact) in
        all_lines(transcript).flat_map(|line| line.artifacts.iter().map(move |file| (line, file)))
    {
        let name = old.get(&artifact.id).copied().unwrap_or(&artifact.id);
        let name = folder::plain_name(name.as_str(), source)?.to_owned();
        named.push(Named { name, id: artifact.id.clone(), bytes: artifact.bytes, message: line.id.clone() });
    }
    if named.is_empty() {
        return Ok(0);
    }
    let opened = blocking(move || {
        let files = folder.folder(folder::ARTIFACTS)?;
        let files = files.ok_or_else(|| folder.wrong(folder::ARTIFACTS, "is not there"))?;
        for file in &named {
            file.check(&files, files.length(&file.name)?)?;
        }
        Ok((Arc::new(files), named))
    });
    let (files, named) = opened.await?;
    let count = named.len();
    for file in named {
        let (files, id) = (Arc::clone(&files), file.id.clone());
        let read = blocking(move || {
            let bytes = files.read_file(&file.name, &mut bounds)?;
            file.check(&files, bytes.len() as u64)?;
            Ok((bytes, bounds))
        });
        let (bytes, left) = read.await?;
        bounds = left;
        place.store.put_file(place.workspace, &id, bytes).await?;
    }
    Ok(count)
}

/// A file that a message names.
struct Named {
    /// Its name in the folder.
    name: String,
    id: ArtifactId,
    bytes: u64,
    message: MessageId,
}

impl Named {
    fn check(&self, files: &Source, length: u64) -> Result<(), TranscriptFault> {
        if length == self.bytes {
            return Ok(());
        }
        let wrong = format!("has {length} bytes, and the message {} says {}", self.message, self.bytes);
        Err(files.wrong(&self.name, wrong))
    }
}

/// Appends what the lines do not say: title, pin, main agent and the active branch.
async fn dress(
    place: &Import<'_>,
    key: SessionKey,
    session: &SessionFile,
    last: Seq,
) -> Result<(), StoreError> {
    let mut events = Vec::new();
    if session.is_user_rename {
        events.push(SessionEvent::TitleSet { title: session.title.clone(), by: TitledBy::Person });
    }
    if session.is_pin {
        events.push(SessionEvent::PinSet { pinned: true });
    }
    if let Some(agent) = &session.agent {
        let (agent, previous) = (agent.clone(), agent.clone());
        events.push(SessionEvent::AgentChosen {
            display_name: agent.clone(),
            agent,
            previous,
            request: None,
        });
    }
    if let Some(leaf) = &session.active_leaf {
        let leaf = place.store.newest_leaf(key, leaf).await?;
        events.push(SessionEvent::BranchChosen { leaf: Some(leaf) });
    }
    let at = place.clock.now();
    let high_water = last + events.len() as Seq;
    let entries = (last + 1..).zip(events);
    let append = Append {
        target: SessionTarget::Known(key),
        at,
        rows: entries.map(|(seq, event)| Row::Event(LogEntry { seq, at, event })).collect(),
        messages: Vec::new(),
        high_water: Some(high_water),
    };
    place.store.append(Arc::new(append)).await.map(drop)
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
    folder: Source,
}

fn read(source: &Path) -> Result<Read, TranscriptFault> {
    let mut bounds = Bounds::default();
    let folder = Source::open(source)?;
    let session = folder.read_json(folder::SESSION, &mut bounds)?;
    let lines = folder.read_lines(folder::MESSAGES, &mut bounds)?;
    let agents = read_agents(&folder, &mut bounds, 0)?;
    Ok(Read { transcript: Transcript { session, lines, agents }, bounds, folder })
}

fn read_agents(source: &Source, bounds: &mut Bounds, depth: usize) -> Result<Vec<Agent>, TranscriptFault> {
    const DEEPEST: usize = 16;
    let mut agents: Vec<Agent> = Vec::new();
    let Some(folder) = source.folder(folder::AGENTS)? else { return Ok(agents) };
    for (name, own) in folder.folders(bounds)? {
        if depth >= DEEPEST {
            return Err(source.wrong(folder::AGENTS, format!("agents may be nested {DEEPEST} levels deep")));
        }
        let file: protocol::transcript::AgentFile = own.read_json(folder::SESSION, bounds)?;
        if file.id.as_str() != name || !name.starts_with(SessionId::PREFIX) {
            let wrong =
                format!("id: must be the name of its folder and begin with \"{}\"", SessionId::PREFIX);
            return Err(own.wrong(folder::SESSION, wrong));
        }
        let lines = own.read_lines(folder::MESSAGES, bounds)?;
        agents.push(Agent { file, lines, agents: read_agents(&own, bounds, depth + 1)? });
    }
    Ok(agents)
}
