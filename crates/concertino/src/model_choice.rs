//! Builds the model catalogue from the built-in providers, the user's provider files and the settings.

use std::{fs, io::ErrorKind, path::Path, sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use models::{
    Catalog, CatalogSettings,
    catalog::DefaultStatus,
    demo::{Demo, Pace},
    discover,
    registry::Registry,
};

use crate::config::ModelConfig;

const MAX_FILE_BYTES: u64 = 4 << 20;
const MAX_FILES: usize = 200;
/// How often this machine is searched for model servers while only the demo model is available.
const DISCOVER_EVERY: Duration = Duration::from_secs(30);

/// Builds the catalogue. `folder` has the user's provider files; it may be missing.
pub(crate) fn catalog(config: &ModelConfig, folder: &Path) -> Result<Catalog> {
    let registry = registry(folder)?;
    let catalog = Catalog::new(CatalogSettings {
        registry: &registry,
        variable: &|name| config.variables.get(name),
        chosen: config.chosen.as_deref(),
        fallback: config.fallback.clone(),
        last_resort: Arc::new(Demo::new(Pace::default())),
    });
    catalog.context("cannot choose a model")
}

fn registry(folder: &Path) -> Result<Registry> {
    let mut registry = Registry::builtin().context("cannot read the built-in providers")?;
    for path in files(folder)? {
        let length = fs::metadata(&path)?.len();
        if length > MAX_FILE_BYTES {
            bail!("the provider file {} is larger than {MAX_FILE_BYTES} bytes", path.display());
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        registry.add(&path.display().to_string(), &text)?;
    }
    Ok(registry)
}

/// Returns the provider files sorted by name; a later file overrides an earlier one.
fn files(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", folder.display())),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    if files.len() > MAX_FILES {
        bail!("{} has more than {MAX_FILES} provider files", folder.display());
    }
    files.sort();
    Ok(files)
}

/// Searches this machine for model servers, repeatedly while only the demo model is available, and reports the model that
/// becomes the default. Returns when a default model is set.
pub(crate) async fn discover_default(catalog: &Catalog, report: impl Fn(&str)) {
    loop {
        if let Some(found) = discover::discover(catalog).await {
            report(&format!("The default model is now {} ({}).", found.name, found.why));
        }
        if catalog.default_model().status != DefaultStatus::LastResort {
            return;
        }
        tokio::time::sleep(DISCOVER_EVERY).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(variables: &[(&str, &str)]) -> ModelConfig {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        ModelConfig { variables: variables.collect(), ..ModelConfig::default() }
    }

    #[test]
    fn without_any_setting_the_demo_model_answers() {
        let catalog = catalog(&config(&[]), Path::new("/nowhere")).unwrap();
        assert_eq!(catalog.default_model().name, "demo/rules");
        let empty = config(&[("OPENAI_API_KEY", " ")]);
        assert_eq!(super::catalog(&empty, Path::new("/nowhere")).unwrap().default_model().name, "demo/rules");
    }

    #[test]
    fn a_users_file_brings_a_provider_and_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{"id":"house","adapter":"openai","baseUrl":"http://127.0.0.1:1/v1",
            "keyVariables":["HOUSE_KEY"],"models":[{"id":"m","tags":["chat"]}]}"#;
        fs::write(folder.path().join("house.json"), text).unwrap();
        fs::write(folder.path().join("notes.txt"), "not read").unwrap();
        let catalog = catalog(&config(&[("HOUSE_KEY", "k")]), folder.path()).unwrap();
        assert_eq!(catalog.default_model().name, "house/m");
    }

    #[test]
    fn a_mistake_in_a_users_file_is_reported_with_line_and_column() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine.json"), "{\n  \"id\": \"openai\",\n  \"model\": []\n}").unwrap();
        let error = format!("{:#}", catalog(&config(&[]), folder.path()).err().unwrap());
        assert!(error.contains("mine.json:3:9: unknown field `model`"), "{error}");
    }
}
