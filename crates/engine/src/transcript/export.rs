//! A session to a folder: the log folded, the files copied, all of it beside the target first and then moved there.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

use protocol::{
    ArtifactId, MessageRef, SessionId, WorkspaceId,
    transcript::{Agent, Line, SessionFile, Transcript, read_log},
};
use store::{SessionRecord, Store, StoreError};

use super::{Summary, TranscriptFault, blocking, folder};

const READ_BYTES: usize = 1 << 20;

/// Writes a session to a folder that is not there yet, or empty.
pub async fn export(
    store: &Arc<dyn Store>,
    workspace: &WorkspaceId,
    session: &SessionId,
    target: &Path,
) -> Result<Summary, TranscriptFault> {
    let place = target.to_owned();
    blocking(move || is_free(&place)).await?;
    let record = store.session(workspace, session).await?;
    let record = record.ok_or_else(|| TranscriptFault::NoSession(session.clone()))?;
    let beside = beside(target);
    let summary = write_to(store, &record, &beside).await;
    let target = target.to_owned();
    blocking(move || {
        let moved = summary.and_then(|summary| take_place(&beside, &target).map(|()| summary));
        if moved.is_err() {
            // What is left of it is of no use; the failure is what matters.
            drop(fs::remove_dir_all(&beside));
        }
        moved
    })
    .await
}

fn is_free(target: &Path) -> Result<(), TranscriptFault> {
    match fs::read_dir(target).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Err(TranscriptFault::NotEmpty(target.to_owned())),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(TranscriptFault::file(target, error))
        }
        _ => Ok(()),
    }
}

fn take_place(beside: &Path, target: &Path) -> Result<(), TranscriptFault> {
    let fail = |error| TranscriptFault::file(target, error);
    if target.exists() {
        fs::remove_dir(target).map_err(fail)?;
    }
    fs::rename(beside, target).map_err(fail)
}

/// Where a folder is put together before it takes its place.
pub(super) fn beside(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

/// Writes a session into this folder, which is made anew.
pub(super) async fn write_to(
    store: &Arc<dyn Store>,
    record: &SessionRecord,
    target: &Path,
) -> Result<Summary, TranscriptFault> {
    let transcript = load(store, record).await?;
    let mut files = Vec::new();
    artifacts(&transcript.lines, &mut files);
    transcript.agents.iter().for_each(|agent| below(agent, &mut files));
    let mut sources = Vec::with_capacity(files.len());
    for id in &files {
        sources.push((id.clone(), store.open_file(&record.workspace, id).await?));
    }
    let summary = Summary {
        session: record.id.clone(),
        messages: transcript.lines.len(),
        agents: count(&transcript.agents),
        files: files.len(),
    };
    let target = target.to_owned();
    blocking(move || write(&target, &transcript, sources)).await?;
    Ok(summary)
}

async fn load(store: &Arc<dyn Store>, record: &SessionRecord) -> Result<Transcript, TranscriptFault> {
    let mut log = Vec::new();
    let mut after = 0;
    loop {
        let entries = store.read_log(record.key, after, READ_BYTES).await?;
        let Some(last) = entries.last() else { break };
        after = last.seq;
        log.extend(entries);
    }
    let session = SessionFile {
        version: SessionFile::VERSION,
        id: record.id.clone(),
        title: record.title.clone(),
        is_user_rename: record.is_titled,
        is_pin: !store.pinned(&[record.key]).await?.is_empty(),
        created_at: record.created_at,
        updated_at: record.updated_at,
        message_count: 0,
        active_leaf: None,
        session_preface: None,
        preface_agent: None,
        agent: record.agent.clone(),
    };
    let mut transcript = read_log(&session, log).map_err(|error| StoreError::Corrupt(error.to_string()))?;
    let reference = |line: &Line| MessageRef { id: line.id.clone(), revision: line.revision };
    // What a run is still writing is not in the files.
    let leaf = record
        .active_leaf
        .as_ref()
        .and_then(|leaf| transcript.lines.iter().map(reference).find(|line| line == leaf));
    transcript.session.active_leaf = leaf.or_else(|| transcript.lines.last().map(reference));
    Ok(transcript)
}

fn artifacts(lines: &[Line], files: &mut Vec<ArtifactId>) {
    files.extend(lines.iter().flat_map(|line| &line.artifacts).map(|artifact| artifact.id.clone()));
}

fn below(agent: &Agent, files: &mut Vec<ArtifactId>) {
    artifacts(&agent.lines, files);
    agent.agents.iter().for_each(|agent| below(agent, files));
}

fn count(agents: &[Agent]) -> usize {
    agents.iter().map(|agent| 1 + count(&agent.agents)).sum()
}

fn write(
    target: &Path,
    transcript: &Transcript,
    files: Vec<(ArtifactId, File)>,
) -> Result<(), TranscriptFault> {
    folder::make_anew(target)?;
    folder::write_json(&target.join(folder::SESSION), &transcript.session)?;
    folder::write_lines(&target.join(folder::MESSAGES), &transcript.lines)?;
    agents(target, &transcript.agents)?;
    if !files.is_empty() {
        folder::make(&target.join(folder::ARTIFACTS))?;
    }
    for (id, mut file) in files {
        let path = target.join(folder::ARTIFACTS).join(folder::plain_name(id.as_str(), target)?);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| TranscriptFault::file(&path, error))?;
        folder::write_file(&path, &bytes)?;
    }
    folder::sync(target)
}

fn agents(target: &Path, agents_below: &[Agent]) -> Result<(), TranscriptFault> {
    for agent in agents_below {
        let name = folder::plain_name(agent.file.id.as_str(), target)?;
        let own = target.join(folder::AGENTS).join(name);
        folder::make(&own)?;
        folder::write_json(&own.join(folder::SESSION), &agent.file)?;
        folder::write_lines(&own.join(folder::MESSAGES), &agent.lines)?;
        agents(&own, &agent.agents)?;
        folder::sync(&own)?;
    }
    Ok(())
}
