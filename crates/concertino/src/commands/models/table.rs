//! Formats the list of models for a terminal.

use std::fmt::Write;

use models::catalog::list::{ModelInfo, ModelList};

const COLUMNS: usize = 80;

/// Formats the models under their providers. What keeps a provider from being used is in the provider's line. Tags that
/// do not fit 80 columns are on a line of their own.
pub(super) fn table(list: &ModelList) -> String {
    let mut out = String::new();
    for provider in &list.providers {
        let models: Vec<_> = list.models.iter().filter(|model| model.provider == provider.id).collect();
        if models.is_empty() && provider.available {
            continue;
        }
        let state = provider.reason.as_deref().unwrap_or("ready");
        line(&mut out, format_args!("{} ({}): {state}", provider.label, provider.id));
        let width = models.iter().map(|model| model.id.len()).max().unwrap_or_default().min(48);
        for model in models {
            let mark = if model.default { '*' } else { ' ' };
            let start = format!("{mark} {:width$}  {}", model.id, window_and_price(model));
            let tags = tags(model);
            if tags.is_empty() || start.len() + 2 + tags.len() <= COLUMNS {
                let whole = format!("{start}  {tags}");
                line(&mut out, format_args!("{}", whole.trim_end()));
            } else {
                line(&mut out, format_args!("{}\n      {tags}", start.trim_end()));
            }
        }
    }
    line(&mut out, format_args!("\n* default model: {}", list.default.reason));
    if !list.default.fallback.is_empty() {
        line(&mut out, format_args!("  fallback: {}", list.default.fallback.join(", then ")));
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    writeln!(out, "{text}").unwrap_or_default();
}

fn window_and_price(model: &ModelInfo) -> String {
    let mut facts = Vec::new();
    if let Some(window) = model.details.context_window {
        facts.push(format!("{:>5}", tokens(window)));
    }
    if let Some(price) = model.details.price {
        facts.push(format!("${} in, ${} out", price.input, price.output));
    }
    facts.join("  ")
}

fn tags(model: &ModelInfo) -> String {
    let tags = model.details.tags.iter().map(|tag| tag.as_str()).filter(|tag| *tag != "chat");
    tags.collect::<Vec<_>>().join(" ")
}

fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}M", count / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use models::{Catalog, CatalogSettings, Scripted, catalog::list::Filter, registry::Registry};

    use super::*;

    #[test]
    fn the_table_shows_what_is_missing_and_marks_the_default() {
        let registry = Registry::builtin().unwrap();
        let catalog = Catalog::new(CatalogSettings {
            registry: &registry,
            variable: &|name| (name == "DEEPSEEK_API_KEY").then(|| "k".to_owned()),
            chosen: None,
            fallback: vec!["ollama/x".to_owned()],
            last_resort: Arc::new(Scripted::new([])),
        })
        .unwrap();
        let table = table(&catalog.list(&Filter::default()));
        assert!(table.contains("DeepSeek (deepseek): ready\n* deepseek/deepseek-chat"), "{table}");
        assert!(table.contains("128k  $0.28 in, $0.42 out  tool_call code"), "{table}");
        for model in table.lines().filter(|line| line.starts_with([' ', '*'])) {
            assert!(model.len() <= COLUMNS, "{model}");
        }
        assert!(table.contains("xAI (xai): no key is set; put one in XAI_API_KEY"), "{table}");
        assert!(
            table.ends_with("* default model: DEEPSEEK_API_KEY is set\n  fallback: ollama/x\n"),
            "{table}"
        );
    }
}
