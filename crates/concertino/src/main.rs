//! The binary, wiring only: read the settings once, hand them down, run one command.

mod agent_files;
mod commands;
mod config;
mod data_dir;
mod lifecycle;
mod model_choice;
mod parts;
mod telemetry;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A turn is thousands of small allocations, made on one thread and let go on another.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// An agent server in one binary.
#[derive(Parser)]
#[command(
    version,
    about,
    after_help = "Without a command, `serve` runs. Documentation: docs/ and README.md."
)]
struct Arguments {
    #[command(flatten)]
    flags: config::Flags,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Start the server (the default).
    Serve,
    /// Talk to a running server from the terminal.
    Chat(commands::chat::ChatArguments),
    /// Show the agents, check agent files, bring them into the database.
    Agents(commands::agents::AgentsArguments),
    /// Show the models that can be used, or test one.
    Models(commands::models::ModelsArguments),
    /// Check the database; explain which model answers and why, and test it with one call.
    Doctor,
    /// Print the sign-in link again.
    Link,
    /// Add, list or remove access tokens.
    #[command(subcommand)]
    Token(commands::token::TokenCommand),
    /// Write a chat to a folder, with its sub-agents and files.
    Export(commands::transcript::ExportArguments),
    /// Read a chat from a folder.
    Import(commands::transcript::ImportArguments),
    /// Copy the whole data folder while the server runs, and verify the copy.
    Backup(commands::backup::BackupArguments),
    /// Put a backup back.
    Restore(commands::restore::RestoreArguments),
    /// Show what model calls used and cost.
    Usage(commands::usage::UsageArguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = config::Config::read(arguments.flags).and_then(|config| {
        telemetry::start(&config)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(config.threads)
            .enable_all()
            .build()?;
        let code = runtime.block_on(async {
            match arguments.command.unwrap_or(Command::Serve) {
                Command::Serve => commands::serve::serve(&config).await,
                Command::Chat(arguments) => commands::chat::chat(&config, arguments).await,
                Command::Agents(arguments) => commands::agents::agents(&config, arguments).await,
                Command::Models(arguments) => commands::models::models(&config, arguments).await,
                Command::Doctor => commands::doctor::doctor(&config).await,
                Command::Link => commands::link::link(&config),
                Command::Token(command) => commands::token::token(&config, command).await,
                Command::Export(arguments) => commands::transcript::export(&config, arguments).await,
                Command::Import(arguments) => commands::transcript::import(&config, arguments).await,
                Command::Backup(arguments) => commands::backup::backup(&config, arguments).await,
                Command::Restore(arguments) => commands::restore::restore(&config, arguments).await,
                Command::Usage(arguments) => commands::usage::usage(&config, arguments).await,
            }
        });
        // Work that ignores its end (a blocking read) must not keep the process.
        runtime.shutdown_timeout(std::time::Duration::from_millis(200));
        code
    });
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("concertino: {error:#}");
            ExitCode::FAILURE
        }
    }
}
