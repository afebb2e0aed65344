//! `encode`: which responses of a site are compressed.

use super::lines::{CaddyLine, bytes};
use crate::plan::{PlannedCompression, PlannedRoute};
use crate::report::ImportReport;
use tollgate_model::api::CompressionRules;

/// The shortest body that Caddy compresses by default.
const BYTES_MIN: u64 = 512;
/// How hard its gzip works by default.
const GZIP_LEVEL: u8 = 5;
/// What it compresses by default, of what APIs send.
const TYPES: [&str; 14] = [
    "text/*",
    "*+json",
    "*+xml",
    "application/json*",
    "application/javascript*",
    "application/x-javascript*",
    "application/xml*",
    "application/wasm*",
    "application/font*",
    "application/vnd.ms-fontobject*",
    "font/ttf*",
    "font/otf*",
    "image/vnd.microsoft.icon*",
    "image/x-icon*",
];

pub(super) fn read(line: &CaddyLine, route: &mut PlannedRoute, report: &mut ImportReport) {
    let mut planned = PlannedCompression { bytes_min: BYTES_MIN, gzip_level: GZIP_LEVEL, ..PlannedCompression::default() };
    let words = line.from(if line.word(1) == "*" { 2 } else { 1 });
    let mut others: Vec<&str> = Vec::new();
    words.iter().for_each(|format| add(format, &mut planned, &mut others));
    for inner in line.inner() {
        let title = format!("encode.{}", inner.word(0));
        let is_carried = match inner.word(0) {
            format @ ("gzip" | "br" | "zstd") => {
                add(format, &mut planned, &mut others);
                level(inner, &mut planned)
            }
            "minimum_length" => bytes(inner.word(1)).map(|least| planned.bytes_min = least.max(1)).is_some(),
            "match" => matched(inner, &mut planned),
            _ => false,
        };
        match is_carried {
            true => report.carried(&inner.place, title),
            false => report.approximated(&inner.place, title, "encodings, levels, lengths, types and statuses decide"),
        }
    }
    if planned.types.is_empty() {
        planned.add_types(TYPES);
    }
    if planned.encodings.is_empty() && others.is_empty() {
        // Without a word, Caddy has zstd and gzip.
        others.push("zstd");
    }
    if planned.encodings.is_empty() || (words.is_empty() && line.inner().iter().all(|inner| inner.word(0).contains('_'))) {
        add("gzip", &mut planned, &mut others);
    }
    match others.as_slice() {
        [] => report.carried(&line.place, "encode"),
        others => report.approximated(&line.place, "encode", format!("{}: encodings are gzip and brotli", others.join(", "))),
    }
    route.compression = Some(planned);
}

fn add<'w>(format: &'w str, planned: &mut PlannedCompression, others: &mut Vec<&'w str>) {
    let own = [("gzip", "gzip"), ("br", "br")].iter().find(|(name, _)| *name == format).map(|(_, own)| *own);
    match own {
        Some(own) if !planned.encodings.contains(&own) => planned.encodings.push(own),
        Some(_) => {}
        None => others.push(format),
    }
}

/// The level of an encoding; false if it is another one.
fn level(line: &CaddyLine, planned: &mut PlannedCompression) -> bool {
    let (place, max) = match line.word(0) {
        "gzip" => (&mut planned.gzip_level, CompressionRules::GZIP_LEVEL_MAX),
        "br" => (&mut planned.brotli_level, CompressionRules::BROTLI_LEVEL_MAX),
        _ => return line.words.len() == 1,
    };
    match line.words.get(1).map(|level| level.parse::<u8>()) {
        None => true,
        Some(Ok(level)) => {
            *place = level.clamp(1, max);
            *place == level
        }
        Some(Err(_)) => false,
    }
}

/// Types and statuses of the responses that are compressed; false if it has something else.
fn matched(line: &CaddyLine, planned: &mut PlannedCompression) -> bool {
    let mut is_whole = true;
    let in_line = line.from(1);
    let lines = line.inner().iter().map(|inner| inner.words.as_slice()).chain((!in_line.is_empty()).then_some(in_line));
    for words in lines {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["header", name, value] if name.eq_ignore_ascii_case("content-type") => {
                is_whole &= planned.add_types([*value]).is_empty();
            }
            ["status", statuses @ ..] => {
                let known: Vec<u16> = statuses.iter().filter_map(|status| status.parse().ok()).collect();
                is_whole &= known.len() == statuses.len();
                planned.statuses.extend(known);
            }
            _ => is_whole = false,
        }
    }
    is_whole
}
