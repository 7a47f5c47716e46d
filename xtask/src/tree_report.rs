//! `cargo xtask tree`: shows the imports between the modules of a crate, and figures about all crates.

use anyhow::{Result, bail};
use clap::Args;

use crate::{
    code_counts::CodeCounts,
    imports::{Graph, ROOT},
    layers::{self, ENFORCED, LAYERS},
    project::Project,
    tree,
};

#[derive(Args)]
pub struct TreeArguments {
    /// A crate, or a module of one: `engine`, `engine::run`
    #[arg(default_value = "engine")]
    inside: String,
    /// List every import from one module to another instead of the table
    #[arg(long, num_args = 2, value_names = ["FROM", "TO"])]
    imports: Option<Vec<String>>,
    /// Show figures about every crate: lines, the longest function, free-form JSON in signatures
    #[arg(long)]
    counts: bool,
    /// With --counts: show the number of fields of the structs with these names
    #[arg(long, value_name = "STRUCT", value_delimiter = ',', default_value = "RunCtx,Parts")]
    fields: Vec<String>,
}

pub fn show(project: &Project, arguments: &TreeArguments) -> Result<()> {
    if arguments.counts {
        return show_counts(project, &arguments.fields);
    }
    let graph = layers::graph(&project.root, &arguments.inside)?;
    match arguments.imports.as_deref() {
        Some([from, to]) => show_imports(&graph, from, to),
        _ => {
            show_table(&arguments.inside, &graph);
            Ok(())
        }
    }
}

fn show_imports(graph: &Graph, from: &str, to: &str) -> Result<()> {
    if let Some(unknown) = [from, to].into_iter().find(|name| !graph.modules.contains(*name)) {
        let known: Vec<&str> = graph.modules.iter().map(String::as_str).collect();
        bail!("there is no module `{unknown}`; there are: {}", known.join(", "));
    }
    for import in graph.imports.iter().filter(|import| import.from == from && import.to == to) {
        println!("{}", layers::written(import));
    }
    Ok(())
}

fn show_table(inside: &str, graph: &Graph) {
    println!("{inside}: imports between its modules, without tests\n");
    println!("{:<16}{:<16}{:>8}{:>8}", "from", "to", "imports", "back");
    let counts = graph.counts();
    for ((from, to), count) in counts.iter().filter(|((from, _), _)| *from != ROOT) {
        let back = counts.get(&(*to, *from)).map(ToString::to_string).unwrap_or_default();
        println!("{from:<16}{to:<16}{count:>8}{back:>8}");
    }
    let two_way = graph.two_way();
    println!("\n{} pairs of modules import each other:", two_way.len());
    for (one, other, there, back) in two_way {
        println!("  {one} → {other}: {there}, {other} → {one}: {back}");
    }
    println!("\n{} types have methods in another module:", graph.foreign_impls.len());
    for found in &graph.foreign_impls {
        let (file, line) = (found.file.display(), found.line);
        println!("  {file}:{line}: `{}` of `{}`", found.type_name, found.defined_in);
    }
    for layers in LAYERS.iter().filter(|layers| layers.inside == inside) {
        let problems = layers.problems(graph);
        let enforced = if ENFORCED.contains(&inside) { "enforced" } else { "not enforced yet" };
        println!("\nlayers ({enforced}): {}\n{} problems", layers.in_words(), problems.len());
    }
}

fn show_counts(project: &Project, fields: &[String]) -> Result<()> {
    println!(
        "{:<14}{:>8}{:>8}{:>8}{:>11}{:>15}  longest function",
        "crate", "code", "tests", "fns", "fns > 100", "JSON in fns"
    );
    let mut found = Vec::new();
    for (name, folder) in tree::crate_folders(&project.root)? {
        let counts = CodeCounts::of(&project.root, &folder)?;
        let longest = counts.longest_function.as_ref().map_or_else(String::new, |longest| {
            let (file, line) = (longest.file.display(), longest.line);
            format!("{} lines: {} ({file}:{line})", longest.lines, longest.name)
        });
        let json = format!("{} in {}", counts.json_in_signatures, counts.functions_with_json);
        println!(
            "{name:<14}{:>8}{:>8}{:>8}{:>11}{json:>15}  {longest}",
            counts.code_lines, counts.test_lines, counts.functions, counts.long_functions
        );
        let named = fields.iter().filter_map(|field| Some((field, counts.fields.get(field)?)));
        found.extend(named.map(|(field, count)| format!("{name}: `{field}` has {count} fields")));
    }
    println!("\n{}", found.join("\n"));
    Ok(())
}
