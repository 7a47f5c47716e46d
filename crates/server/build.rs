//! Embeds `web/dist`, the built web interface, and packs what can be packed. Needs no Node: the folder is kept in the
//! repository, and `cargo xtask test` proves that it is what the sources give.

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
    let dist = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where we are"))
        .join("../../web/dist");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to write"));
    println!("cargo::rerun-if-changed={}", dist.display());
    let dist =
        dist.canonicalize().expect("web/dist is part of the repository; `cargo xtask web` builds it again");
    let mut table = String::from("[\n");
    for file in files_below(&dist) {
        let name = file.strip_prefix(&dist).expect("below").to_str().expect("plain names").replace('\\', "/");
        let bytes = fs::read(&file).expect("a readable file");
        let packed = packed(&bytes).filter(|packed| packed.len() + 64 < bytes.len());
        let packed = packed.map(|packed| {
            let place = out.join(format!("{}.gz", name.replace('/', "-")));
            fs::write(&place, packed).expect("a writable folder");
            place
        });
        let packed = match packed {
            Some(place) => format!("Some(include_bytes!({place:?}).as_slice())"),
            None => "None".to_owned(),
        };
        writeln!(
            table,
            "Asset {{ path: {:?}, kind: {:?}, tag: {:?}, plain: include_bytes!({file:?}).as_slice(), packed: {packed} }},",
            format!("/{name}"),
            kind_of(&name),
            tag_of(&bytes),
        )
        .expect("a string takes everything");
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

fn packed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    gzip.write_all(bytes).ok()?;
    gzip.finish().ok()
}

fn tag_of(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().take(12).fold(String::from("\""), |mut tag, byte| {
        write!(tag, "{byte:02x}").expect("a string takes everything");
        tag
    }) + "\""
}

fn kind_of(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "woff2" => "font/woff2",
        "json" => "application/json",
        "txt" => "text/plain; charset=utf-8",
        other => panic!("web/dist holds a kind of file that has no media type yet: .{other}"),
    }
}
