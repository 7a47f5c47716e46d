//! A model server on loopback that returns the same response to every request, for tests of the real adapters.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task::JoinSet,
};

pub struct FixedModelServer {
    pub base_url: String,
    _server: JoinSet<()>,
}

impl FixedModelServer {
    /// Starts a server that answers every request with this body.
    pub async fn start(content_type: &str, body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        let mut server = JoinSet::new();
        server.spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = Vec::new();
                while !is_whole(&request) {
                    let mut buffer = [0; 4096];
                    let length = stream.read(&mut buffer).await.unwrap();
                    assert!(length > 0, "the request is incomplete");
                    request.extend_from_slice(&buffer[..length]);
                }
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        Self { base_url, _server: server }
    }
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().unwrap())
    });
    body.len() >= length.unwrap_or(0)
}
