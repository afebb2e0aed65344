//! Reads recorded requests in the forms in which they are kept, and writes each as the line of JSON that a replay takes.

mod response;

use super::combined_log::{self, end_of_quotes};
use super::redis_records::{RedisRecords, is_redis};
use crate::ask::CommandFailure;
use crate::ask::document::put;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use response::{har_response, raw_response};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Largest HAR: it is read as a whole.
const HAR_BYTES_MAX: u64 = 1 << 30;
/// Largest line: an analytics record with both messages.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// The requests of a file.
pub(in crate::ask) struct RecordReader {
    lines: RecordLines,
    read: u64,
    skipped: u64,
    /// The number of the first line that is no request, and why.
    first_skipped: Option<(u64, String)>,
}

enum RecordLines {
    Text(Box<dyn BufRead>),
    /// Entries of a HAR.
    Entries(std::vec::IntoIter<Value>),
    /// Records that wait for tyk-pump.
    Redis(Box<RedisRecords>),
}

impl RecordReader {
    pub(in crate::ask) fn open(file: &Path) -> Result<Self, CommandFailure> {
        if let Some(address) = file.to_str().filter(|_| is_redis(file)) {
            let lines = RecordLines::Redis(Box::new(RedisRecords::open(address)?));
            return Ok(RecordReader { lines, read: 0, skipped: 0, first_skipped: None });
        }
        let failed = |error: std::io::Error| CommandFailure::Refused(format!("{} cannot be read: {error}", file.display()));
        let source: Box<dyn Read> =
            if file == Path::new("-") { Box::new(std::io::stdin()) } else { Box::new(File::open(file).map_err(failed)?) };
        let mut text = BufReader::with_capacity(1 << 20, source);
        let start = text.fill_buf().map_err(failed)?;
        let is_har = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("har")) || begins_har(start);
        let lines = match is_har {
            false => RecordLines::Text(Box::new(text)),
            true => {
                let har: Value = serde_json::from_reader(text.take(HAR_BYTES_MAX))
                    .map_err(|error| CommandFailure::Refused(format!("{} is no HAR: {error}", file.display())))?;
                let entries = har.pointer("/log/entries").and_then(Value::as_array).cloned();
                let entries =
                    entries.ok_or_else(|| CommandFailure::Refused(format!("{}: $.log.entries: is no list", file.display())))?;
                RecordLines::Entries(entries.into_iter())
            }
        };
        Ok(RecordReader { lines, read: 0, skipped: 0, first_skipped: None })
    }

    /// Appends requests until there are this many bytes; false at the end. They are in the order of their times: the cores of a gateway write their
    /// lines in turns.
    pub(in crate::ask) fn read_into(&mut self, piece: &mut Vec<u8>, bytes: usize) -> Result<bool, CommandFailure> {
        let mut requests: Vec<(u64, String)> = Vec::new();
        let mut size = 0;
        let mut has_more = true;
        while size < bytes && has_more {
            match self.next()? {
                None => has_more = false,
                Some(Ok(Value::Null)) => self.skipped += 1,
                Some(Ok(request)) => {
                    let time_ms = request.get("time_ms").and_then(Value::as_u64).unwrap_or_default();
                    let line = request.to_string();
                    size += line.len() + 1;
                    requests.push((time_ms, line));
                }
                Some(Err(why)) => {
                    self.skipped += 1;
                    self.first_skipped.get_or_insert((self.read, why));
                }
            }
        }
        requests.sort_by_key(|(time_ms, _)| *time_ms);
        for (_, line) in requests {
            piece.extend_from_slice(line.as_bytes());
            piece.push(b'\n');
        }
        Ok(has_more)
    }

    /// The next request, or why a line is none; `None` at the end.
    fn next(&mut self) -> Result<Option<Result<Value, String>>, CommandFailure> {
        let made = match &mut self.lines {
            RecordLines::Entries(entries) => match entries.next() {
                Some(entry) => har_request(&entry),
                None => return Ok(None),
            },
            RecordLines::Redis(records) => match records.next()? {
                Some(record) => record.map(|record| analytics(&record)),
                None => return Ok(None),
            },
            RecordLines::Text(text) => {
                let mut line = Vec::new();
                while line.trim_ascii().is_empty() {
                    line.clear();
                    let read = Read::by_ref(text).take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
                    if read.map_err(|error| CommandFailure::Refused(format!("records cannot be read: {error}")))? == 0 {
                        return Ok(None);
                    }
                }
                request(&line)
            }
        };
        self.read += 1;
        Ok(Some(made))
    }

    /// Fails if nothing could be read; says on standard error what was skipped.
    pub(in crate::ask) fn check(&self, name: &str) -> Result<(), CommandFailure> {
        let Some((number, why)) = &self.first_skipped else { return Ok(()) };
        if self.skipped == self.read {
            return Err(CommandFailure::Refused(format!("{name}: line {number}: {why}")));
        }
        eprintln!("tollgate: {name}: {} of {} lines are no requests; the first is line {number}: {why}", self.skipped, self.read);
        Ok(())
    }
}

