//! Figures as bytes: a map of the numbers that are not 0, then these numbers with seven bits per byte. Most numbers are 0.

use crate::figures::{Figures, NUMBERS};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const _: () = assert!(NUMBERS <= 64, "the map has 64 bits");

/// Appends figures.
pub(super) fn write(bytes: &mut Vec<u8>, figures: &Figures) {
    let map = figures.numbers().enumerate().filter(|(_, number)| *number > 0).fold(0, |map, (index, _)| map | 1 << index);
    write_number(bytes, map);
    figures.numbers().filter(|number| *number > 0).for_each(|number| write_number(bytes, number));
}

/// Appends a number.
pub(super) fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads what was written.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Reader(bytes)
    }

    /// The next figures; `None` at the end.
    pub(super) fn figures(&mut self) -> Option<Figures> {
        let map = self.number()?;
        let mut figures = Figures::default();
        for (index, number) in figures.numbers_mut().enumerate() {
            if map & 1 << index != 0 {
                *number = self.number()?;
            }
        }
        Some(figures)
    }

    /// The next API: the place of its name, and its figures.
    pub(super) fn entry(&mut self) -> Option<(usize, Figures)> {
        let place = usize::try_from(self.number()?).ok()?;
        Some((place, self.figures()?))
    }

    fn number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0_u64, 0);
        loop {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
            shift += 7;
        }
    }
}

/// As hexadecimal digits of the bytes: an hour of fifty APIs would be three times as long with names and zeros.
impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        write(&mut bytes, self);
        serializer.serialize_str(&tollgate_model::hexadecimal(&bytes))
    }
}

impl<'de> Deserialize<'de> for Figures {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
        let digits = digits.ok_or_else(|| D::Error::custom("figures are hexadecimal digits"))?;
        let bytes: Vec<u8> =
            digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | *digit as u8)).collect();
        Reader::new(&bytes).figures().ok_or_else(|| D::Error::custom("figures are cut off"))
    }
}
