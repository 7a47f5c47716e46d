//! Backup, restore, the checkpoint at shutdown, and damage in the data folder.
