//! `gzip` and `brotli` with their settings, as nginx inherits them.

use super::directive::Directive;
use super::value::bytes;
use crate::plan::PlannedCompression;
use crate::report::ImportReport;
use tollgate_model::api::CompressionRules;

/// Statuses that nginx compresses.
const STATUSES: [u16; 3] = [200, 403, 404];
/// The type that it always compresses.
const HTML: &str = "text/html";
/// The shortest body that it compresses by default.
const BYTES_MIN: u64 = 20;
/// How hard its modules work by default.
const GZIP_LEVEL: u8 = 1;
const BROTLI_LEVEL: u8 = 6;

/// What holds at a level.
#[derive(Clone, Debug, Default)]
pub(super) struct CompressionScope {
    gzip: EncodingScope,
    brotli: EncodingScope,
}

/// What holds for one encoding.
#[derive(Clone, Debug, Default)]
struct EncodingScope {
    is_on: bool,
    types: Option<Vec<String>>,
    bytes_min: Option<u64>,
    level: Option<u8>,
}

impl CompressionScope {
    /// Takes a directive. False if it is not about compression, or has no counterpart.
    pub(super) fn take(&mut self, directive: &Directive, compresses: bool, report: &mut ImportReport) -> bool {
        let (place, name, first) = (&directive.place, directive.name.as_str(), directive.word(0));
        let Some((encoding, setting)) =
            name.split_once('_').or(Some((name, ""))).filter(|(name, _)| matches!(*name, "gzip" | "brotli"))
        else {
            return false;
        };
        let is_gzip = encoding == "gzip";
        let scope = if is_gzip { &mut self.gzip } else { &mut self.brotli };
        let level_max = if is_gzip { CompressionRules::GZIP_LEVEL_MAX } else { CompressionRules::BROTLI_LEVEL_MAX };
        match setting {
            "static" => return false,
            "" if !compresses => report.built_in(place, name, "nothing is compressed unless a definition says so"),
            _ if !compresses => report.built_in(place, name, "nothing is compressed here"),
            "" => {
                scope.is_on = first == "on";
                report.carried(place, name);
            }
            "types" => {
                let wrong = PlannedCompression::default().add_types(directive.words.iter().map(String::as_str)).join(", ");
                scope.types = Some(directive.words.clone());
                match wrong.is_empty() {
                    true => report.carried(place, name),
                    false => report.approximated(place, name, format!("{wrong}: no type of a response")),
                }
            }
            "min_length" => match bytes(first) {
                Some(least) => {
                    scope.bytes_min = Some(least);
                    report.carried(place, name);
                }
                None => report.not_carried(place, name, "is no size"),
            },
            "comp_level" => match first.parse::<u8>().ok().filter(|level| *level <= 11) {
                Some(level) => {
                    scope.level = Some(level.clamp(1, level_max));
                    match (1..=level_max).contains(&level) {
                        true => report.carried(place, name),
                        false => report.approximated(place, name, format!("levels are from 1 to {level_max}")),
                    }
                }
                None => report.not_carried(place, name, "is no level"),
            },
            "buffers" | "window" => report.built_in(place, name, "the gateway sizes its own buffers"),
            "vary" if first == "on" => report.built_in(place, name, "responses that may be compressed say so"),
            "vary" => report.approximated(place, name, "responses that may be compressed say so, for caches"),
            "http_version" if first == "1.1" => report.built_in(place, name, "clients of HTTP/1.0 get bodies as they are"),
            "http_version" => report.approximated(place, name, "clients of HTTP/1.0 get bodies as they are"),
            "proxied" if first == "any" => report.built_in(place, name, "requests of proxies are compressed as all others"),
            "proxied" => report.approximated(place, name, "requests of proxies are compressed as all others"),
            "disable" => report.approximated(place, name, "clients are told apart by what they accept, not by their names"),
            _ => return false,
        }
        true
    }

    /// What a route compresses.
    pub(super) fn planned(&self) -> Option<PlannedCompression> {
        let (gzip, brotli) = (&self.gzip, &self.brotli);
        // With both, nginx asks its module for brotli first.
        let encodings: Vec<_> = [("br", brotli), ("gzip", gzip)].into_iter().filter(|(_, scope)| scope.is_on).collect();
        let shortest = encodings.iter().map(|(_, scope)| scope.bytes_min.unwrap_or(BYTES_MIN)).min()?;
        let mut planned = PlannedCompression {
            encodings: encodings.iter().map(|(name, _)| *name).collect(),
            bytes_min: shortest.max(1),
            statuses: STATUSES.to_vec(),
            gzip_level: gzip.level.filter(|_| gzip.is_on).unwrap_or(if gzip.is_on { GZIP_LEVEL } else { 0 }),
            brotli_level: if brotli.is_on {
                brotli.level.unwrap_or(BROTLI_LEVEL).min(CompressionRules::BROTLI_LEVEL_MAX)
            } else {
                0
            },
            ..PlannedCompression::default()
        };
        planned.add_types([HTML]);
        for (_, scope) in &encodings {
            planned.add_types(scope.types.iter().flatten().map(String::as_str));
        }
        Some(planned)
    }
}

/// Whether anything is compressed.
pub(super) fn is_used(directives: &[Directive]) -> bool {
    directives.iter().any(|directive| {
        (matches!(directive.name.as_str(), "gzip" | "brotli") && directive.word(0) == "on") || is_used(directive.inner())
    })
}
