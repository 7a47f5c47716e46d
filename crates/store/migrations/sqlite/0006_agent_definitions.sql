-- Agents that workspaces define. What else is said about one is JSON in `fields`: it is read and written whole.

CREATE TABLE agent_definitions (
    workspace  TEXT NOT NULL,
    id         TEXT NOT NULL,
    name       TEXT NOT NULL,
    enabled    INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    fields     TEXT NOT NULL,
    PRIMARY KEY (workspace, id),
    UNIQUE (workspace, name)
) WITHOUT ROWID;
