//! The server on a real loopback port, and connections without an HTTP library, so that a test decides when it reads and
//! when it closes.

use std::net::SocketAddr;

use axum::Router;
use server::Resources;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::oneshot,
    task::JoinSet,
};

pub struct LoopbackServer {
    pub address: SocketAddr,
    token: Option<String>,
    end: Option<oneshot::Sender<()>>,
    server: JoinSet<()>,
}

impl LoopbackServer {
    pub(crate) async fn start(router: Router, resources: Resources, token: Option<&str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut server = JoinSet::new();
        let (end, ends) = oneshot::channel();
        server.spawn(
            async move { server::serve(listener, router, resources, async { drop(ends.await) }).await },
        );
        Self { address, token: token.map(str::to_owned), end: Some(end), server }
    }

    /// Stops accepting requests; open ones may finish.
    pub fn end(&mut self) {
        drop(self.end.take());
    }

    /// Waits until the last connection is closed.
    pub async fn ended(&mut self) {
        while self.server.join_next().await.is_some() {}
    }

    /// Sends one request and reads nothing yet. The receive buffer is small, so that a client that does not read soon
    /// blocks the server's writes.
    pub async fn request(&self, method: &str, path: &str, body: &str) -> Connection {
        self.write(method, path, body, body.len()).await
    }

    /// Sends a part of a body whose announced length is larger.
    pub async fn half_a_request(&self, path: &str, body: &str, announced: usize) -> Connection {
        self.write("POST", path, body, announced).await
    }

    /// Sends exactly these bytes.
    pub async fn raw(&self, bytes: &str) -> Connection {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes.as_bytes()).await.unwrap();
        Connection { stream, bytes: Vec::new() }
    }

    /// Sends exactly these bytes, with a small receive buffer.
    pub async fn slowly(&self, bytes: &str) -> Connection {
        let mut stream = self.small_window().await;
        stream.write_all(bytes.as_bytes()).await.unwrap();
        Connection { stream, bytes: Vec::new() }
    }

    async fn small_window(&self) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        socket.connect(self.address).await.unwrap()
    }

    async fn write(&self, method: &str, path: &str, body: &str, length: usize) -> Connection {
        let mut stream = self.small_window().await;
        let token = self.token.iter().map(|token| format!("authorization: Bearer {token}\r\n"));
        let token: String = token.collect();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\n{token}content-type: application/json\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n",
            self.address
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body.as_bytes()).await.unwrap();
        Connection { stream, bytes: Vec::new() }
    }
}

pub struct Connection {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Connection {
    /// Reads the next bytes; `false` when the server has closed the connection.
    pub async fn read_some(&mut self) -> bool {
        let mut buffer = [0; 1024];
        let length = self.stream.read(&mut buffer).await.unwrap();
        self.bytes.extend_from_slice(&buffer[..length]);
        length > 0
    }

    /// Reads the next bytes; `false` also when the connection was reset.
    pub async fn try_read(&mut self) -> bool {
        let mut buffer = [0; 1024];
        let length = self.stream.read(&mut buffer).await.unwrap_or(0);
        self.bytes.extend_from_slice(&buffer[..length]);
        length > 0
    }

    /// Reads until this text was received.
    pub async fn read_until(&mut self, text: &str) {
        while !self.text().contains(text) {
            assert!(self.read_some().await, "closed before {text:?} came:\n{}", self.text());
        }
    }

    /// Sends more on the same connection.
    pub async fn write(&mut self, bytes: &str) {
        self.stream.write_all(bytes.as_bytes()).await.unwrap();
    }

    /// Sends more on the same connection; `false` when it was reset.
    pub async fn try_write(&mut self, bytes: &str) -> bool {
        self.stream.write_all(bytes.as_bytes()).await.is_ok()
    }

    /// Closes the sending side. Responses can still be read.
    pub async fn close_write(&mut self) {
        self.stream.shutdown().await.unwrap();
    }

    /// Reads everything until the connection is closed.
    pub async fn read_all(mut self) -> String {
        while self.read_some().await {}
        self.text()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}
