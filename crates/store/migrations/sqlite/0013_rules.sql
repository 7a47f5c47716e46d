-- Rules about which calls run: those of a workspace, those of a session, and what a person was told before they answered.

CREATE TABLE rules (
    workspace  TEXT NOT NULL,
    id         TEXT NOT NULL,
    rule       TEXT NOT NULL,       -- JSON
    created_at INTEGER NOT NULL,
    principal  TEXT,                -- who added it; NULL: with the answer to a question
    PRIMARY KEY (workspace, id)
) WITHOUT ROWID;

ALTER TABLE sessions RENAME COLUMN grants TO rules;     -- JSON array; elements of older versions are {"tool", "scope"}
ALTER TABLE interactions ADD COLUMN question TEXT;      -- JSON; NULL: asked before it was stored
