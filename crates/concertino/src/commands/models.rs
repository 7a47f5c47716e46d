//! `concertino models`: lists the models with their abilities and prices; `models test` asks one of them a question.

pub(crate) mod probe;
mod table;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use models::{ModelSelection, catalog::list::Filter, discover};

use crate::{config::Config, data_dir::DataDir, model_choice, output};

#[derive(Args)]
pub(crate) struct ModelsArguments {
    #[command(subcommand)]
    command: Option<ModelsCommand>,
    /// Only models with this tag, for example image_input; can be repeated.
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Only models of this provider.
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// Only models that are ready to use.
    #[arg(long)]
    available: bool,
    /// Print JSON, as returned by GET /api/models.
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum ModelsCommand {
    /// Ask a model one short question and print the answer and its timing.
    Test {
        /// The model, as provider/model [default: the default model].
        model: Option<String>,
    },
}

pub(crate) async fn models(config: &Config, arguments: ModelsArguments) -> Result<ExitCode> {
    let catalog = model_choice::catalog(&config.model, &DataDir::open(config)?.providers())?;
    if config.model.discover {
        discover::discover(&catalog).await;
    }
    if let Some(ModelsCommand::Test { model }) = &arguments.command {
        let wanted = ModelSelection { id: model.as_deref(), ..ModelSelection::default() };
        let model = catalog.resolve(&wanted, 0)?;
        return probe::report(&*model).await;
    }
    let filter = Filter {
        tags: &arguments.tag,
        provider: arguments.provider.as_deref(),
        available_only: arguments.available,
    };
    let list = catalog.list(&filter);
    if arguments.json {
        output::line(serde_json::to_string_pretty(&list)?)?;
    } else {
        output::text(&table::table(&list))?;
    }
    Ok(ExitCode::SUCCESS)
}
