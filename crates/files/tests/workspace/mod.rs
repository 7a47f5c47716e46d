//! A throw-away work directory beside a folder with a secret and the server's data directory.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::{fs, path::Path};

use files::{ContentStore, FileDomain, HardLinks};
use protocol::Durability;

pub const SECRET: &str = "SECRET of somebody else";

pub struct Workspace {
    pub domain: FileDomain,
    pub contents: ContentStore,
    folder: tempfile::TempDir,
    paths: [std::path::PathBuf; 3],
}

impl Workspace {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["work", "outside", "data"].map(|name| folder.path().canonicalize().unwrap().join(name));
        for path in &paths {
            fs::create_dir(path).unwrap();
        }
        fs::write(paths[1].join("secret.txt"), SECRET).unwrap();
        fs::write(paths[1].join("only-outside"), SECRET).unwrap();
        fs::write(paths[2].join("token"), SECRET).unwrap();
        let domain = FileDomain::open(&paths[0], &paths[2..], HardLinks::Refuse).unwrap();
        let contents = ContentStore::open(&paths[2].join("contents"), Durability::Process).unwrap();
        Self { domain, contents, folder, paths }
    }

    pub fn root(&self) -> &Path {
        &self.paths[0]
    }

    pub fn outside(&self) -> &Path {
        &self.paths[1]
    }

    pub fn data(&self) -> &Path {
        &self.paths[2]
    }

    pub fn assert_secret_is_safe(&self) {
        assert!(self.folder.path().exists());
        assert_eq!(fs::read_to_string(self.outside().join("secret.txt")).unwrap(), SECRET);
        assert_eq!(fs::read_to_string(self.data().join("token")).unwrap(), SECRET);
    }
}
