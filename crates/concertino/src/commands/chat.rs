//! `concertino chat`: a terminal client over the HTTP API. It links nothing of the engine or the store: what it can
//! do, any client can.
//!
//! Exit codes: 0 done, 1 error, 3 a question waits for an answer, 130 stopped.

mod approve;
pub(super) mod client;
mod edit;
mod follow;
mod look;
mod prompt;
mod render;
mod session;
mod stream;
mod terminal;
pub(super) mod text;
mod tool_line;
mod wrap;
pub(super) mod zone;

use std::{
    io::{IsTerminal, Read},
    process::ExitCode,
};

use anyhow::{Context, Result, bail};
use clap::Args;
use protocol::SessionId;

use self::{
    client::{Client, is_local},
    look::{Look, Paint},
    session::Session,
    terminal::Signals,
};
use crate::config::Config;

/// More than a server takes in one message; keeps an endless pipe from filling memory.
const LONGEST_INPUT: u64 = 4 << 20;

#[derive(Args)]
pub(crate) struct ChatArguments {
    /// What to say; without it, what is piped in, or a conversation.
    message: Vec<String>,
    /// The chat to go on with, or the id for a new one.
    #[arg(long, value_name = "CHAT")]
    id: Option<String>,
    /// Go on with the chat that was used last.
    #[arg(long = "continue", short = 'c', conflicts_with = "id")]
    newest: bool,
    /// The server [default: the one of this machine's settings].
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The access token [default: CONCERTINO_TOKEN, or the one in the data folder].
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Print the raw chunks, one JSON object per line.
    #[arg(long)]
    json: bool,
}

pub(crate) async fn chat(config: &Config, arguments: ChatArguments) -> Result<ExitCode> {
    let mut look = Look::of_stdout();
    if arguments.json {
        look = Look { terminal: false, color: false, ..look };
    }
    match talk(config, arguments, look).await {
        Ok(code) => Ok(ExitCode::from(code)),
        Err(error) if terminal::is_reader_gone(&error) => Ok(ExitCode::SUCCESS),
        Err(error) => {
            let pieces = render::Renderer::new(look).note(Paint::Red, &format!("✗ {error:#}"));
            terminal::print(&look, &pieces)?;
            Ok(ExitCode::FAILURE)
        }
    }
}

async fn talk(config: &Config, arguments: ChatArguments, look: Look) -> Result<u8> {
    let message = message(&arguments)?;
    let url = arguments.url.unwrap_or_else(|| config.url());
    let token = token(config, arguments.token, &url)?;
    let client = Client::new(&url, token)?;
    // Tells at once whether there is a server and whether it knows us.
    let newest = client.newest_chat().await?;
    let (chat, is_known) = match arguments.id {
        Some(id) => {
            SessionId::from_outside(&id).map_err(|error| anyhow::anyhow!("the chat id {error}"))?;
            (id, true)
        }
        None if arguments.newest => match newest {
            Some(id) => (id, true),
            None => bail!("there is no chat yet to continue"),
        },
        None => (random_id()?, false),
    };
    let can_ask = look.terminal && std::io::stdin().is_terminal();
    let mut session =
        Session { client, chat, look, signals: Signals::listen()?, can_ask, json: arguments.json };
    match message {
        Some(message) => Ok(session.send(&message).await?.exit_code()),
        None => prompt::talk(&mut session, is_known).await,
    }
}

/// What to say; `None` when the person is to be asked for it.
fn message(arguments: &ChatArguments) -> Result<Option<String>> {
    let mut message = arguments.message.join(" ");
    if arguments.message.is_empty() {
        if std::io::stdin().is_terminal() {
            if arguments.json || !std::io::stdout().is_terminal() {
                bail!("say something: concertino chat \"what can you do?\"");
            }
            return Ok(None);
        }
        let mut bytes = Vec::new();
        std::io::stdin()
            .take(LONGEST_INPUT)
            .read_to_end(&mut bytes)
            .context("cannot read what was piped in")?;
        message = String::from_utf8(bytes).context("what was piped in is not text")?;
    }
    if message.trim().is_empty() {
        bail!("there is nothing to send; say something: concertino chat \"what can you do?\"");
    }
    Ok(Some(message))
}

/// The token of the data folder goes to this machine only: another server must not learn it.
pub(super) fn token(config: &Config, given: Option<String>, url: &str) -> Result<Option<String>> {
    if let Some(token) = given.or_else(|| config.token.clone()) {
        return Ok(Some(token));
    }
    if url != config.url() && !url.parse().is_ok_and(|url| is_local(&url)) {
        return Ok(None);
    }
    let path = config.data_dir.join("token");
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text.trim().to_owned()).filter(|token| !token.is_empty())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// 128 random bits.
fn random_id() -> Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("the system gives no random numbers: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
