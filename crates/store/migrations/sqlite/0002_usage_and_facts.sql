-- What a model call cost and who made it; what a model is told beside the words of a message; the session's preface.

ALTER TABLE usage ADD COLUMN run TEXT;
ALTER TABLE usage ADD COLUMN agent TEXT;               -- the agents from the root to the caller: general/search
ALTER TABLE usage ADD COLUMN cache_write_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN cost INTEGER;             -- billionths of a US dollar; NULL without a price
ALTER TABLE usage ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;

ALTER TABLE messages ADD COLUMN facts TEXT;

ALTER TABLE sessions ADD COLUMN preface TEXT;
ALTER TABLE sessions ADD COLUMN preface_agent TEXT;
