//! A recorded request as it is sent to a replay, and the request that is made of it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use tollgate_access::keys::stand_in;
use tollgate_data::handler::auth_digest;
use tollgate_data::handler::{RecordedCaller, RecordedResponse, Rehearsal};
use tollgate_data::snapshot::CompiledApi;
use tollgate_http::{is_token, is_value};
use tollgate_model::api::{ApiDefinition, AuthMethod};
use tollgate_model::is_framing_header;

/// Tyk's hash of no key.
const NO_KEY: &str = "00000000";

/// One line.
#[derive(Deserialize)]
pub(super) struct RecordedLine<'l> {
    /// Unix time in milliseconds.
    #[serde(default)]
    pub time_ms: u64,
    #[serde(borrow)]
    pub method: Cow<'l, str>,
    #[serde(borrow, default)]
    pub host: Cow<'l, str>,
    /// Path and query.
    #[serde(borrow)]
    pub path: Cow<'l, str>,
    /// Names and values.
    #[serde(borrow, default)]
    headers: RecordedHeaders<'l>,
    /// Listed form of the key: its hash, or the key itself if keys are not hashed.
    #[serde(borrow, default)]
    key: Cow<'l, str>,
    #[serde(default)]
    client_ip: Option<IpAddr>,
    /// The status that the client got; 0 if that is not known.
    #[serde(default)]
    pub status: u16,
    /// Why the gateway refused the request.
    #[serde(borrow, default)]
    pub cause: Cow<'l, str>,
    /// The API that was reached.
    #[serde(borrow, default)]
    api_id: Cow<'l, str>,
    /// In base64; absent if it was not recorded.
    #[serde(borrow, default)]
    body: Option<Cow<'l, str>>,
    /// Bytes of the body; absent if that is not known.
    #[serde(default)]
    content_length: Option<u64>,
    /// What the client got, beside `status`; absent if it was not recorded.
    #[serde(borrow, default)]
    response: Option<RecordedAnswer<'l>>,
}

/// The recorded response to a request.
#[derive(Deserialize)]
struct RecordedAnswer<'l> {
    /// Names and values.
    #[serde(borrow, default)]
    headers: RecordedHeaders<'l>,
    /// In base64.
    #[serde(borrow, default)]
    body: Cow<'l, str>,
}

type RecordedHeaders<'l> = Vec<(Cow<'l, str>, Cow<'l, str>)>;

/// The request that stands for a line.
pub(super) struct MadeRequest {
    pub head: Vec<u8>,
    pub body: Option<Vec<u8>>,
    pub caller: Option<RecordedCaller>,
    pub client_ip: IpAddr,
    /// The upstream's response to it.
    pub response: Option<RecordedResponse>,
}

/// How APIs identify callers, by id.
#[derive(Default)]
pub(super) struct CallerPlaces(HashMap<String, CallerPlace>);

/// Where an API looks for keys.
struct CallerPlace {
    auth: u64,
    header: Option<String>,
    param: Option<String>,
}

