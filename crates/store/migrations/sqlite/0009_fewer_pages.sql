-- Every tree that a commit touches costs a page of the write-ahead log, so a turn touches as few as it can.

-- Rows of the log lie in the order they came: what many sessions store at once is a few pages, not one for each.
CREATE TABLE log_rows (
    place    INTEGER PRIMARY KEY,
    session  INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    to_seq   INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    body     TEXT NOT NULL             -- the events from_seq..to_seq that were stored together, deltas joined
);
INSERT INTO log_rows (session, from_seq, to_seq, at, body)
SELECT session, from_seq, to_seq, at, body FROM log ORDER BY session, from_seq;
DROP TABLE log;
ALTER TABLE log_rows RENAME TO log;
CREATE UNIQUE INDEX log_by_session ON log (session, from_seq);

-- The head of a chain knows its last message; a head that was added since has no `chain` of its own.
ALTER TABLE messages ADD COLUMN tail INTEGER;    -- messages.node; NULL while the head is alone
UPDATE messages SET tail = (SELECT l.node FROM messages l WHERE l.chain = messages.node ORDER BY l.place DESC LIMIT 1)
WHERE chain = node;
DROP INDEX messages_by_chain;

-- Keys are given by the process, which needs no table of its own for that; whether a run is on stands where the
-- session is listed, and both change together.
CREATE TABLE sessions_now (
    key           INTEGER PRIMARY KEY,
    workspace     TEXT NOT NULL,
    id            TEXT NOT NULL,
    title         TEXT,
    titled_by     TEXT,                -- NULL for its first words, 'model', or 'person'
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    running       INTEGER NOT NULL DEFAULT 0,
    message_count INTEGER NOT NULL DEFAULT 0,
    queued        INTEGER NOT NULL DEFAULT 0, -- how many rows of queue
    leaf          INTEGER,             -- messages.node
    high_water    INTEGER NOT NULL,    -- no event was told under a higher number
    last_run      TEXT,                -- runs.message of the newest run
    planted       INTEGER,             -- how many planted messages have their rows; NULL when all have
    planted_tail  INTEGER,             -- messages.node of the last of them
    planted_child INTEGER,             -- messages.node of what hangs behind the last planted message
    preface       TEXT,
    preface_agent TEXT,
    grants        TEXT,                -- JSON array, each once
    UNIQUE (workspace, id)
);
INSERT INTO sessions_now (key, workspace, id, title, titled_by, created_at, updated_at, running, message_count, queued,
    leaf, high_water, last_run, planted, planted_tail, planted_child, preface, preface_agent, grants)
SELECT key, workspace, id, title, titled_by, created_at, updated_at,
    EXISTS (SELECT 1 FROM runs WHERE runs.session = sessions.key AND runs.status = 'running'), message_count, queued,
    leaf, high_water, last_run, planted, planted_tail, planted_child, preface, preface_agent, grants
FROM sessions ORDER BY key;
DROP TABLE sessions;
ALTER TABLE sessions_now RENAME TO sessions;
CREATE INDEX sessions_by_time ON sessions (workspace, updated_at, key, running);
CREATE TRIGGER pins_go_with_their_session AFTER DELETE ON sessions
BEGIN
    DELETE FROM pins WHERE session = OLD.key;
END;

DROP INDEX runs_on;
