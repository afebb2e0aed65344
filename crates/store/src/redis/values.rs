//! Many small values in one piece of memory.

/// Values, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Values {
    /// No values, with memory for as many as these.
    pub fn with_room_for(others: &Values) -> Self {
        Values { bytes: Vec::with_capacity(others.bytes.len()), ends: Vec::with_capacity(others.ends.len()) }
    }

    /// Adds a value: what `write` appends.
    pub fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// The values.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).filter_map(|(start, end)| self.bytes.get(*start..*end))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many bytes they have together.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

impl<V: AsRef<[u8]>> FromIterator<V> for Values {
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> Self {
        let mut all = Values::default();
        values.into_iter().for_each(|value| all.push(|out| out.extend_from_slice(value.as_ref())));
        all
    }
}
