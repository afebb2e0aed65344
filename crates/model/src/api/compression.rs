//! `tollgate.compression`: responses are compressed for clients that accept it.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::token::is_token;

/// `tollgate.compression`. A response is compressed if its client accepts one of the encodings, its type is one of `types`, and nothing of it
/// says otherwise: an encoding that it has already, a part of a body, `Cache-Control: no-transform`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CompressionRules {
    /// What clients may get; of those that a client likes best, the first in the list. Empty means `br`, then `gzip`.
    pub encodings: Vec<CompressionEncoding>,
    /// Media types, where `*` stands for any characters: `text/*`, `*+json`. Empty means text, JSON, XML, JavaScript, SVG, YAML,
    /// WebAssembly and the fonts that are not compressed themselves.
    pub types: Vec<String>,
    /// Shorter bodies are not compressed, if their length is known: 0 means 1024, 1 all.
    pub bytes_min: u64,
    /// Statuses of responses that are compressed; empty means all.
    pub statuses: Vec<u16>,
    /// How hard gzip works, from 1 to 6; 0 means 2. More would hold up the requests of others.
    pub gzip_level: u8,
    /// How hard brotli works, from 1 to 4; 0 means 3. More would hold up the requests of others.
    pub brotli_level: u8,
    /// Event streams (`text/event-stream`) are compressed too, each event by itself as it comes.
    pub event_streams: bool,
}

/// An encoding that clients may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompressionEncoding {
    /// Brotli.
    Br,
    /// gzip.
    Gzip,
}

/// What compresses well. Archives, images, audio and video are compressed already.
const TYPES: [&str; 15] = [
    "text/*",
    "*+json",
    "*+xml",
    "application/json",
    "application/x-ndjson",
    "application/jsonl",
    "application/xml",
    "application/javascript",
    "application/x-javascript",
    "application/yaml",
    "application/x-yaml",
    "application/wasm",
    "application/vnd.ms-fontobject",
    "font/ttf",
    "font/otf",
];

impl CompressionRules {
    /// The highest levels: above, a data thread is busy for more than a moment with bodies that are meant to do that.
    pub const GZIP_LEVEL_MAX: u8 = 6;
    /// The same for brotli.
    pub const BROTLI_LEVEL_MAX: u8 = 4;

    /// The encodings in their order.
    pub fn encodings(&self) -> &[CompressionEncoding] {
        if self.encodings.is_empty() { &[CompressionEncoding::Br, CompressionEncoding::Gzip] } else { &self.encodings }
    }

    /// The types.
    pub fn types(&self) -> Vec<&str> {
        if self.types.is_empty() { TYPES.to_vec() } else { self.types.iter().map(String::as_str).collect() }
    }

    /// The length of the shortest body that is compressed.
    pub fn bytes_min(&self) -> u64 {
        if self.bytes_min == 0 { 1024 } else { self.bytes_min }
    }

    /// How hard an encoding works.
    pub fn level(&self, encoding: CompressionEncoding) -> u8 {
        match (encoding, self.gzip_level, self.brotli_level) {
            (CompressionEncoding::Gzip, 0, _) => 2,
            (CompressionEncoding::Br, _, 0) => 3,
            (CompressionEncoding::Gzip, level, _) => level.min(Self::GZIP_LEVEL_MAX),
            (CompressionEncoding::Br, _, level) => level.min(Self::BROTLI_LEVEL_MAX),
        }
    }

    /// Whether a text names media types.
    pub fn is_type(pattern: &str) -> bool {
        match pattern.split_once('/') {
            Some((main, sub)) => is_token(main) && is_token(sub),
            None => pattern.starts_with('*') && is_token(pattern),
        }
    }

    pub(super) fn check(&self, findings: &mut Findings) {
        let place = JsonPath::of("tollgate.compression");
        for (field, level, max) in
            [("gzip_level", self.gzip_level, Self::GZIP_LEVEL_MAX), ("brotli_level", self.brotli_level, Self::BROTLI_LEVEL_MAX)]
        {
            if level > max {
                findings.error(&place.key(field), format!("must be from 1 to {max}: more would hold up the requests of others"));
            }
        }
        for (index, _) in self.statuses.iter().enumerate().filter(|(_, status)| !(200..=599).contains(*status)) {
            findings.error(&place.key("statuses").index(index), "must be a status from 200 to 599");
        }
        for (index, encoding) in self.encodings.iter().enumerate() {
            if self.encodings.iter().take(index).any(|earlier| earlier == encoding) {
                findings.error(&place.key("encodings").index(index), "is there twice");
            }
        }
        for (index, pattern) in self.types.iter().enumerate() {
            if !Self::is_type(pattern) {
                findings.error(&place.key("types").index(index), "must be a media type such as application/json, text/* or *+json");
            }
        }
    }
}
