-- Sessions that a person keeps at the top of the list.

CREATE TABLE pins (
    session INTEGER PRIMARY KEY,       -- sessions.key
    at      INTEGER NOT NULL
);
CREATE TRIGGER pins_go_with_their_session AFTER DELETE ON sessions
BEGIN
    DELETE FROM pins WHERE session = OLD.key;
END;
CREATE INDEX interactions_pending ON interactions (session) WHERE status = 'pending';
