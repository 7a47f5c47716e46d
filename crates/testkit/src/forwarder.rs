//! A proxy that forwards bytes without reading them. No server between a client and a model can do less, so benchmarks
//! compare with it.

use std::net::SocketAddr;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// A running proxy; it stops when it is dropped.
pub struct Forwarder {
    address: SocketAddr,
    _server: JoinSet<()>,
}

impl Forwarder {
    /// Starts a proxy to the server at this address.
    pub async fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut server = JoinSet::new();
        server.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut near, _)) = listener.accept().await {
                while connections.try_join_next().is_some() {}
                connections.spawn(async move {
                    let Ok(mut far) = TcpStream::connect(to).await else { return };
                    // When one side closes, both directions end.
                    drop(near.set_nodelay(true));
                    drop(far.set_nodelay(true));
                    drop(copy_bidirectional(&mut near, &mut far).await);
                });
            }
        });
        Self { address, _server: server }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}
