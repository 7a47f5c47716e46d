//! A few read-only connections, each used by one task at a time.

use std::{path::Path, sync::Arc};

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::connect;
use crate::StoreError;

const CONNECTIONS: usize = 4;

pub(super) struct Readers {
    idle: Arc<Mutex<Vec<Connection>>>,
    free: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(path: &Path) -> Result<Self, StoreError> {
        let connections: Vec<_> = (0..CONNECTIONS)
            .map(|_| {
                let connection = connect(path)?;
                connection.pragma_update(None, "query_only", true)?;
                connection.pragma_update(None, "cache_size", -512)?;
                Ok(connection)
            })
            .collect::<Result<_, StoreError>>()?;
        Ok(Self {
            free: Arc::new(Semaphore::new(connections.len())),
            idle: Arc::new(Mutex::new(connections)),
        })
    }

    /// Refuses further reads. Connections that are in use are closed when they are returned.
    pub(super) fn close(&self) {
        self.free.close();
        self.idle.lock().clear();
    }

    /// Reads a few rows on this thread. They are almost always in memory, so handing the work to another thread would take
    /// longer than the read.
    pub(super) async fn look_up<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let connection = match self.free.try_acquire() {
            Ok(permit) => self.idle.lock().pop().map(|connection| (connection, permit)),
            Err(_) => None,
        };
        let Some((connection, permit)) = connection else {
            return self.read(work).await;
        };
        let result = work(&connection);
        return_connection(&self.idle, &self.free, connection);
        drop(permit);
        result
    }

    /// Reads on a thread that may block.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = Arc::clone(&self.free)
            .acquire_owned()
            .await
            .map_err(|error| StoreError::Unavailable(Box::new(error)))?;
        let (idle, free) = (Arc::clone(&self.idle), Arc::clone(&self.free));
        tokio::task::spawn_blocking(move || {
            let connection = idle.lock().pop();
            let result = match &connection {
                Some(connection) => work(connection),
                None => Err(StoreError::Unavailable("the store is closed".into())),
            };
            if let Some(connection) = connection {
                return_connection(&idle, &free, connection);
            }
            drop(permit);
            result
        })
        .await
        .map_err(|error| StoreError::Unavailable(Box::new(error)))?
    }
}

fn return_connection(idle: &Mutex<Vec<Connection>>, free: &Semaphore, connection: Connection) {
    let mut idle = idle.lock();
    if !free.is_closed() {
        idle.push(connection);
    }
}
