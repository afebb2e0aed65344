//! Tables of translations: each row of a file in `fixtures/` has a request, a provider's answer and a provider's stream, and what must become
//! of them. With `UPDATE_FIXTURES=1` the expectations are written anew, to be read before they are committed.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod table;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use table::{Row, rows, save};
use tollgate_llm::{AnswerContext, Ask, Fault, GeminiPath, Provider, ProviderStream};

const BYTES_MAX: usize = 1 << 20;

fn answer(row: &Row) -> AnswerContext {
    let read = row.get("request").and_then(|_| table::client(row.text("from")).read(&request(row), BYTES_MAX).ok());
    let ask = read.unwrap_or_else(|| Ask { model: "asked-model".to_owned(), ..Ask::default() });
    AnswerContext::new(&ask, 1_700_000_000, "own1")
}

fn provider(row: &Row) -> Provider {
    table::provider(row.text("to"))
}

/// A client's request, with what its path says.
fn request(row: &Row) -> Vec<u8> {
    let body = row.bytes("request");
    match row.get("called").and_then(Value::as_str) {
        Some(called) => {
            let path = GeminiPath { model: called.to_owned(), stream: row.get("streams") == Some(&Value::Bool(true)) };
            path.into_body(&body, BYTES_MAX).expect("an object")
        }
        None => body,
    }
}

/// What became of a request: the provider's, or the refusal.
fn requested(row: &Row) -> Map<String, Value> {
    let client = table::client(row.text("from"));
    let body = request(row);
    let mut got = Map::new();
    let read = client.read(&body, BYTES_MAX).and_then(|ask| provider(row).request(&ask).map_err(|refused| client.field(refused)));
    match read {
        Ok(request) => {
            got.insert("path".into(), request.path_and_query.into());
            got.insert("sent".into(), serde_json::from_slice(&request.body).expect("the provider gets JSON"));
        }
        Err(refused) => {
            got.insert("refused".into(), json!([refused.field, refused.why]));
        }
    }
    got
}

fn error(row: &Row, fault: &Fault) -> Value {
    let (status, body) = table::client(row.text("from")).write_fault(fault);
    json!([status, serde_json::from_slice::<Value>(&body).expect("errors are JSON")])
}

/// What becomes of an answer.
fn answered(row: &Row) -> Value {
    let status = row.get("status").and_then(Value::as_u64).unwrap_or(200) as u16;
    let read = provider(row).reply(status, &row.bytes("reply"), BYTES_MAX);
    let written = read.and_then(|reply| table::client(row.text("from")).write_reply(&reply, &answer(row)));
    match written {
        Ok(body) => serde_json::from_slice(&body).expect("answers are JSON"),
        Err(fault) => error(row, &fault),
    }
}

/// The bytes for the client, of a stream that comes in these pieces.
fn streamed<'a>(row: &Row, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut reader: ProviderStream = provider(row).stream(BYTES_MAX);
    let mut writer = table::client(row.text("from")).stream(answer(row));
    let mut out = Vec::new();
    for piece in pieces {
        reader.push(piece).iter().for_each(|event| writer.write(event, &mut out));
    }
    reader.end().iter().for_each(|event| writer.write(event, &mut out));
    assert!(reader.is_over(), "every stream has an end");
    assert!(reader.push(b"data: more\n\n").is_empty(), "behind the end is nothing");
    out
}

/// Events of a stream as the table has them: the data, behind its name if it has one.
fn events(bytes: &[u8]) -> Value {
    let text = std::str::from_utf8(bytes).expect("streams are text");
    assert!(text.ends_with("\n\n"), "the last event is complete");
    let events = text.trim_end().split("\n\n").map(|event| {
        let value = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| Value::String(line.to_owned()));
        match event.split_once('\n') {
            None => value(event.strip_prefix("data: ").expect("data")),
            Some((name, data)) => {
                let data = value(data.strip_prefix("data: ").expect("data"));
                assert_eq!(data["type"], name.strip_prefix("event: ").expect("a name"), "name and type are the same");
                json!([name.strip_prefix("event: "), data])
            }
        }
    });
    Value::Array(events.collect())
}

