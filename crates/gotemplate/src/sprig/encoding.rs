//! JSON, Base64, hashes and paths.

use crate::arguments::{Function, FunctionResult, any, call, text};
use crate::json::{self, Escape};
use crate::value::Value;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256, Sha512};

pub(super) static FUNCTIONS: &[Function] = &[
    call("toJson", 1, 1, to_json),
    call("mustToJson", 1, 1, to_json),
    call("toRawJson", 1, 1, to_raw_json),
    call("mustToRawJson", 1, 1, to_raw_json),
    call("toPrettyJson", 1, 1, to_pretty_json),
    call("mustToPrettyJson", 1, 1, to_pretty_json),
    call("fromJson", 1, 1, |given| Ok(read(text(given, 0)?).unwrap_or(Value::Null))),
    call("mustFromJson", 1, 1, |given| read(text(given, 0)?)),
    call("b64enc", 1, 1, |given| Ok(STANDARD.encode(text(given, 0)?).into())),
    call("b64dec", 1, 1, |given| {
        // As in sprig, the result is the error.
        let decoded = STANDARD.decode(text(given, 0)?);
        Ok(decoded.map_or_else(|_| "illegal base64 data".to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned()).into())
    }),
    call("sha256sum", 1, 1, |given| Ok(HEXLOWER.encode(&Sha256::digest(text(given, 0)?)).into())),
    call("sha512sum", 1, 1, |given| Ok(HEXLOWER.encode(&Sha512::digest(text(given, 0)?)).into())),
    call("base", 1, 1, |given| Ok(base(text(given, 0)?).into())),
    call("dir", 1, 1, |given| {
        Ok(clean(text(given, 0)?.rsplit_once('/').map_or("", |(directory, _)| if directory.is_empty() { "/" } else { directory }))
            .into())
    }),
    call("clean", 1, 1, |given| Ok(clean(text(given, 0)?).into())),
    call("ext", 1, 1, |given| {
        let name = text(given, 0)?.rsplit('/').next().unwrap_or_default();
        Ok(name.rfind('.').and_then(|at| name.get(at..)).unwrap_or_default().into())
    }),
    call("isAbs", 1, 1, |given| Ok(text(given, 0)?.starts_with('/').into())),
];

fn to_json(given: &[Value]) -> FunctionResult {
    written(given, |value, out| json::write(value, Escape::Html, out))
}

fn to_raw_json(given: &[Value]) -> FunctionResult {
    written(given, |value, out| json::write(value, Escape::Plain, out))
}

fn to_pretty_json(given: &[Value]) -> FunctionResult {
    written(given, json::write_pretty)
}

fn written(given: &[Value], write: impl Fn(&Value, &mut String)) -> FunctionResult {
    let mut out = String::new();
    write(any(given, 0), &mut out);
    Ok(out.into())
}

fn read(text: &str) -> FunctionResult {
    let json: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(Value::from_json(&json))
}

fn base(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match (path.is_empty(), trimmed.is_empty()) {
        (true, _) => ".",
        (false, true) => "/",
        _ => trimmed.rsplit('/').next().unwrap_or(trimmed),
    }
}

/// The shortest equivalent path.
fn clean(path: &str) -> String {
    let is_rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if is_rooted => {}
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (is_rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        _ => joined,
    }
}
