//! A file system in memory, mounted with FUSE, that loses unsynced writes when its power is cut. For tests only.
//!
//! [`Disk`] is the model: it has every file and folder twice, as programs see it and as it is on the disk, and the changes
//! in between. [`Volume`] mounts a disk, so that a real program can use it, and cuts its power.
//!
//! The model is as strict as POSIX allows. `fsync` and `fdatasync` of a file keep its content and its length, nothing
//! else; a created, renamed or removed name is kept by `fsync` of its folder. Of what was not synced, a power loss
//! keeps nothing, the first part, or any sectors in any combination ([`Loss`]). Permissions are kept at once; times
//! and owners are not stored. Links do not exist.

#![cfg(target_os = "linux")]

mod cut;
mod disk;
mod file;
mod folder;
mod fuse;
mod volume;

pub use cut::{CutDisk, Loss, LostChanges};
pub use disk::{Disk, DiskError, Entry, FolderSync, Ino};
pub use volume::{Volume, unavailable};
