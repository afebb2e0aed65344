//! Many small values, gathered as they will be on the wire.

use std::borrow::Cow;

/// What stands before the values: room for the beginning of a command, which is known last.
const ROOM: [u8; 128] = [b' '; 128];

/// Values, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// [`ROOM`], and then each value with its length in front.
    bytes: Vec<u8>,
    count: usize,
    value_bytes: usize,
    /// How many digits the last value's length has: the next one is likely to be as long.
    digits: usize,
}

impl Values {
    /// Adds a value: what `write` appends.
    pub fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.bytes.is_empty() {
            self.bytes.extend_from_slice(&ROOM);
        }
        self.bytes.push(b'$');
        let digits_start = self.bytes.len();
        self.bytes.resize(digits_start + self.digits, b'0');
        self.bytes.extend_from_slice(b"\r\n");
        let start = self.bytes.len();
        write(&mut self.bytes);
        let length = self.bytes.len() - start;
        self.bytes.extend_from_slice(b"\r\n");
        self.count += 1;
        self.value_bytes += length;
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(length).as_bytes();
        if digits.len() == self.digits {
            self.bytes.get_mut(digits_start..).into_iter().flatten().zip(digits).for_each(|(place, digit)| *place = *digit);
        } else {
            self.bytes.splice(digits_start..digits_start + self.digits, digits.iter().copied());
            self.digits = digits.len();
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many bytes they have together.
    pub fn bytes(&self) -> usize {
        self.value_bytes
    }

    /// Forgets them, but not their memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        (self.count, self.value_bytes) = (0, 0);
    }

    /// The command that does something with a key and all values.
    pub(super) fn command(&mut self, name: &str, key: &str) -> Cow<'_, [u8]> {
        let count = 2 + self.count;
        let start = format!("*{count}\r\n${}\r\n{name}\r\n${}\r\n{key}\r\n", name.len(), key.len());
        match ROOM.len().checked_sub(start.len()) {
            Some(free) if !self.bytes.is_empty() => {
                self.bytes.get_mut(free..ROOM.len()).into_iter().for_each(|place| place.copy_from_slice(start.as_bytes()));
                Cow::Borrowed(self.bytes.get(free..).unwrap_or_default())
            }
            _ => Cow::Owned([start.as_bytes(), self.bytes.get(ROOM.len()..).unwrap_or_default()].concat()),
        }
    }
}

impl<V: AsRef<[u8]>> FromIterator<V> for Values {
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> Self {
        let mut all = Values::default();
        values.into_iter().for_each(|value| all.push(|out| out.extend_from_slice(value.as_ref())));
        all
    }
}

#[cfg(test)]
mod tests;
