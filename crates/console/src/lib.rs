//! The pages of the console and of the developer portal: the files that a browser loads from `/tyk/console/` and from the portal, the answers with them,
//! and what protects those who use them. It listens nowhere and knows nobody; the control API and the portal do.

mod files;
mod protection;

pub use files::{file_answer, no_file, page_answer};
pub use protection::{cookies, is_of_own_page, protect};

use flate2::read::GzDecoder;
use std::io::Read;

/// All files of the console, by name.
static ASSETS: &[(&str, Asset)] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));
/// All files of the portal, by name.
static PORTAL_ASSETS: &[(&str, Asset)] = include!(concat!(env!("OUT_DIR"), "/portal.rs"));

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
    find(ASSETS, path)
}

/// The file at a path of the portal; the page if the path is empty.
pub fn portal_asset(path: &str) -> Option<&'static Asset> {
    find(PORTAL_ASSETS, path)
}

fn find(assets: &'static [(&str, Asset)], path: &str) -> Option<&'static Asset> {
    let name = if path.is_empty() { PAGE } else { path };
    assets.iter().find(|(known, _)| *known == name).map(|(_, asset)| asset)
}

#[cfg(test)]
mod tests;
