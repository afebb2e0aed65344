//! Values with nginx's variables, sizes and times.

use std::collections::BTreeMap;

/// How deep values have variables.
const DEPTH_MAX: usize = 8;
/// The most bytes that they become.
const BYTES_MAX: usize = 16 << 10;

/// Where a value is used: what is the same for all requests there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings {
    pub is_tls: bool,
    pub port: u16,
}

/// A text with the values of variables that are known, also of those in their values.
pub(super) fn substituted(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut text = text.to_owned();
    // A value may have variables again, and itself.
    for _ in 0..DEPTH_MAX {
        let mut written = String::new();
        let mut rest = text.as_str();
        let mut is_changed = false;
        while let Some((before, after)) = rest.split_once('$') {
            let (name, behind) = split_name(after);
            written.push_str(before);
            match variables.get(name) {
                Some(value) => {
                    written.push_str(value);
                    is_changed = true;
                }
                None => {
                    written.push('$');
                    written.push_str(after.get(..after.len() - behind.len()).unwrap_or_default());
                }
            }
            rest = behind;
        }
        written.push_str(rest);
        if !is_changed || written.len() > BYTES_MAX {
            break;
        }
        text = written;
    }
    text
}

/// The name of a variable behind its `$`, and what follows.
fn split_name(after: &str) -> (&str, &str) {
    match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
        Some(braced) => braced,
        None => after.split_at(after.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(after.len())),
    }
}

/// A value for our side, with the plan's variables; `None` if a variable has no counterpart.
pub(super) fn value(text: &str, around: Surroundings) -> Option<String> {
    let mut written = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        written.push_str(before);
        let (name, behind) = split_name(after);
        written.push_str(&variable(name, around)?);
        rest = behind;
    }
    written.push_str(rest);
    Some(written)
}

fn variable(name: &str, around: Surroundings) -> Option<String> {
    Some(match name {
        "remote_addr" | "realip_remote_addr" => "{client_ip}".to_owned(),
        "request_id" => "{request_id}".to_owned(),
        "uri" | "document_uri" => "{path}".to_owned(),
        "scheme" => if around.is_tls { "https" } else { "http" }.to_owned(),
        "https" => if around.is_tls { "on" } else { "" }.to_owned(),
        "server_port" => around.port.to_string(),
        "host" | "http_host" => "{header:Host}".to_owned(),
        "content_type" => "{header:Content-Type}".to_owned(),
        name => {
            let header = name.strip_prefix("http_")?;
            format!("{{header:{}}}", header.replace('_', "-"))
        }
    })
}

/// Bytes of `10m`.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor = match text.get(digits.len()..)?.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// Milliseconds of `1m30s`; a number alone is seconds.
pub(super) fn milliseconds(text: &str) -> Option<u64> {
    let mut all = 0_u64;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let unit = after.find(|letter: char| letter.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let factor = match unit.trim() {
            "ms" => 1,
            "" | "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            "w" => 604_800_000,
            "M" => 2_592_000_000,
            "y" => 31_536_000_000,
            _ => return None,
        };
        all = all.checked_add(number.parse::<u64>().ok()?.checked_mul(factor)?)?;
        rest = after;
    }
    (!text.is_empty()).then_some(all)
}
