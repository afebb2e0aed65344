//! The plugins `gzip` and `brotli`.

use super::ApisixReader;
use crate::node::Member;
use crate::plan::{PlannedCompression, PlannedRoute};
use tollgate_model::api::CompressionRules;

/// What both have by default.
const TYPES: [&str; 1] = ["text/html"];
const BYTES_MIN: u64 = 20;
const GZIP_LEVEL: u8 = 1;
const BROTLI_LEVEL: u8 = 6;

/// What becomes of a member.
enum Compressed {
    Carried,
    BuiltIn(&'static str),
    Approximated(String),
}

pub(super) fn compress(plugin: &Member, route: &mut PlannedRoute, reader: &mut ApisixReader<'_>) {
    let config = &plugin.node;
    let is_gzip = plugin.key == "gzip";
    let title = format!("plugins.{}", plugin.key);
    let (encoding, level_max, usual) = match is_gzip {
        true => ("gzip", CompressionRules::GZIP_LEVEL_MAX, GZIP_LEVEL),
        false => ("br", CompressionRules::BROTLI_LEVEL_MAX, BROTLI_LEVEL),
    };
    let planned =
        route.compression.get_or_insert_with(|| PlannedCompression { bytes_min: u64::MAX, ..PlannedCompression::default() });
    // With both, brotli comes first.
    let at = if is_gzip { planned.encodings.len() } else { 0 };
    planned.encodings.insert(at, encoding);
    planned.bytes_min = planned.bytes_min.min(config.get("min_length").whole().unwrap_or(BYTES_MIN).max(1));
    let level = config.get("comp_level").up_to(u32::from(u8::MAX)).and_then(|level| u8::try_from(level).ok()).unwrap_or(usual);
    let place = if is_gzip { &mut planned.gzip_level } else { &mut planned.brotli_level };
    *place = level.clamp(1, level_max);
    let kept_level = *place;
    let types = config.get("types").texts();
    let types: Vec<&str> = types.iter().map(String::as_str).collect();
    let wrong = planned.add_types(if types.is_empty() { TYPES.to_vec() } else { types }).join(", ");
    reader.report.carried(&reader.place(plugin.line), &*title);
    for member in config.members().iter().filter(|member| member.key != "_meta") {
        let became = match member.key.as_str() {
            "types" if wrong.is_empty() => Compressed::Carried,
            "types" => Compressed::Approximated(format!("{wrong}: no type of a response")),
            "min_length" => Compressed::Carried,
            "comp_level" if kept_level == level => Compressed::Carried,
            "comp_level" => Compressed::Approximated(format!("levels are from 1 to {level_max}")),
            "vary" if member.node.is_true() => Compressed::BuiltIn("responses that may be compressed say so"),
            "vary" => Compressed::Approximated("responses that may be compressed say so, for caches".to_owned()),
            "http_version" if member.node.text() == "1.1" => Compressed::BuiltIn("clients of HTTP/1.0 get bodies as they are"),
            "http_version" => Compressed::Approximated("clients of HTTP/1.0 get bodies as they are".to_owned()),
            "buffers" | "lgwin" | "lgblock" => {
                member.node.settle();
                Compressed::BuiltIn("the gateway sizes its own buffers")
            }
            "mode" => {
                member.node.settle();
                Compressed::Approximated("there is one mode for all types".to_owned())
            }
            _ => {
                let place = reader.place(member.line);
                reader.report.not_carried(&place, format!("{title}.{}", member.key), "has no counterpart");
                continue;
            }
        };
        let (place, field) = (reader.place(member.line), format!("{title}.{}", member.key));
        match became {
            Compressed::Carried => reader.report.carried(&place, field),
            Compressed::BuiltIn(how) => reader.report.built_in(&place, field, how),
            Compressed::Approximated(how) => reader.report.approximated(&place, field, how),
        }
    }
}
