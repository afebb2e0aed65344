//! Ids of events in sessions, behind which clients resume streams.

use crate::session_marks::SessionMarks;
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

/// Gives and reads the ids of one session's events.
#[derive(Clone)]
pub(crate) struct EventIds(pub SessionMarks);

/// Tells the calls of a session apart by their ids.
pub(crate) fn call_tag(id: &Value) -> String {
    blake3::hash(id.to_string().as_bytes()).to_hex().chars().take(16).collect()
}

impl EventIds {
    /// The id of the event at a place.
    pub(crate) fn give(&self, place: &EventPlace<'_>) -> String {
        self.0.give(&place.to_string())
    }

    /// Where an event is; `None` if its id was not given in this session.
    pub(crate) fn read<'e>(&self, id: &'e str) -> Option<EventPlace<'e>> {
        EventPlace::read(self.0.read(id)?)
    }
}

impl<'e> EventPlace<'e> {
    fn read(place: &'e str) -> Option<Self> {
        let (server, rest) = place.split_once(':')?;
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
    use super::{EventIds, EventPlace, call_tag};
    use crate::session_marks::SessionMarks;
    use serde_json::json;

    #[test]
    fn places_are_read_in_the_session_in_which_they_were_given_alone() {
        let ids = |key: u8, session: &str| EventIds(SessionMarks::new(&[key; 32], session));
        let call = call_tag(&json!("a:b"));
        for call in [call.as_str(), ""] {
            let place = EventPlace { server: "s", call, event: "x:y:1" };
            let id = ids(1, "mine").give(&place);
            assert_eq!(ids(1, "mine").read(&id), Some(place));
            assert_eq!((ids(1, "yours").read(&id), ids(2, "mine").read(&id)), (None, None));
            let next = EventPlace { event: "x:y:2", ..place };
            let mark = id.split_once(':').unwrap().0;
            for guessed in [format!("{mark}:{next}"), place.to_string(), format!(":{place}"), format!("{}:{place}", "0".repeat(64))]
            {
                assert_eq!(ids(1, "mine").read(&guessed), None, "{guessed}");
            }
        }
        assert_eq!((ids(1, "mine").read("s:1"), ids(1, "mine").read("")), (None, None));
        assert_ne!(call_tag(&json!(1)), call_tag(&json!("1")));
    }
}
