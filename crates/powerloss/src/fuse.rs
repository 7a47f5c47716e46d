//! Serves a disk to the kernel through FUSE.
//!
//! Nothing here enables the kernel's write-back cache: a `write` reaches the disk before it returns, an `fsync` too.
//! Pages can be mapped into memory, which SQLite's shared memory file needs.

use std::{
    ffi::OsStr,
    sync::Arc,
    time::{Duration, SystemTime},
};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use parking_lot::Mutex;

use crate::disk::{Content, Disk, DiskError, Entry, Ino, Node};

/// How long the kernel may cache attributes. The disk is changed through this mount only, so they stay valid.
const CACHE_TIME: Duration = Duration::from_secs(3600);
const BLOCK: u32 = 4096;
/// The number of free blocks that is reported, independent of what is stored.
const FREE_BLOCKS: u64 = 1 << 24;

/// The user and group that own everything on the disk.
#[derive(Clone, Copy)]
pub(crate) struct Owner {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

pub(crate) struct FuseFilesystem {
    disk: Arc<Mutex<Disk>>,
    owner: Owner,
}

impl FuseFilesystem {
    pub(crate) fn new(disk: Arc<Mutex<Disk>>, owner: Owner) -> Self {
        Self { disk, owner }
    }

    fn attributes(&self, disk: &Disk, ino: Ino) -> Result<FileAttr, DiskError> {
        let Node { mode, content } = disk.nodes.get(&ino).ok_or(DiskError::NotFound)?;
        let (kind, size) = match content {
            Content::File(file) => (FileType::RegularFile, file.content().len() as u64),
            Content::Folder(_) => (FileType::Directory, 0),
        };
        let time = SystemTime::UNIX_EPOCH;
        Ok(FileAttr {
            ino: INodeNo(ino),
            size,
            blocks: size.div_ceil(512),
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind,
            perm: *mode,
            nlink: 1,
            uid: self.owner.user,
            gid: self.owner.group,
            rdev: 0,
            blksize: BLOCK,
            flags: 0,
        })
    }

    /// Replies with the entry that `find` returns.
    fn reply_entry(&self, find: impl FnOnce(&mut Disk) -> Result<Ino, DiskError>, reply: ReplyEntry) {
        let mut disk = self.disk.lock();
        match find(&mut disk).and_then(|ino| self.attributes(&disk, ino)) {
            Ok(attributes) => reply.entry(&CACHE_TIME, &attributes, Generation(0)),
            Err(error) => reply.error(errno(error)),
        }
    }

    /// Replies whether `work` succeeded.
    fn reply_empty(&self, work: impl FnOnce(&mut Disk) -> Result<(), DiskError>, reply: ReplyEmpty) {
        match work(&mut self.disk.lock()) {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(errno(error)),
        }
    }
}

fn errno(error: DiskError) -> Errno {
    match error {
        DiskError::NotFound => Errno::ENOENT,
        DiskError::Exists => Errno::EEXIST,
        DiskError::NotAFolder => Errno::ENOTDIR,
        DiskError::IsAFolder => Errno::EISDIR,
        DiskError::NotEmpty => Errno::ENOTEMPTY,
    }
}

fn permissions(mode: u32) -> u16 {
    (mode & 0o7777) as u16
}

fn to_usize(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

impl Filesystem for FuseFilesystem {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.reply_entry(|disk| disk.lookup(parent.0, name), reply);
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(&self.disk.lock(), ino.0) {
            Ok(attributes) => reply.attr(&CACHE_TIME, &attributes),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut disk = self.disk.lock();
        let changed = mode
            .map_or(Ok(()), |mode| disk.set_mode(ino.0, permissions(mode)))
            .and_then(|()| size.map_or(Ok(()), |size| disk.set_length(ino.0, to_usize(size))))
            .and_then(|()| self.attributes(&disk, ino.0));
        match changed {
            Ok(attributes) => reply.attr(&CACHE_TIME, &attributes),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, mode: u32, umask: u32, reply: ReplyEntry) {
        self.reply_entry(|disk| disk.make_folder(parent.0, name, permissions(mode & !umask)), reply);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.reply_empty(|disk| disk.unlink(parent.0, name), reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.reply_empty(|disk| disk.remove_folder(parent.0, name), reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        if flags.contains(RenameFlags::RENAME_EXCHANGE) {
            return reply.error(Errno::EINVAL);
        }
        self.reply_empty(
            |disk| {
                let taken = disk.lookup(new_parent.0, new_name).is_ok();
                if taken && flags.contains(RenameFlags::RENAME_NOREPLACE) {
                    return Err(DiskError::Exists);
                }
                disk.rename(Entry { folder: parent.0, name }, Entry { folder: new_parent.0, name: new_name })
            },
            reply,
        );
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE);
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let mut disk = self.disk.lock();
        let created = disk.create(parent.0, name, permissions(mode & !umask));
        match created.and_then(|ino| self.attributes(&disk, ino)) {
            Ok(attributes) => {
                reply.created(&CACHE_TIME, &attributes, Generation(0), FileHandle(0), FopenFlags::empty())
            }
            Err(error) => reply.error(errno(error)),
        }
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.disk.lock().read(ino.0, to_usize(offset), size as usize) {
            Ok(bytes) => reply.data(bytes),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.disk.lock().write(ino.0, to_usize(offset), data) {
            Ok(()) => reply.written(u32::try_from(data.len()).unwrap_or(u32::MAX)),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.reply_empty(|disk| disk.sync(ino.0), reply);
    }

    fn fsyncdir(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.reply_empty(|disk| disk.sync(ino.0), reply);
    }

    fn readdir(&self, _: &Request, ino: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let disk = self.disk.lock();
        let names = match disk.folder(ino.0) {
            Ok(folder) => folder.names(),
            Err(error) => return reply.error(errno(error)),
        };
        let kind = |ino: &Ino| match disk.folder(*ino) {
            Ok(_) => FileType::Directory,
            Err(_) => FileType::RegularFile,
        };
        for (at, (name, ino)) in names.iter().enumerate().skip(to_usize(offset)) {
            if reply.add(INodeNo(*ino), at as u64 + 1, kind(ino), name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(FREE_BLOCKS, FREE_BLOCKS, FREE_BLOCKS, FREE_BLOCKS, FREE_BLOCKS, BLOCK, 255, BLOCK);
    }
}
