//! The types of messages.

/// Whether a type is JSON as every reader takes it: as in Tyk all types that begin like JSON's, but in no other character set, in which the
/// same bytes would be another message.
pub fn is_json_type(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let starts_with = |text: &[u8], start: &[u8]| text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start));
    let kind = parts.next().unwrap_or_default();
    let is_utf8 = |part: &[u8]| {
        let charset = part.split(|byte| *byte == b'=').nth(1).unwrap_or_default().trim_ascii();
        [&b"utf-8"[..], b"\"utf-8\"", b"utf8"].iter().any(|known| charset.eq_ignore_ascii_case(known))
    };
    starts_with(kind, b"application/json") && parts.filter(|part| starts_with(part, b"charset")).all(is_utf8)
}

/// Whether a type is that of event streams.
pub fn is_event_type(value: &[u8]) -> bool {
    const EVENTS: &[u8] = b"text/event-stream";
    value.trim_ascii_start().get(..EVENTS.len()).is_some_and(|start| start.eq_ignore_ascii_case(EVENTS))
}

#[cfg(test)]
mod tests {
    use super::{is_event_type, is_json_type};

    #[test]
    fn types_are_read_in_any_case() {
        for json in
            ["application/json", "Application/JSON", "application/json; charset=UTF-8", "application/json;x=1;charset=\"utf-8\""]
        {
            assert!(is_json_type(json.as_bytes()), "{json}");
        }
        for other in [
            "",
            "text/json",
            "text/plain",
            "application/vnd.api+json",
            "application/json; charset=utf-7",
            "application/json; CHARSET = utf-16",
        ] {
            assert!(!is_json_type(other.as_bytes()), "{other}");
        }
        assert!(is_event_type(b"Text/Event-Stream; charset=utf-8") && !is_event_type(b"text/plain"));
    }
}
