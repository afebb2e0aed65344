//! Lines of the combined log format of nginx and Apache.

use crate::ask::document::put;
use serde_json::{Value, json};

/// Months as such logs name them.
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The request of `1.2.3.4 - user [10/Oct/2026:13:55:36 +0000] "GET /path HTTP/1.1" 200 512 "referer" "agent"`.
pub(super) fn request(line: &str) -> Result<Value, String> {
    let wrong = || "is neither JSON nor a line of an access log".to_owned();
    let (address, rest) = line.split_once(' ').ok_or_else(wrong)?;
    let (_, rest) = rest.split_once('[').ok_or_else(wrong)?;
    let (time, rest) = rest.split_once("] \"").ok_or_else(wrong)?;
    let (first_line, rest) = rest.split_at(end_of_quotes(rest));
    let mut words = first_line.split(' ');
    let (Some(method), Some(path), Some(_)) = (words.next(), words.next(), words.next()) else {
        return Err(format!("{first_line:?} is no request"));
    };
    let status: u64 =
        rest.trim_start_matches('"').split_whitespace().next().and_then(|digits| digits.parse().ok()).ok_or_else(wrong)?;
    let mut made = json!({"time_ms": unix_ms(time).ok_or_else(wrong)?, "method": method, "path": path, "status": status});
    if address.parse::<std::net::IpAddr>().is_ok() {
        put(&mut made, "client_ip", address);
    }
    // The last quoted text is the agent.
    if let Some(agent) = rest
        .trim_end()
        .strip_suffix('"')
        .and_then(|rest| rest.rsplit_once('"'))
        .map(|(_, agent)| agent)
        .filter(|agent| *agent != "-" && !agent.is_empty())
    {
        put(&mut made, "headers", json!([["User-Agent", agent]]));
    }
    Ok(made)
}

/// Unix time in milliseconds of `10/Oct/2026:13:55:36 +0200`.
fn unix_ms(text: &str) -> Option<u64> {
    let (date_time, zone) = text.split_once(' ')?;
    let mut parts = date_time.splitn(4, ['/', ':']);
    let (day, month, year, time) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let month = MONTHS.iter().position(|known| *known == month)? + 1;
    let (hours, minutes) = zone.split_at_checked(3)?;
    let written = format!("{year}-{month:02}-{day}T{time}{hours}:{minutes}");
    u64::try_from(tollgate_model::calendar::parse(&written)?).ok().map(|unix_s| unix_s * 1_000)
}

/// Where a quoted text ends.
pub(super) fn end_of_quotes(text: &str) -> usize {
    let mut is_escaped = false;
    for (place, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return place,
            _ => {}
        }
    }
    text.len()
}
