-- Requests for input: questions whose answer is the result of the call. And where the answer to a question came from.

ALTER TABLE interactions ADD COLUMN kind TEXT NOT NULL DEFAULT 'approval';  -- approval, input
ALTER TABLE interactions ADD COLUMN answers TEXT;                           -- JSON; secrets are references
ALTER TABLE interactions ADD COLUMN answered_by TEXT;                       -- events, chat, server
