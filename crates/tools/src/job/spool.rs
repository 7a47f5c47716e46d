//! Writes the output of a command to a file, once it is more than a report shows.

use std::{fs::File, io::Write as _, sync::Arc};

use bytes::Bytes;
use protocol::ArtifactId;

use super::SpooledOutput;
use crate::Artifacts;

/// The file has at most so many bytes.
const LARGEST: u64 = 512 << 20;

/// The whole output: in memory while it is short, then in a file.
pub(super) struct Spool {
    artifacts: Arc<dyn Artifacts>,
    /// A file is begun when there are more bytes than this.
    from: usize,
    place: Place,
    bytes: u64,
    cut: bool,
}

enum Place {
    Memory(Vec<u8>),
    File {
        id: ArtifactId,
        file: File,
    },
    /// It could not be written.
    Nowhere,
}

impl Spool {
    pub(super) fn new(artifacts: Arc<dyn Artifacts>, from: usize) -> Self {
        Self { artifacts, from, place: Place::Memory(Vec::new()), bytes: 0, cut: false }
    }

    pub(super) async fn push(&mut self, piece: Bytes) {
        if self.bytes >= LARGEST {
            self.cut = true;
            return;
        }
        self.bytes += piece.len() as u64;
        self.place = match std::mem::replace(&mut self.place, Place::Nowhere) {
            Place::Memory(mut kept) if kept.len() + piece.len() <= self.from => {
                kept.extend_from_slice(&piece);
                Place::Memory(kept)
            }
            Place::Memory(kept) => match self.artifacts.begin().await {
                Ok((id, file)) => {
                    let file = write(file, kept.into()).await;
                    self.written(id, write_more(file, piece).await).await
                }
                Err(error) => {
                    tracing::warn!(%error, "the output of a command cannot be kept");
                    Place::Nowhere
                }
            },
            Place::File { id, file } => {
                let file = write(file, piece).await;
                self.written(id, file).await
            }
            Place::Nowhere => Place::Nowhere,
        };
    }

    async fn written(&self, id: ArtifactId, file: std::io::Result<File>) -> Place {
        match file {
            Ok(file) => Place::File { id, file },
            Err(error) => {
                tracing::warn!(%error, "the output of a command cannot be kept any longer");
                self.artifacts.discard(&id).await;
                Place::Nowhere
            }
        }
    }

    /// The file, if one was begun.
    pub(super) async fn finish(self) -> Option<SpooledOutput> {
        match self.place {
            Place::File { id, .. } => Some(SpooledOutput { id, bytes: self.bytes, cut: self.cut }),
            Place::Memory(_) | Place::Nowhere => None,
        }
    }
}

async fn write_more(file: std::io::Result<File>, piece: Bytes) -> std::io::Result<File> {
    write(file?, piece).await
}

async fn write(mut file: File, piece: Bytes) -> std::io::Result<File> {
    let written = tokio::task::spawn_blocking(move || file.write_all(&piece).map(|()| file));
    written.await.map_err(std::io::Error::other)?
}
