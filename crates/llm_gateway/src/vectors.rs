//! Vectors of texts: how near two are, and the bounded list of those that are kept together.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Longest vector.
const NUMBERS_MAX: usize = 8_192;
/// Of so many near ones the answers are looked for: that of the nearest may be gone.
const NEAR_MAX: usize = 3;

/// A vector in one byte for each number. The cosine of two differs by less than a thousandth from that of the vectors that they were made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SmallVector(Vec<i8>);

/// A vector, and the key of the answer to its request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KeptVector {
    pub vector: SmallVector,
    pub key: String,
    pub expires_s: u64,
    /// The beginning of the text, where that is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
}

/// Vectors that are compared with each other, the oldest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct VectorGroup(Vec<KeptVector>);

impl SmallVector {
    /// The vector of these numbers; `None` if they are none, or too many.
    pub(crate) fn of(numbers: &[f64]) -> Option<Self> {
        let largest = numbers.iter().fold(0.0_f64, |largest, number| largest.max(number.abs()));
        let is_one =
            largest > 0.0 && largest.is_finite() && numbers.len() <= NUMBERS_MAX && numbers.iter().all(|number| number.is_finite());
        is_one.then(|| SmallVector(numbers.iter().map(|number| (number / largest * 127.0).round() as i8).collect()))
    }

    /// The cosine of the angle between two; 0 for vectors of two lengths.
    pub(crate) fn similarity(&self, other: &Self) -> f64 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        let sum = |one: &[i8], other: &[i8]| -> f64 {
            let products = one.iter().zip(other).map(|(one, other)| i64::from(*one) * i64::from(*other));
            products.sum::<i64>() as f64
        };
        let lengths = (sum(&self.0, &self.0) * sum(&other.0, &other.0)).sqrt();
        if lengths > 0.0 { sum(&self.0, &other.0) / lengths } else { 0.0 }
    }
}

impl VectorGroup {
    /// Reads what [`VectorGroup::write`] wrote; of anything else, nothing.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }

    /// As bytes, of at most so many: the oldest are left out.
    pub(crate) fn write(&mut self, bytes_max: usize) -> Vec<u8> {
        loop {
            let bytes = serde_json::to_vec(self).unwrap_or_default();
            if bytes.len() <= bytes_max || self.0.is_empty() {
                return bytes;
            }
            self.0.drain(..self.0.len().div_ceil(2));
        }
    }

    /// Adds a vector, in the place of one for the same answer and of the oldest.
    pub(crate) fn add(&mut self, added: KeptVector, entries_max: usize, now_s: u64) {
        self.0.retain(|kept| kept.expires_s > now_s && kept.key != added.key);
        self.0.push(added);
        let surplus = self.0.len().saturating_sub(entries_max);
        self.0.drain(..surplus);
    }

    /// Those that are near enough, with their similarity, the nearest first.
    pub(crate) fn near(&self, vector: &SmallVector, threshold: f64, now_s: u64) -> Vec<(f64, &KeptVector)> {
        let alive = self.0.iter().filter(|kept| kept.expires_s > now_s);
        let mut near: Vec<_> =
            alive.map(|kept| (kept.vector.similarity(vector), kept)).filter(|(similarity, _)| *similarity >= threshold).collect();
        near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        near.truncate(NEAR_MAX);
        near
    }
}

impl Serialize for SmallVector {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().map(|number| number.cast_unsigned()).collect();
        out.serialize_str(&STANDARD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for SmallVector {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let text = String::deserialize(source)?;
        let bytes = STANDARD.decode(text).map_err(serde::de::Error::custom)?;
        Ok(SmallVector(bytes.into_iter().map(u8::cast_signed).collect()))
    }
}

#[cfg(test)]
mod tests;
