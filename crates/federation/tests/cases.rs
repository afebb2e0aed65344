//! Compositions written as text, in `tests/cases`: whether they are valid, and what is wrong if not. An independent implementation judges the
//! same cases, and many that are made from them by small changes: it must give the same verdict, and the same schema for clients.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tollgate_federation::{CompositionFinding, SubgraphText, Supergraph, compose};

/// Stands for the number after a subgraph's name: its first line, where it is one of Federation 2.
const LINK: &str = r#"extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key", "@external", "@requires", "@provides", "@shareable", "@inaccessible", "@override", "@interfaceObject", "@tag", "@extends", "@authenticated", "@requiresScopes"])"#;

/// Differences to the judge that are known, one a line: the name of the case, a tab, the reason.
const DIFFERENCES: &str = include_str!("differences.txt");

struct Case {
    name: String,
    /// Part of an error; `None` if the case is valid.
    error: Option<String>,
    subgraphs: Vec<(String, String)>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn cases() -> Vec<Case> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder().join("cases")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
    texts.flat_map(|text| text.split("=== ").skip(1).map(case).collect::<Vec<Case>>()).collect()
}

fn case(text: &str) -> Case {
    let mut sections = text.split("--- ");
    let mut head = sections.next().unwrap().lines();
    let name = head.next().unwrap().to_owned();
    let verdict = head.next().unwrap();
    let error = verdict.strip_prefix("error: ").map(str::to_owned);
    assert!(error.is_some() || verdict == "valid", "{name}: {verdict}");
    Case { name, error, subgraphs: sections.map(subgraph).collect() }
}

fn subgraph(section: &str) -> (String, String) {
    let (title, sdl) = section.split_once('\n').unwrap();
    match title.split_once(' ') {
        Some((name, _version_2)) => (name.to_owned(), format!("{LINK}\n{sdl}")),
        None => (title.to_owned(), sdl.to_owned()),
    }
}

fn composed(subgraphs: &[(String, String)]) -> Result<Supergraph, Vec<CompositionFinding>> {
    let texts: Vec<SubgraphText<'_>> = subgraphs.iter().map(|(name, sdl)| SubgraphText { name, sdl }).collect();
    compose(&texts).map(|(supergraph, _notes)| supergraph)
}

#[test]
fn every_case_has_its_verdict() {
    let cases = cases();
    let mut wrong = Vec::new();
    for case in &cases {
        match (composed(&case.subgraphs), &case.error) {
            (Ok(_), None) => {}
            (Ok(supergraph), Some(error)) => {
                wrong.push(format!("{}: composes, without `{error}`: {}", case.name, supergraph.schema))
            }
            (Err(found), None) => wrong.push(format!("{}: {}", case.name, lines(&found))),
            (Err(found), Some(error)) if !lines(&found).contains(error.as_str()) => {
                wrong.push(format!("{}: no `{error}` in: {}", case.name, lines(&found)));
            }
            (Err(found), Some(_)) => {
                let places = found.iter().filter(|finding| finding.subgraph.is_some());
                wrong.extend(
                    places.filter(|finding| finding.line.is_none()).map(|finding| format!("{}: no line: {finding}", case.name)),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert!(cases.len() > 100, "{}", cases.len());
}

fn lines(found: &[CompositionFinding]) -> String {
    found.iter().map(ToString::to_string).collect::<Vec<String>>().join(" | ")
}

/// Where `scripts/test-deps.sh` has put the judge; `None` where it could not, and has said why.
fn packages() -> Option<PathBuf> {
    let program = std::env::current_exe().unwrap();
    let directory = program.ancestors().nth(3).unwrap().join("test-npm");
    let Ok(reason) = std::fs::read_to_string(directory.join("unavailable")) else {
        assert!(directory.join("node_modules").exists(), "{} is missing: run scripts/test-deps.sh tests", directory.display());
        return Some(directory);
    };
    let may_skip = std::env::var_os("TOLLGATE_TESTS_MAY_SKIP").is_some();
    assert!(may_skip, "this machine can't run the test (TOLLGATE_TESTS_MAY_SKIP=1 skips it): {reason}");
    eprintln!("skipped: {reason}");
    None
}

/// What the judge says of cases: for each its errors, and both schemas if they differ.
fn judged(cases: &[Case], packages: &Path) -> Vec<Value> {
    let subgraphs =
        |case: &Case| -> Vec<Value> { case.subgraphs.iter().map(|(name, sdl)| json!({"name": name, "sdl": sdl})).collect() };
    let ours = |case: &Case| match composed(&case.subgraphs) {
        Ok(supergraph) => json!({"schema": supergraph.schema}),
        Err(found) => json!({"errors": found.iter().map(ToString::to_string).collect::<Vec<String>>()}),
    };
    let asked: Vec<Value> =
        cases.iter().map(|case| json!({"name": case.name, "subgraphs": subgraphs(case), "ours": ours(case)})).collect();
    let mut child = Command::new("node")
        .arg(folder().join("judge.mjs"))
        .arg(packages)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node runs");
    let mut input = child.stdin.take().unwrap();
    let text = Value::from(asked).to_string();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// How an answer of the judge differs from ours, if it does.
fn difference(answer: &Value) -> Option<String> {
    let (ours, theirs) = (&answer["ours"], &answer["theirs"]);
    match (ours["schema"].as_str(), theirs["schema"].as_str()) {
        (Some(ours), Some(theirs)) if ours == theirs => None,
        (Some(ours), Some(theirs)) => Some(format!("other schemas\n-- ours\n{ours}\n-- theirs\n{theirs}")),
        (None, None) => None,
        (Some(_), None) => Some(format!("only the judge refuses: {}", theirs["errors"])),
        (None, Some(_)) => Some(format!("only we refuse: {}", ours["errors"])),
    }
}

#[test]
fn an_independent_composer_agrees() {
    let Some(packages) = packages() else { return };
    let cases = cases();
    let answers = judged(&cases, &packages);
    assert_eq!(answers.len(), cases.len());
    let known: BTreeMap<&str, &str> =
        DIFFERENCES.lines().filter(|line| !line.starts_with('#')).map(|line| line.split_once('\t').unwrap()).collect();
    let mut unexplained = Vec::new();
    let mut shown = Vec::new();
    for (case, answer) in cases.iter().zip(&answers) {
        match difference(answer) {
            Some(_) if known.contains_key(case.name.as_str()) => shown.push(case.name.as_str()),
            Some(difference) => unexplained.push(format!("=== {}: {difference}", case.name)),
            None => {}
        }
    }
    assert!(unexplained.is_empty(), "{} of {}:\n{}", unexplained.len(), cases.len(), unexplained.join("\n"));
    let gone: Vec<&&str> = known.keys().filter(|name| !shown.contains(name)).collect();
    assert!(gone.is_empty(), "these cases show no difference: {gone:?}");
}
