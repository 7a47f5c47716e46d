//! One client of the events surface on plain sockets: a stream of events, and a connection for its messages.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

pub struct Client {
    address: String,
    events: BufReader<TcpStream>,
    messages: Option<BufReader<TcpStream>>,
    pub id: String,
}

impl Client {
    /// Connects and reads `connected` and `agent_list`.
    pub async fn connect(address: &str) -> Self {
        let mut socket = TcpStream::connect(address).await.unwrap();
        let request = format!("GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut client = Self {
            address: address.to_owned(),
            events: BufReader::with_capacity(4 << 10, socket),
            messages: None,
            id: String::new(),
        };
        let connected = client.next().await;
        assert_eq!(connected["type"], "connected", "{connected}");
        client.id = connected["data"]["connectionId"].as_str().unwrap().to_owned();
        assert_eq!(client.next().await["type"], "agent_list");
        client
    }

    /// The next event.
    pub async fn next(&mut self) -> Value {
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.events.read_line(&mut line).await.unwrap();
            assert!(read > 0, "the stream ended");
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str(data).unwrap();
            }
        }
    }

    /// Sends a message of this connection; returns status and body.
    pub async fn send(&mut self, mut message: Value) -> (u16, Value) {
        message["connectionId"] = json!(self.id);
        self.post("/message", &message).await
    }

    pub async fn post(&mut self, path: &str, body: &Value) -> (u16, Value) {
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        if self.messages.is_none() {
            self.messages = Some(BufReader::new(TcpStream::connect(&self.address).await.unwrap()));
        }
        let socket = self.messages.as_mut().unwrap();
        socket.get_mut().write_all((head + &body).as_bytes()).await.unwrap();
        let (mut status, mut length, mut line) = (0, 0, String::new());
        loop {
            line.clear();
            assert!(socket.read_line(&mut line).await.unwrap() > 0, "no answer to {path}");
            let text = line.trim_end().to_ascii_lowercase();
            if let Some(rest) = text.strip_prefix("http/1.1 ") {
                status = rest[..3].parse().unwrap();
            } else if let Some(rest) = text.strip_prefix("content-length: ") {
                length = rest.parse().unwrap();
            } else if text.is_empty() {
                break;
            }
        }
        let mut bytes = vec![0; length];
        socket.read_exact(&mut bytes).await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }
}

/// One answer, read to its end on the chat surface.
pub async fn chat(address: &str, id: &str, content: &str) {
    let parts = json!([{ "type": "text", "text": content }]);
    let body = json!({ "id": id, "messages": [{ "id": format!("{id}-m"), "role": "user", "parts": parts }] })
        .to_string();
    let head = format!(
        "POST /api/chat HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut socket = BufReader::with_capacity(4 << 10, TcpStream::connect(address).await.unwrap());
    socket.get_mut().write_all((head + &body).as_bytes()).await.unwrap();
    let mut line = String::new();
    while !line.starts_with("data: [DONE]") {
        line.clear();
        assert!(socket.read_line(&mut line).await.unwrap() > 0, "the stream ended early");
    }
}
