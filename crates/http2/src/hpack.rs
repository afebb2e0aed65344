//! Header compression (RFC 7541).

mod decoder;
mod dynamic_table;
mod encoder;
mod huffman;
mod integer;
mod static_table;

pub use decoder::HpackDecoder;
pub(crate) use decoder::HpackError;
pub use encoder::HeaderBlock;
pub(crate) use encoder::TABLE_SIZE_ZERO;

/// Maximum size of a dynamic table by default (RFC 9113 §6.5.2). Our decoder keeps it: it bounds the memory, and is enough for the
/// fields that a client repeats.
pub(crate) const TABLE_BYTES_MAX: usize = 4096;

#[cfg(test)]
mod tests;
