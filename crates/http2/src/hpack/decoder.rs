//! Decodes header blocks (RFC 7541 §3, §6). A block may arrive in pieces: complete fields are consumed, and the rest of a piece is
//! passed again with the next one.

use super::TABLE_BYTES_MAX;
use super::dynamic_table::DynamicTable;
use super::huffman::{self, NotHuffman};
use super::integer::{TooLarge, read_integer};
use super::static_table::{STATIC_ENTRIES, static_entry};
use crate::field_list::FieldList;

/// Decoding error. The connection cannot continue: all later blocks would be unreadable too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HpackError(pub &'static str);

impl From<TooLarge> for HpackError {
    fn from(_: TooLarge) -> Self {
        HpackError("an integer of a header block is too large")
    }
}

impl From<NotHuffman> for HpackError {
    fn from(_: NotHuffman) -> Self {
        HpackError("a string of a header block is no Huffman code")
    }
}

/// The decoder of one connection.
pub struct HpackDecoder {
    table: DynamicTable,
    /// Whether the block's first field has been decoded.
    has_begun: bool,
}

/// Encoding of a literal field.
struct LiteralField {
    /// Index of its name; 0 if it has a literal name.
    name: usize,
    /// Position after the index.
    start: usize,
    /// Whether it is added to the dynamic table.
    indexed: bool,
}

impl HpackDecoder {
    #[allow(clippy::new_without_default)] // it would say nothing
    /// A decoder with an empty table.
    pub fn new() -> Self {
        HpackDecoder { table: DynamicTable::new(), has_begun: false }
    }

    /// Starts a new block.
    pub fn begin(&mut self) {
        self.has_begun = false;
    }

    /// Appends the fields at the start of `input`; returns the bytes consumed. The rest is the start of a field.
    pub fn decode(&mut self, input: &[u8], fields: &mut FieldList) -> Result<usize, HpackError> {
        let mut used = 0;
        while let Some(rest) = input.get(used..)
            && let Some(first) = rest.first()
        {
            let read = match first {
                0x80.. => self.indexed(rest, fields)?,
                0x40.. => self.literal(rest, 6, true, fields)?,
                0x20.. => self.resize(rest)?,
                // Never indexed, or not indexed now: no difference here.
                _ => self.literal(rest, 4, false, fields)?,
            };
            match read {
                Some(read) => used += read,
                None => break,
            }
        }
        Ok(used)
    }

    /// Decodes a field from a table (§6.1).
    #[inline]
    fn indexed(&mut self, input: &[u8], fields: &mut FieldList) -> Result<Option<usize>, HpackError> {
        self.has_begun = true;
        let Some((index, used)) = read_integer(input, 7)? else { return Ok(None) };
        let (name, value) = entry(&self.table, index)?;
        fields.push(name, value);
        Ok(Some(used))
    }

    /// Decodes a field with a literal value, and a name that is literal or from a table (§6.2).
    fn literal(&mut self, input: &[u8], bits: u32, indexed: bool, fields: &mut FieldList) -> Result<Option<usize>, HpackError> {
        self.has_begun = true;
        let Some((name, start)) = read_integer(input, bits)? else { return Ok(None) };
        let field = fields.begin();
        let read = self.finish(input, LiteralField { name, start, indexed }, field, fields);
        if !matches!(read, Ok(Some(_))) {
            fields.undo(field);
        }
        read
    }

    fn finish(
        &mut self,
        input: &[u8],
        literal: LiteralField,
        field: usize,
        fields: &mut FieldList,
    ) -> Result<Option<usize>, HpackError> {
        let mut used = literal.start;
        if literal.name == 0 {
            match string(input, used)? {
                Some(text) => used = text.append(fields.bytes())?,
                None => return Ok(None),
            }
        } else {
            fields.bytes().extend_from_slice(entry(&self.table, literal.name)?.0);
        }
        fields.end_name(field);
        match string(input, used)? {
            Some(text) => used = text.append(fields.bytes())?,
            None => return Ok(None),
        }
        if literal.indexed {
            let (name, value) = fields.last(field);
            self.table.add(name, value);
        }
        fields.end(field);
        Ok(Some(used))
    }

    /// Handles a size update of the table (§6.3). The peer may send it before a block's first field (§4.2), up to the permitted
    /// size.
    fn resize(&mut self, input: &[u8]) -> Result<Option<usize>, HpackError> {
        let Some((size, used)) = read_integer(input, 5)? else { return Ok(None) };
        if self.has_begun {
            return Err(HpackError("a table changes its size amid a header block"));
        }
        if size > TABLE_BYTES_MAX {
            return Err(HpackError("a table is larger than was allowed"));
        }
        self.table.resize(size);
        Ok(Some(used))
    }
}

/// The entry with this index (§2.3.3).
#[inline]
fn entry(table: &DynamicTable, index: usize) -> Result<(&[u8], &[u8]), HpackError> {
    let found = if index <= STATIC_ENTRIES { static_entry(index) } else { table.get(index - STATIC_ENTRIES - 1) };
    found.ok_or(HpackError("a header block names an entry that no table has"))
}

/// A string literal in a block (§5.2).
struct CodedString<'a> {
    bytes: &'a [u8],
    is_huffman: bool,
    /// Position after the string.
    end: usize,
}

/// The string at `at`; `None` if it is incomplete.
#[inline]
fn string(input: &[u8], at: usize) -> Result<Option<CodedString<'_>>, HpackError> {
    let rest = input.get(at..).unwrap_or_default();
    let Some((length, start)) = read_integer(rest, 7)? else { return Ok(None) };
    let Some(bytes) = rest.get(start..start + length) else { return Ok(None) };
    let is_huffman = rest.first().is_some_and(|first| first & 0x80 != 0);
    Ok(Some(CodedString { bytes, is_huffman, end: at + start + length }))
}

impl CodedString<'_> {
    /// Appends the decoded string; returns the position after it.
    #[inline]
    fn append(&self, out: &mut Vec<u8>) -> Result<usize, HpackError> {
        if self.is_huffman {
            huffman::decode(self.bytes, out)?;
        } else {
            out.extend_from_slice(self.bytes);
        }
        Ok(self.end)
    }
}
