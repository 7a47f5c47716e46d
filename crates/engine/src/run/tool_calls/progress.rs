//! What a running tool shows while it runs: progress, data parts and files. One bounded channel carries it to the driver,
//! the only writer of the agent's frame.

use std::{collections::HashMap, time::Duration};

use async_trait::async_trait;
use protocol::{Artifact, FoldError, ToolCallId};
use serde_json::Value;
use tokio::{sync::mpsc, time::Instant};
use tools::Emit;

use crate::run::frame::Frame;

/// Snapshots of one call are written at least this far apart.
const SNAPSHOT_INTERVAL: Duration = Duration::from_millis(150);
/// How many signals of the calls of one step may be pending.
pub(super) const SIGNALS: usize = 64;

/// What a running call sends to the driver.
pub(crate) enum Signal {
    Progress {
        call: ToolCallId,
        output: Value,
    },
    Data {
        name: String,
        id: Option<String>,
        data: Value,
        transient: bool,
    },
    /// A file that is stored.
    Artifact(Artifact),
}

/// Limits how often snapshots are written: the first at once, then the newest of each interval. The last is never dropped.
#[derive(Default)]
pub(super) struct Snapshots {
    next: HashMap<ToolCallId, Instant>,
    held: HashMap<ToolCallId, Value>,
}

impl Snapshots {
    /// Writes what a running call sent.
    pub(super) fn show(&mut self, frame: &mut Frame, signal: Signal) -> Result<(), FoldError> {
        match signal {
            Signal::Progress { call, output } => match self.offer(&call, output) {
                Some(output) => frame.progress(&call, output),
                None => Ok(()),
            },
            Signal::Data { name, id, data, transient } => frame.data(name, id, data, transient),
            Signal::Artifact(artifact) => frame.artifact(artifact),
        }
    }

    /// Writes the snapshots that are due.
    pub(super) fn show_due(&mut self, frame: &mut Frame) -> Result<(), FoldError> {
        self.drain().into_iter().try_for_each(|(call, output)| frame.progress(&call, output))
    }

    /// Returns the snapshot if it may be written now, else keeps it.
    fn offer(&mut self, call: &ToolCallId, output: Value) -> Option<Value> {
        let now = Instant::now();
        match self.next.get(call) {
            Some(next) if *next > now => {
                self.held.insert(call.clone(), output);
                None
            }
            _ => {
                self.next.insert(call.clone(), now + SNAPSHOT_INTERVAL);
                Some(output)
            }
        }
    }

    /// Returns when a kept snapshot may be written.
    pub(super) async fn due(&self) {
        match self.held.keys().filter_map(|call| self.next.get(call)).min() {
            Some(next) => tokio::time::sleep_until(*next).await,
            None => std::future::pending().await,
        }
    }

    /// Takes the snapshots that may be written now.
    fn drain(&mut self) -> Vec<(ToolCallId, Value)> {
        let now = Instant::now();
        let due: Vec<_> = self
            .held
            .keys()
            .filter(|call| self.next.get(*call).is_none_or(|next| *next <= now))
            .cloned()
            .collect();
        due.into_iter()
            .filter_map(|call| {
                self.next.insert(call.clone(), now + SNAPSHOT_INTERVAL);
                self.held.remove(&call).map(|output| (call, output))
            })
            .collect()
    }
}

/// Sends what one call shows.
pub(super) struct CallOutput {
    pub(super) call: ToolCallId,
    pub(super) signals: mpsc::Sender<Signal>,
}

impl CallOutput {
    async fn send(&self, signal: Signal) {
        // After the step the receiver is gone, and nothing is shown any more.
        drop(self.signals.send(signal).await);
    }
}

#[async_trait]
impl Emit for CallOutput {
    async fn progress(&self, output: Value) {
        self.send(Signal::Progress { call: self.call.clone(), output }).await;
    }

    async fn data(&self, name: &str, id: Option<&str>, data: Value) {
        let (name, id) = (name.to_owned(), id.map(str::to_owned));
        self.send(Signal::Data { name, id, data, transient: false }).await;
    }

    async fn transient(&self, name: &str, data: Value) {
        self.send(Signal::Data { name: name.to_owned(), id: None, data, transient: true }).await;
    }
}
