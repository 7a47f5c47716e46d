//! `concertino chat`: a terminal client of the HTTP API. It uses nothing of the engine or the store, so any client can do
//! what it does.
//!
//! Exit codes: 0 done, 1 error, 3 a question is pending, 130 stopped.

mod approve;
pub(super) mod client;
mod command_report;
mod diff;
mod edit;
mod fill_in;
mod follow;
mod output_settings;
mod prompt;
mod render;
pub(super) mod session;
mod stream;
mod terminal;
pub(super) mod text;
pub(super) mod timezone;
mod tool_line;
mod wrap;

use std::{
    io::{IsTerminal, Read},
    process::ExitCode,
};

use anyhow::{Context, Result, bail};
use clap::Args;
use protocol::SessionId;

use self::{
    client::{Client, is_local},
    output_settings::{OutputSettings, TextStyle},
    session::ChatSession,
    terminal::Signals,
};
use crate::config::Config;

/// More than a server accepts in one message; keeps an endless pipe from filling the memory.
const MAX_INPUT_BYTES: u64 = 4 << 20;

#[derive(Args)]
#[command(after_help = "Exit codes: 0 done, 1 error, 3 a question is pending, 130 stopped.")]
pub(crate) struct ChatArguments {
    /// The message. Without it, the message is read from a pipe, or a conversation starts.
    message: Vec<String>,
    /// Id of the chat to continue, or of a new chat.
    #[arg(long, value_name = "CHAT")]
    id: Option<String>,
    /// Continue the chat that was used last.
    #[arg(long = "continue", short = 'c', conflicts_with = "id")]
    newest: bool,
    /// URL of the server [default: the server on this machine].
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Access token [default: CONCERTINO_TOKEN, else the one in the data folder].
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Print the raw chunks, one JSON object per line.
    #[arg(long)]
    json: bool,
}

pub(crate) async fn chat(config: &Config, arguments: ChatArguments) -> Result<ExitCode> {
    let mut settings = OutputSettings::of_stdout();
    if arguments.json {
        settings = OutputSettings { terminal: false, color: false, ..settings };
    }
    match talk(config, arguments, settings).await {
        Ok(code) => Ok(ExitCode::from(code)),
        Err(error) if terminal::is_closed_pipe(&error) => Ok(ExitCode::SUCCESS),
        Err(error) => {
            let pieces = render::Renderer::new(settings).note(TextStyle::Red, &format!("✗ {error:#}"));
            terminal::print(&settings, &pieces)?;
            Ok(ExitCode::FAILURE)
        }
    }
}

async fn talk(config: &Config, arguments: ChatArguments, settings: OutputSettings) -> Result<u8> {
    let message = message(&arguments)?;
    let url = arguments.url.unwrap_or_else(|| config.url());
    let token = token(config, arguments.token, &url)?;
    let client = Client::new(&url, token)?;
    // Fails here, before anything is sent, when there is no server or it does not accept the token.
    let newest = client.newest_chat().await?;
    let (chat, is_known) = match arguments.id {
        Some(id) => {
            SessionId::from_outside(&id).map_err(|error| anyhow::anyhow!("the chat id {error}"))?;
            (id, true)
        }
        None if arguments.newest => match newest {
            Some(id) => (id, true),
            None => bail!("there is no chat yet that could be continued; send a message without --continue"),
        },
        None => (random_id()?, false),
    };
    let can_ask = settings.terminal && std::io::stdin().is_terminal();
    let mut session =
        ChatSession { client, chat, settings, signals: Signals::listen()?, can_ask, json: arguments.json };
    match message {
        Some(message) => Ok(session.send(&message).await?.exit_code()),
        None => prompt::run(&mut session, is_known).await,
    }
}

/// Returns the message to send; `None` starts a conversation.
fn message(arguments: &ChatArguments) -> Result<Option<String>> {
    let mut message = arguments.message.join(" ");
    if arguments.message.is_empty() {
        if std::io::stdin().is_terminal() {
            if arguments.json || !std::io::stdout().is_terminal() {
                bail!("the message is missing; write one: concertino chat \"what can you do?\"");
            }
            return Ok(None);
        }
        let mut bytes = Vec::new();
        std::io::stdin()
            .take(MAX_INPUT_BYTES)
            .read_to_end(&mut bytes)
            .context("cannot read the message from standard input")?;
        message = String::from_utf8(bytes).context("the message on standard input is not UTF-8 text")?;
    }
    if message.trim().is_empty() {
        bail!(
            "the message is empty, so there is nothing to send; write one: concertino chat \"what can you do?\""
        );
    }
    Ok(Some(message))
}

/// Returns the token to send. The token of the data folder is sent only to a server on this machine.
pub(super) fn token(config: &Config, flag: Option<String>, url: &str) -> Result<Option<String>> {
    if let Some(token) = flag.or_else(|| config.token.clone()) {
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

/// Returns an id of 128 random bits.
fn random_id() -> Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("the operating system returned no random numbers: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
