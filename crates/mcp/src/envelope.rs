//! A JSON-RPC request's members, and those of its `params` that name something. Readers of JSON differ in what they make of a member that
//! occurs twice, or whose name has other letters in upper case (Go takes both for the same). Such a message is ambiguous, and refused.

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use tollgate_text::byte_order_mark;

/// The members of an object that a reader asks for, in the order of the names.
pub(crate) struct Members<'a, const N: usize> {
    pub values: [Option<&'a RawValue>; N],
    /// Whether one of the names, in whatever case, occurs more than once or in another form.
    pub is_ambiguous: bool,
}

/// Reads these members of an object.
///
/// # Errors
/// The text is not one JSON object.
pub(crate) fn members<'a, const N: usize>(text: &'a [u8], names: &[&str; N]) -> Result<Members<'a, N>, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(byte_order_mark::without(text));
    let read = reader.deserialize_map(MembersVisitor { names })?;
    reader.end()?;
    Ok(read)
}

struct MembersVisitor<'n, const N: usize> {
    names: &'n [&'n str; N],
}

impl<'de, const N: usize> Visitor<'de> for MembersVisitor<'_, N> {
    type Value = Members<'de, N>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut read = Members { values: [None; N], is_ambiguous: false };
        while let Some(MemberName(name)) = map.next_key()? {
            let Some(at) = self.names.iter().position(|known| is_same(known, &name)) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = map.next_value::<&'de RawValue>()?;
            let is_exact = self.names.get(at).is_some_and(|known| **known == *name);
            if let Some(place) = read.values.get_mut(at) {
                read.is_ambiguous |= !is_exact || place.is_some();
                *place = Some(value);
            }
        }
        Ok(read)
    }
}

/// All members of an object, in order; `None` if the text is none.
pub(crate) fn object(text: &[u8]) -> Option<Vec<(String, &RawValue)>> {
    struct AllMembers;
    impl<'de> Visitor<'de> for AllMembers {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some(member) = map.next_entry()? {
                all.push(member);
            }
            Ok(all)
        }
    }
    serde_json::Deserializer::from_slice(byte_order_mark::without(text)).deserialize_map(AllMembers).ok()
}

/// A member's name; borrowed when it has no escapes.
struct MemberName<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for MemberName<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = MemberName<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a name")
            }

            fn visit_borrowed_str<E: de::Error>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(MemberName(Cow::Borrowed(name)))
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Self::Value, E> {
                Ok(MemberName(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

/// Whether some reader of JSON takes a name for the known one, which is ASCII in lower case: Go compares with Unicode's simple folding.
fn is_same(known: &str, name: &str) -> bool {
    let folded = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    known == name || known.chars().eq(name.chars().map(folded))
}

/// The text of a value, if that is a string.
pub(crate) fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}
