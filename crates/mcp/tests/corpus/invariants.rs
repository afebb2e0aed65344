//! What must hold for any message and any stream. The functions panic when it does not. The fuzzer calls them, and the tests do with the same corpus.

use serde_json::Value;
use serde_json::value::RawValue;
use tollgate_mcp::{Call, EventParts, EventReader, Filtered, Visible, filtered, filtered_event};
use tollgate_model::session::PrimitiveKind;

/// A caller who may see what has no `h` in its name, and call nothing that begins with `p`.
struct Caller;

impl Visible for Caller {
    fn filters(&self, _: PrimitiveKind) -> bool {
        true
    }

    fn shows(&self, _: PrimitiveKind, name: &str) -> bool {
        !name.contains('h')
    }

    fn allows(&self, method: &str) -> bool {
        !method.starts_with('p')
    }
}

/// A call is what any reader takes it for; a refusal is JSON; a list that was filtered shows nothing that it must not, and loses nothing else.
pub(crate) fn mcp_message(bytes: &[u8]) {
    let value = serde_json::from_slice::<Value>(bytes);
    let (read, filtered) = (Call::read(bytes), filtered(bytes, &Caller));
    if value.is_err() && (is_json(bytes) || std::str::from_utf8(bytes).is_err()) {
        // A number that not every reader can hold, or text of which readers make different things, where nobody asks.
        return;
    }
    match read {
        Ok(Some(call)) => {
            let value = value.as_ref().expect("what was read is JSON");
            assert_eq!(value["method"].as_str(), Some(call.method.as_str()));
            let members = value.as_object().expect("an object");
            assert_eq!(members.keys().filter(|name| name.eq_ignore_ascii_case("method")).count(), 1);
            if let Some((_, name)) = call.primitive() {
                let params = &value["params"];
                let said = [&params["name"], &params["uri"], &params["ref"]["name"], &params["ref"]["uri"]];
                assert!(said.iter().any(|said| said.as_str() == Some(name)), "{name}");
            }
        }
        Ok(None) => assert!(value.is_ok()),
        Err(refused) => {
            assert!(is_json(&refused.body()), "a refusal is JSON");
        }
    }
    let shown = match filtered {
        Filtered::Unchanged => {
            assert!(value.is_ok() || bytes.trim_ascii().is_empty() || bytes.starts_with(b"\xef\xbb\xbf"));
            value.ok()
        }
        Filtered::Changed(left) => Some(serde_json::from_slice(&left).expect("what is left is JSON")),
        Filtered::Ambiguous => None,
    };
    let Some(shown) = shown else { return };
    for (list, name) in [("tools", "name"), ("prompts", "name"), ("resources", "uri"), ("resourceTemplates", "uriTemplate")] {
        for item in shown["result"][list].as_array().into_iter().flatten() {
            assert!(item[name].as_str().is_some_and(|name| !name.is_empty() && !name.contains('h')), "{shown}");
        }
    }
    assert!(shown["result"]["capabilities"].get("prompts").is_none(), "{shown}");
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<&RawValue>(bytes).is_ok()
}

/// The same events are read wherever a stream is cut, and they are all of it; an event that is filtered is still one event.
pub(crate) fn mcp_events(bytes: &[u8]) {
    let Some((&cut, stream)) = bytes.split_first() else { return };
    let (whole, rest) = events(&[stream]);
    assert_eq!([whole.concat(), rest.clone()].concat(), stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream));
    let (one, other) = stream.split_at(usize::from(cut).min(stream.len()));
    let read = |pieces: &[&[u8]]| {
        let (events, rest) = events(pieces);
        events.iter().filter_map(|event| EventParts::read(event)).chain(EventParts::read(&rest)).collect::<Vec<_>>()
    };
    assert_eq!(read(&[one, other]), read(&[stream]));
    for event in whole {
        if let Filtered::Changed(changed) = filtered_event(&event, &Caller) {
            let (events, rest) = events(&[&changed]);
            assert_eq!(events.len() + usize::from(!rest.is_empty()), 1, "{}", String::from_utf8_lossy(&changed));
        }
    }
}

fn events(pieces: &[&[u8]]) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut reader = EventReader::new(1 << 20);
    let mut events = Vec::new();
    for piece in pieces {
        let mut piece = *piece;
        while let Some(event) = reader.next(&mut piece).expect("it is small") {
            events.push(event.to_vec());
        }
    }
    (events, reader.rest().to_vec())
}
