//! Proofs that one gateway can take another's place: the same safe requests to both, and what differs in their answers and in what upstreams got.
//! Nothing is sent that could change anything.

mod comparison;
mod differences;
mod echo;
mod sender;

use super::CommandFailure;
use super::replay::{RecordReader, replay_text};
use super::{TlsOf, connection::GatewayAddress};
use comparison::{Aspects, ProofSides};
use differences::Differences;
use echo::EchoUpstream;
use sender::ProofSender;
use serde_json::Value;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

/// Methods that change nothing at an upstream that keeps to RFC 9110.
const SAFE_METHODS: [&str; 3] = ["GET", "HEAD", "OPTIONS"];
/// Bytes of recorded requests that are read at once.
const PIECE_BYTES: usize = 1 << 20;
/// Requests in a row without an answer after which a gateway counts as gone.
const UNANSWERED_MAX: usize = 20;

/// What is sent, and where.
#[derive(Clone, Debug, Default)]
pub struct ProofPlan {
    /// URL of the gateway whose answers are right.
    pub old: String,
    /// URL of the gateway that is to answer alike.
    pub new: String,
    /// Requests made for the purpose.
    pub requests: Vec<ProofRequest>,
    /// Records of requests, in any form that a replay takes.
    pub records: Option<PathBuf>,
    /// Most requests that are sent to each.
    pub requests_max: usize,
    /// Addresses at which upstreams are played, so that what they get is compared too.
    pub upstreams: Vec<SocketAddr>,
    /// Headers that may differ, beside those that always may.
    pub ignored_headers: Vec<String>,
    /// Gateways may be on other machines.
    pub allows_remote: bool,
}

/// A request without a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProofRequest {
    /// The API that it is made for; empty if nobody knows.
    pub api: String,
    /// GET, HEAD or OPTIONS.
    pub method: String,
    /// `Host`.
    pub host: String,
    /// Path with query.
    pub path: String,
    /// Further headers.
    pub headers: Vec<(String, String)>,
}

/// What a proof has found.
#[derive(Clone, Debug)]
pub struct Proof {
    answer: Value,
    aspects: Vec<(String, usize)>,
    notes: Vec<String>,
}

/// Sends the requests to both gateways. `progress` hears how many of how many were sent.
///
/// # Errors
/// Addresses that may not be used, records that cannot be read, a gateway that does not answer.
pub fn prove(plan: &ProofPlan, tls: TlsOf, progress: &dyn Fn(usize, usize)) -> Result<Proof, String> {
    let old = address(&plan.old, plan.allows_remote)?;
    let new = address(&plan.new, plan.allows_remote)?;
    let mut notes = Vec::new();
    let mut requests = plan.requests.clone();
    if let Some(file) = &plan.records {
        requests.extend(recorded(file, plan.requests_max, &mut notes).map_err(|failure| failure.to_string())?);
    }
    let requests = spread(requests, plan.requests_max);
    if requests.is_empty() {
        return Err("there is no request to send".to_owned());
    }
    if let Some(far) = plan.upstreams.iter().find(|upstream| !upstream.ip().is_loopback() && !plan.allows_remote) {
        return Err(format!("{far} is no loopback address, on which others could not see the requests: --allow-remote permits it"));
    }
    let echo = match plan.upstreams.as_slice() {
        [] => None,
        addresses => Some(EchoUpstream::start(addresses)?),
    };
    let aspects = Aspects::new(&plan.ignored_headers, ProofSides { old: old.port(), new: new.port() });
    let mut sender = ProofSender::new(old, new, tls, echo.as_ref())?;
    let mut differences = Differences::default();
    let mut unanswered = [0; 2];
    for (index, request) in requests.iter().enumerate() {
        progress(index, requests.len());
        let sent = sender.send(index, request)?;
        for (count, (outcome, name)) in unanswered.iter_mut().zip([(&sent.old, &plan.old), (&sent.new, &plan.new)]) {
            match outcome {
                Ok(_) => *count = 0,
                Err(why) => {
                    *count += 1;
                    if index == 0 || *count >= UNANSWERED_MAX {
                        return Err(format!("{name} does not answer: {why}"));
                    }
                }
            }
        }
        differences.add(request, aspects.compare(&request.method, &sent));
    }
    progress(requests.len(), requests.len());
    notes.extend(aspects.notes(echo.is_some()));
    Ok(Proof { answer: differences.to_json(), aspects: differences.by_aspect(), notes })
}

