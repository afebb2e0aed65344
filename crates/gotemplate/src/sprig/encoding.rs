//! JSON, Base64, Base32, hashes and paths.

use crate::arguments::{Function, FunctionResult, any, call, text};
use crate::json::{self, Escape};
use crate::value::Value;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use data_encoding::{BASE32, HEXLOWER};
use sha1::Sha1;
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
    call("b32enc", 1, 1, |given| Ok(BASE32.encode(text(given, 0)?.as_bytes()).into())),
    call("b32dec", 1, 1, |given| {
        // Go skips line ends; as in sprig, the result is the error.
        let written = text(given, 0)?.replace(['\r', '\n'], "");
        let decoded = BASE32.decode(written.as_bytes());
        Ok(decoded.map_or_else(|_| "illegal base32 data".to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned()).into())
    }),
    call("adler32sum", 1, 1, |given| Ok(adler32(text(given, 0)?.as_bytes()).to_string().into())),
    call("sha1sum", 1, 1, |given| Ok(HEXLOWER.encode(&Sha1::digest(text(given, 0)?)).into())),
    call("sha256sum", 1, 1, |given| Ok(HEXLOWER.encode(&Sha256::digest(text(given, 0)?)).into())),
    call("sha512sum", 1, 1, |given| Ok(HEXLOWER.encode(&Sha512::digest(text(given, 0)?)).into())),
    call("base", 1, 1, base),
    call("osBase", 1, 1, base),
    call("dir", 1, 1, directory),
    call("osDir", 1, 1, directory),
    call("clean", 1, 1, cleaned),
    call("osClean", 1, 1, cleaned),
    call("ext", 1, 1, extension),
    call("osExt", 1, 1, extension),
    call("isAbs", 1, 1, is_absolute),
    call("osIsAbs", 1, 1, is_absolute),
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

/// The checksum of RFC 1950.
fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (low, high) = bytes.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % MODULUS;
        (low, (high + low) % MODULUS)
    });
    high << 16 | low
}

fn base(given: &[Value]) -> FunctionResult {
    let path = text(given, 0)?;
    let trimmed = path.trim_end_matches('/');
    let name = match (path.is_empty(), trimmed.is_empty()) {
        (true, _) => ".",
        (false, true) => "/",
        _ => trimmed.rsplit('/').next().unwrap_or(trimmed),
    };
    Ok(name.into())
}

fn directory(given: &[Value]) -> FunctionResult {
    let parent = text(given, 0)?.rsplit_once('/').map_or("", |(parent, _)| if parent.is_empty() { "/" } else { parent });
    Ok(clean(parent).into())
}

fn cleaned(given: &[Value]) -> FunctionResult {
    Ok(clean(text(given, 0)?).into())
}

fn extension(given: &[Value]) -> FunctionResult {
    let name = text(given, 0)?.rsplit('/').next().unwrap_or_default();
    Ok(name.rfind('.').and_then(|at| name.get(at..)).unwrap_or_default().into())
}

fn is_absolute(given: &[Value]) -> FunctionResult {
    Ok(text(given, 0)?.starts_with('/').into())
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
