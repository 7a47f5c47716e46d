//! Change sets, their files, and the version of each file that a session has seen last: tables derived from the log.

use std::collections::HashMap;

use async_trait::async_trait;
use protocol::{
    ChangeId, MessageId, SessionId, Timestamp, ToolCallId, WorkspaceId,
    file_change::{ChangeSet, ChangeStatus, FileChange, FileState},
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{SqliteStore, apply::TableWriter, json, parse, signed, unsigned};
use crate::{ChangeRecord, ContentUse, FileChanges, SessionKey, StoreError, UnfinishedChange};

/// Columns of a change set `c`, as [`change_set`] reads them.
const SET_COLUMNS: &str = "c.id, c.message, c.tool_call, c.tool, c.agent, c.created_at, c.status";
/// Columns of a changed file `f`, as [`file`] reads them.
const FILE_COLUMNS: &str = "f.change_set, f.path, f.before_content, f.before_bytes, f.before_mode, \
     f.after_content, f.after_bytes, f.after_mode";

#[async_trait]
impl FileChanges for SqliteStore {
    async fn file_changes(&self, key: SessionKey) -> Result<Vec<ChangeRecord>, StoreError> {
        self.readers
            .read(move |connection| {
                let mut files = files_of(connection, key)?;
                let mut statement = connection.prepare_cached(&format!(
                    "SELECT {SET_COLUMNS}, coalesce(p.root, c.message) FROM change_sets c
                     LEFT JOIN frames p ON p.session = c.session AND p.message = c.message
                     WHERE c.session = ?1 ORDER BY c.seq"
                ))?;
                let mut rows = statement.query([key.0])?;
                let mut all = Vec::new();
                while let Some(row) = rows.next()? {
                    let root = MessageId::new(row.get::<_, String>(7)?);
                    all.push(ChangeRecord { set: change_set(row, &mut files)?, root });
                }
                Ok(all)
            })
            .await
    }

    async fn last_read(&self, key: SessionKey, path: &str) -> Result<Option<String>, StoreError> {
        let path = path.to_owned();
        self.look_up(move |connection| known_version(connection, key, &path)).await
    }

    async fn unfinished_changes(&self) -> Result<Vec<UnfinishedChange>, StoreError> {
        self.readers
            .read(|connection| {
                let mut statement = connection.prepare_cached(&format!(
                    "SELECT {SET_COLUMNS}, c.session, s.workspace, s.id
                     FROM change_sets c JOIN sessions s ON s.key = c.session
                     WHERE c.status = 'applying' ORDER BY c.session, c.seq"
                ))?;
                let mut rows = statement.query([])?;
                let mut all = Vec::new();
                while let Some(row) = rows.next()? {
                    let key = SessionKey(row.get(7)?);
                    all.push(UnfinishedChange {
                        workspace: WorkspaceId::new(row.get::<_, String>(8)?),
                        session: SessionId::new(row.get::<_, String>(9)?),
                        key,
                        set: change_set(row, &mut files_of(connection, key)?)?,
                    });
                }
                Ok(all)
            })
            .await
    }

    async fn contents_of_session(&self, key: SessionKey) -> Result<Vec<String>, StoreError> {
        self.readers
            .read(move |connection| {
                let mut statement = connection.prepare_cached(
                    "SELECT before_content FROM changed_files WHERE session = ?1 AND before_content IS NOT NULL
                     UNION SELECT after_content FROM changed_files WHERE session = ?1 AND after_content IS NOT NULL",
                )?;
                let contents = statement.query_map([key.0], |row| row.get(0))?;
                Ok(contents.collect::<rusqlite::Result<_>>()?)
            })
            .await
    }

    async fn contents_in_use(&self, workspace: &WorkspaceId) -> Result<Vec<ContentUse>, StoreError> {
        let workspace = workspace.clone();
        self.readers
            .read(move |connection| {
                let mut statement = connection.prepare_cached(
                    "SELECT u.content, max(u.bytes), max(c.created_at) AS last_used, max(c.status = 'applying')
                     FROM (SELECT session, change_set, before_content AS content, before_bytes AS bytes FROM changed_files
                           UNION ALL
                           SELECT session, change_set, after_content, after_bytes FROM changed_files) u
                     JOIN change_sets c ON c.session = u.session AND c.id = u.change_set
                     JOIN sessions s ON s.key = u.session
                     WHERE s.workspace = ?1 AND u.content IS NOT NULL AND c.status <> 'failed'
                     GROUP BY u.content ORDER BY last_used, u.content",
                )?;
                let contents = statement.query_map([workspace.as_str()], |row| {
                    Ok(ContentUse {
                        content: row.get(0)?,
                        bytes: unsigned(row.get(1)?),
                        last_used: Timestamp(row.get(2)?),
                        is_needed: row.get(3)?,
                    })
                })?;
                Ok(contents.collect::<rusqlite::Result<_>>()?)
            })
            .await
    }

    async fn unused_contents(
        &self,
        workspace: &WorkspaceId,
        contents: Vec<String>,
    ) -> Result<Vec<String>, StoreError> {
        let workspace = workspace.clone();
        self.readers
            .read(move |connection| {
                let mut is_used = connection.prepare_cached(
                    "SELECT 1 FROM changed_files f JOIN change_sets c ON c.session = f.session AND c.id = f.change_set
                     JOIN sessions s ON s.key = f.session
                     WHERE f.before_content = ?2 AND s.workspace = ?1 AND c.status <> 'failed'
                     UNION ALL
                     SELECT 1 FROM changed_files f JOIN change_sets c ON c.session = f.session AND c.id = f.change_set
                     JOIN sessions s ON s.key = f.session
                     WHERE f.after_content = ?2 AND s.workspace = ?1 AND c.status <> 'failed' LIMIT 1",
                )?;
                let mut unused = Vec::new();
                for content in contents {
                    if !is_used.exists(params![workspace.as_str(), content])? {
                        unused.push(content);
                    }
                }
                Ok(unused)
            })
            .await
    }
}

/// What `FilesChanging` says.
pub(super) struct NewChangeSet<'a> {
    pub(super) change: &'a ChangeId,
    pub(super) message: &'a MessageId,
    pub(super) call: Option<&'a ToolCallId>,
    pub(super) tool: &'a str,
    pub(super) agent: &'a [String],
    pub(super) files: &'a [FileChange],
}

