-- Sessions, messages, runs, interactions, usage and the log they are folds of.
-- Keys are composite by workspace and session: the same message id may occur in two chats.

CREATE TABLE sessions (
    key           INTEGER PRIMARY KEY AUTOINCREMENT, -- a key is never given twice
    workspace     TEXT NOT NULL,
    id            TEXT NOT NULL,
    title         TEXT,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    message_count INTEGER NOT NULL DEFAULT 0,
    leaf          INTEGER,             -- messages.node
    high_water    INTEGER NOT NULL,    -- no event was told under a higher number
    last_run      TEXT,                -- runs.message of the newest run
    planted       INTEGER,             -- how many planted messages have their rows; NULL when all have
    planted_tail  INTEGER,             -- messages.node of the last of them
    planted_child INTEGER,             -- messages.node of what hangs behind the last planted message
    UNIQUE (workspace, id)
);
CREATE INDEX sessions_by_time ON sessions (workspace, updated_at DESC, key DESC);

CREATE TABLE messages (
    node       INTEGER PRIMARY KEY,
    session    INTEGER NOT NULL,
    id         TEXT NOT NULL,
    revision   INTEGER NOT NULL,
    parent     INTEGER,                -- messages.node
    created_at INTEGER NOT NULL,
    body       TEXT NOT NULL,
    UNIQUE (session, id, revision)
);
CREATE INDEX messages_by_parent ON messages (parent) WHERE parent IS NOT NULL;

CREATE TABLE runs (
    session     INTEGER NOT NULL,
    message     TEXT NOT NULL,         -- the message it writes
    id          TEXT NOT NULL,
    answers     INTEGER NOT NULL,      -- messages.node
    status      TEXT NOT NULL,         -- running, parked, or how it ended
    first_seq   INTEGER NOT NULL,
    last_resume INTEGER NOT NULL DEFAULT 0,
    options     TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    PRIMARY KEY (session, message)
) WITHOUT ROWID;
CREATE INDEX runs_on ON runs (status) WHERE status = 'running';

CREATE TABLE log (
    session  INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    to_seq   INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    body     TEXT NOT NULL,            -- the events from_seq..to_seq that were stored together, deltas joined
    PRIMARY KEY (session, from_seq)
) WITHOUT ROWID;

CREATE TABLE interactions (
    id          TEXT PRIMARY KEY,
    session     INTEGER NOT NULL,
    run         TEXT NOT NULL,
    message     TEXT NOT NULL,
    tool_call   TEXT NOT NULL,
    tool        TEXT NOT NULL,
    input       TEXT NOT NULL,
    status      TEXT NOT NULL,
    reason      TEXT,
    asked_at    INTEGER NOT NULL,
    asked_seq   INTEGER NOT NULL,
    answered_at INTEGER
) WITHOUT ROWID;
CREATE INDEX interactions_by_message ON interactions (session, message, asked_seq);

CREATE TABLE notes (
    session INTEGER NOT NULL,
    name    TEXT NOT NULL,
    data    TEXT NOT NULL,
    PRIMARY KEY (session, name)
) WITHOUT ROWID;

CREATE TABLE usage (
    session             INTEGER NOT NULL,
    seq                 INTEGER NOT NULL,
    at                  INTEGER NOT NULL,
    message             TEXT NOT NULL,
    model               TEXT NOT NULL,
    input_tokens        INTEGER NOT NULL,
    output_tokens       INTEGER NOT NULL,
    total_tokens        INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    reasoning_tokens    INTEGER NOT NULL,
    duration_ms         INTEGER NOT NULL,
    PRIMARY KEY (session, seq)
) WITHOUT ROWID;

CREATE TABLE tokens (
    id         INTEGER PRIMARY KEY,
    sha256     BLOB NOT NULL UNIQUE,
    principal  TEXT NOT NULL,
    workspace  TEXT NOT NULL,
    created_at INTEGER NOT NULL
);
