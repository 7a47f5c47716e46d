-- How often in a row the process ended unexpectedly while a run was active, and what its recovery was doing.

CREATE TABLE recovery_attempts (
    session INTEGER NOT NULL,          -- sessions.key
    unit    TEXT NOT NULL,             -- the message of the run; or, when no run was active, the queued message that begins
    crashes INTEGER NOT NULL,
    stage   INTEGER NOT NULL,          -- 0 not taken up, 1 its log is being folded, 2 active
    PRIMARY KEY (session, unit)
) WITHOUT ROWID;
CREATE TRIGGER recovery_attempts_go_with_their_session AFTER DELETE ON sessions
BEGIN
    DELETE FROM recovery_attempts WHERE session = OLD.key;
END;

-- One row while no process serves, if the last one was asked to end; none after a crash.
CREATE TABLE clean_end (
    one INTEGER PRIMARY KEY CHECK (one = 1)
);
