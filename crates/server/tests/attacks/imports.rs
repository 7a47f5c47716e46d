//! Imported transcripts: links, special files and texts that the API would refuse.