fn begins_har(start: &[u8]) -> bool {
    let head: Vec<u8> = start.iter().take(200).copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    head.starts_with(b"{\"log\":{")
}

/// The request of a line; null for a line about something else.
fn request(line: &[u8]) -> Result<Value, String> {
    let line = line.trim_ascii();
    if line.first() == Some(&b'{') {
        let record: Value = serde_json::from_slice(line).map_err(|error| format!("is not valid JSON: {error}"))?;
        return of_json(record);
    }
    let text = String::from_utf8_lossy(line);
    if text.starts_with("time=") {
        return access_log(&fields(&text));
    }
    combined_log::request(&text)
}

/// A record of analytics, of the access log, or one of our own.
fn of_json(record: Value) -> Result<Value, String> {
    let Value::Object(record) = record else { return Err("is no object".to_owned()) };
    if record.contains_key("response_code") {
        return Ok(analytics(&record));
    }
    if record.get("prefix").and_then(Value::as_str) == Some("access-log") {
        return access_log(&record);
    }
    if record.contains_key("method") && record.contains_key("path") {
        return Ok(Value::Object(record));
    }
    // Other lines of a log.
    if record.contains_key("level") || record.contains_key("msg") || record.contains_key("message") {
        Ok(Value::Null)
    } else {
        Err("is no record of a request".to_owned())
    }
}

fn text<'r>(record: &'r Map<String, Value>, name: &str) -> &'r str {
    record.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn analytics(record: &Map<String, Value>) -> Value {
    let is_rewritten = text(record, "original_path").is_empty();
    let path = match is_rewritten {
        false => text(record, "original_path").to_owned(),
        // Tyk does not record what the client sent; the listen path may be stripped.
        true => {
            let (listen, raw) = (text(record, "listen_path"), text(record, "raw_path"));
            let is_whole = raw.starts_with(listen) || listen.is_empty();
            if is_whole { raw.to_owned() } else { format!("{}/{}", listen.trim_end_matches('/'), raw.trim_start_matches('/')) }
        }
    };
    let mut made = json!({
        "time_ms": unix_ms(text(record, "timestamp")), "method": text(record, "method"), "path": path, "key": text(record, "api_key"),
        "status": record.get("response_code").cloned().unwrap_or_default(), "api_id": text(record, "api_id"),
    });
    if text(record, "ip_address").parse::<std::net::IpAddr>().is_ok() {
        put(&mut made, "client_ip", text(record, "ip_address"));
    }
    if let Some(bytes) = record.get("content_length").and_then(Value::as_u64) {
        put(&mut made, "content_length", bytes);
    }
    if let Some((target, headers)) = STANDARD.decode(text(record, "raw_request")).ok().and_then(|raw| raw_request(&raw)) {
        put(&mut made, "headers", headers);
        if target.starts_with('/') && !is_rewritten {
            put(&mut made, "path", target);
        }
    }
    if let Some(response) = STANDARD.decode(text(record, "raw_response")).ok().and_then(|raw| raw_response(&raw)) {
        put(&mut made, "response", response);
    }
    made
}

/// Path with query and header lines of a recorded head. Secrets in it are masked; lines with a mask are left out.
fn raw_request(raw: &[u8]) -> Option<(String, Value)> {
    let text = String::from_utf8_lossy(raw);
    let head = text.split("\r\n\r\n").next()?;
    let mut lines = head.split("\r\n");
    let target = lines.next()?.split(' ').nth(1)?.to_owned();
    let pairs = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name, value.trim()))
        .filter(|(_, value)| *value != "***");
    Some((target, pairs.map(|(name, value)| json!([name, value])).collect()))
}

