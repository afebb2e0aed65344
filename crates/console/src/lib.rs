//! The pages of the console: looks up the files that a browser loads from `/tyk/console/`. It serves nothing itself and knows no request;
//! the control API does that, with the headers that protect the pages.

use flate2::read::GzDecoder;
use std::io::Read;

/// All files, by name.
static ASSETS: &[(&str, Asset)] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The page; all others are what it loads.
const PAGE: &str = "index.html";

/// One file.
#[derive(Debug)]
pub struct Asset {
    /// The value of `Content-Type`.
    pub content_type: &'static str,
    /// The first 16 hexadecimal digits of the SHA-256 of the file, which changes with it. The page names it in `?v=`.
    pub hash: &'static str,
    /// Length before compression.
    pub plain_bytes: usize,
    /// The file, compressed.
    pub gzip: &'static [u8],
}

impl Asset {
    /// The file as it was before compression, for clients that do not accept gzip. Browsers do, so it is not kept twice.
    pub fn plain(&self) -> Vec<u8> {
        let mut plain = Vec::with_capacity(self.plain_bytes);
        // Reading memory that this build compressed cannot fail.
        let _ = GzDecoder::new(self.gzip).read_to_end(&mut plain);
        plain
    }
}

/// The file at a path below `/tyk/console/`; the page if the path is empty. Views of the page are in the address's fragment, which
/// servers never see, so no other path stands for the page.
pub fn asset(path: &str) -> Option<&'static Asset> {
    let name = if path.is_empty() { PAGE } else { path };
    ASSETS.iter().find(|(known, _)| *known == name).map(|(_, asset)| asset)
}

#[cfg(test)]
mod tests;
