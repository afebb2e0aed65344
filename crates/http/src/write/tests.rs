use crate::*;

fn rewritten(bytes: &str, edit: impl FnOnce(&Headers<'_>, &mut HeaderEdits)) -> String {
    let mut storage = HeaderStorage::new();
    let request = Request::parse(bytes.as_bytes(), &mut storage).unwrap().unwrap();
    let mut edits = HeaderEdits::default();
    edit(&request.headers, &mut edits);
    let head = RequestHead {
        method: request.method.as_bytes(),
        target: b"/t",
        host: b"up",
        forwarded_for: Some(b"1.2.3.4"),
        upgrade: true,
        replaces_body: false,
    };
    let mut out = Vec::new();
    write_request(&request, &head, &edits, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn hop_by_hop_lines_stay_behind_and_the_client_is_appended() {
    let bytes = "GET /a HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Foo\r\nFoo: 1\r\nTE: trailers\r\nKeep-Alive: 5\r\nX-Forwarded-For: 9.9.9.9\r\nA: b\r\nProxy-Authorization: p\r\n\r\n";
    let expect = "GET /t HTTP/1.1\r\nHost: up\r\nX-Forwarded-For: 9.9.9.9, 1.2.3.4\r\nTE: trailers\r\nA: b\r\n\r\n";
    assert_eq!(rewritten(bytes, |_, _| {}), expect);
}

#[test]
fn a_sender_cannot_have_framing_or_its_address_removed() {
    let bytes = "POST /a HTTP/1.1\r\nHost: x\r\nConnection: Content-Length, X-Forwarded-For, Host\r\nContent-Length: 1\r\nX-Forwarded-For: 9.9.9.9\r\n\r\n";
    let expect = "POST /t HTTP/1.1\r\nHost: up\r\nX-Forwarded-For: 9.9.9.9, 1.2.3.4\r\nContent-Length: 1\r\n\r\n";
    assert_eq!(rewritten(bytes, |_, _| {}), expect);
}

#[test]
fn names_with_underscores_do_not_get_past_what_is_set_or_removed() {
    let bytes = "GET /a HTTP/1.1\r\nHost: x\r\nx_forwarded_for: 6.6.6.6\r\nX_Real_Ip: 6.6.6.6\r\nX_User: eve\r\nX-USER: eve\r\nX_Other: 1\r\n\r\n";
    let written = rewritten(bytes, |headers, edits| edits.set(headers, "X-User", b"alice"));
    assert_eq!(written, "GET /t HTTP/1.1\r\nHost: up\r\nX-Forwarded-For: 1.2.3.4\r\nX_Other: 1\r\nX-User: alice\r\n\r\n");
    let written = rewritten(bytes, |headers, edits| edits.remove(headers, "X_User"));
    assert!(written.contains("X-USER: eve") && !written.contains("X_User"), "{written}");
}

#[test]
fn nobody_is_asked_to_expect_content_that_does_not_come() {
    let bytes = |fields: &str| format!("POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n{fields}\r\n");
    for (fields, passes) in
        [("", false), ("Content-Length: 0\r\n", false), ("Content-Length: 1\r\n", true), ("Transfer-Encoding: chunked\r\n", true)]
    {
        assert_eq!(rewritten(&bytes(fields), |_, _| {}).contains("Expect"), passes, "{fields:?}");
    }
}

#[test]
fn later_edits_see_earlier_ones() {
    let bytes = "GET /a HTTP/1.1\r\nHost: x\r\nA: 1\r\na: 2\r\nB: 3\r\n\r\n";
    let written = rewritten(bytes, |headers, edits| {
        edits.set(headers, "a", b"9");
        edits.set(headers, "C", b"7");
        edits.remove(headers, "c");
        edits.remove(headers, "b");
        assert_eq!(edits.current(headers, "A"), Some(&b"9"[..]));
        assert_eq!(edits.current(headers, "B"), None);
    });
    assert_eq!(written, "GET /t HTTP/1.1\r\nHost: up\r\nX-Forwarded-For: 1.2.3.4\r\na: 9\r\n\r\n");
}

#[test]
fn a_name_that_is_looked_for_anyway_is_taken_out_everywhere() {
    let bytes = "GET /a HTTP/1.1\r\nHost: x\r\nTraceState: 1\r\nA: 1\r\ntracestate: 2\r\n\r\n";
    let written = rewritten(bytes, |headers, edits| {
        edits.add("B", b"2");
        edits.add("traceState", b"3");
        edits.remove_named(headers, KnownHeader::TraceState, "tracestate");
        edits.add_line(|line| line.extend_from_slice(b"C: 3\r\n"));
    });
    assert_eq!(written, "GET /t HTTP/1.1\r\nHost: up\r\nX-Forwarded-For: 1.2.3.4\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n");
}

#[test]
fn an_upgrade_is_written_anew() {
    let bytes = "GET /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    assert!(rewritten(bytes, |_, _| {}).ends_with("Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"));
}

#[test]
fn a_reply_states_its_length_and_spares_head_the_body() {
    let mut out = Vec::new();
    write_reply(404, &HeaderEdits::default(), b"Not Found", b"Date: D\r\n", b"Connection: close\r\n", ReplyBody::Length, &mut out);
    let expect = "HTTP/1.1 404 Not Found\r\nDate: D\r\nConnection: close\r\nContent-Length: 9\r\n\r\n";
    assert_eq!(String::from_utf8(out).unwrap(), expect);
}

#[test]
fn a_chunk_has_its_size_in_hexadecimal_and_an_empty_one_is_not_written() {
    let check = |length: usize, size: &str| {
        let mut out = Vec::new();
        write_chunk(&vec![b'x'; length], &mut out);
        let expect = if length == 0 { String::new() } else { format!("{size}\r\n{}\r\n", "x".repeat(length)) };
        assert!(out == expect.as_bytes(), "{length}");
    };
    for (length, size) in
        [(0, ""), (1, "1"), (15, "f"), (16, "10"), (255, "ff"), (256, "100"), (65_536, "10000"), (74_565, "12345")]
    {
        check(length, size);
    }
}

#[test]
fn a_status_line_is_passed_on_or_made_anew() {
    for (line, expect) in [
        ("HTTP/1.1 200 Fine\tby me", "HTTP/1.1 200 Fine\tby me"),
        ("HTTP/1.1 200 ", "HTTP/1.1 200 "),
        ("HTTP/1.1 200", "HTTP/1.1 200 "),
        ("HTTP/1.1 200 \u{e9}", "HTTP/1.1 200 "),
        ("HTTP/1.0 404 Nothing", "HTTP/1.1 404 Nothing"),
        ("\r\nHTTP/1.1 200 OK", "HTTP/1.1 200 OK"),
    ] {
        let bytes = format!("{line}\r\nConnection: close\r\nContent-Length: 1\r\n\r\n");
        let mut storage = HeaderStorage::new();
        let response = Response::parse(bytes.as_bytes(), false, &mut storage).unwrap().unwrap();
        let mut out = Vec::new();
        write_response(&response, &HeaderEdits::default(), b"", b"", ClientBody::AsIs, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), format!("{expect}\r\nContent-Length: 1\r\n\r\n"));
    }
}

/// The head of a response as it is passed on, without its status line.
fn passed_on(bytes: &str, body: ClientBody, edit: impl FnOnce(&Headers<'_>, &mut HeaderEdits)) -> String {
    let mut storage = HeaderStorage::new();
    let response = Response::parse(bytes.as_bytes(), false, &mut storage).unwrap().unwrap();
    let mut edits = HeaderEdits::default();
    edit(&response.headers, &mut edits);
    let date: &[u8] = if response.lacks_date(&edits) { b"Date: now\r\n" } else { b"" };
    let mut out = Vec::new();
    write_response(&response, &edits, date, b"", body, &mut out);
    String::from_utf8(out).unwrap().split_once("\r\n").unwrap().1.replace("\r\n", "|")
}

#[test]
fn a_response_without_a_date_gets_one() {
    let own = "HTTP/1.1 200 OK\r\ndAtE: then\r\nContent-Length: 0\r\n\r\n";
    let none = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(passed_on(own, ClientBody::AsIs, |_, _| {}), "dAtE: then|Content-Length: 0||");
    assert_eq!(passed_on(none, ClientBody::AsIs, |_, _| {}), "Content-Length: 0|Date: now||");
    assert_eq!(passed_on(none, ClientBody::AsIs, |_, edits| edits.add("date", b"mine")), "Content-Length: 0|date: mine||");
    // Whoever removes it wants none.
    assert_eq!(passed_on(own, ClientBody::AsIs, |headers, edits| edits.remove(headers, "Date")), "Content-Length: 0||");
    // An interim response is no message of its own.
    assert_eq!(passed_on("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n", ClientBody::AsIs, |_, _| {}), "Link: a||");
}

#[test]
fn a_response_that_has_no_content_says_nothing_about_its_length() {
    for (status, framing, expect) in [
        ("204 No Content", "Content-Length: 0", "Date: now||"),
        ("204 No Content", "Content-Length: 00", "Date: now||"),
        ("204 No Content", "Transfer-Encoding: chunked", "Date: now||"),
        ("103 Early Hints", "Content-Length: 5", "|"),
        // The length that a 200 would have.
        ("304 Not Modified", "Content-Length: 5", "Content-Length: 5|Date: now||"),
        ("200 OK", "Content-Length: 5", "Content-Length: 5|Date: now||"),
    ] {
        let bytes = format!("HTTP/1.1 {status}\r\n{framing}\r\n\r\n");
        assert_eq!(passed_on(&bytes, ClientBody::AsIs, |_, _| {}), expect, "{status} {framing}");
    }
    for status in ["204 No Content", "304 Not Modified"] {
        let head = passed_on(&format!("HTTP/1.1 {status}\r\nContent-Length: 5\r\n\r\n"), ClientBody::Empty, |_, _| {});
        assert_eq!(head, "Date: now||", "{status}, which answers another method than the client's HEAD");
    }
}

#[test]
fn a_request_that_usually_has_a_body_says_that_it_has_none() {
    for (method, fields, expect) in [
        ("POST", "", true),
        ("PUT", "", true),
        ("PATCH", "", true),
        ("GET", "", false),
        ("DELETE", "", false),
        ("OPTIONS", "", false),
    ] {
        let written = rewritten(&format!("{method} /a HTTP/1.1\r\nHost: x\r\n{fields}\r\n"), |_, _| {});
        assert_eq!(written.contains("Content-Length: 0\r\n"), expect, "{method}: {written}");
    }
    for fields in ["Content-Length: 0\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"] {
        let written = rewritten(&format!("POST /a HTTP/1.1\r\nHost: x\r\n{fields}\r\n"), |_, _| {});
        assert_eq!(written.matches("Content-Length").count(), fields.matches("Content-Length").count(), "{written}");
    }
}

#[test]
fn lines_that_connection_names_do_not_count() {
    let bytes = "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close, X-Tenant\r\nX-TENANT: acme\r\nKeep-Alive: 5\r\nExpect: 100-continue\r\nX-Forwarded-For: 9.9.9.9\r\nA: 1\r\n\r\n";
    let mut storage = HeaderStorage::new();
    let request = Request::parse(bytes.as_bytes(), &mut storage).unwrap().unwrap();
    let seen = |edits: &HeaderEdits, client: Option<&[u8]>| {
        let mut lines = Vec::new();
        each_forwarded_line(&request, client, edits, &mut |name, value| {
            lines.push(format!("{name}={}", String::from_utf8_lossy(value)));
        });
        lines.join("|")
    };
    let mut edits = HeaderEdits::default();
    assert_eq!(seen(&edits, Some(b"1.2.3.4")), "X-Forwarded-For=9.9.9.9, 1.2.3.4|A=1");
    assert_eq!(seen(&edits, None), "X-Forwarded-For=9.9.9.9|A=1");
    assert_eq!(edits.current(&request.headers, "X-Tenant"), None);
    // What the gateway adds leaves, whatever the client's Connection names.
    edits.set(&request.headers, "X-Tenant", b"real");
    assert_eq!(seen(&edits, None), "X-Forwarded-For=9.9.9.9|A=1|X-Tenant=real");
    assert_eq!(edits.current(&request.headers, "x-tenant"), Some(b"real".as_slice()));
}

#[test]
fn a_status_line_is_that_of_its_code() {
    for status in 100..1000 {
        let mut out = Vec::new();
        write_reply(status, &HeaderEdits::default(), b"", b"", b"", ReplyBody::Whole, &mut out);
        let expect = format!("HTTP/1.1 {status} {}\r\n", reason(status));
        assert!(out.starts_with(expect.as_bytes()), "{status}");
    }
}
