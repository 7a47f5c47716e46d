-- The main agent that a session was given; NULL: the default one.

ALTER TABLE sessions ADD COLUMN agent TEXT;
