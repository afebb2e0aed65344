use super::HeadView;
use crate::{HeaderEdits, HeaderStorage, KnownHeader, Request};

#[test]
fn lines_are_read_as_edits_have_made_them() {
    let mut storage = HeaderStorage::new();
    let head = b"GET / HTTP/1.1\r\nHost: a\r\nCookie: b=1\r\nX-A: 1\r\nConnection: x-a\r\nAuthorization: old\r\n\r\n";
    let Ok(Some(request)) = Request::parse(head, &mut storage) else { panic!("the head is valid") };
    let received = HeadView::new(&request.headers);
    assert_eq!(received.get("x-a"), Some(&b"1"[..]));
    assert_eq!(received.known(KnownHeader::Authorization), Some(&b"old"[..]));

    let mut edits = HeaderEdits::default();
    edits.set(&request.headers, "Authorization", b"new");
    edits.add("Cookie", b"c=2");
    edits.remove(&request.headers, "x-a");
    let shown = received.edited(&edits);
    assert_eq!(shown.known(KnownHeader::Authorization), Some(&b"new"[..]));
    assert_eq!(shown.get("X-A"), None);
    assert_eq!(shown.all_known(KnownHeader::Cookie).collect::<Vec<_>>(), [&b"b=1"[..], b"c=2"]);
    let names: Vec<_> = shown.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["Host", "Cookie", "Connection", "Authorization", "Cookie"]);
}
