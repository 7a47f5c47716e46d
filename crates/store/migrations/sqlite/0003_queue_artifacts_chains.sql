-- Messages that wait, files that were made, and lines of messages that can be followed without walking them.

ALTER TABLE sessions ADD COLUMN queued INTEGER NOT NULL DEFAULT 0; -- how many rows of queue

CREATE TABLE queue (
    session INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    id      TEXT NOT NULL,             -- the id the message is known by: its own, or that of the message it edits
    body    TEXT NOT NULL,
    PRIMARY KEY (session, seq),
    UNIQUE (session, id)
) WITHOUT ROWID;

CREATE TABLE artifacts (
    id         TEXT PRIMARY KEY,       -- also the name of the file
    workspace  TEXT NOT NULL,
    session    INTEGER NOT NULL,
    message    TEXT NOT NULL,
    tool_call  TEXT,
    name       TEXT NOT NULL,
    media_type TEXT NOT NULL,
    bytes      INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX artifacts_by_time ON artifacts (workspace, created_at DESC, id DESC);
CREATE INDEX artifacts_by_session ON artifacts (session, created_at DESC, id DESC);

-- A chain is a line of messages without a fork: each first child goes on in the chain of its parent, every later
-- child is the head of another. The end of a branch is found by its forks, however long the line is.
ALTER TABLE messages ADD COLUMN chain INTEGER;   -- messages.node of its head
ALTER TABLE messages ADD COLUMN place INTEGER;   -- in its chain, from 0

WITH RECURSIVE line (node, chain, place) AS (
    SELECT node, node, 0 FROM messages m
    WHERE parent IS NULL OR EXISTS (SELECT 1 FROM messages o WHERE o.parent = m.parent AND o.node < m.node)
    UNION ALL
    SELECT c.node, line.chain, line.place + 1 FROM line JOIN messages c ON c.parent = line.node
    WHERE NOT EXISTS (SELECT 1 FROM messages o WHERE o.parent = line.node AND o.node < c.node)
)
UPDATE messages SET chain = line.chain, place = line.place FROM line WHERE line.node = messages.node;

CREATE INDEX messages_by_chain ON messages (chain, place);

CREATE TABLE forks (
    session INTEGER NOT NULL,
    chain   INTEGER NOT NULL,
    place   INTEGER NOT NULL,          -- of the message it forks at
    head    INTEGER NOT NULL,          -- messages.node of the first message of the other chain
    PRIMARY KEY (session, chain, place, head DESC)
) WITHOUT ROWID;

INSERT INTO forks (session, chain, place, head)
SELECT m.session, p.chain, p.place, m.node FROM messages m JOIN messages p ON p.node = m.parent
WHERE m.place = 0;
