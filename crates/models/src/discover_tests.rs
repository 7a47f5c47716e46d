//! Looking for model servers, against real sockets of this machine.

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

/// Every local provider where the test says, or at a port where nobody listens.
fn catalog(places: &[(&str, &str)], variables: &[(&str, &str)]) -> Catalog {
    let mut registry = Registry::builtin().unwrap();
    for id in ["ollama", "lm-studio", "llama.cpp", "vllm"] {
        let place =
            places.iter().find(|(known, _)| *known == id).map_or("http://127.0.0.1:9/v1", |(_, at)| at);
        registry.add("test.json", &format!(r#"{{"id":"{id}","baseUrl":"{place}"}}"#)).unwrap();
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
    let place = server(&mut tasks, list).await;
    let catalog = catalog(&[("lm-studio", &place)], &[]);
    let default = look_around(&catalog).await.unwrap();
    assert_eq!(default.name, "lm-studio/llama3.2:3b");
    assert!(default.why.contains("LM Studio"), "{}", default.why);
    assert_eq!(catalog.provider("ollama").unwrap().seen(), Seen::Away);
    assert_eq!(catalog.provider("lm-studio").unwrap().found().len(), 2);
    assert!(look_around(&catalog).await.is_none(), "the choice is made");
}

#[tokio::test]
async fn something_else_on_a_customary_port_is_no_model_server() {
    let mut tasks = JoinSet::new();
    let place = server(&mut tasks, "<html>Jenkins</html>").await;
    let catalog = catalog(&[("llama.cpp", &place)], &[]);
    assert!(look_around(&catalog).await.is_none());
    assert_eq!(catalog.default_model().name, "scripted/script");
}

#[tokio::test]
async fn an_own_server_tells_which_model_it_has_unless_somebody_named_one() {
    let mut tasks = JoinSet::new();
    let place = server(&mut tasks, r#"{"data":[{"id":"house-model"}]}"#).await;
    let unnamed = catalog(&[], &[("OPENAI_BASE_URL", &place)]);
    assert_eq!(unnamed.default_model().name, "openai/default");
    assert_eq!(look_around(&unnamed).await.unwrap().name, "openai/house-model");
    let named = catalog(&[], &[("OPENAI_BASE_URL", &place), ("OPENAI_MODEL", "mine")]);
    assert!(look_around(&named).await.is_none());
    assert_eq!(named.default_model().name, "openai/mine");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_holds_nobody_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = format!("http://{}/v1", listener.local_addr().unwrap());
    let catalog = catalog(&[("vllm", &place)], &[]);
    let started = Instant::now();
    assert!(look_around(&catalog).await.is_none());
    assert!(started.elapsed() <= LOOK + Duration::from_millis(100));
    drop(listener);
}
