//! A proxy that forwards bytes and understands none: no server between a client and a model can do less, so it is the
//! bound that others are measured against.

use std::net::SocketAddr;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// Ends with its owner.
pub struct Forwarder {
    address: SocketAddr,
    _server: JoinSet<()>,
}

impl Forwarder {
    /// To the server at this address.
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
                    // Whoever hangs up ends both ways.
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
