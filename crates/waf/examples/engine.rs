//! The engine as one of several that `bench/waf.py` asks about the same requests.
//! `engine cases DIRECTORY` prints the tests of the Core Rule Set, one JSON object per line. `engine run DIRECTORY SETTINGS RUNS` reads requests
//! and prints a line for each: the rules that match, or, if RUNS is not 0, the CPU time of one inspection in nanoseconds.
//! DIRECTORY is what `scripts/test-deps.sh tests` fetches; SETTINGS is a file that is read behind the example of settings.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

#[allow(dead_code, reason = "the test judges by itself")]
#[path = "../tests/core_rule_set/case.rs"]
mod case;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use case::{CaseRequest, Reflection};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read as _, Write as _, stdin, stdout};
use std::path::{Path, PathBuf};
use tollgate_waf::{InspectedRequest, Inspection, InspectionBudget, RuleFile, RuleFiles, RuleProfile, Ruleset};

/// The default of the gateway.
const WORK_MAX: u64 = 256_000_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["cases", directory] => print_cases(Path::new(directory)),
        ["run", directory, settings, runs] => run(&rules(Path::new(directory), settings), runs.parse().unwrap()),
        _ => panic!("usage: engine cases DIRECTORY | engine run DIRECTORY SETTINGS RUNS"),
    }
}

fn sorted(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn print_cases(directory: &Path) {
    let mut out = stdout().lock();
    let folders = sorted(&directory.join("tests")).into_iter().filter(|path| path.is_dir());
    for case in folders.flat_map(|folder| sorted(&folder)).flat_map(|file| case::read(&file)) {
        let stages: Vec<Value> = case.stages.iter().map(stage).collect();
        let line = json!({"folder": case.folder, "rule": case.file, "number": case.number, "stages": stages});
        writeln!(out, "{line}").unwrap();
    }
}

fn stage(stage: &case::Stage) -> Value {
    let text = |bytes: &[u8]| STANDARD.encode(bytes);
    let log = &stage.output.log;
    let CaseRequest { method, target, protocol, headers, body, response } = stage.input.request().unwrap();
    let headers: Vec<_> = headers.iter().map(|(name, value)| [text(name), text(value)]).collect();
    let answered: Vec<_> = response.headers.iter().map(|(name, value)| [text(name.as_bytes()), text(value.as_bytes())]).collect();
    json!({
        "expect": log.expect_ids, "no_expect": log.no_expect_ids, "fits": log.match_regex, "fits_not": log.no_match_regex,
        "method": text(&method), "target": text(&target), "protocol": protocol, "headers": headers, "body": text(&body),
        "status": response.status, "response_headers": answered, "response_body": text(response.body.as_bytes()),
    })
}

fn rules(directory: &Path, settings: &str) -> Ruleset {
    let mut files = RuleFiles::default();
    files.add("crs-setup.conf", fs::read_to_string(directory.join("rules/@crs-setup.conf.example")).unwrap());
    files.rules.push(RuleFile { name: "settings.conf".to_owned(), text: fs::read_to_string(settings).unwrap() });
    for path in sorted(&directory.join("rules/@owasp_crs")) {
        files.add(path.file_name().unwrap().to_str().unwrap(), fs::read_to_string(&path).unwrap());
    }
    Ruleset::compile(&files).unwrap()
}

fn run(rules: &Ruleset, runs: u32) {
    let mut input = Vec::new();
    stdin().lock().read_to_end(&mut input).unwrap();
    let (mut rest, mut out, profile) = (input.as_slice(), stdout().lock(), RuleProfile::default());
    while !rest.is_empty() {
        let request = read_request(&mut rest);
        if runs == 0 {
            let found = request.inspected(rules, &profile).unwrap();
            let matches: Vec<_> = found.iter().flat_map(|report| &report.matches).map(|one| json!([one.id, one.message])).collect();
            writeln!(out, "{}", Value::from(matches)).unwrap();
        } else {
            writeln!(out, "{}", cpu_ns_of(rules, &profile, &request, runs)).unwrap();
        }
    }
}

/// CPU time of this thread, in nanoseconds.
fn cpu_ns() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

fn cpu_ns_of(rules: &Ruleset, profile: &RuleProfile, request: &CaseRequest, runs: u32) -> u64 {
    let inspect = || {
        let request = InspectedRequest {
            method: &request.method,
            target: &request.target,
            protocol: &request.protocol,
            headers: request.headers.iter().map(|(name, value)| (name.as_slice(), value.as_slice())).collect(),
            body: &request.body,
            client: [127, 0, 0, 1].into(),
            id: "1",
        };
        Inspection::new(rules, profile, InspectionBudget::new(WORK_MAX)).request(&request, request.target).unwrap();
    };
    inspect();
    let before = cpu_ns();
    (0..runs).for_each(|_| inspect());
    (cpu_ns() - before) / u64::from(runs)
}

/// A piece of bytes: their number, a colon, and they.
fn piece<'i>(input: &mut &'i [u8]) -> &'i [u8] {
    let colon = input.iter().position(|byte| *byte == b':').unwrap();
    let length: usize = std::str::from_utf8(&input[..colon]).unwrap().parse().unwrap();
    let (piece, rest) = input[colon + 1..].split_at(length);
    *input = rest;
    piece
}

fn text(input: &mut &[u8]) -> String {
    String::from_utf8_lossy(piece(input)).into_owned()
}

fn read_request(input: &mut &[u8]) -> CaseRequest {
    let (method, target, protocol) = (piece(input).to_vec(), piece(input).to_vec(), text(input));
    let count = text(input).parse::<usize>().unwrap();
    let headers = (0..count).map(|_| (piece(input).to_vec(), piece(input).to_vec())).collect();
    let (body, status, count) = (piece(input).to_vec(), text(input).parse().unwrap(), text(input).parse::<usize>().unwrap());
    let answered = (0..count).map(|_| (text(input), text(input))).collect();
    let response = Reflection { status, headers: answered, body: text(input) };
    CaseRequest { method, target, protocol, headers, body, response }
}
