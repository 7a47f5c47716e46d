//! The places of the project: the repository, its target folder, and the shared material that may be beside it.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::command;

pub struct Project {
    pub root: PathBuf,
    pub target: PathBuf,
    /// The output of `cargo metadata`, dependencies included.
    pub metadata: Value,
}

impl Project {
    pub fn find() -> Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").context("start this with `cargo xtask`")?;
        let root = Path::new(&manifest).parent().context("xtask has no parent folder")?.to_owned();
        let mut cargo = command::cargo_in(&root);
        let text = command::output_of(cargo.args(["metadata", "--format-version", "1"]))?;
        let metadata: Value = serde_json::from_str(&text).context("cargo metadata printed no JSON")?;
        let target =
            metadata["target_directory"].as_str().context("cargo metadata names no target folder")?;
        Ok(Self { target: target.into(), root, metadata })
    }

    /// A folder of the material shared with other projects, if it is beside this repository.
    pub fn shared(&self, name: &str) -> Option<PathBuf> {
        let folder = self.root.parent()?.join("shared").join(name);
        folder.is_dir().then_some(folder)
    }
}