impl TableWriter<'_> {
    /// Sets the version of a file that the session knows; with `None` it knows none.
    pub(super) fn note_known_version(&self, path: &str, version: Option<&str>) -> Result<(), StoreError> {
        match version {
            Some(version) => self
                .connection
                .prepare_cached(
                    "INSERT INTO known_files (session, path, version) VALUES (?1, ?2, ?3)
                     ON CONFLICT (session, path) DO UPDATE SET version = excluded.version",
                )?
                .execute(params![self.session.0, path, version])?,
            None => self
                .connection
                .prepare_cached("DELETE FROM known_files WHERE session = ?1 AND path = ?2")?
                .execute(params![self.session.0, path])?,
        };
        Ok(())
    }

    pub(super) fn begin_change_set(&self, new: &NewChangeSet<'_>) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "INSERT INTO change_sets (session, id, seq, message, tool_call, tool, agent, status, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'applying', ?8)",
            )?
            .execute(params![
                self.session.0,
                new.change.as_str(),
                signed(self.seq),
                new.message.as_str(),
                new.call.map(ToolCallId::as_str),
                new.tool,
                json(&new.agent)?,
                self.at.0
            ])?;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO changed_files (session, change_set, place, path, before_content, before_bytes, before_mode,
               after_content, after_bytes, after_mode, known_before)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?;
        for (place, file) in new.files.iter().enumerate() {
            let (before, after) = (file.before.as_ref(), file.after.as_ref());
            insert.execute(params![
                self.session.0,
                new.change.as_str(),
                signed(place as u64),
                file.path,
                before.map(|state| state.content.as_str()),
                before.map(|state| signed(state.bytes)),
                before.map(|state| state.mode),
                after.map(|state| state.content.as_str()),
                after.map(|state| signed(state.bytes)),
                after.map(|state| state.mode),
                known_version(self.connection, self.session, &file.path)?,
            ])?;
            self.note_known_version(&file.path, version_after(file, new.call.is_some()))?;
        }
        Ok(())
    }

    /// A change set is finished once; what comes later is ignored.
    pub(super) fn finish_change_set(&self, change: &ChangeId, error: Option<&str>) -> Result<(), StoreError> {
        let status = if error.is_some() { ChangeStatus::Failed } else { ChangeStatus::Applied };
        let changed = self
            .connection
            .prepare_cached(
                "UPDATE change_sets SET status = ?3, error = ?4
                 WHERE session = ?1 AND id = ?2 AND status = 'applying'",
            )?
            .execute(params![self.session.0, change.as_str(), status_name(status), error])?;
        if changed == 1 && error.is_some() {
            self.take_back_versions(change)?;
        }
        Ok(())
    }

    /// Sets the known versions of the files of a failed change set to those before it, unless a file was read since.
    fn take_back_versions(&self, change: &ChangeId) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {FILE_COLUMNS}, f.known_before, c.tool_call IS NOT NULL
             FROM changed_files f JOIN change_sets c ON c.session = f.session AND c.id = f.change_set
             WHERE f.session = ?1 AND f.change_set = ?2 ORDER BY f.place"
        ))?;
        let mut rows = statement.query(params![self.session.0, change.as_str()])?;
        while let Some(row) = rows.next()? {
            let file = file(row)?;
            let (before, by_call): (Option<String>, bool) = (row.get(8)?, row.get(9)?);
            let now = known_version(self.connection, self.session, &file.path)?;
            if now.as_deref() == version_after(&file, by_call) {
                self.note_known_version(&file.path, before.as_deref())?;
            }
        }
        Ok(())
    }
}

