//! `concertino models`: what can be chosen, what it can do and costs; `models test` asks one of them.

mod table;
pub(crate) mod try_out;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use models::{ModelSelection, catalog::list::Filter, discover};

use crate::{config::Config, data_dir::DataDir, model_choice};

#[derive(Args)]
pub(crate) struct ModelsArguments {
    #[command(subcommand)]
    command: Option<ModelsCommand>,
    /// Only models with this tag, for example image_input; may be given several times.
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Only models of this provider.
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// Only models that can be asked now.
    #[arg(long)]
    available: bool,
    /// As JSON, in the shape of GET /api/models.
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum ModelsCommand {
    /// Ask a model one short question and say what came of it.
    Test {
        /// provider/model; the default when left out.
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
        return Ok(try_out::report(&*model).await);
    }
    let filter = Filter {
        tags: &arguments.tag,
        provider: arguments.provider.as_deref(),
        available_only: arguments.available,
    };
    let list = catalog.list(&filter);
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&list)?);
    } else {
        print!("{}", table::table(&list));
    }
    Ok(ExitCode::SUCCESS)
}
