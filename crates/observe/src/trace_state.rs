//! Checks `tracestate` (W3C Trace Context §3.3): a list of keys with values, in any number of lines.

use tollgate_http::{Headers, KnownHeader};

/// Most members of a list.
const MEMBERS_MAX: usize = 32;
/// Most bytes of a key, and of the two parts of one with an `@`.
const KEY_BYTES_MAX: usize = 256;
const TENANT_BYTES_MAX: usize = 241;
const SYSTEM_BYTES_MAX: usize = 14;
const VALUE_BYTES_MAX: usize = 256;

/// Whether the lines of a request together are a valid list.
pub(super) fn is_valid(headers: &Headers<'_>) -> bool {
    let members = headers.all_known(KnownHeader::TraceState).flat_map(|line| line.split(|byte| *byte == b','));
    let members = members.map(|member| member.trim_ascii()).filter(|member| !member.is_empty());
    let mut count = 0;
    for member in members {
        count += 1;
        if count > MEMBERS_MAX || !is_member(member) {
            return false;
        }
    }
    true
}

fn is_member(member: &[u8]) -> bool {
    let Some((key, value)) = member.iter().position(|byte| *byte == b'=').and_then(|at| member.split_at_checked(at)) else {
        return false;
    };
    let value = value.get(1..).unwrap_or_default();
    let is_text = |byte: &u8| (0x20..=0x7e).contains(byte) && *byte != b'=';
    is_key(key) && (1..=VALUE_BYTES_MAX).contains(&value.len()) && value.iter().all(is_text)
}

fn is_key(key: &[u8]) -> bool {
    match key.iter().position(|byte| *byte == b'@').and_then(|at| key.split_at_checked(at)) {
        None => is_name(key, KEY_BYTES_MAX),
        Some((tenant, system)) => {
            is_name(tenant, TENANT_BYTES_MAX) && is_name(system.get(1..).unwrap_or_default(), SYSTEM_BYTES_MAX)
        }
    }
}

fn is_name(name: &[u8], bytes_max: usize) -> bool {
    let is_first = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_other = |byte: &u8| is_first(byte) || matches!(byte, b'_' | b'-' | b'*' | b'/');
    name.first().is_some_and(is_first) && name.len() <= bytes_max && name.iter().all(is_other)
}

#[cfg(test)]
mod tests;
