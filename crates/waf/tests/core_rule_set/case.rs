//! One test of the format: a request, with the response that it asks the project's own test server for, and the rules that must match or must not.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use tollgate_waf::{InspectedRequest, InspectedResponse, Inspection, InspectionBudget, InspectionReport, RuleProfile, Ruleset};

pub(crate) struct Case {
    pub(crate) folder: String,
    pub(crate) file: String,
    pub(crate) number: usize,
    pub(crate) stages: Vec<Stage>,
}

/// A request as the engine gets it, and the response that the test's own server gives to it.
pub(crate) struct CaseRequest {
    pub(crate) method: Vec<u8>,
    pub(crate) target: Vec<u8>,
    pub(crate) protocol: String,
    pub(crate) headers: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
    pub(crate) response: Reflection,
}

pub(crate) enum Judgement {
    Passed,
    Failed(String),
    /// It is about a server's own refusal, or about what a log shows of values.
    NotJudged,
}

#[derive(Deserialize)]
struct Document {
    tests: Vec<Test>,
    rule_id: u32,
}

#[derive(Deserialize)]
struct Test {
    test_id: usize,
    stages: Vec<Stage>,
}

#[derive(Deserialize)]
pub(crate) struct Stage {
    pub(crate) input: Input,
    pub(crate) output: Output,
}

#[derive(Deserialize)]
#[serde(default)]
pub(crate) struct Input {
    method: String,
    uri: String,
    version: String,
    headers: BTreeMap<String, String>,
    data: Option<String>,
    encoded_request: String,
    autocomplete_headers: bool,
}

impl Default for Input {
    fn default() -> Self {
        let (method, uri, version) = ("GET".to_owned(), "/".to_owned(), "HTTP/1.1".to_owned());
        let (headers, data, encoded_request) = (BTreeMap::new(), None, String::new());
        Input { method, uri, version, headers, data, encoded_request, autocomplete_headers: true }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Output {
    pub(crate) log: Log,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Log {
    pub(crate) expect_ids: Vec<u32>,
    pub(crate) no_expect_ids: Vec<u32>,
    pub(crate) match_regex: String,
    pub(crate) no_match_regex: String,
}

/// The response that a request to `/reflect` describes; all others get an empty one.
#[derive(Deserialize)]
#[serde(default)]
pub(crate) struct Reflection {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Default for Reflection {
    fn default() -> Self {
        Reflection { status: 200, headers: BTreeMap::new(), body: String::new() }
    }
}

impl Reflection {
    fn asked_for(target: &[u8], body: &[u8]) -> Self {
        if !target.starts_with(b"/reflect") {
            return Reflection::default();
        }
        // Two of the tests ask for nothing that the server knows.
        let mut answer: Self = serde_json::from_slice(body).unwrap_or_default();
        if !answer.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
            // The server's library says what bodies look like.
            answer.headers.insert("Content-Type".to_owned(), "text/plain; charset=utf-8".to_owned());
        }
        answer
    }
}

/// The tests of a file.
pub(crate) fn read(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).unwrap();
    if text.lines().all(|line| line.is_empty() || line.starts_with(['#', '-'])) {
        return Vec::new();
    }
    let document: Document = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let folder = path.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    let of =
        |test: Test| Case { folder: folder.clone(), file: document.rule_id.to_string(), number: test.test_id, stages: test.stages };
    document.tests.into_iter().map(of).collect()
}

impl Case {
    pub(crate) fn run(&self, rules: &Ruleset, profile: &RuleProfile) -> Judgement {
        // The other tests with texts of logs are about values, which this engine does not show.
        let reads_log = self.folder.starts_with("RESPONSE");
        let mut judged = false;
        for stage in &self.stages {
            let log = &stage.output.log;
            if log.expect_ids.is_empty() && log.no_expect_ids.is_empty() && !(reads_log && log.is_read()) {
                continue;
            }
            judged = true;
            let found = match stage.input.found(rules, profile) {
                Ok(found) => found,
                Err(why) => return Judgement::Failed(why),
            };
            if reads_log && let Err(why) = log.judge(&found) {
                return Judgement::Failed(why);
            }
            let matched: Vec<u32> = found.iter().flat_map(|report| &report.matches).map(|found| found.id).collect();
            if let Some(missing) = log.expect_ids.iter().find(|id| !matched.contains(id)) {
                return Judgement::Failed(format!("{missing} does not match"));
            }
            if let Some(wrong) = log.no_expect_ids.iter().find(|id| matched.contains(id)) {
                return Judgement::Failed(format!("{wrong} matches"));
            }
        }
        let is_of_values = !reads_log && self.stages.iter().any(|stage| stage.output.log.is_read());
        if judged && !is_of_values { Judgement::Passed } else { Judgement::NotJudged }
    }
}

impl Log {
    fn is_read(&self) -> bool {
        !self.match_regex.is_empty() || !self.no_match_regex.is_empty()
    }

    fn judge(&self, found: &[InspectionReport]) -> Result<(), String> {
        let messages: Vec<&str> = found.iter().flat_map(|report| &report.matches).map(|found| found.message.as_str()).collect();
        let has = |expression: &str| {
            let expression = regex::Regex::new(expression).unwrap();
            messages.iter().any(|message| expression.is_match(message))
        };
        if !self.match_regex.is_empty() && !has(&self.match_regex) {
            return Err(format!("no message fits {}", self.match_regex));
        }
        if !self.no_match_regex.is_empty() && has(&self.no_match_regex) {
            return Err(format!("a message fits {}", self.no_match_regex));
        }
        Ok(())
    }
}

impl Input {
    /// The request, and what it asks the test's server for.
    pub(crate) fn request(&self) -> Result<CaseRequest, String> {
        let encoded =
            STANDARD.decode(self.encoded_request.split_whitespace().collect::<String>()).map_err(|error| error.to_string())?;
        let mut data = expanded(self.data.as_deref().unwrap_or_default());
        if self.headers.values().any(|value| value.contains("multipart/form-data")) {
            // As the runner does it: lines of the format end so, those of YAML do not.
            data = data.replace("\r\n", "\n").replace('\n', "\r\n");
        }
        let mut headers: Vec<(Vec<u8>, Vec<u8>)> =
            self.headers.iter().map(|(name, value)| (name.clone().into_bytes(), value.trim().as_bytes().to_vec())).collect();
        let (mut method, mut target, mut protocol) =
            (self.method.clone().into_bytes(), self.uri.clone().into_bytes(), self.version.clone());
        let mut body = data.into_bytes();
        if encoded.is_empty() {
            self.complete(&mut headers, body.len());
        } else {
            let end = encoded.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(encoded.len());
            let head = String::from_utf8_lossy(&encoded[..end]).into_owned();
            let mut lines = head.split("\r\n");
            let mut words = lines.next().unwrap_or_default().splitn(3, ' ');
            let mut word = || words.next().unwrap_or_default().to_owned();
            (method, target, protocol) = (word().into_bytes(), word().into_bytes(), word());
            let pairs = lines.filter_map(|line| line.split_once(':'));
            headers = pairs.map(|(name, value)| (name.as_bytes().to_vec(), value.trim().as_bytes().to_vec())).collect();
            body = encoded.get(end + 4..).unwrap_or_default().to_vec();
        }
        let response = Reflection::asked_for(&target, &body);
        Ok(CaseRequest { method, target, protocol, headers, body, response })
    }

    /// What is said of the request, and of the response.
    fn found(&self, rules: &Ruleset, profile: &RuleProfile) -> Result<Vec<InspectionReport>, String> {
        self.request()?.inspected(rules, profile)
    }

    /// Adds the headers that the runner adds.
    fn complete(&self, headers: &mut Vec<(Vec<u8>, Vec<u8>)>, length: usize) {
        if !self.autocomplete_headers {
            return;
        }
        let mut add = |name: &str, value: String| {
            if !headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name.as_bytes())) {
                headers.push((name.as_bytes().to_vec(), value.into_bytes()));
            }
        };
        add("Connection", "close".to_owned());
        if self.data.is_some() {
            add("Content-Type", "application/x-www-form-urlencoded".to_owned());
            add("Content-Length", length.to_string());
        }
    }
}

