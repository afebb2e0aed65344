//! Converts the record of a request to Tyk's analytics record: the displayed key, tags, normalised paths, locations.

use super::facts::ApiMetadata;
use super::places::GeoDatabase;
use super::record::{RequestRecord, Text};
use super::record_ref::RecordRef;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regex::{NoExpand, Regex};
use serde_json::Value;
use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::OnceLock;
use tollgate_model::analytics::{AnalyticsRecord, Geo, Latency, McpStats, NOT_VERSIONED, Network};
use tollgate_model::config::GatewayConfig;
use tollgate_outbound::append_ip;

/// Tyk's value for the hash of a missing key.
pub(crate) const NO_KEY_HASH: &str = "00000000";

/// Settings and rules for writing records.
pub struct Analyst {
    hash_keys: bool,
    /// Replacements in the paths of records, as configured.
    normalise: Vec<(Regex, &'static str)>,
    /// Replacements in the paths of usage, always applied.
    uniform: Vec<(Regex, &'static str)>,
    places: Option<GeoDatabase>,
    data_ages: OnceLock<DataAges>,
}

/// Returns the expiry time of an organisation's records in seconds, by its id; 0 or less leaves the decision to the API.
pub(super) type DataAges = Box<dyn Fn(&str) -> i64 + Send + Sync>;

/// An error in one of the patterns.
pub(super) type AnalystError = Box<dyn std::error::Error>;

impl Analyst {
    pub fn new(config: &GatewayConfig) -> Result<Self, AnalystError> {
        let settings = &config.analytics_config;
        let urls = &settings.normalise_urls;
        let uuids = (Regex::new("(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")?, "{uuid}");
        let ulids = (Regex::new("(?i)[0-9a-hjkmnp-tv-z]{26}")?, "{ulid}");
        let numbers = (Regex::new("/[0-9]+")?, "/{id}");
        let mut normalise = Vec::new();
        if urls.enabled {
            let own = [(urls.normalise_uuids, &uuids), (urls.normalise_ulids, &ulids), (urls.normalise_numbers, &numbers)];
            normalise.extend(own.into_iter().filter(|(wanted, _)| *wanted).map(|(_, rule)| rule.clone()));
            for pattern in &urls.custom_patterns {
                let regex = tollgate_re2::compile(pattern)
                    .map_err(|error| format!("analytics_config.normalise_urls.custom_patterns: {error}"))?;
                normalise.push((regex, "{var}"));
            }
        }
        let whole_numbers = (Regex::new("/[0-9]+(?P<end>/|$)")?, "/{id}");
        let places = settings.enable_geo_ip.then(|| GeoDatabase::start(settings.geo_ip_db_path.clone())).transpose()?;
        let uniform = vec![uuids, ulids, whole_numbers];
        Ok(Analyst { hash_keys: config.hash_keys, normalise, uniform, places, data_ages: OnceLock::new() })
    }

    /// Applies the expiry times of organisations from now on.
    pub fn enforce_data_ages(&self, data_ages: DataAges) {
        let _ = self.data_ages.set(data_ages);
    }

    /// The request as Tyk's record.
    pub fn record<'h>(&self, hit: &RecordRef<'h>) -> AnalyticsRecord<'h> {
        let (record, facts) = (hit.record, hit.facts);
        let version = record.text(Text::Version);
        let session = record.key.as_ref().map(|key| &key.session);
        let (raw_path, tracked) = (record.text(Text::Path), record.text(Text::TrackedPath));
        let track_path = !tracked.is_empty();
        let path = if track_path { tracked } else { replace(&self.normalise, raw_path.clone()) };
        let (total, upstream) = (signed(milliseconds(record.total_ns)), signed(milliseconds(record.upstream_ns)));
        let (raw_request, raw_response) = self.raw(record);
        let mut made = AnalyticsRecord {
            method: record.text(Text::Method),
            host: String::from_utf8_lossy(hit.upstream_host()),
            user_agent: record.text(Text::UserAgent),
            api_key: self.key(record),
            api_version: if version.is_empty() { NOT_VERSIONED.into() } else { version },
            api_name: facts.name.as_str().into(),
            api_id: facts.id.as_str().into(),
            org_id: facts.org_id.as_str().into(),
            oauth_id: session.map(|session| session.oauth_client_id.as_str().into()).unwrap_or_default(),
            ip_address: ip_text(record.client_ip).into(),
            geo: self.place(record.client_ip),
            tags: self.tags(hit),
            alias: session.map(|session| session.alias.as_str().into()).unwrap_or_default(),
            listen_path: facts.listen_path.as_str().into(),
            path,
            raw_path,
            original_path: record.text(Text::OriginalPath),
            content_length: record.content_length,
            response_code: i64::from(record.status),
            request_time: total,
            raw_request: raw_request.into(),
            raw_response: raw_response.into(),
            network: Network {
                bytes_in: signed(record.request_bytes),
                bytes_out: signed(record.response_bytes),
                ..Network::default()
            },
            latency: Latency { total, upstream, gateway: total - upstream },
            track_path,
            api_schema: facts.graphql_schema.as_str().into(),
            graphql: record.graphql.as_ref().map(|facts| Box::new(facts.stats(record.capture.as_deref()))),
            mcp: facts.is_mcp.then(|| McpStats {
                is_mcp: true,
                jsonrpc_method: record.text(Text::McpMethod),
                primitive_type: record.mcp_kind().into(),
                primitive_name: record.text(record.mcp_name()),
            }),
            llm: record.llm.clone(),
            ..AnalyticsRecord::default()
        };
        made.set_time(hit.time, self.expire_after_s(facts));
        made
    }

