//! `concertino doctor`: checks the data folder, the database, the sandbox of commands and the agent files, explains which
//! model is used and why, and tests it with one call.

mod agent_files;
mod sandbox;

use std::{process::ExitCode, sync::Arc};

use anyhow::Result;
use models::{
    Catalog, ModelSelection,
    catalog::{
        DefaultStatus,
        provider::{Provider, ServerStatus},
    },
    discover,
};

use super::{backup::ProgressReporter, models::probe};
use crate::{config::Config, data_dir::DataDir, model_choice, output};

pub(crate) async fn doctor(config: &Config) -> Result<ExitCode> {
    let data = DataDir::open(config)?;
    output::line(format_args!("data folder: {}", config.data_dir.display()))?;
    output::line(format_args!("your provider files: {}", data.providers().display()))?;
    let is_sound = check_database(&data)?;
    let is_contained = sandbox::check(config).await?;
    let catalog = match model_choice::catalog(&config.model, &data.providers()) {
        Ok(catalog) => catalog,
        Err(problem) => {
            output::line(format_args!("model: {problem:#}"))?;
            return Ok(ExitCode::FAILURE);
        }
    };
    let catalog = Arc::new(catalog);
    let agents_are_sound = agent_files::check(config, &data, is_sound, Arc::clone(&catalog)).await?;
    if config.model.discover {
        discover::discover(&catalog).await;
    }
    for line in keys(&catalog).into_iter().chain(model_servers(&catalog, config.model.discover)) {
        output::line(line)?;
    }
    let default = catalog.default_model();
    output::line(format_args!("default model: {} ({})", default.name, default.why))?;
    if default.status == DefaultStatus::LastResort {
        output::line("  To use a real model, set an API key such as OPENAI_API_KEY, or start a")?;
        output::line("  model server such as Ollama.")?;
    }
    for name in catalog.fallback() {
        output::line(format_args!("  fallback: {name} ({})", fallback_state(&catalog, name)))?;
    }
    let code = probe::report(&*default.model()).await?;
    Ok(if is_sound && is_contained && agents_are_sound { code } else { ExitCode::FAILURE })
}

/// Checks the whole database: its structure, the checksum of every row, and every chat against its log. Returns whether
/// it is sound.
fn check_database(data: &DataDir) -> Result<bool> {
    let path = data.database();
    if !path.is_file() {
        output::line("database: not created yet")?;
        return Ok(true);
    }
    let finding = data.check_wal()?;
    let mut reporter = ProgressReporter::new();
    let mut problems: Vec<String> =
        finding.filter(|found| found.certain).iter().map(ToString::to_string).collect();
    let copies = store::damaged_wal_copies(&path);
    match store::verify_database(&path, &mut |progress| reporter.report(progress)) {
        Ok(verified) => {
            problems.extend(verified.problems);
            let state = if problems.is_empty() { "sound" } else { "damaged" };
            output::line(format_args!("database: {state} (chats: {})", verified.sessions))?;
        }
        Err(error) => {
            output::line("database: cannot be read")?;
            problems.push(error.to_string());
        }
    }
    for problem in &problems {
        output::line(format_args!("  damaged: {problem}"))?;
    }
    for copy in copies {
        output::line(format_args!("  a damaged write-ahead log was kept: {}", copy.display()))?;
    }
    if !problems.is_empty() {
        output::line("  Restore a backup with: concertino restore <folder> --force")?;
        output::line("  Until then, everything that is not listed as damaged can be used.")?;
    }
    Ok(problems.is_empty())
}

/// Lists the providers for which a key or an address is set, with the names of the variables.
fn keys(catalog: &Catalog) -> Vec<String> {
    let line = |provider: &Provider| {
        let address = provider.address_variable().map(|name| format!("address from {name}"));
        let key = provider.key_variable().map(|name| format!("key from {name}"));
        let found: Vec<_> = [address, key].into_iter().flatten().collect();
        (!found.is_empty()).then(|| format!("  {}: {}", provider.definition.label, found.join(", ")))
    };
    let lines: Vec<_> = catalog.providers().iter().filter_map(|provider| line(provider)).collect();
    if lines.is_empty() {
        return vec!["API keys: none is set".to_owned()];
    }
    std::iter::once("API keys and addresses:".to_owned()).chain(lines).collect()
}