impl CaseRequest {
    pub(crate) fn inspected(&self, rules: &Ruleset, profile: &RuleProfile) -> Result<Vec<InspectionReport>, String> {
        let request = InspectedRequest {
            method: &self.method,
            target: &self.target,
            protocol: &self.protocol,
            headers: self.headers.iter().map(|(name, value)| (name.as_slice(), value.as_slice())).collect(),
            body: &self.body,
            client: [127, 0, 0, 1].into(),
            id: "1",
        };
        let budget = || InspectionBudget::new(1 << 32);
        let mut inspection = Inspection::new(rules, profile, budget());
        let report = inspection.request(&request, &self.target).map_err(|error| error.to_string())?;
        let Some(memory) = inspection.into_memory() else { return Ok(vec![report]) };
        let answer = &self.response;
        let headers = answer.headers.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        let response =
            InspectedResponse { status: answer.status, protocol: "HTTP/1.1", headers, body: Some(answer.body.as_bytes()) };
        let mut inspection = Inspection::go_on(rules, profile, budget(), memory);
        Ok(vec![report, inspection.response(&response).map_err(|error| error.to_string())?])
    }
}

/// The only templates of the corpus are texts that are repeated.
fn expanded(data: &str) -> String {
    let Some((before, rest)) = data.split_once("{{") else { return data.to_owned() };
    let Some((template, after)) = rest.split_once("}}") else { return data.to_owned() };
    let words: Vec<&str> = template.split('|').map(str::trim).collect();
    let made = match words.as_slice() {
        [text, repeat] if repeat.starts_with("repeat ") => {
            let times: usize = repeat["repeat ".len()..].trim().parse().unwrap();
            text.trim_matches('"').repeat(times)
        }
        _ => format!("{{{{{template}}}}}"),
    };
    format!("{before}{made}{}", expanded(after))
}