#[test]
fn translations_are_those_of_the_tables() {
    let mut wrong = Vec::new();
    for (file, mut rows) in rows() {
        let before = rows.clone();
        for row in &mut rows {
            if row.get("request").is_some() {
                let got = requested(row);
                for name in ["path", "sent", "refused"] {
                    row.set(name, got.get(name).cloned());
                }
            }
            if row.get("reply").is_some() {
                let got = answered(row);
                row.set("answer", Some(got));
            }
            if row.get("stream").is_some() {
                let bytes = row.stream();
                let got = streamed(row, std::iter::once(bytes.as_slice()));
                row.set("client_stream", Some(events(&got)));
            }
        }
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            save(&file, &rows);
        } else {
            for (before, after) in before.iter().zip(&rows).filter(|(before, after)| before != after) {
                wrong.push(format!("{file}: {}\n{}", after.text("name"), table::difference(before, after)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_stream_is_the_same_wherever_it_is_cut() {
    for (file, rows) in rows() {
        for row in rows.iter().filter(|row| row.get("stream").is_some()) {
            let bytes = row.stream();
            let whole = streamed(row, std::iter::once(bytes.as_slice()));
            for at in 0..bytes.len() {
                let (first, second) = bytes.split_at(at);
                let cut = streamed(row, [first, second].into_iter());
                assert!(cut == whole, "{file}: {} cut at {at}", row.text("name"));
            }
            assert!(streamed(row, bytes.chunks(1)) == whole, "{file}: {} byte by byte", row.text("name"));
        }
    }
}

#[test]
fn a_stream_that_breaks_anywhere_ends_with_one_error_or_as_it_would_have() {
    for (file, rows) in rows() {
        for row in rows.iter().filter(|row| row.get("stream").is_some()) {
            let bytes = row.stream();
            for at in 0..bytes.len() {
                let cut = streamed(row, std::iter::once(&bytes[..at]));
                let told = String::from_utf8(cut.clone()).expect("text");
                let ends = told.matches("\"error\"").count()
                    + told.matches("\"type\":\"message_stop\"").count()
                    + told.matches("\"finishReason\"").count()
                    + told.matches("[DONE]").count();
                assert!(ends >= 1 || told.contains("response."), "{file}: {} broken at {at} has no end:\n{told}", row.text("name"));
                events(&cut);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn any_pieces_give_the_same_stream(sizes in proptest::collection::vec(1_usize..200, 1..60)) {
        for (_, rows) in rows() {
            for row in rows.iter().filter(|row| row.get("stream").is_some()) {
                let bytes = row.stream();
                let whole = streamed(row, std::iter::once(bytes.as_slice()));
                let (mut rest, mut pieces) = (bytes.as_slice(), Vec::new());
                for size in &sizes {
                    let (piece, behind) = rest.split_at((*size).min(rest.len()));
                    pieces.push(piece);
                    rest = behind;
                }
                pieces.push(rest);
                prop_assert!(streamed(row, pieces.into_iter()) == whole);
            }
        }
    }

    #[test]
    fn bytes_that_are_changed_break_nothing(changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4)) {
        for (_, rows) in rows() {
            for row in &rows {
                let change = |mut bytes: Vec<u8>| {
                    for (at, byte) in &changes {
                        let at = at.index(bytes.len());
                        bytes[at] = *byte;
                    }
                    bytes
                };
                if row.get("request").is_some()
                    && let Ok(ask) = table::client(row.text("from")).read(&change(request(row)), BYTES_MAX)
                    && let Ok(request) = provider(row).request(&ask)
                {
                    serde_json::from_slice::<Value>(&request.body).expect("the provider gets JSON");
                }
                if row.get("reply").is_some()
                    && let Ok(reply) = provider(row).reply(200, &change(row.bytes("reply")), BYTES_MAX)
                    && let Ok(body) = table::client(row.text("from")).write_reply(&reply, &answer(row))
                {
                    serde_json::from_slice::<Value>(&body).expect("the client gets JSON");
                }
                if row.get("stream").is_some() {
                    let bytes = change(row.stream());
                    let told = streamed(row, std::iter::once(bytes.as_slice()));
                    prop_assert!(streamed(row, bytes.chunks(7)) == told);
                    events(&told);
                }
            }
        }
    }
}