/// Lists the model servers that were found on this machine.
fn model_servers(catalog: &Catalog, searched: bool) -> Vec<String> {
    if !searched {
        return vec!["model servers: not searched, because discover is off".to_owned()];
    }
    let line = |provider: &Provider| {
        let label = &provider.definition.label;
        match provider.status() {
            ServerStatus::Running(models) if models.is_empty() => {
                Some(format!("  {label}: running, but has no model"))
            }
            ServerStatus::Running(models) => {
                Some(format!("  {label}: running, models: {}, first: {}", models.len(), models[0]))
            }
            ServerStatus::NotRunning if provider.definition.local => Some(format!("  {label}: not running")),
            ServerStatus::NotRunning | ServerStatus::NotProbed => None,
        }
    };
    let lines = catalog.providers().iter().filter_map(|provider| line(provider));
    std::iter::once("model servers:".to_owned()).chain(lines).collect()
}

/// Describes whether a fallback model can be used. Only the default model is tested by a call, so "ready" is said only of
/// a model that its server listed.
fn fallback_state(catalog: &Catalog, name: &str) -> String {
    let wanted = ModelSelection { id: Some(name), ..ModelSelection::default() };
    if let Err(problem) = catalog.resolve(&wanted, 0) {
        return format!("cannot be used: {problem}");
    }
    let (provider, model) = name.split_once('/').unwrap_or((name, ""));
    let Some(provider) = catalog.provider(provider) else { return "not checked".to_owned() };
    if provider.load().is_none() {
        // A model inside this process.
        return "ready".to_owned();
    }
    let label = &provider.definition.label;
    // Ollama lists `qwen3` as `qwen3:latest`.
    let has = |listed: &String| listed == model || listed.strip_suffix(":latest") == Some(model);
    match provider.status() {
        ServerStatus::Running(models) if models.iter().any(has) => "ready".to_owned(),
        ServerStatus::Running(_) => format!("{label} is running, but does not have this model"),
        ServerStatus::NotRunning => format!("{label} is not running"),
        ServerStatus::NotProbed if provider.definition.local => {
            "not checked, because discover is off".to_owned()
        }
        ServerStatus::NotProbed => "configured, not tested".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use models::{CatalogSettings, Scripted, registry::Registry};

    use super::*;

    #[test]
    fn a_fallback_is_ready_only_when_its_server_has_it() {
        let registry = Registry::builtin().unwrap();
        let catalog = Catalog::new(CatalogSettings {
            registry: &registry,
            variable: &|name| (name == "DEEPSEEK_API_KEY").then(|| "k".to_owned()),
            chosen: None,
            fallback: Vec::new(),
            last_resort: Arc::new(Scripted::new([])),
        })
        .unwrap();
        let state = |name: &str| fallback_state(&catalog, name);
        assert_eq!(state("deepseek/deepseek-chat"), "configured, not tested");
        assert!(state("nobody/x").starts_with("cannot be used: "), "{}", state("nobody/x"));
        assert_eq!(state("ollama/qwen3"), "not checked, because discover is off");
        let ollama = catalog.provider("ollama").unwrap();
        ollama.set_status(ServerStatus::NotRunning);
        assert_eq!(state("ollama/qwen3"), "Ollama is not running");
        ollama.set_status(ServerStatus::Running(["llama3:8b".to_owned()].into()));
        assert_eq!(state("ollama/qwen3"), "Ollama is running, but does not have this model");
        ollama.set_status(ServerStatus::Running(["llama3:8b".to_owned(), "qwen3:latest".to_owned()].into()));
        assert_eq!([state("ollama/qwen3"), state("ollama/llama3:8b")], ["ready", "ready"]);
    }
}
