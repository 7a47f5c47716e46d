//! The disk as the kernel asks for it.
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

use crate::disk::{Content, Disk, Fault, Ino, Node};

/// Everything is changed through this mount only, so the kernel may keep what it knows.
const VALID: Duration = Duration::from_secs(3600);
const BLOCK: u32 = 4096;
/// Free blocks that are reported, whatever is stored.
const BLOCKS: u64 = 1 << 24;

pub(crate) struct Mounted {
    disk: Arc<Mutex<Disk>>,
    owner: (u32, u32),
}

impl Mounted {
    pub(crate) fn new(disk: Arc<Mutex<Disk>>, owner: (u32, u32)) -> Self {
        Self { disk, owner }
    }

    fn attributes(&self, disk: &Disk, ino: Ino) -> Result<FileAttr, Fault> {
        let Node { mode, content } = disk.nodes.get(&ino).ok_or(Fault::NotFound)?;
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
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: BLOCK,
            flags: 0,
        })
    }

    fn entry(&self, find: impl FnOnce(&mut Disk) -> Result<Ino, Fault>, reply: ReplyEntry) {
        let mut disk = self.disk.lock();
        match find(&mut disk).and_then(|ino| self.attributes(&disk, ino)) {
            Ok(attributes) => reply.entry(&VALID, &attributes, Generation(0)),
            Err(fault) => reply.error(errno(fault)),
        }
    }

    fn done(&self, work: impl FnOnce(&mut Disk) -> Result<(), Fault>, reply: ReplyEmpty) {
        match work(&mut self.disk.lock()) {
            Ok(()) => reply.ok(),
            Err(fault) => reply.error(errno(fault)),
        }
    }
}

fn errno(fault: Fault) -> Errno {
    match fault {
        Fault::NotFound => Errno::ENOENT,
        Fault::Exists => Errno::EEXIST,
        Fault::NotAFolder => Errno::ENOTDIR,
        Fault::IsAFolder => Errno::EISDIR,
        Fault::NotEmpty => Errno::ENOTEMPTY,
    }
}

fn permissions(mode: u32) -> u16 {
    (mode & 0o7777) as u16
}

fn place(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

impl Filesystem for Mounted {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.entry(|disk| disk.lookup(parent.0, name), reply);
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(&self.disk.lock(), ino.0) {
            Ok(attributes) => reply.attr(&VALID, &attributes),
            Err(fault) => reply.error(errno(fault)),
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
            .and_then(|()| size.map_or(Ok(()), |size| disk.set_length(ino.0, place(size))))
            .and_then(|()| self.attributes(&disk, ino.0));
        match changed {
            Ok(attributes) => reply.attr(&VALID, &attributes),
            Err(fault) => reply.error(errno(fault)),
        }
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, mode: u32, umask: u32, reply: ReplyEntry) {
        self.entry(|disk| disk.make_folder(parent.0, name, permissions(mode & !umask)), reply);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.done(|disk| disk.unlink(parent.0, name), reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.done(|disk| disk.remove_folder(parent.0, name), reply);
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
        self.done(
            |disk| {
                let taken = disk.lookup(new_parent.0, new_name).is_ok();
                if taken && flags.contains(RenameFlags::RENAME_NOREPLACE) {
                    return Err(Fault::Exists);
                }
                disk.rename((parent.0, name), (new_parent.0, new_name))
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
                reply.created(&VALID, &attributes, Generation(0), FileHandle(0), FopenFlags::empty())
            }
            Err(fault) => reply.error(errno(fault)),
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
        match self.disk.lock().read(ino.0, place(offset), size as usize) {
            Ok(bytes) => reply.data(bytes),
            Err(fault) => reply.error(errno(fault)),
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
        match self.disk.lock().write(ino.0, place(offset), data) {
            Ok(()) => reply.written(u32::try_from(data.len()).unwrap_or(u32::MAX)),
            Err(fault) => reply.error(errno(fault)),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.done(|disk| disk.sync(ino.0), reply);
    }

    fn fsyncdir(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.done(|disk| disk.sync(ino.0), reply);
    }

    fn readdir(&self, _: &Request, ino: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let disk = self.disk.lock();
        let names = match disk.folder(ino.0) {
            Ok(folder) => folder.names(),
            Err(fault) => return reply.error(errno(fault)),
        };
        let kind = |ino: &Ino| match disk.folder(*ino) {
            Ok(_) => FileType::Directory,
            Err(_) => FileType::RegularFile,
        };
        for (at, (name, ino)) in names.iter().enumerate().skip(place(offset)) {
            if reply.add(INodeNo(*ino), at as u64 + 1, kind(ino), name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(BLOCKS, BLOCKS, BLOCKS, BLOCKS, BLOCKS, BLOCK, 255, BLOCK);
    }
}
