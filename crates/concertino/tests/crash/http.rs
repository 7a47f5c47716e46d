//! Requests to a server that may be killed at any moment.

use std::time::Duration;

use protocol::Seq;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;

pub struct Http {
    client: Client,
    url: String,
}

pub enum Got {
    Stream(Response),
    Text(String),
    NoContent,
    Refused(u16, String),
    /// The server is not running, or was killed while it answered.
    Nothing,
}

impl Http {
    pub fn new(url: &str) -> Self {
        models::install_tls();
        let client = Client::builder()
            .no_proxy()
            .tls_certs_only([])
            .pool_max_idle_per_host(0)
            .read_timeout(Duration::from_secs(30))
            .build()
            .unwrap();
        Self { client, url: url.to_owned() }
    }

    pub async fn post(&self, path: &str, body: &Value) -> Got {
        let request = self.client.post(format!("{}{path}", self.url));
        get(request.header("content-type", "application/json").body(body.to_string())).await
    }

    pub async fn get(&self, path: &str, last_event_id: Option<Seq>) -> Got {
        let request = self.client.get(format!("{}{path}", self.url));
        get(match last_event_id {
            Some(seq) => request.header("last-event-id", seq),
            None => request,
        })
        .await
    }
}

async fn get(request: RequestBuilder) -> Got {
    let Ok(response) = request.send().await else {
        // A client that retries at once would only find the same closed port.
        tokio::time::sleep(Duration::from_millis(5)).await;
        return Got::Nothing;
    };
    let status = response.status().as_u16();
    let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if status == 200 && kind.starts_with("text/event-stream") {
        return Got::Stream(response);
    }
    match (status, response.text().await) {
        (204, _) => Got::NoContent,
        (200, Ok(text)) => Got::Text(text),
        (_, Ok(text)) => Got::Refused(status, text),
        (_, Err(_)) => Got::Nothing,
    }
}
