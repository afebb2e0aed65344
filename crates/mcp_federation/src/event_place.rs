//! Ids of events in sessions, behind which clients resume streams.

use serde_json::Value;
use std::fmt;

/// Where an event is: its server, the call whose stream it is on, and the server's own id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventPlace<'e> {
    pub server: &'e str,
    /// Its [tag](call_tag); empty for the stream of the session.
    pub call: &'e str,
    pub event: &'e str,
}

/// Tells the calls of a session apart by their ids.
pub(crate) fn call_tag(id: &Value) -> String {
    blake3::hash(id.to_string().as_bytes()).to_hex().chars().take(16).collect()
}

impl<'e> EventPlace<'e> {
    /// Reads an id that was given.
    pub(crate) fn read(id: &'e str) -> Option<Self> {
        let (server, rest) = id.split_once(':')?;
        let (call, event) = rest.split_once(':')?;
        Some(EventPlace { server, call, event })
    }
}

impl fmt::Display for EventPlace<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.server, self.call, self.event)
    }
}

#[cfg(test)]
mod tests {
    use super::{EventPlace, call_tag};
    use serde_json::json;

    #[test]
    fn places_are_read_as_they_were_given() {
        let call = call_tag(&json!("a:b"));
        for call in [call.as_str(), ""] {
            let place = EventPlace { server: "s", call, event: "x:y:1" };
            assert_eq!(EventPlace::read(&place.to_string()), Some(place));
        }
        assert_eq!((EventPlace::read("s:1"), EventPlace::read("")), (None, None));
        assert_ne!(call_tag(&json!(1)), call_tag(&json!("1")));
    }
}
