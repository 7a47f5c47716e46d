//! `concertino doctor`: which model answers and why, what else was found, and one call that proves it.

use std::process::ExitCode;

use anyhow::Result;
use models::{
    Catalog, ModelSelection,
    catalog::{
        DefaultStatus,
        provider::{Provider, ServerStatus},
    },
    discover,
};

use super::{backup::Teller, models::try_out};
use crate::{config::Config, data_dir::DataDir, model_choice};

pub(crate) async fn doctor(config: &Config) -> Result<ExitCode> {
    let data = DataDir::open(config)?;
    println!("data folder: {}", config.data_dir.display());
    println!("own provider files: {}", data.providers().display());
    let sound = database(&data)?;
    let catalog = match model_choice::catalog(&config.model, &data.providers()) {
        Ok(catalog) => catalog,
        Err(problem) => {
            println!("  problem: {problem:#}");
            return Ok(ExitCode::FAILURE);
        }
    };
    if config.model.discover {
        discover::discover(&catalog).await;
    }
    for line in keys(&catalog).into_iter().chain(servers(&catalog, config.model.discover)) {
        println!("{line}");
    }
    let default = catalog.default_model();
    println!("model: {} ({})", default.name, default.why);
    if default.status == DefaultStatus::LastResort {
        println!(
            "  for a real model set a key, for example OPENAI_API_KEY, or start a model server such as Ollama"
        );
    }
    for name in catalog.fallback() {
        let state = match catalog.resolve(&ModelSelection { id: Some(name), ..ModelSelection::default() }, 0)
        {
            Ok(_) => "ready".to_owned(),
            Err(problem) => format!("left out: {problem}"),
        };
        println!("  if it gives up: {name} ({state})");
    }
    let model = try_out::report(&*default.model()).await;
    Ok(if sound { model } else { ExitCode::FAILURE })
}

/// Checks the whole database: its structure, the checksum of every row, and every chat against its log.
fn database(data: &DataDir) -> Result<bool> {
    let path = data.database();
    if !path.is_file() {
        println!("database: none yet");
        return Ok(true);
    }
    let finding = data.check_log()?;
    let mut said = Teller::new();
    let mut problems: Vec<String> =
        finding.filter(|found| found.certain).iter().map(ToString::to_string).collect();
    let copies = store::damaged_wal_copies(&path);
    match store::verify_database(&path, &mut |progress| said.tell(progress)) {
        Ok(verified) => {
            problems.extend(verified.problems);
            println!(
                "database: {} (chats: {})",
                if problems.is_empty() { "sound" } else { "damaged" },
                verified.sessions
            );
        }
        Err(error) => {
            println!("database: it cannot be read");
            problems.push(error.to_string());
        }
    }
    for problem in &problems {
        println!("  damaged: {problem}");
    }
    for copy in copies {
        println!("  a damaged write-ahead log was kept: {}", copy.display());
    }
    if !problems.is_empty() {
        println!(
            "  restore a backup: concertino restore <folder> --force; what is not damaged can be used meanwhile"
        );
    }
    Ok(problems.is_empty())
}

/// Which providers have a key or an address of the user's, by the names of the variables.
fn keys(catalog: &Catalog) -> Vec<String> {
    let line = |provider: &Provider| {
        let address = provider.address_variable().map(|name| format!("address from {name}"));
        let key = provider.key_variable().map(|name| format!("key from {name}"));
        let found: Vec<_> = [address, key].into_iter().flatten().collect();
        (!found.is_empty()).then(|| format!("  {}: {}", provider.definition.label, found.join(", ")))
    };
    let lines: Vec<_> = catalog.providers().iter().filter_map(|provider| line(provider)).collect();
    if lines.is_empty() {
        return vec!["keys: none is set".to_owned()];
    }
    std::iter::once("keys and addresses:".to_owned()).chain(lines).collect()
}

fn servers(catalog: &Catalog, looked: bool) -> Vec<String> {
    if !looked {
        return vec!["on this machine: not looked, discover is off".to_owned()];
    }
    let line = |provider: &Provider| {
        let label = &provider.definition.label;
        match provider.status() {
            ServerStatus::Running(models) if models.is_empty() => {
                Some(format!("  {label}: runs, but has no model"))
            }
            ServerStatus::Running(models) => {
                Some(format!("  {label}: {} models, the first is {}", models.len(), models[0]))
            }
            ServerStatus::NotRunning if provider.definition.local => Some(format!("  {label}: not there")),
            ServerStatus::NotRunning | ServerStatus::NotProbed => None,
        }
    };
    let lines = catalog.providers().iter().filter_map(|provider| line(provider));
    std::iter::once("model servers:".to_owned()).chain(lines).collect()
}