impl Proof {
    /// Whether a request was answered differently.
    pub fn differs(&self) -> bool {
        !self.aspects.is_empty()
    }

    /// `requests`, `same`, `different` and `groups` as of a replay, `by_aspect`, and `notes` about what was not compared.
    pub fn to_json(&self) -> Value {
        let mut answer = self.answer.clone();
        if let Some(members) = answer.as_object_mut() {
            let by_aspect = self.aspects.iter().map(|(aspect, count)| (aspect.clone(), Value::from(*count))).collect();
            members.insert("by_aspect".to_owned(), Value::Object(by_aspect));
            members.insert("notes".to_owned(), self.notes.clone().into());
        }
        answer
    }

    /// The differences in groups as a replay shows them, how many requests differ in what, and what was not compared.
    pub fn to_text(&self) -> String {
        let mut lines = vec![replay_text(&self.answer, true)];
        lines.extend(self.aspects.iter().map(|(aspect, count)| format!("  {aspect}: {count}")));
        lines.extend(self.notes.iter().cloned());
        lines.join("\n")
    }
}

/// The address of a URL, which must be on this machine.
fn address(url: &str, allows_remote: bool) -> Result<GatewayAddress, String> {
    let address = GatewayAddress::parse(url).map_err(|why| format!("{url}: {why}"))?;
    let host = address.host().trim_start_matches('[').trim_end_matches(']');
    let is_here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if !is_here && !allows_remote {
        return Err(format!("{url} is on another machine: --allow-remote permits it"));
    }
    Ok(address)
}

/// Safe requests of a file, at most that many.
fn recorded(file: &Path, most: usize, notes: &mut Vec<String>) -> Result<Vec<ProofRequest>, CommandFailure> {
    let mut reader = RecordReader::open(file)?;
    let mut requests = Vec::new();
    let mut unsafe_ones = 0;
    loop {
        let mut piece = Vec::new();
        let has_more = reader.read_into(&mut piece, PIECE_BYTES)?;
        for line in piece.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let record: Value = serde_json::from_slice(line).unwrap_or_default();
            let request = ProofRequest::of_record(&record);
            match SAFE_METHODS.contains(&request.method.as_str()) {
                true if requests.len() < most => requests.push(request),
                true => {}
                false => unsafe_ones += 1,
            }
        }
        if !has_more || requests.len() >= most {
            break;
        }
    }
    reader.check(&file.display().to_string())?;
    if unsafe_ones > 0 {
        notes.push(format!("{unsafe_ones} recorded requests were not sent: their methods may change something"));
    }
    Ok(requests)
}

impl ProofRequest {
    fn of_record(record: &Value) -> Self {
        let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let pairs = record.get("headers").and_then(Value::as_array).into_iter().flatten();
        let pairs = pairs.filter_map(|pair| Some((pair.get(0)?.as_str()?.to_owned(), pair.get(1)?.as_str()?.to_owned())));
        let mut headers: Vec<(String, String)> = pairs.collect();
        let mut host = text("host");
        if let Some(at) = headers.iter().position(|(name, _)| name.eq_ignore_ascii_case("host")) {
            host = headers.remove(at).1;
        }
        ProofRequest { api: text("api_id"), method: text("method"), host, path: text("path"), headers }
    }
}

/// At most that many: of each API some, if there are too many.
fn spread(requests: Vec<ProofRequest>, most: usize) -> Vec<ProofRequest> {
    if requests.len() <= most {
        return requests;
    }
    let mut apis: Vec<(String, Vec<ProofRequest>)> = Vec::new();
    for request in requests {
        match apis.iter_mut().find(|(api, _)| *api == request.api) {
            Some((_, list)) => list.push(request),
            None => apis.push((request.api.clone(), vec![request])),
        }
    }
    let longest = apis.iter().map(|(_, list)| list.len()).max().unwrap_or_default();
    let turns = (0..longest).flat_map(|turn| apis.iter().filter_map(move |(_, list)| list.get(turn)));
    turns.take(most).cloned().collect()
}

#[cfg(test)]
mod tests;
