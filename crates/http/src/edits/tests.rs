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
fn later_edits_see_earlier_ones() {
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
        (removes_a, removes_b, "Host: h|"),
        (adds, removes_c, "Host: h|A: 1|B: 2|A: 3|D: 5|"),
        (adds, sets_a, "Host: h|B: 2|C: 4|D: 5|A: 9|"),
        (sets_a, sets_a, "Host: h|B: 2|A: 9|"),
        (sets_a, removes_b, "Host: h|A: 9|"),
    ] {
        let mut storage = HeaderStorage::new();
        let request = Request::parse(HEAD, &mut storage).unwrap().unwrap();
        let mut edits = HeaderEdits::default();
        first(&mut edits, &request.headers);
        second(&mut edits, &request.headers);
        assert_eq!(lines(&request.headers, &edits), wanted);
    }
}
