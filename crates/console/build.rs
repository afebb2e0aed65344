//! Compresses the files of `dist/` and writes a table of them, which `src/lib.rs` includes. It does not build `dist/` from `web/`: that
//! takes Node.js, and whoever builds the gateway needs none.

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let dist = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("dist");
    println!("cargo::rerun-if-changed={}", dist.display());
    embed(&dist, "assets")?;
    embed(&dist.join("portal"), "portal")
}

/// Writes the table with this name, of the files in a folder.
fn embed(dist: &Path, name: &str) -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let table_name = name;
    let mut files: Vec<PathBuf> = fs::read_dir(dist)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        let Some((name, content_type)) = served(&file) else { continue };
        let bytes = fs::read(&file)?;
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(&bytes)?;
        fs::write(out.join(format!("{table_name}-{name}.gz")), gzip.finish()?)?;
        let digest = data_encoding::HEXLOWER.encode(&Sha256::digest(&bytes));
        let hash: String = digest.chars().take(16).collect();
        writeln!(
            table,
            "    ({name:?}, Asset {{ content_type: {content_type:?}, hash: {hash:?}, plain_bytes: {}, \
             gzip: include_bytes!(concat!(env!(\"OUT_DIR\"), {:?})) }}),",
            bytes.len(),
            format!("/{table_name}-{name}.gz"),
        )?;
    }
    table.push(']');
    fs::write(out.join(format!("{table_name}.rs")), table)?;
    Ok(())
}

/// Name and type of a file that browsers load; `None` for notes of the build.
fn served(file: &Path) -> Option<(&str, &'static str)> {
    let content_type = match file.extension()?.to_str()? {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "txt" => "text/plain; charset=utf-8",
        _ => return None,
    };
    Some((file.file_name()?.to_str()?, content_type))
}
