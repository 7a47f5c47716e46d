//! The binary: reads the settings once and runs one command with them.

#![deny(clippy::print_stdout, clippy::print_stderr, reason = "they panic on a closed pipe; use `output`")]

mod agent_files;
mod agent_loader;
mod build_engine;
mod commands;
mod config;
mod data_dir;
mod lifecycle;
mod model_choice;
mod open_files;
mod output;
mod telemetry;

use std::{process::ExitCode, time::Duration};

use clap::{Parser, Subcommand};

/// A turn makes thousands of small allocations that are freed on other threads; mimalloc is faster at that. Version 2,
/// because version 3 gave freed memory back so late that the resident size grew under a steady load (`soak churn`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Threads for blocking work: few and long-lived, because the allocator keeps memory for every thread that ever was.
const BLOCKING_THREADS: usize = 8;
/// How long a thread for blocking work is kept without work.
const BLOCKING_THREAD_KEPT: Duration = Duration::from_secs(600);

/// An agent server in one binary.
#[derive(Parser)]
#[command(
    version,
    about,
    max_term_width = 80,
    after_help = "Without a command, concertino runs `serve`.\nDocumentation: README.md and docs/ in the source repository."
)]
struct Arguments {
    #[command(flatten)]
    flags: config::Flags,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Start the server (default).
    Serve,
    /// Chat with a running server in the terminal.
    Chat(commands::chat::ChatArguments),
    /// List agents, check agent files, or import them into the database.
    Agents(commands::agents::AgentsArguments),
    /// List the available models, or test one.
    Models(commands::models::ModelsArguments),
    /// List, add or remove rules about which calls run, ask or are refused.
    Rules(commands::rules::RulesArguments),
    /// Show what happens to a command: whether it runs, asks or is refused, and why.
    Policy(commands::policy::PolicyArguments),
    /// List the tools with their group, risk and rule.
    Tools(commands::tools::ToolsArguments),
    /// Check the data folder, the database and the default model.
    Doctor,
    /// Print the sign-in link for a browser.
    Link,
    /// List the signed-in browsers, or sign them out.
    #[command(subcommand)]
    SignIns(commands::sign_ins::SignInsCommand),
    /// Add, list, remove or rotate access tokens.
    #[command(subcommand)]
    Token(commands::token::TokenCommand),
    /// Export a chat to a folder, with its sub-agents and files.
    Export(commands::transcript::ExportArguments),
    /// Import a chat from an exported folder.
    Import(commands::transcript::ImportArguments),
    /// Back up the data folder and verify the copy; the server may be running.
    Backup(commands::backup::BackupArguments),
    /// Restore the data folder from a backup.
    Restore(commands::restore::RestoreArguments),
    /// Show the tokens and costs of model calls.
    Usage(commands::usage::UsageArguments),
}

fn main() -> ExitCode {
    // The server starts its own program again for every command of an agent, to set up the sandbox.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == process::LAUNCH_ARGUMENT) {
        process::launcher_main();
    }
    let arguments = Arguments::parse();
    let result = config::Config::read(arguments.flags).and_then(|config| {
        telemetry::start(&config)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(config.threads)
            .max_blocking_threads(BLOCKING_THREADS.max(4 * config.threads))
            .thread_keep_alive(BLOCKING_THREAD_KEPT)
            .enable_all()
            .build()?;
        let code = runtime.block_on(run(&config, arguments.command.unwrap_or(Command::Serve)));
        // A blocking read cannot be cancelled and must not keep the process alive.
        runtime.shutdown_timeout(Duration::from_millis(200));
        code
    });
    match result {
        Ok(code) => code,
        Err(error) => {
            output::note(format_args!("concertino: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

async fn run(config: &config::Config, command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Serve => commands::serve::serve(config).await,
        Command::Chat(arguments) => commands::chat::chat(config, arguments).await,
        Command::Agents(arguments) => commands::agents::agents(config, arguments).await,
        Command::Models(arguments) => commands::models::models(config, arguments).await,
        Command::Rules(arguments) => commands::rules::rules(config, arguments).await,
        Command::Policy(arguments) => commands::policy::policy(config, arguments).await,
        Command::Tools(arguments) => commands::tools::tools(config, arguments).await,
        Command::Doctor => commands::doctor::doctor(config).await,
        Command::Link => commands::link::link(config).await,
        Command::SignIns(command) => commands::sign_ins::sign_ins(config, command).await,
        Command::Token(command) => commands::token::token(config, command).await,
        Command::Export(arguments) => commands::transcript::export(config, arguments).await,
        Command::Import(arguments) => commands::transcript::import(config, arguments).await,
        Command::Backup(arguments) => commands::backup::backup(config, arguments).await,
        Command::Restore(arguments) => commands::restore::restore(config, arguments).await,
        Command::Usage(arguments) => commands::usage::usage(config, arguments).await,
    }
}