    /// Time in seconds after which records of an API expire; 0 for never.
    fn expire_after_s(&self, facts: &ApiMetadata) -> i64 {
        let data_age_s = self.data_ages.get().map_or(0, |ages| ages(&facts.org_id));
        if data_age_s > 0 { data_age_s } else { facts.expire_after_s }
    }

    /// The key as shown in analytics.
    fn key<'r>(&self, record: &'r RequestRecord) -> Cow<'r, str> {
        match &record.key {
            Some(key) => Cow::Borrowed(&key.shown),
            None if self.hash_keys => Cow::Borrowed(NO_KEY_HASH),
            None => Cow::Borrowed(""),
        }
    }

    /// The key as shown in the log: hashed, or its last characters.
    pub fn logged_key<'r>(&self, record: &'r RequestRecord) -> Cow<'r, str> {
        let key = self.key(record);
        if self.hash_keys {
            return key;
        }
        let count = key.chars().count();
        if count > 4 { Cow::Owned(format!("****{}", key.chars().skip(count - 4).collect::<String>())) } else { Cow::Borrowed("--") }
    }

    fn tags<'h>(&self, hit: &RecordRef<'h>) -> Vec<Cow<'h, str>> {
        let (record, facts) = (hit.record, hit.facts);
        let mut tags: Vec<Cow<'h, str>> = Vec::with_capacity(4);
        let named = |name: &str, value: &str| Cow::Owned([name, value].concat());
        if let Some(key) = &record.key {
            let session = &key.session;
            tags.extend(session.policy_ids().iter().map(|policy| named("pol-", policy)));
            if let Some(Value::String(developer)) = session.meta_data.get("tyk_developer_id") {
                tags.push(named("dev-", developer));
            }
            tags.extend(session.tags.iter().map(Cow::from));
        }
        tags.extend(record.text(Text::Tags).lines().map(|tag| tag.to_owned().into()));
        tags.extend(facts.own_tags.iter().map(Cow::from));
        if record.from_cache {
            tags.push("cached-response".into());
        }
        if let Some(trace) = record.trace.as_ref().filter(|_| record.cause.is_none()) {
            tags.push(Cow::Owned(format!("trace-id-{}", trace.id)));
        }
        let key = self.key(record);
        if !key.is_empty() {
            tags.push(named("key-", &key));
        }
        tags.extend(facts.tags.iter().map(Cow::from));
        if !facts.graphql_schema.is_empty() {
            tags.push("tyk-graph-analytics".into());
        }
        tags
    }

    /// The path for usage: the pattern of a tracked endpoint, or the path with everything replaced that looks like an identifier.
    pub fn uniform_path(&self, record: &RequestRecord) -> String {
        // All calls of an MCP proxy have one path.
        if let Some(path) = record.call_path() {
            return path;
        }
        let tracked = record.text(Text::TrackedPath);
        if tracked.is_empty() { self.uniform(&record.text(Text::Path)) } else { tracked.into_owned() }
    }

    /// A path for usage.
    pub fn uniform(&self, path: &str) -> String {
        let mut path = replace(&self.normalise, Cow::Borrowed(path)).into_owned();
        // Every identifier contains a digit: most paths are done here.
        if !path.bytes().any(|byte| byte.is_ascii_digit()) {
            return path;
        }
        // The end of one match is the start of the next, so a second pass is needed to find all.
        for _ in 0..2 {
            for (pattern, name) in &self.uniform {
                let with_end = format!("{name}${{end}}");
                let replaced = if *name == "/{id}" {
                    pattern.replace_all(&path, with_end.as_str())
                } else {
                    pattern.replace_all(&path, NoExpand(name))
                };
                if let Cow::Owned(replaced) = replaced {
                    path = replaced;
                }
            }
        }
        path
    }

    fn place(&self, address: IpAddr) -> Geo {
        self.places.as_ref().map(|places| places.find(address)).unwrap_or_default()
    }

    /// Request and response as on the wire, in base64; empty if they are not recorded.
    fn raw(&self, record: &RequestRecord) -> (String, String) {
        let Some(capture) = &record.capture else {
            let head = record.bytes(Text::RawHead);
            return (STANDARD.encode(head), STANDARD.encode(&record.own_response));
        };
        let request = [record.bytes(Text::RawHead), &capture.request].concat();
        // What the gateway answers in place of a failed upstream, the engine does not capture.
        let response = if capture.response.is_empty() { &record.own_response } else { &capture.response };
        (STANDARD.encode(request), STANDARD.encode(response))
    }
}

/// Nanoseconds as whole milliseconds.
#[inline]
pub(super) fn milliseconds(ns: u64) -> u64 {
    ns / 1_000_000
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn replace<'p>(rules: &[(Regex, &'static str)], mut path: Cow<'p, str>) -> Cow<'p, str> {
    for (pattern, name) in rules {
        if let Cow::Owned(replaced) = pattern.replace_all(&path, NoExpand(name)) {
            path = Cow::Owned(replaced);
        }
    }
    path
}

fn ip_text(address: IpAddr) -> String {
    let mut text = Vec::with_capacity("255.255.255.255".len());
    append_ip(&mut text, address);
    String::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests;
