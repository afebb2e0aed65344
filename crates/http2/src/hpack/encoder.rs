//! Encodes header blocks (RFC 7541 §6) with the static table and plain strings, as HAProxy does. A dynamic table per connection, a
//! search per field and Huffman coding would cost more time and memory than the few hundred bytes per message that they save.

use super::integer::write_integer;
use super::static_table::static_name;

/// Size update to 0: the encoder uses no dynamic table. Required if the decoder reduces the table size (RFC 7541 §4.2).
pub(crate) const TABLE_SIZE_ZERO: u8 = 0x20;

const INDEXED: u8 = 0x80;
const NOT_INDEXED: u8 = 0x00;
const NEVER_INDEXED: u8 = 0x10;
/// Maximum length of a name that is lower-cased on the stack; hardly any is longer.
const NAME_BYTES: usize = 48;

/// A header block being written. It can be reused without allocating.
#[derive(Default)]
pub struct HeaderBlock {
    bytes: Vec<u8>,
}

impl HeaderBlock {
    /// A block that reuses the memory of `buffer`, whose content is discarded.
    pub fn new(mut buffer: Vec<u8>) -> Self {
        buffer.clear();
        HeaderBlock { bytes: buffer }
    }

    /// The encoded block.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The buffer, for reuse.
    pub fn into_buffer(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends `:status`, which must come first.
    pub fn status(&mut self, status: u16) {
        match status {
            200 => self.bytes.push(INDEXED | 8),
            204 => self.bytes.push(INDEXED | 9),
            206 => self.bytes.push(INDEXED | 10),
            304 => self.bytes.push(INDEXED | 11),
            400 => self.bytes.push(INDEXED | 12),
            404 => self.bytes.push(INDEXED | 13),
            500 => self.bytes.push(INDEXED | 14),
            _ => {
                let digit = |place: u16| b'0' + (status / place % 10) as u8;
                self.literal(8, NOT_INDEXED, &[digit(100), digit(10), digit(1)]);
            }
        }
    }

    /// Appends the pseudo-header fields of a request, which must come first.
    pub fn request(&mut self, method: &[u8], scheme: &[u8], authority: &[u8], path: &[u8]) {
        match method {
            b"GET" => self.bytes.push(INDEXED | 2),
            b"POST" => self.bytes.push(INDEXED | 3),
            _ => self.literal(2, NOT_INDEXED, method),
        }
        match scheme {
            b"http" => self.bytes.push(INDEXED | 6),
            b"https" => self.bytes.push(INDEXED | 7),
            _ => self.literal(6, NOT_INDEXED, scheme),
        }
        if !authority.is_empty() {
            self.literal(1, NOT_INDEXED, authority);
        }
        match path {
            b"/" => self.bytes.push(INDEXED | 4),
            _ => self.literal(4, NOT_INDEXED, path),
        }
    }

    /// Appends a field; its name is written in lower case (RFC 9113 §8.2.1).
    pub fn field(&mut self, name: &[u8], value: &[u8]) {
        let mut room = [0; NAME_BYTES];
        match room.get_mut(..name.len()) {
            Some(lower) => {
                lower.copy_from_slice(name);
                lower.make_ascii_lowercase();
                self.lower_case(lower, value);
            }
            None => self.lower_case(&name.to_ascii_lowercase(), value),
        }
    }

    fn lower_case(&mut self, name: &[u8], value: &[u8]) {
        let pattern = if is_secret(name) { NEVER_INDEXED } else { NOT_INDEXED };
        match static_name(name) {
            Some(index) => self.literal(index, pattern, value),
            None => {
                self.bytes.push(pattern);
                self.string(name);
                self.string(value);
            }
        }
    }

    fn literal(&mut self, name: usize, pattern: u8, value: &[u8]) {
        write_integer(name, 4, pattern, &mut self.bytes);
        self.string(value);
    }

    fn string(&mut self, text: &[u8]) {
        write_integer(text.len(), 7, 0, &mut self.bytes);
        self.bytes.extend_from_slice(text);
    }
}

/// Whether a field is sensitive: no intermediary should add it to a table either (RFC 7541 §7.1.3).
fn is_secret(name: &[u8]) -> bool {
    matches!(name, b"authorization" | b"proxy-authorization" | b"cookie" | b"set-cookie")
}
