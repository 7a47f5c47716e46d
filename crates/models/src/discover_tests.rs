//! Discovery against real sockets of this machine.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task::JoinSet,
};

use super::*;
use crate::{CatalogSettings, Scripted, registry::Registry};

/// Answers every request with this body.
async fn server(tasks: &mut JoinSet<()>, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tasks.spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let length = socket.read(&mut request).await.unwrap();
            let head = String::from_utf8_lossy(&request[..length]).into_owned();
            let status = if head.starts_with("GET /v1/models ") { "200 OK" } else { "404 Not Found" };
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            socket.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    format!("http://{address}/v1")
}

/// A catalog whose local providers are at the given addresses, or at a port without a server.
fn catalog(addresses: &[(&str, &str)], variables: &[(&str, &str)]) -> Catalog {
    let mut registry = Registry::builtin().unwrap();
    for id in ["ollama", "lm-studio", "llama.cpp", "vllm"] {
        let address =
            addresses.iter().find(|(known, _)| *known == id).map_or("http://127.0.0.1:9/v1", |(_, at)| at);
        registry.add("test.json", &format!(r#"{{"id":"{id}","baseUrl":"{address}"}}"#)).unwrap();
    }
    let variable =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    Catalog::new(CatalogSettings {
        registry: &registry,
        variable: &variable,
        chosen: None,
        fallback: Vec::new(),
        last_resort: Arc::new(Scripted::new([])),
    })
    .unwrap()
}

#[tokio::test]
async fn a_model_server_on_this_machine_is_found_and_used() {
    let mut tasks = JoinSet::new();
    let list = r#"{"object":"list","data":[{"id":"nomic-embed-text"},{"id":"llama3.2:3b"}]}"#;
    let address = server(&mut tasks, list).await;
    let catalog = catalog(&[("lm-studio", &address)], &[]);
    let default = discover(&catalog).await.unwrap();
    assert_eq!(default.name, "lm-studio/llama3.2:3b");
    assert!(default.why.contains("LM Studio"), "{}", default.why);
    assert_eq!(catalog.provider("ollama").unwrap().status(), ServerStatus::NotRunning);
    assert_eq!(catalog.provider("lm-studio").unwrap().discovered_models().len(), 2);
    assert!(discover(&catalog).await.is_none(), "the choice is made");
}

#[tokio::test]
async fn something_else_on_a_customary_port_is_no_model_server() {
    let mut tasks = JoinSet::new();
    let address = server(&mut tasks, "<html>Jenkins</html>").await;
    let catalog = catalog(&[("llama.cpp", &address)], &[]);
    assert!(discover(&catalog).await.is_none());
    assert_eq!(catalog.default_model().name, "scripted/script");
}

#[tokio::test]
async fn an_own_server_tells_which_model_it_has_unless_somebody_named_one() {
    let mut tasks = JoinSet::new();
    let address = server(&mut tasks, r#"{"data":[{"id":"house-model"}]}"#).await;
    let unnamed = catalog(&[], &[("OPENAI_BASE_URL", &address)]);
    assert_eq!(unnamed.default_model().name, "openai/default");
    assert_eq!(discover(&unnamed).await.unwrap().name, "openai/house-model");
    let named = catalog(&[], &[("OPENAI_BASE_URL", &address), ("OPENAI_MODEL", "mine")]);
    assert!(discover(&named).await.is_none());
    assert_eq!(named.default_model().name, "openai/mine");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_holds_nobody_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let catalog = catalog(&[("vllm", &address)], &[]);
    let started = Instant::now();
    assert!(discover(&catalog).await.is_none());
    assert!(started.elapsed() <= PROBE_TIMEOUT + Duration::from_millis(100));
    drop(listener);
}
