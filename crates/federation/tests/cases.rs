//! Compositions written as text, in `tests/cases`: whether they are valid, and what is wrong if not. An independent implementation judges the
//! same cases, and many that are made from them by small changes: it must give the same verdict, and the same schema for clients.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tollgate_federation::{CompositionFinding, SubgraphText, Supergraph, compose};

/// Stands for the number after a subgraph's name: its first line, where it is one of Federation 2.
const LINK: &str = r#"extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key", "@external", "@requires", "@provides", "@shareable", "@inaccessible", "@override", "@interfaceObject", "@tag", "@extends", "@authenticated", "@requiresScopes"])"#;

/// Differences to the judge that are known, one a line: the name of a case, or part of what is said of a changed one; a tab, the reason.
const DIFFERENCES: &str = include_str!("differences.txt");

struct CompositionCase {
    name: String,
    /// Part of an error; `None` if the case is valid.
    error: Option<String>,
    subgraphs: Vec<(String, String)>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn cases() -> Vec<CompositionCase> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder().join("cases")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
    texts.flat_map(|text| text.split("=== ").skip(1).map(case).collect::<Vec<CompositionCase>>()).collect()
}

fn case(text: &str) -> CompositionCase {
    let mut sections = text.split("--- ");
    let mut head = sections.next().unwrap().lines();
    let name = head.next().unwrap().to_owned();
    let verdict = head.next().unwrap();
    let error = verdict.strip_prefix("error: ").map(str::to_owned);
    assert!(error.is_some() || verdict == "valid", "{name}: {verdict}");
    CompositionCase { name, error, subgraphs: sections.map(subgraph).collect() }
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

/// Pseudo-random numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end.max(1)
    }

    fn pick<'l, T>(&mut self, list: &'l [T]) -> Option<&'l T> {
        list.get(self.below(list.len()))
    }
}

/// Small changes of a subgraph: a text, and what takes its place.
const CHANGES: [(&str, &str); 44] = [
    (" @external", ""),
    (" @shareable", ""),
    (" @inaccessible", ""),
    (" @key(fields: \"id\")", ""),
    (" @key(fields: \"id\")", " @key(fields: \"id\", resolvable: false)"),
    (" @key(fields: \"id\")", " @key(fields: \"id x\")"),
    ("@key(fields: \"id\")", "@shareable"),
    ("@requires(", "@provides("),
    (" @interfaceObject", ""),
    (": Int", ": Int @shareable"),
    (": Int", ": Int @external"),
    (": Int", ": Int @inaccessible"),
    (": Int", ": Int @override(from: \"a\")"),
    (": Int", ": Int @deprecated"),
    (": Int", ": Int!"),
    (": Int", ": String"),
    (": Int", ": [Int]"),
    (": Int", "(q: Int): Int"),
    (": Int", "(q: Int!): Int"),
    (": Int", ": T"),
    (": String", ": String @external"),
    (": String", ": ID"),
    (": ID!", ": ID"),
    (": ID!", ": ID! @external"),
    (": ID!", ": Int!"),
    ("!", ""),
    ("name", "title"),
    (" id:", " key:"),
    (" x:", " y:"),
    (" a:", " b:"),
    ("extend type", "type"),
    ("type T ", "extend type T "),
    ("type T ", "type T @shareable "),
    ("type T ", "type T @inaccessible "),
    ("type T ", "interface T "),
    ("implements I", ""),
    ("interface I", "type I"),
    ("enum E { A", "enum E { A X"),
    ("enum E { A", "enum E { X"),
    ("input I {", "input I { z: Int"),
    ("input I {", "input I { z: Int!"),
    ("type Query {", "type Query { z: Int"),
    ("type Query {", "type Query { t: T"),
    (LINK, ""),
];

/// Cases that come from a case by one or two changes. Other cases make no difference to them.
fn changed(case: &CompositionCase, seed: u64) -> Vec<CompositionCase> {
    let mut numbers = Numbers(case.name.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte))));
    numbers.below(2);
    let mut made: Vec<CompositionCase> = Vec::new();
    for number in 0..10 {
        let mut subgraphs = case.subgraphs.clone();
        for _ in 0..=numbers.below(4) / 3 {
            change(&mut subgraphs, &mut numbers);
        }
        if subgraphs != case.subgraphs && !subgraphs.is_empty() && !made.iter().any(|made| made.subgraphs == subgraphs) {
            made.push(CompositionCase { name: format!("{} ({number})", case.name), error: None, subgraphs });
        }
    }
    made
}

