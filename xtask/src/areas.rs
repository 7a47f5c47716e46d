//! The areas of `cargo xtask test`: a part of what CI runs, for work on that part.

use anyhow::Result;
use clap::ValueEnum;

use crate::{
    conformance, links, lint, node::Node, prepare, project::Project, rust_tests, steps::Steps, web, web_tests,
};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Area {
    /// Events, messages and the pure folds, also against the published client
    Protocol,
    /// The database: one suite for every backend
    Store,
    /// Adapters to model providers, the catalog, retries
    Models,
    /// Built-in tools, reading and repairing calls, the example of CONTRIBUTING.md
    Tools,
    /// Units of the engine: agents, templates, context, the agent loop
    Engine,
    /// Behaviour over HTTP with a scripted model: the largest suite
    Server,
    /// The real binary: crashes, power losses, signals, memory, the terminal client
    Concertino,
    /// What tests are made of: testkit, test-support, powerloss
    Testkit,
    /// The tasks themselves
    Xtask,
    /// The web interface: types, lints, the build, unit tests
    Web,
    /// The web interface in a real browser
    Browser,
    /// The conformance suites of both surfaces, where they are beside the repository
    Conformance,
    /// Documentation: rustdoc, documentation tests, links between pages
    Docs,
    /// Format, tree, dependencies, clippy
    Lint,
}

impl Area {
    /// The crates whose tests belong to the area.
    fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Protocol => &["protocol"],
            Self::Store => &["store"],
            Self::Models => &["models"],
            Self::Tools => &["tools"],
            Self::Engine => &["engine"],
            Self::Server => &["server"],
            Self::Concertino => &["concertino"],
            Self::Testkit => &["testkit", "test-support", "powerloss"],
            Self::Xtask => &["xtask"],
            Self::Web | Self::Browser | Self::Conformance | Self::Docs | Self::Lint => &[],
        }
    }

    /// Whether a part of the area runs on Node.
    fn needs_node(self) -> bool {
        matches!(self, Self::Protocol | Self::Server | Self::Web | Self::Browser | Self::Conformance)
    }
}

/// Runs these areas, in the order given.
pub fn run(project: &Project, areas: &[Area]) -> Result<()> {
    let mut steps = Steps::default();
    let outcome = every_area(project, areas, &mut steps);
    steps.conclude(outcome)
}

fn every_area(project: &Project, areas: &[Area], steps: &mut Steps) -> Result<()> {
    let mut node = None;
    if areas.iter().any(|area| area.needs_node()) {
        steps.run("prepare", |notes| {
            node = prepare::everything(project, notes)?;
            Ok(())
        })?;
    }
    areas.iter().try_for_each(|area| one(project, *area, node.as_ref(), steps))
}

fn one(project: &Project, area: Area, node: Option<&Node>, steps: &mut Steps) -> Result<()> {
    match area {
        Area::Web => steps.run("web", |notes| web::check(project, node, notes)),
        Area::Browser => steps.run("browser", |notes| web_tests::in_browser(project, node, notes)),
        Area::Conformance => steps.run("conformance", |notes| conformance::run(project, node, notes)),
        Area::Docs => {
            steps.run("links", |_| links::check(project))?;
            steps.run("rustdoc", |_| lint::rustdoc(project))?;
            steps.run("doc tests", |notes| rust_tests::doc_tests(project, notes))
        }
        Area::Lint => {
            lint::cheap(project, steps)?;
            steps.run("clippy", |_| lint::clippy(project))
        }
        _ => steps.run("tests", |notes| rust_tests::run(project, node, area.packages(), notes)),
    }
}
