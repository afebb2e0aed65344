//! The named properties of a schema, found by their names: their schemas, which of them must be there, and which only one side may send.

use std::collections::HashMap;

/// Which message a value is part of: properties may be allowed in only one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaSide {
    /// A request: `readOnly` properties are not allowed.
    Request,
    /// A response: `writeOnly` properties are not allowed.
    Response,
    /// An example of either: all properties are allowed, and those of one side may be missing.
    Example,
}

/// The number of a compiled schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SchemaId(pub(crate) u32);

/// The name of a member that must be there.
#[derive(Debug, Clone)]
pub(crate) struct RequiredName {
    pub(crate) name: String,
    /// Only this side's messages may have it, so that it is not missing in the other's.
    pub(crate) read_only: bool,
    pub(crate) write_only: bool,
}

/// Up to so many names are compared one by one; above, a hash finds them.
const COMPARED_MAX: usize = 8;

/// Maximum required properties of a table: one bit each. A schema with more is checked without the table's bits.
pub(crate) const REQUIRED_MAX: usize = 64;

/// The properties of a schema, in the order in which it names them.
#[derive(Debug, Default)]
pub(crate) struct PropertyTable {
    list: Vec<NamedProperty>,
    /// Index of each property, if there are many.
    places: HashMap<Box<str>, usize>,
    /// Bits of the properties that must be in a request, and of those that must be in a response.
    required: [u64; 2],
}

/// One property.
#[derive(Debug)]
pub(crate) struct NamedProperty {
    name: Box<str>,
    /// `None` for one that is only required.
    pub(crate) schema: Option<SchemaId>,
    /// Its bit if it is required, else 0.
    pub(crate) bit: u64,
    pub(crate) read_only: bool,
    pub(crate) write_only: bool,
}

impl PropertyTable {
    pub(crate) fn new<'n>(named: impl IntoIterator<Item = (&'n String, SchemaId)>) -> Self {
        let mut table = PropertyTable::default();
        named.into_iter().for_each(|(name, schema)| table.push(name, Some(schema)));
        table
    }

    fn push(&mut self, name: &str, schema: Option<SchemaId>) {
        let index = self.list.len();
        self.list.push(NamedProperty { name: name.into(), schema, bit: 0, read_only: false, write_only: false });
        if index == COMPARED_MAX {
            self.places = self.list.iter().enumerate().map(|(index, property)| (property.name.clone(), index)).collect();
        } else if index > COMPARED_MAX {
            self.places.insert(name.into(), index);
        }
    }

    pub(crate) fn schemas(&self) -> impl Iterator<Item = SchemaId> + use<'_> {
        self.list.iter().filter_map(|property| property.schema)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The schema of a property that has one.
    pub(crate) fn get(&self, name: &str) -> Option<SchemaId> {
        self.find(name, 0)?.1.schema
    }

    /// A property and its index. Values often have the order of their schema, so that it is the expected one.
    pub(crate) fn find(&self, name: &str, expected: usize) -> Option<(usize, &NamedProperty)> {
        if let Some(property) = self.list.get(expected).filter(|property| *property.name == *name) {
            return Some((expected, property));
        }
        let index = match self.places.is_empty() {
            true => self.list.iter().position(|property| *property.name == *name)?,
            false => *self.places.get(name)?,
        };
        Some((index, self.list.get(index)?))
    }

    /// The bits of the properties that must be in a message.
    pub(crate) fn required(&self, side: SchemaSide) -> u64 {
        let [request, response] = self.required;
        match side {
            SchemaSide::Request => request,
            SchemaSide::Response => response,
            SchemaSide::Example => request & response,
        }
    }

    /// Notes which properties only one side may send, and which are required.
    pub(crate) fn complete(&mut self, sides: impl Fn(SchemaId) -> (bool, bool), required: &[RequiredName]) {
        for property in &mut self.list {
            (property.read_only, property.write_only) = property.schema.map(&sides).unwrap_or_default();
        }
        for (number, RequiredName { name, .. }) in required.iter().enumerate().take(REQUIRED_MAX) {
            if self.find(name, 0).is_none() {
                self.push(name, None);
            }
            let index = self.find(name, 0).map(|(index, _)| index);
            // A name may be listed twice.
            let Some(property) = index.and_then(|index| self.list.get_mut(index)).filter(|property| property.bit == 0) else {
                continue;
            };
            property.bit = 1 << number;
            // A property that only the other side sends is not missing.
            let [request, response] = &mut self.required;
            *request |= if property.read_only { 0 } else { property.bit };
            *response |= if property.write_only { 0 } else { property.bit };
        }
    }
}