fn access_log(record: &Map<String, Value>) -> Result<Value, String> {
    if text(record, "prefix") != "access-log" {
        return Ok(Value::Null);
    }
    let number = |name: &str| match record.get(name) {
        Some(Value::String(digits)) => digits.parse().unwrap_or_default(),
        Some(number) => number.as_u64().unwrap_or_default(),
        None => 0,
    };
    // `path` is what the upstream got, `original_path` what the client sent; logs of earlier versions have only the latter, as `path`.
    let path = Some(text(record, "original_path")).filter(|path| !path.is_empty()).unwrap_or(text(record, "path"));
    let mut made = json!({
        "time_ms": unix_ms(text(record, "time")), "method": text(record, "method"), "host": text(record, "host"), "path": path,
        "key": text(record, "api_key"), "status": number("status"), "cause": text(record, "cause"), "api_id": text(record, "api_id"),
    });
    if text(record, "method").is_empty() || path.is_empty() {
        return Err("the access log has no method or no path".to_owned());
    }
    if text(record, "client_ip").parse::<std::net::IpAddr>().is_ok() {
        put(&mut made, "client_ip", text(record, "client_ip"));
    }
    Ok(made)
}

/// The fields of `name=value name="quoted value"`.
fn fields(line: &str) -> Map<String, Value> {
    let mut made = Map::new();
    let mut rest = line.trim_start();
    while let Some((name, after)) = rest.split_once('=') {
        let (value, after) = match after.strip_prefix('"') {
            None => {
                let end = after.find(' ').unwrap_or(after.len());
                let (value, after) = after.split_at(end);
                (value.to_owned(), after)
            }
            Some(quoted) => {
                let end = end_of_quotes(quoted);
                let (value, after) = quoted.split_at(end);
                let value: String = serde_json::from_str(&format!("\"{value}\"")).unwrap_or_else(|_| value.to_owned());
                (value, after.strip_prefix('"').unwrap_or(after))
            }
        };
        made.insert(name.to_owned(), value.into());
        rest = after.trim_start();
    }
    made
}

fn har_request(entry: &Value) -> Result<Value, String> {
    let request = entry.get("request").ok_or("an entry has no request")?;
    let url = request.get("url").and_then(Value::as_str).unwrap_or_default();
    let uri: http::Uri = url.parse().map_err(|error| format!("{url:?} is no address: {error}"))?;
    let method = request.get("method").and_then(Value::as_str).unwrap_or("GET");
    let started = entry.get("startedDateTime").and_then(Value::as_str).unwrap_or_default();
    let pairs = request.get("headers").and_then(Value::as_array).into_iter().flatten().filter_map(|header| {
        let (name, value) = (header.get("name")?.as_str()?, header.get("value")?.as_str()?);
        // HTTP/2 names parts of the first line like headers.
        (!name.starts_with(':')).then(|| json!([name, value]))
    });
    let mut made = json!({
        "time_ms": unix_ms(started), "method": method,
        "host": uri.authority().map_or("", |authority| authority.as_str()),
        "path": uri.path_and_query().map_or("/", |path| path.as_str()),
        "headers": pairs.collect::<Vec<Value>>(),
        "status": entry.pointer("/response/status").and_then(Value::as_u64).unwrap_or_default(),
    });
    match request.pointer("/postData/text").and_then(Value::as_str) {
        Some(body) => put(&mut made, "body", STANDARD.encode(body)),
        None if request.get("bodySize").and_then(Value::as_i64) == Some(0) => put(&mut made, "content_length", 0),
        None => {}
    }
    if let Some(response) = entry.get("response").and_then(har_response) {
        put(&mut made, "response", response);
    }
    Ok(made)
}

/// Unix time in milliseconds; 0 for a text that is no time.
fn unix_ms(text: &str) -> u64 {
    let whole = humantime::parse_rfc3339_weak(text.trim_end_matches("+00:00"));
    let since = whole.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    match since {
        Some(since) => u64::try_from(since.as_millis()).unwrap_or_default(),
        None => tollgate_model::calendar::parse(text).and_then(|unix_s| u64::try_from(unix_s).ok()).unwrap_or_default() * 1_000,
    }
}

#[cfg(test)]
mod tests;
