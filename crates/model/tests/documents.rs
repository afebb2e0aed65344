//! Whole API definitions and every problem found in them, with the protections they lack: `documents/x.json` must give the lines of
//! `documents/x.problems`. A new case is two new files.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::{Path, PathBuf};

use tollgate_model::api::ApiDefinition;

#[test]
fn every_document_gives_its_problems() {
    let documents = documents();
    assert!(documents.len() >= 5, "the documents are not where they should be");
    for document in documents {
        check(&document, &document.with_extension("problems"));
    }
}

fn check(document: &Path, expect: &Path) {
    let text = fs::read(document).unwrap();
    let name = Path::new(document.file_name().unwrap());
    let result = ApiDefinition::parse(&text, Some(name));
    let (usable, problems) = match result {
        Ok((definition, problems)) => (Some(definition), problems),
        Err(problems) => (None, problems),
    };
    let mut found: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let missing = usable.iter().flat_map(|definition| definition.missing_protections());
    found.extend(missing.map(|missing| format!("{}: {}: not served without {}", name.display(), missing.path, missing.field)));
    let expect = fs::read_to_string(expect).unwrap();
    assert_eq!(found, expect.lines().collect::<Vec<_>>(), "{}", name.display());
    assert_eq!(usable.is_some(), !problems.iter().any(|p| p.is_error()), "{}", name.display());
}

fn documents() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents");
    let entries = fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut documents: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
    documents.sort();
    documents
}
