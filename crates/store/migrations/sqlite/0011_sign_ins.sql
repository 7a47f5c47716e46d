-- A token that was revoked keeps its row, so that it can never be used again.
ALTER TABLE tokens ADD COLUMN owner INTEGER NOT NULL DEFAULT 0;      -- 1: from the data folder or CONCERTINO_TOKEN
ALTER TABLE tokens ADD COLUMN revoked_at INTEGER;
-- Which of these is the present one is known at the next start, which revokes the others.
UPDATE tokens SET owner = 1 WHERE principal = 'owner' AND workspace = 'default';

-- A browser that opened the sign-in link. Only the SHA-256 of its cookie is kept.
CREATE TABLE sign_ins (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    sha256       BLOB NOT NULL UNIQUE,
    token        INTEGER NOT NULL,     -- tokens.id; says whose sign-in it is, and for which workspace
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,     -- to the minute
    expires_at   INTEGER NOT NULL,
    user_agent   TEXT NOT NULL
);
CREATE INDEX sign_ins_by_token ON sign_ins (token);

-- One row that changes with every revocation, by whichever process: a server with open streams watches it.
CREATE TABLE revocations (count INTEGER NOT NULL);
INSERT INTO revocations VALUES (0);
CREATE TRIGGER a_revoked_token_is_counted AFTER UPDATE OF revoked_at ON tokens
BEGIN
    UPDATE revocations SET count = count + 1;
END;
CREATE TRIGGER an_ended_sign_in_is_counted AFTER DELETE ON sign_ins
BEGIN
    UPDATE revocations SET count = count + 1;
END;
