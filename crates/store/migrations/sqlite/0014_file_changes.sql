-- What tools changed in the files of the workspace, and which version of a file a session has seen last.

CREATE TABLE change_sets (
    session    INTEGER NOT NULL,
    id         TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    message    TEXT NOT NULL,          -- of the agent that made it
    tool_call  TEXT,                   -- NULL: a person reverted changes
    tool       TEXT NOT NULL,
    agent      TEXT NOT NULL,          -- JSON array: the agents from the root to the one that made it
    status     TEXT NOT NULL,          -- applying, applied, failed
    error      TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (session, id)
) WITHOUT ROWID;
CREATE INDEX change_sets_unfinished ON change_sets (session) WHERE status = 'applying';

CREATE TABLE changed_files (
    session        INTEGER NOT NULL,
    change_set     TEXT NOT NULL,
    place          INTEGER NOT NULL,   -- in the change set, from 0
    path           TEXT NOT NULL,
    before_content TEXT,               -- NULL: the file did not exist
    before_bytes   INTEGER,
    before_mode    INTEGER,
    after_content  TEXT,               -- NULL: the file is deleted
    after_bytes    INTEGER,
    after_mode     INTEGER,
    known_before   TEXT,               -- known_files.version before the change set
    PRIMARY KEY (session, change_set, place)
) WITHOUT ROWID;
CREATE INDEX changed_files_by_before ON changed_files (before_content) WHERE before_content IS NOT NULL;
CREATE INDEX changed_files_by_after ON changed_files (after_content) WHERE after_content IS NOT NULL;

CREATE TABLE known_files (
    session INTEGER NOT NULL,
    path    TEXT NOT NULL,
    version TEXT NOT NULL,
    PRIMARY KEY (session, path)
) WITHOUT ROWID;
