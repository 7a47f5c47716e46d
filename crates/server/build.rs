//! Embeds `web/dist`, the built web interface, and compresses its files with gzip. Needs no Node: the folder is kept in the
//! repository, and `cargo xtask test` checks that it matches the sources.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a build script stops the build by panicking")]

use std::{
    env,
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};

fn main() {
    let dist = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"))
        .join("../../web/dist");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo::rerun-if-changed={}", dist.display());
    let dist =
        dist.canonicalize().expect("web/dist is part of the repository; `cargo xtask web` builds it again");
    let mut table = String::from("[\n");
    for file in files_below(&dist) {
        let name = file.strip_prefix(&dist).expect("below").to_str().expect("plain names").replace('\\', "/");
        let bytes = fs::read(&file).expect("a readable file");
        let gzip = compress(&bytes).filter(|gzip| gzip.len() + 64 < bytes.len());
        let gzip = gzip.map(|gzip| {
            let path = out.join(format!("{}.gz", name.replace('/', "-")));
            fs::write(&path, gzip).expect("a writable folder");
            path
        });
        let gzip = match gzip {
            Some(path) => format!("Some(include_bytes!({path:?}).as_slice())"),
            None => "None".to_owned(),
        };
        writeln!(
            table,
            "Asset {{ path: {:?}, media_type: {:?}, etag: {:?}, bytes: include_bytes!({file:?}).as_slice(), gzip: {gzip} }},",
            format!("/{name}"),
            media_type(&name),
            etag(&bytes),
        )
        .expect("writing to a string cannot fail");
    }
    table.push(']');
    fs::write(out.join("web_dist.rs"), table).expect("a writable folder");
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

fn compress(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    gzip.write_all(bytes).ok()?;
    gzip.finish().ok()
}

fn etag(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().take(12).fold(String::from("\""), |mut tag, byte| {
        write!(tag, "{byte:02x}").expect("writing to a string cannot fail");
        tag
    }) + "\""
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "woff2" => "font/woff2",
        "json" => "application/json",
        "txt" => "text/plain; charset=utf-8",
        other => panic!("web/dist has a file type that has no media type here yet: .{other}"),
    }
}
