//! LiteLLM's proxy as a child process on a loopback port, in front of the scripted upstream.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use tokio::sync::mpsc;

/// Loading the proxy takes some ten seconds, more on a busy machine.
const LONGEST_START: Duration = Duration::from_secs(150);
const READY: &str = "Uvicorn running on";

pub struct Proxy {
    child: Child,
    port: u16,
}

impl Proxy {
    /// `None` where the proxy is not installed.
    pub async fn start(upstream: &str) -> Option<Self> {
        let Some(program) = std::env::var_os("CONCERTINO_TEST_LITELLM") else {
            eprintln!("SKIPPED: LiteLLM's proxy is not installed (cargo xtask test installs it)");
            return None;
        };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("litellm");
        fs::create_dir_all(&folder).unwrap();
        let config = folder.join("config.yaml");
        // `lm_studio` is a provider of LiteLLM that speaks nothing but chat completions, so that the proxy has to
        // translate the other three.
        let text = format!(
            "model_list:\n  - model_name: scripted\n    litellm_params:\n      model: lm_studio/scripted\n      \
             api_base: {upstream}\n      api_key: none\n      max_retries: 0\n\
             litellm_settings:\n  telemetry: false\n  num_retries: 0\n"
        );
        fs::write(&config, text).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut child = Command::new(program)
            .args(["--host", "127.0.0.1", "--num_workers", "1", "--port", &port.to_string(), "--config"])
            .arg(&config)
            .current_dir(&folder)
            .env("NO_PROXY", "127.0.0.1")
            .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            .env("LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY", "true")
            .env("DISABLE_ADMIN_UI", "True")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (lines, mut heard) = mpsc::unbounded_channel();
        follow(child.stdout.take().unwrap(), lines.clone());
        follow(child.stderr.take().unwrap(), lines);
        let proxy = Self { child, port };
        let mut said = Vec::new();
        let ready = async {
            while let Some(line) = heard.recv().await {
                said.push(line);
                if said.last().is_some_and(|line| line.contains(READY)) {
                    return true;
                }
            }
            false
        };
        let is_ready = tokio::time::timeout(LONGEST_START, ready).await;
        assert_eq!(is_ready, Ok(true), "the proxy did not start:\n{}", said.join("\n"));
        Some(proxy)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

/// Passes the lines on until nobody wants them, and reads on so that the proxy never waits for us.
fn follow(output: impl Read + Send + 'static, lines: mpsc::UnboundedSender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            drop(lines.send(line));
        }
    });
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
