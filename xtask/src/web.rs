//! The web interface: its types, its build and its checks. `web/dist` is kept in the repository so that a clone builds
//! without Node; the check builds it again and compares.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use crate::{
    command,
    node::{self, Node},
    project::Project,
    steps::Notes,
    typescript, web_tests,
};

/// The most JavaScript that a first visit may load, in bytes after compression.
const LARGEST_FIRST_LOAD: usize = 350_000;

/// Writes the types and `web/dist`.
pub fn build(project: &Project) -> Result<()> {
    let web = project.root.join("web");
    fs::write(project.root.join(typescript::FILE), typescript::typescript()?)?;
    let Some(node) = Node::installed() else { bail!("no Node of version {:?} or newer", node::OLDEST) };
    node::install_platform_packages(&web)?;
    bundle(&node, &web, &web.join("dist"))
}

/// Types, lints, the build and the unit tests.
pub fn check(project: &Project, node: Option<&Node>, notes: &mut Notes) -> Result<()> {
    check_types(project)?;
    let Some(node) = node else {
        notes.skip("the build and the unit tests of the web interface: no Node");
        return Ok(());
    };
    let web = project.root.join("web");
    compile_and_lint(node, &web)?;
    let fresh = project.target.join("web-dist");
    bundle(node, &web, &fresh)?;
    compare(&web.join("dist"), &fresh)?;
    let size = first_load(&web.join("dist"))?;
    println!("the first load is {size} bytes of compressed JavaScript");
    if size > LARGEST_FIRST_LOAD {
        bail!("the first load has {size} bytes of JavaScript, at most {LARGEST_FIRST_LOAD} are allowed");
    }
    web_tests::units(node, &web, notes)
}

/// The same without the build, for the edit loop.
pub fn quick_check(project: &Project, node: Option<&Node>, notes: &mut Notes) -> Result<()> {
    check_types(project)?;
    let Some(node) = node else {
        notes.skip("the types and the unit tests of the web interface: no Node");
        return Ok(());
    };
    let web = project.root.join("web");
    compile_and_lint(node, &web)?;
    web_tests::units(node, &web, notes)
}

/// Compares the generated types with what the protocol crate says now.
fn check_types(project: &Project) -> Result<()> {
    let present = fs::read_to_string(project.root.join(typescript::FILE)).unwrap_or_default();
    if present != typescript::typescript()? {
        bail!("{} does not match crates/protocol: run `cargo xtask web` and commit it", typescript::FILE);
    }
    Ok(())
}

fn compile_and_lint(node: &Node, web: &Path) -> Result<()> {
    command::run(node.command().arg("node_modules/typescript/bin/tsc").arg("--noEmit").current_dir(web))?;
    command::run(
        node.command()
            .args(["node_modules/oxlint/bin/oxlint", "--deny-warnings", "src", "e2e"])
            .current_dir(web),
    )
}

fn bundle(node: &Node, web: &Path, to: &Path) -> Result<()> {
    let mut vite = node.command();
    vite.args(["node_modules/vite/bin/vite.js", "build", "--emptyOutDir", "--logLevel", "warn", "--outDir"]);
    command::run(vite.arg(to).current_dir(web))
}

fn compare(kept: &Path, fresh: &Path) -> Result<()> {
    let (kept_files, fresh_files) = (files_below(kept)?, files_below(fresh)?);
    let stale = "web/dist does not match its sources: run `cargo xtask web` and commit it";
    if kept_files != fresh_files {
        bail!("{stale} (other files)");
    }
    for name in kept_files {
        if fs::read(kept.join(&name))? != fs::read(fresh.join(&name))? {
            bail!("{stale} ({})", name.display());
        }
    }
    Ok(())
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).with_context(|| format!("{} cannot be read", next.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path.strip_prefix(folder)?.to_owned());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The size of the scripts and preloaded modules that the page names, each compressed as the server sends it.
fn first_load(dist: &Path) -> Result<usize> {
    let page = fs::read_to_string(dist.join("index.html"))?;
    let mut size = 0;
    for name in page.split('"').filter(|word| word.ends_with(".js")) {
        let compressed = command::output_bytes(
            std::process::Command::new("gzip").arg("-9c").arg(dist.join(name.trim_start_matches('/'))),
        )?;
        size += compressed.len();
    }
    Ok(size)
}
