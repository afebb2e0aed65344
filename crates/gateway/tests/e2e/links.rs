//! The links of the documentation: each leads to an existing file and heading, and each source file and metric that a page names
//! exists.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::harness::{Gateway, Upstream, api};

/// What has no pages of ours.
const SKIPPED: [&str; 4] = ["target", "node_modules", "runs", ".git"];

#[test]
fn every_link_between_pages_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
    let mut pages = HashMap::new();
    collect(&root, "md", &mut pages);
    assert!(pages.contains_key(&root.join("README.md")) && pages.len() > 20, "{:?}", pages.keys());
    let headings: HashMap<&PathBuf, HashSet<String>> = pages.iter().map(|(path, text)| (path, anchors(text))).collect();
    let mut broken = Vec::new();
    for (page, text) in &pages {
        for link in links(text).filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let leads = target
                .canonicalize()
                .is_ok_and(|target| anchor.is_empty() || headings.get(&target).is_some_and(|headings| headings.contains(anchor)));
            if !leads {
                broken.push(format!("{}: {link}", page.strip_prefix(&root).unwrap().display()));
            }
        }
    }
    broken.sort();
    assert!(broken.is_empty(), "{broken:#?}");
}

/// A page names a source file in backticks, from the root of the repository or by the end of its path (`control/compile.rs`).
#[test]
fn every_source_file_that_a_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
    let (mut pages, mut sources) = (HashMap::new(), Vec::new());
    collect(&root, "md", &mut pages);
    for folder in ["crates", "bench", "fuzz", "scripts"] {
        for extension in ["rs", "py", "lua", "json", "toml"] {
            paths(&root.join(folder), extension, &mut |path| {
                sources.push(path.strip_prefix(&root).unwrap().to_str().expect("text").to_owned());
            });
        }
    }
    let exists = |name: &str| sources.iter().any(|source| source == name || source.ends_with(&format!("/{name}")));
    let mut missing = Vec::new();
    for (page, text) in &pages {
        for name in prose(text).flat_map(|line| line.split('`').skip(1).step_by(2)).filter(|name| is_source(name)) {
            if !exists(name) {
                missing.push(format!("{}: {name}", page.strip_prefix(&root).unwrap().display()));
            }
        }
    }
    missing.sort();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// A page names a test in backticks, by the end of its file's path and its name: `e2e/links.rs::links_and_anchors_are_found`.
#[test]
fn every_test_that_a_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
    let (mut pages, mut sources) = (HashMap::new(), HashMap::new());
    collect(&root, "md", &mut pages);
    collect(&root.join("crates"), "rs", &mut sources);
    let is_test = |file: &str, name: &str| {
        let declared = format!("fn {name}(");
        let has = |text: &String| {
            let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
            let at = lines.iter().position(|line| line.trim_start_matches("async ").starts_with(&declared));
            let mut attributes = at.into_iter().flat_map(|at| lines[..at].iter().rev().take_while(|line| line.starts_with("#[")));
            attributes.any(|line| line.contains("test"))
        };
        sources.iter().any(|(path, text)| path.ends_with(file) && has(text))
    };
    let (mut named, mut missing) = (0, Vec::new());
    for (page, text) in &pages {
        let quoted = prose(text).flat_map(|line| line.split('`').skip(1).step_by(2));
        for (file, name) in quoted.filter_map(|quoted| quoted.split_once("::")).filter(|(file, _)| is_source(file)) {
            named += 1;
            if !is_test(file, name) {
                missing.push(format!("{}: {file}::{name}", page.strip_prefix(&root).unwrap().display()));
            }
        }
    }
    missing.sort();
    assert!(named > 50 && missing.is_empty(), "{named}: {missing:#?}");
    assert!(is_test("e2e/links.rs", "links_and_anchors_are_found") && !is_test("e2e/links.rs", "collect"));
}

/// Whether a text in backticks is a path of a source file, not a pattern or a file of users.
fn is_source(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '.');
    (name.ends_with(".rs") || name.ends_with(".py")) && name.chars().all(plain) && name != "x/tests.rs" && name != "tests.rs"
}

fn collect(directory: &Path, extension: &str, pages: &mut HashMap<PathBuf, String>) {
    paths(directory, extension, &mut |path| {
        let text = fs::read_to_string(&path).expect("a page");
        pages.insert(path, text);
    });
}

/// Visits the files with an extension below a directory.
fn paths(directory: &Path, wanted: &str, visit: &mut dyn FnMut(PathBuf)) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("an entry");
        let (path, name) = (entry.path(), entry.file_name());
        let kind = entry.file_type().expect("its kind");
        if kind.is_dir() && !SKIPPED.iter().any(|skipped| name == *skipped) {
            paths(&path, wanted, visit);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == wanted) {
            visit(path);
        }
    }
}

/// The text outside of fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// The targets of inline links, `[text](target)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    prose(text).flat_map(|line| line.split("](").skip(1)).filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

/// The anchors that GitHub gives to headings: lower case, without punctuation, spaces as hyphens.
fn anchors(text: &str) -> HashSet<String> {
    let headings = prose(text).filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    headings.map(|heading| heading.to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()).collect()
}

#[test]
fn links_and_anchors_are_found() {
    let page = "# The `x` field, 2.0\n\nSee [a](b.md#c) and [d](#e).\n\n```md\n# no\n[f](g)\n```\n";
    assert_eq!(links(page).collect::<Vec<_>>(), ["b.md#c", "#e"]);
    assert_eq!(anchors(page), HashSet::from(["the-x-field-20".to_owned()]));
}

/// The metrics that a page names, without the suffix of a histogram's series. A member of sessions looks the same.
fn metrics(page: &str) -> HashSet<String> {
    let page = page.replace("tollgate_quota", "quota");
    let words = page.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.starts_with("tollgate_"));
    words.map(|word| word.trim_end_matches("_bucket").to_owned()).collect()
}

#[test]
fn the_page_about_metrics_lists_those_of_a_scrape_and_those_of_all_pages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
    let mut pages = HashMap::new();
    collect(&root.join("docs"), "md", &mut pages);
    let listed = metrics(&pages[&root.join("docs/observability.md")]);

    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    assert_eq!(gateway.get("/a/").status, 200);
    let scrape = gateway.control("GET", "/tyk/metrics", "").text();
    let families = scrape.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    let missing: Vec<&str> = families.filter(|name| name.starts_with("tollgate_") && !listed.contains(*name)).collect();
    assert!(missing.is_empty(), "docs/observability.md does not list {missing:?}");

    // Decisions name crates, which look the same.
    for (path, text) in pages.iter().filter(|(path, _)| !path.starts_with(root.join("docs/decisions"))) {
        let unknown: Vec<String> = metrics(text).difference(&listed).cloned().collect();
        assert!(unknown.is_empty(), "{} names metrics that docs/observability.md does not list: {unknown:?}", path.display());
    }
}
