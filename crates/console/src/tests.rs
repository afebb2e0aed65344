//! What is embedded: complete, fresh, within its budget, and without anything that the pages' security policy refuses.

use super::{ASSETS, Asset, PAGE, PORTAL_ASSETS, asset, portal_asset};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Bytes that a first visit transfers. At 10 Mbit/s they take 72 ms.
const FIRST_LOAD_BYTES_MAX: usize = 90_000;
/// The same at the portal, whose visitors may come by telephone.
const PORTAL_BYTES_MAX: usize = 40_000;
/// Files that only load when a page needs them.
const LATER: [&str; 3] = ["editor.js", "later.js", "licences.txt"];

#[test]
fn dist_was_built_from_the_web_folder_as_it_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built_from = std::fs::read_to_string(root.join("dist/web.sha256")).unwrap();
    assert_eq!(
        built_from.trim(),
        fingerprint(&root.join("web")),
        "crates/console/web changed, but crates/console/dist did not: run `make web` and commit both"
    );
}

#[test]
fn a_first_visit_stays_within_its_budget() {
    for (assets, most) in [(ASSETS, FIRST_LOAD_BYTES_MAX), (PORTAL_ASSETS, PORTAL_BYTES_MAX)] {
        let first = assets.iter().filter(|(name, _)| !LATER.contains(name));
        let sizes: Vec<(&str, usize)> = first.map(|(name, asset)| (*name, asset.gzip.len())).collect();
        let sum: usize = sizes.iter().map(|(_, bytes)| bytes).sum();
        assert!(!sizes.is_empty() && sum <= most, "{sum} bytes: {sizes:?}");
    }
}

#[test]
fn the_page_names_each_file_with_its_current_hash() {
    let of_console = (asset as fn(&str) -> Option<&'static Asset>, ["console.js", "console.css"]);
    for (asset, names) in [of_console, (portal_asset, ["portal.js", "portal.css"])] {
        let page = String::from_utf8(asset("").unwrap().plain()).unwrap();
        for name in names {
            let named = format!("{name}?v={}", asset(name).unwrap().hash);
            assert!(page.contains(&named), "{named} is not in {page}");
        }
    }
}

#[test]
fn nothing_inline_is_in_the_page() {
    for page in [asset(PAGE), portal_asset(PAGE)] {
        let page = String::from_utf8(page.unwrap().plain()).unwrap();
        for refused in [" style=", " onload=", " onclick=", "<style", "javascript:", "=\"http", "=\"//"] {
            assert!(!page.contains(refused), "{refused} is in {page}");
        }
        for script in page.split("<script").skip(1) {
            assert!(script.contains("></script>"), "a script with content: {script}");
        }
    }
}

/// Trusted Types forbid these sinks, so code that reaches one would fail only when it runs. CodeMirror and Preact contain one each that
/// their features reach only on request.
#[test]
fn our_sources_never_write_markup_or_code() {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("web/src"), &mut files);
    assert!(files.len() > 5, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for sink in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc"] {
            assert!(!text.contains(sink), "{sink} in {}", file.display());
        }
    }
}

#[test]
fn a_file_decompresses_to_its_stated_length() {
    for (name, asset) in ASSETS.iter().chain(PORTAL_ASSETS) {
        assert_eq!(asset.plain().len(), asset.plain_bytes, "{name}");
    }
}

#[test]
fn notes_of_the_build_and_unknown_files_are_not_served() {
    for path in ["web.sha256", "nothing", "../Cargo.toml", "index.html/", "Index.html"] {
        assert!(asset(path).is_none(), "{path}");
    }
}

/// The same sum as `web/build.mjs` writes: over each file's path and SHA-256, in order of paths.
fn fingerprint(web: &Path) -> String {
    let mut files = Vec::new();
    collect(web, &mut files);
    let mut lines: Vec<String> = files
        .iter()
        .map(|file| {
            let path = file.strip_prefix(web).unwrap().to_str().unwrap().replace('\\', "/");
            format!("{path} {}\n", hex(&std::fs::read(file).unwrap()))
        })
        .collect();
    lines.sort();
    hex(lines.concat().as_bytes())
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(bytes))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name == "node_modules" || name.starts_with('.') {
            continue;
        }
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}
