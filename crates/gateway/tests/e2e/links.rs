//! The links of the documentation: each leads to a file that is there, and to a heading that it has.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What has no pages of ours.
const SKIPPED: [&str; 4] = ["target", "node_modules", "runs", ".git"];

#[test]
fn every_link_between_pages_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
    let mut pages = HashMap::new();
    collect(&root, &mut pages);
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

fn collect(directory: &Path, pages: &mut HashMap<PathBuf, String>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("an entry");
        let (path, name) = (entry.path(), entry.file_name());
        let kind = entry.file_type().expect("its kind");
        if kind.is_dir() && !SKIPPED.iter().any(|skipped| name == *skipped) {
            collect(&path, pages);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&path).expect("a page");
            pages.insert(path, text);
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
