//! A model's server that says as much as the user's message asks for and holds none of it: its text is made as it is
//! sent.

use testkit::models::{Limits, ModelSettings, RemoteModel, WireFormat};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// What one delta says: 64 bytes.
const WORDS: &str = "and so on, and so on, and so on, and so on, and so on, and on. ";
/// Deltas in a write.
const TOGETHER: usize = 16;
const END: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

pub struct Endless {
    base_url: String,
    _server: JoinSet<()>,
}

impl Endless {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let mut server = JoinSet::new();
        server.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                connections.spawn(answer(stream));
                while connections.try_join_next().is_some() {}
            }
        });
        Self { base_url, _server: server }
    }

    pub fn model(&self) -> RemoteModel {
        let settings = ModelSettings {
            limits: Limits::default(),
            ..ModelSettings::new("endless/model", &self.base_url, "model")
        };
        RemoteModel::new(WireFormat::OpenAi, settings).unwrap()
    }
}

/// One request, one answer. A client that goes away ends it.
async fn answer(mut stream: TcpStream) {
    let Some(bytes) = asked(&mut stream).await else { return };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let event = format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{WORDS}\"}}}}]}}\n\n");
    let together = event.repeat(TOGETHER);
    if stream.write_all(head.as_bytes()).await.is_err() {
        return;
    }
    for _ in 0..bytes / (WORDS.len() * TOGETHER) + 1 {
        if stream.write_all(together.as_bytes()).await.is_err() {
            return;
        }
    }
    drop(stream.write_all(END.as_bytes()).await);
}

/// How many bytes the last message asks for.
async fn asked(stream: &mut TcpStream) -> Option<usize> {
    let mut request = String::new();
    let mut buffer = [0; 4096];
    loop {
        let length = stream.read(&mut buffer).await.ok().filter(|length| *length > 0)?;
        request.push_str(&String::from_utf8_lossy(&buffer[..length]));
        let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
        let announced = head.lines().filter_map(|line| line.split_once(": "));
        let announced = announced
            .filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .find_map(|(_, length)| length.parse::<usize>().ok())?;
        if body.len() >= announced {
            let (_, rest) = body.rsplit_once("bytes: ")?;
            return rest.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok();
        }
    }
}
