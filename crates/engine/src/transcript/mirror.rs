//! Every session as a folder, kept up to date while the server runs. Nobody waits for it: a session that changed is noted,
//! and one task writes them one after the other, on the threads for slow work.
//!
//! A folder is put together beside its place and moved there, so a crash leaves the old one or the new one. It says how far
//! the log was when it was written; at the start everything that is behind is written again.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use protocol::{SessionId, WorkspaceId};
use store::{SessionRecord, Store};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{
    TranscriptFault, blocking,
    export::{beside, write_to},
};

/// Sessions that may wait by name; when there are more, all are looked at.
const MOST_NOTED: usize = 10_000;
const PAGE: u32 = 200;
/// How far the log was when the folder was written.
const MARK: &str = ".mirrored";

#[derive(Debug)]
pub struct Mirror {
    folder: PathBuf,
    changed: Mutex<Changed>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Changed {
    sessions: BTreeSet<(WorkspaceId, SessionId)>,
    /// Too many: look at all.
    all: bool,
}

impl Mirror {
    pub fn new(folder: PathBuf) -> Arc<Self> {
        Arc::new(Self { folder, changed: Mutex::default(), wake: Notify::new() })
    }

    /// Something of this session is other than it was. Costs a moment and never waits.
    pub fn note(&self, workspace: &WorkspaceId, session: &SessionId) {
        let mut changed = self.changed.lock();
        if changed.sessions.len() < MOST_NOTED {
            changed.sessions.insert((workspace.clone(), session.clone()));
        } else {
            changed.all = true;
        }
        drop(changed);
        self.wake.notify_one();
    }

    /// Writes what changed, until it is told to end; begins with what an earlier process left behind.
    pub async fn run(&self, store: &Arc<dyn Store>, workspaces: &[WorkspaceId], end: &CancellationToken) {
        self.catch_up(store, workspaces, end).await;
        loop {
            let Changed { sessions, all } = std::mem::take(&mut *self.changed.lock());
            for (workspace, session) in sessions {
                if end.is_cancelled() {
                    return;
                }
                self.write(store, &workspace, &session).await;
            }
            if all {
                self.catch_up(store, workspaces, end).await;
            }
            tokio::select! {
                () = end.cancelled() => return,
                () = self.wake.notified() => {}
            }
        }
    }

    /// Writes every session whose folder is behind its log.
    async fn catch_up(&self, store: &Arc<dyn Store>, workspaces: &[WorkspaceId], end: &CancellationToken) {
        for workspace in workspaces {
            let mut before = None;
            loop {
                let page = match store.sessions(workspace, before, PAGE).await {
                    Ok(page) => page,
                    Err(error) => {
                        return tracing::warn!(%error, "sessions could not be listed for the mirror");
                    }
                };
                let marks = page
                    .sessions
                    .iter()
                    .map(|record| (self.place(&record.workspace, &record.id).join(MARK), mark_of(record)));
                let behind = match behind(marks.collect()).await {
                    Ok(behind) => behind,
                    Err(error) => {
                        return tracing::warn!(%error, "the folders of the mirror could not be looked at");
                    }
                };
                for (record, _) in page.sessions.iter().zip(behind).filter(|(_, behind)| *behind) {
                    if end.is_cancelled() {
                        return;
                    }
                    self.write(store, &record.workspace, &record.id).await;
                }
                before = page.sessions.last().map(SessionRecord::cursor);
                if !page.more || before.is_none() {
                    break;
                }
            }
        }
    }

    /// Brings one folder up to date; a failure is told and tried again when the session changes next.
    async fn write(&self, store: &Arc<dyn Store>, workspace: &WorkspaceId, session: &SessionId) {
        if let Err(error) = self.try_write(store, workspace, session).await {
            tracing::warn!(%session, %error, "a session could not be mirrored");
        }
    }

    async fn try_write(
        &self,
        store: &Arc<dyn Store>,
        workspace: &WorkspaceId,
        session: &SessionId,
    ) -> Result<(), TranscriptFault> {
        let place = self.place(workspace, session);
        let Some(record) = store.session(workspace, session).await? else {
            return blocking(move || remove(&place)).await;
        };
        let new = beside(&place);
        write_to(store, &record, &new).await?;
        let mark = mark_of(&record);
        blocking(move || take_place(&new, &place, &mark)).await
    }

    /// Where a session's folder is. Ids are what clients chose: whatever could mean something to a file system is written
    /// as hex, and what is too long for a name is cut and told apart by its sum.
    fn place(&self, workspace: &WorkspaceId, session: &SessionId) -> PathBuf {
        self.folder.join(name_of(workspace.as_str())).join(name_of(session.as_str()))
    }
}

/// Which of these folders do not have the mark they should have.
async fn behind(marks: Vec<(PathBuf, String)>) -> Result<Vec<bool>, TranscriptFault> {
    let is_behind =
        |(path, mark): &(PathBuf, String)| fs::read_to_string(path).ok().as_deref() != Some(mark.as_str());
    blocking(move || Ok(marks.iter().map(is_behind).collect())).await
}

/// The new folder with its mark takes the place of the old one.
fn take_place(new: &Path, place: &Path, mark: &str) -> Result<(), TranscriptFault> {
    let path = new.join(MARK);
    fs::write(&path, mark).map_err(|error| TranscriptFault::file(&path, error))?;
    let old = place.with_extension("old");
    remove(&old)?;
    if place.exists() {
        fs::rename(place, &old).map_err(|error| TranscriptFault::file(place, error))?;
    }
    fs::rename(new, place).map_err(|error| TranscriptFault::file(place, error))?;
    remove(&old)
}

fn mark_of(record: &SessionRecord) -> String {
    format!("{} {} {}\n", record.high_water, record.updated_at.0, record.message_count)
}

fn remove(path: &Path) -> Result<(), TranscriptFault> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(TranscriptFault::file(path, error)),
        _ => Ok(()),
    }
}

fn name_of(id: &str) -> String {
    const LONGEST: usize = 150;
    let mut name = String::from("s-");
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => name.push(char::from(byte)),
            other => name.push_str(&format!("_{other:02x}")),
        }
    }
    if name.len() > LONGEST {
        // FNV-1a: two long ids that begin alike still have two names.
        let sum = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        name.truncate(LONGEST);
        name.push_str(&format!("-{sum:016x}"));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_one_harmless_name() {
        assert_eq!(name_of("chat-1"), "s-chat-1");
        assert_eq!(name_of("../x"), "s-_2e_2e_2fx");
        assert_ne!(name_of("A"), name_of("a"), "also where a file system takes them for the same");
        let (one, two) = (format!("{}1", "é".repeat(99)), format!("{}2", "é".repeat(99)));
        assert!(name_of(&one).len() < 200 && name_of(&one) != name_of(&two));
    }
}