impl<'l> RecordedLine<'l> {
    /// Reads a line; the error says what is wrong.
    pub(super) fn read(line: &'l [u8]) -> Result<Self, String> {
        let line: RecordedLine<'l> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        if !is_token(line.method.as_bytes()) || line.method == "CONNECT" {
            return Err(format!("{:?} is no method", line.method));
        }
        if !line.path.starts_with('/') || !line.path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!("{:?} is no path", line.path));
        }
        if !line.host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]~".contains(&byte)) {
            return Err(format!("{:?} is no host", line.host));
        }
        let of_response = line.response.iter().flat_map(|response| &response.headers);
        let mut headers = line.headers.iter().chain(of_response);
        if let Some((name, _)) = headers.find(|(name, value)| !is_token(name.as_bytes()) || !is_value(value.as_bytes())) {
            return Err(format!("{name:?} is no header"));
        }
        Ok(line)
    }

    /// The key, if there was one and it is known.
    pub(super) fn key(&self) -> Option<&str> {
        Some(self.key.as_ref()).filter(|key| !key.is_empty() && *key != NO_KEY && *key != "--" && !key.starts_with("****"))
    }

    /// The request for the configuration in service.
    pub(super) fn request(&self, old: &Rehearsal, places: &mut CallerPlaces) -> MadeRequest {
        let bare_path = self.path.split('?').next().unwrap_or_default();
        let host = match self.host.as_ref() {
            // Records of analytics don't have the host that was asked for.
            "" => old.api(&self.api_id).and_then(|api| api.host.clone()).unwrap_or_else(|| "localhost".to_owned()),
            host => host.to_owned(),
        };
        let place = self.key().and_then(|key| Some((key, places.of(&*old.api_at(&host, bare_path)?))));
        let mut path = self.path.to_string();
        let mut lines = String::new();
        for (name, value) in &self.headers {
            let is_made =
                is_framing_header(name) || ["host", "expect", "connection"].iter().any(|own| name.eq_ignore_ascii_case(own));
            if !is_made {
                lines.extend([name, ": ", value.trim(), "\r\n"]);
            }
        }
        let caller = place.map(|(key, place)| {
            place.add_stand_in(&stand_in(key), &self.headers, &mut path, &mut lines);
            RecordedCaller { shown: key.to_owned(), auth: place.auth }
        });
        let body = self.body.as_ref().and_then(|body| STANDARD.decode(body.as_bytes()).ok());
        let length = body.as_ref().map(|body| body.len() as u64).or(self.content_length);
        match length {
            Some(0) if !matches!(self.method.as_ref(), "POST" | "PUT" | "PATCH") => {}
            Some(length) => lines.push_str(&format!("Content-Length: {length}\r\n")),
            None if matches!(self.method.as_ref(), "POST" | "PUT" | "PATCH") => lines.push_str("Transfer-Encoding: chunked\r\n"),
            None => {}
        }
        let head = format!("{} {path} HTTP/1.1\r\nHost: {host}\r\n{lines}\r\n", self.method);
        // A request without a body has a known one.
        let body = body.or_else(|| (length == Some(0)).then(Vec::new));
        let client_ip = self.client_ip.unwrap_or(Ipv4Addr::LOCALHOST.into());
        MadeRequest { head: head.into_bytes(), body, caller, client_ip, response: self.response() }
    }

    /// What the client got of the upstream; `None` if the gateway answered, or if it is not known.
    fn response(&self) -> Option<RecordedResponse> {
        let answer = self.response.as_ref().filter(|_| self.cause.is_empty() && (200..=599).contains(&self.status))?;
        let body = STANDARD.decode(answer.body.as_bytes()).ok()?;
        let mut head = format!("HTTP/1.1 {} \r\n", self.status);
        for (name, value) in answer.headers.iter().filter(|(name, _)| !is_framing_header(name)) {
            head.extend([name, ": ", value.trim(), "\r\n"]);
        }
        if !matches!(self.status, 204 | 304) {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        Some(RecordedResponse { head: head.into_bytes(), body })
    }
}

impl CallerPlaces {
    fn of(&mut self, api: &CompiledApi) -> &CallerPlace {
        self.0.entry(api.id.clone()).or_insert_with(|| CallerPlace::of(api))
    }
}

impl CallerPlace {
    fn of(api: &CompiledApi) -> Self {
        let definition = ApiDefinition::from_value(api.raw.clone(), None, &|_, _| Ok(String::new())).ok();
        let places = definition.as_ref().filter(|(definition, _)| definition.uses(AuthMethod::Token));
        let places = places.map(|(definition, _)| definition.places(AuthMethod::Token));
        CallerPlace {
            auth: auth_digest(&api.raw),
            header: places.and_then(|places| places.header()).map(str::to_owned),
            param: places.and_then(|places| places.param()).map(str::to_owned),
        }
    }

    /// Puts what stands for the key where the client must have put the key, unless something is there.
    fn add_stand_in(&self, text: &str, headers: &[(Cow<'_, str>, Cow<'_, str>)], path: &mut String, lines: &mut String) {
        if let Some(name) = &self.header {
            if !headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)) {
                lines.extend([name, ": ", text, "\r\n"]);
            }
        } else if let Some(name) = &self.param {
            path.extend([if path.contains('?') { "&" } else { "?" }, name, "=", text]);
        }
    }
}