fn change(subgraphs: &mut Vec<(String, String)>, numbers: &mut Numbers) {
    let at = numbers.below(subgraphs.len());
    if subgraphs.len() > 1 && numbers.below(12) == 0 {
        subgraphs.remove(at);
        return;
    }
    let Some((_, sdl)) = subgraphs.get_mut(at) else { return };
    let possible: Vec<(usize, usize, &str)> = CHANGES
        .iter()
        .flat_map(|(from, to)| sdl.match_indices(from).map(|(start, _)| (start, start + from.len(), *to)).collect::<Vec<_>>())
        .filter(|(start, end, _)| *start > LINK.len() || !sdl.starts_with(LINK) || *end == LINK.len())
        .collect();
    if let Some((start, end, to)) = numbers.pick(&possible) {
        sdl.replace_range(*start..*end, to);
    }
}

/// What the judge says of cases: for each its errors, and both schemas if they differ.
fn judged(cases: &[CompositionCase], packages: &Path) -> Vec<Value> {
    let subgraphs = |case: &CompositionCase| -> Vec<Value> {
        case.subgraphs.iter().map(|(name, sdl)| json!({"name": name, "sdl": sdl})).collect()
    };
    let ours = |case: &CompositionCase| match composed(&case.subgraphs) {
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
        (Some(ours), Some(theirs)) => Some(format!("other schemas: \n-- ours\n{ours}\n-- theirs\n{theirs}")),
        (None, None) => None,
        (Some(_), None) => Some(format!("only the judge refuses: {}", theirs["errors"])),
        (None, Some(_)) => Some(format!("only we refuse: {}", ours["errors"])),
    }
}

/// A known difference about changed cases: who refuses, what is said, and what the subgraphs must have.
struct Known {
    who: &'static str,
    said: &'static str,
    has: &'static str,
}

impl Known {
    fn all() -> Vec<Known> {
        let lines = DIFFERENCES.lines().filter(|line| line.starts_with("only ") || line.starts_with("other "));
        lines.map(|line| Known::read(line.split_once('\t').unwrap().0)).collect()
    }

    fn read(key: &'static str) -> Known {
        let (who, rest) = key.split_once(": ").unwrap();
        let (said, has) = rest.split_once(" && ").unwrap_or((rest, ""));
        Known { who, said, has }
    }

    fn explains(&self, difference: &str, texts: &str) -> bool {
        difference.starts_with(self.who) && difference.contains(self.said) && texts.contains(self.has)
    }
}

/// By name of a case: why the judge differs.
fn named_differences() -> BTreeMap<&'static str, &'static str> {
    let lines = DIFFERENCES.lines().filter(|line| !["#", "only ", "other "].iter().any(|start| line.starts_with(start)));
    lines.map(|line| line.split_once('\t').unwrap()).collect()
}

/// Another seed in `TOLLGATE_FEDERATION_SEED` makes other cases; for them, the list of differences need not be complete.
#[test]
fn an_independent_composer_agrees_about_changed_cases() {
    let Some(packages) = packages() else { return };
    let seed = std::env::var("TOLLGATE_FEDERATION_SEED").ok().and_then(|seed| seed.parse().ok());
    let differs = named_differences();
    let agreed = cases().into_iter().filter(|case| !differs.contains_key(case.name.as_str()));
    let made: Vec<CompositionCase> = agreed.flat_map(|case| changed(&case, seed.unwrap_or(1))).collect();
    let answers = judged(&made, &packages);
    let known = Known::all();
    let mut shown = BTreeSet::new();
    let mut unexplained = Vec::new();
    let valid = answers.iter().filter(|answer| answer["ours"]["schema"].is_string()).count();
    for (case, answer) in made.iter().zip(&answers) {
        let Some(difference) = difference(answer) else { continue };
        let texts = texts(case);
        let reasons = known.iter().enumerate().filter(|(_, known)| known.explains(&difference, &texts));
        let reasons: Vec<usize> = reasons.map(|(at, _)| at).collect();
        if reasons.is_empty() {
            unexplained.push(format!("=== {}: {difference}\n{texts}", case.name));
        }
        shown.extend(reasons);
    }
    assert!(made.len() > 1_200 && valid > 250, "{} cases, {valid} valid", made.len());
    assert!(unexplained.is_empty(), "{} of {} ({valid} valid):\n{}", unexplained.len(), made.len(), unexplained.join("\n"));
    let gone = known.iter().enumerate().filter(|(at, _)| !shown.contains(at));
    let gone: Vec<&str> = gone.map(|(_, known)| known.said).collect();
    assert!(gone.is_empty(), "no case shows these differences: {gone:?}");
}

fn texts(case: &CompositionCase) -> String {
    case.subgraphs.iter().map(|(name, sdl)| format!("--- {name}{}", sdl.replace(LINK, " 2"))).collect()
}

#[test]
fn an_independent_composer_agrees() {
    let Some(packages) = packages() else { return };
    let cases = cases();
    let answers = judged(&cases, &packages);
    assert_eq!(answers.len(), cases.len());
    let known = named_differences();
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
