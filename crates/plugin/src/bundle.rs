//! Bundles of plugins in Tyk's format: a ZIP archive with a manifest, a checksum and perhaps a signature. Reads them within bounds, whatever
//! their bytes are, and makes them. No I/O.

mod archive;
mod content;
mod signature;

pub use archive::ArchivedFile;
pub use content::{Bundle, Manifest};
pub use signature::{SigningKey, VerifyingKey};
