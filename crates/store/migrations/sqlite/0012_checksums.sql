-- A CRC-32 of what a row holds, so that damage in the file is noticed when it is read. NULL: written before there was one.

ALTER TABLE log ADD COLUMN crc INTEGER;
ALTER TABLE messages ADD COLUMN crc INTEGER;
ALTER TABLE frames ADD COLUMN crc INTEGER;       -- of its body
