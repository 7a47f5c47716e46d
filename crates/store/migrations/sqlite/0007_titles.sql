-- Who named a session: NULL for its first words, 'model', or 'person', whose title nothing replaces by itself.
-- What is there already may be a person's.

ALTER TABLE sessions ADD COLUMN titled_by TEXT;
UPDATE sessions SET titled_by = 'person' WHERE title IS NOT NULL;
