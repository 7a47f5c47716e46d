//! A model server over raw TCP, so that the test decides every byte, every silence and every cut.

use testkit::models::{Limits, ModelSettings, RemoteModel, WireFormat};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// What is done with one request after its head was answered.
#[derive(Clone, Debug)]
pub enum Play {
    /// These bytes and the proper end.
    Whole(Vec<u8>),
    /// These bytes, then the connection is closed in the middle of the body.
    Cut(Vec<u8>),
    /// These bytes, then silence until the client hangs up.
    Stall(Vec<u8>),
    /// Not even an answer's head.
    Mute,
}

pub struct RawServer {
    base_url: String,
    _server: JoinSet<()>,
}

impl RawServer {
    /// `choose` is given the body of a request and says what is played.
    pub async fn start(choose: impl Fn(&str) -> Play + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let mut server = JoinSet::new();
        server.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                tokio::select! {
                    accepted = listener.accept() => {
                        let mut stream = accepted.unwrap().0;
                        let Some(request) = read_request(&mut stream).await else { continue };
                        let play = choose(&request);
                        connections.spawn(serve(stream, play));
                    }
                    Some(_) = connections.join_next() => {}
                }
            }
        });
        Self { base_url, _server: server }
    }

    pub fn model(&self, limits: Limits) -> RemoteModel {
        let settings = ModelSettings { limits, ..ModelSettings::new("raw/model", &self.base_url, "model") };
        RemoteModel::new(WireFormat::OpenAi, settings).unwrap()
    }
}

/// A client that went away in the meantime is no failure of the server: errors end the connection.
async fn serve(mut stream: TcpStream, play: Play) {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let bytes = match &play {
        Play::Whole(bytes) | Play::Cut(bytes) | Play::Stall(bytes) => {
            if stream.write_all(head).await.is_err() {
                return;
            }
            bytes.as_slice()
        }
        Play::Mute => &[],
    };
    if !bytes.is_empty() {
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        if stream.write_all(&chunk).await.is_err() {
            return;
        }
    }
    match play {
        Play::Whole(_) => drop(stream.write_all(b"0\r\n\r\n").await),
        Play::Cut(_) => drop(stream.shutdown().await),
        Play::Stall(_) | Play::Mute => {
            let mut rest = [0; 64];
            while stream.read(&mut rest).await.is_ok_and(|length| length > 0) {}
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let (head, body) = (String::from_utf8_lossy(&bytes[..end]), &bytes[end + 4..]);
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().unwrap())
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(String::from_utf8_lossy(body).into_owned());
            }
        }
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer).await {
            Ok(length) if length > 0 => bytes.extend_from_slice(&buffer[..length]),
            _ => return None,
        }
    }
}