/// The version that the session knows after a change. It knows what its agents wrote; what a person reverted, its agents
/// must read again.
fn version_after(file: &FileChange, by_call: bool) -> Option<&str> {
    file.after.as_ref().filter(|_| by_call).map(|state| state.content.as_str())
}

fn known_version(
    connection: &Connection,
    session: SessionKey,
    path: &str,
) -> Result<Option<String>, StoreError> {
    Ok(connection
        .prepare_cached("SELECT version FROM known_files WHERE session = ?1 AND path = ?2")?
        .query_row(params![session.0, path], |row| row.get(0))
        .optional()?)
}

/// The files of all change sets of a session, by change set.
fn files_of(
    connection: &Connection,
    session: SessionKey,
) -> Result<HashMap<String, Vec<FileChange>>, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {FILE_COLUMNS} FROM changed_files f WHERE f.session = ?1 ORDER BY f.change_set, f.place"
    ))?;
    let mut rows = statement.query([session.0])?;
    let mut files: HashMap<String, Vec<FileChange>> = HashMap::new();
    while let Some(row) = rows.next()? {
        files.entry(row.get(0)?).or_default().push(file(row)?);
    }
    Ok(files)
}

fn file(row: &Row<'_>) -> rusqlite::Result<FileChange> {
    Ok(FileChange { path: row.get(1)?, before: state(row, 2)?, after: state(row, 5)? })
}

/// The state whose content, size and mode begin at this column.
fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<FileState>> {
    let Some(content) = row.get::<_, Option<String>>(column)? else { return Ok(None) };
    Ok(Some(FileState { content, bytes: unsigned(row.get(column + 1)?), mode: row.get(column + 2)? }))
}

/// Reads the columns of [`SET_COLUMNS`] and takes the files of the set.
fn change_set(row: &Row<'_>, files: &mut HashMap<String, Vec<FileChange>>) -> Result<ChangeSet, StoreError> {
    let id: String = row.get(0)?;
    Ok(ChangeSet {
        files: files.remove(&id).unwrap_or_default(),
        id: ChangeId::new(id),
        message_id: MessageId::new(row.get::<_, String>(1)?),
        tool_call_id: row.get::<_, Option<String>>(2)?.map(ToolCallId::new),
        tool: row.get(3)?,
        agent: parse(&row.get::<_, String>(4)?)?,
        at: Timestamp(row.get(5)?),
        status: status(&row.get::<_, String>(6)?)?,
    })
}

fn status_name(status: ChangeStatus) -> &'static str {
    match status {
        ChangeStatus::Applying => "applying",
        ChangeStatus::Applied => "applied",
        ChangeStatus::Failed => "failed",
    }
}

fn status(name: &str) -> Result<ChangeStatus, StoreError> {
    Ok(match name {
        "applying" => ChangeStatus::Applying,
        "applied" => ChangeStatus::Applied,
        "failed" => ChangeStatus::Failed,
        other => return Err(StoreError::Corrupt(format!("unknown status of a change set `{other}`"))),
    })
}
