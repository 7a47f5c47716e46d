-- What a person changed in a call they were asked about, and what they allowed for the rest of a session.

ALTER TABLE interactions ADD COLUMN edited TEXT;    -- JSON: the input that ran
ALTER TABLE sessions ADD COLUMN grants TEXT;        -- JSON array, each once
