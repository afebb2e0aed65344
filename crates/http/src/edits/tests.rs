use super::*;
use crate::{HeaderStorage, Request};

const HEAD: &[u8] = b"GET / HTTP/1.1\r\nHost: h\r\nA: 1\r\nB: 2\r\nA: 3\r\n\r\n";

/// What remains of a head after edits.
fn lines(headers: &Headers<'_>, edits: &HeaderEdits) -> String {
    let mut out = Vec::new();
    edits.write_lines(headers, &mut out);
    String::from_utf8(out).unwrap().replace("\r\n", "|")
}

type Change = fn(&mut HeaderEdits, &Headers<'_>);

#[test]
fn edits_of_edited_lines_are_edits_of_the_message() {
    let nothing: Change = |_, _| {};
    let removes_a: Change = |edits, headers| edits.remove(headers, "a");
    let sets_a: Change = |edits, headers| edits.set(headers, "A", b"9");
    let adds: Change = |edits, _| {
        edits.add("C", b"4");
        edits.add("D", b"5");
    };
    let removes_c: Change = |edits, headers| edits.remove(headers, "C");
    let removes_b: Change = |edits, headers| edits.remove(headers, "B");
    for (first, second, wanted) in [
        (nothing, nothing, "Host: h|A: 1|B: 2|A: 3|"),
        (removes_a, nothing, "Host: h|B: 2|"),
        (nothing, removes_a, "Host: h|B: 2|"),
        (removes_a, removes_b, "Host: h|"),
        (adds, removes_c, "Host: h|A: 1|B: 2|A: 3|D: 5|"),
        (adds, sets_a, "Host: h|B: 2|C: 4|D: 5|A: 9|"),
        (sets_a, sets_a, "Host: h|B: 2|A: 9|"),
        (removes_b, adds, "Host: h|A: 1|A: 3|C: 4|D: 5|"),
        (sets_a, removes_b, "Host: h|A: 9|"),
    ] {
        let mut storage = HeaderStorage::new();
        let request = Request::parse(HEAD, &mut storage).unwrap().unwrap();
        let mut edits = HeaderEdits::default();
        first(&mut edits, &request.headers);
        let mut head = Vec::new();
        request.write_first_line(&mut head);
        edits.write_lines(&request.headers, &mut head);
        head.extend_from_slice(b"\r\n");
        let mut storage = HeaderStorage::new();
        let changed = Request::parse(&head, &mut storage).unwrap().unwrap();
        let mut later = HeaderEdits::default();
        second(&mut later, &changed.headers);
        assert_eq!(lines(&changed.headers, &later), wanted, "of the changed head");
        edits.followed_by(&request.headers, &later);
        assert_eq!(lines(&request.headers, &edits), wanted, "of the message");
    }
}
