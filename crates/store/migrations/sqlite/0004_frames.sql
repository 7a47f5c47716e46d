-- Sub-agents: one row each, with the message it wrote. The main agent's message stands in `messages`.

CREATE TABLE frames (
    session     INTEGER NOT NULL,
    message     TEXT NOT NULL,
    parent      TEXT NOT NULL,         -- the message that delegated
    call        TEXT NOT NULL,         -- the call in it
    root        TEXT NOT NULL,         -- runs.message
    chat        TEXT NOT NULL,         -- the id under which it can be followed
    task        TEXT NOT NULL,
    status      TEXT NOT NULL,         -- running, parked, finished, cancelled, failed
    first_seq   INTEGER NOT NULL,
    last_resume INTEGER NOT NULL DEFAULT 0,
    opened_at   INTEGER NOT NULL,
    body        TEXT,                  -- the message, once it paused or ended
    PRIMARY KEY (session, message)
) WITHOUT ROWID;
CREATE INDEX frames_by_root ON frames (session, root);
CREATE INDEX frames_by_chat ON frames (chat);
