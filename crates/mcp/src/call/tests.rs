use super::*;

/// What a body is read as: `METHOD [KIND NAME] id=ID`, or `CODE MESSAGE id=ID`.
fn read(body: &str) -> String {
    match Call::read(body.as_bytes()) {
        Ok(None) => "an answer".to_owned(),
        Ok(Some(call)) => {
            let primitive =
                call.primitive.map(|primitive| format!(" {} {}", primitive.kind.name(), primitive.name)).unwrap_or_default();
            let id = if call.is_notification { "none" } else { &call.id };
            format!("{}{primitive} id={id}", call.method)
        }
        Err(error) => format!("{} {} id={}", error.code.0, error.message, error.id),
    }
}

/// Statuses and words are those of a Tyk 5.14 that was asked the same.
#[test]
fn calls_and_what_is_wrong_with_them() {
    let cases = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "ping id=1"),
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "notifications/initialized id=none"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "ping id=null"),
        (r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo"}}"#, r#"tools/call tool echo id="a""#),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a:b"}}"#, "resources/read resource a:b id=1"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:b"}}"#,
            "resources/subscribe resource a:b id=1",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe"}"#, "resources/subscribe id=1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p"}}"#, "prompts/get prompt p id=1"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"}}}"#,
            "completion/complete prompt p id=1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"u"}}}"#,
            "completion/complete resource u id=1",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{}}"#, "completion/complete id=1"),
        (r#"{"jsonrpc":"2.0","id":"a","result":{}}"#, "an answer"),
        (r#"{"jsonrpc":"2.0","id":"a","error":{"code":1}}"#, "an answer"),
        (r#"{"jsonrpc":"2.0","id":"a","method":"ping","result":{}}"#, r#"ping id="a""#),
        ("{nope", "-32700 parse error id=null"),
        ("", "-32700 parse error id=null"),
        ("[]", "-32700 parse error id=null"),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "-32700 parse error id=null"),
        ("1", "-32700 parse error id=null"),
        ("null", "-32600 invalid request id=null"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#, "-32700 parse error id=null"),
        ("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "-32700 parse error id=null"),
        (r#"{"id":1,"method":"ping"}"#, "-32600 invalid request id=1"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "-32600 invalid request id=1"),
        (r#"{"jsonrpc":"2.0","id":"x"}"#, r#"-32600 invalid request id="x""#),
        (r#"{"jsonrpc":"2.0","id":{"a":[1]},"method":""}"#, r#"-32600 invalid request id={"a":[1]}"#),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, "-32700 parse error id=null"),
        (r#"{"jsonrpc":2,"id":1,"method":"ping"}"#, "-32700 parse error id=null"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, "-32602 missing required params object id=1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}"#, "-32602 missing required parameter: name id=1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, "-32602 missing required parameter: name id=1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}"#, "-32602 missing required parameter: uri id=1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":""}}"#, "-32602 invalid params id=1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}"#, "-32602 invalid params id=1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":null}}"#, "-32602 invalid params id=1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["echo"]}"#, "-32602 invalid params: expected object id=1"),
    ];
    for (body, expected) in cases {
        assert_eq!(read(body), expected, "{body}");
    }
}

/// A server in another language may read another call than the one that was checked.
#[test]
fn what_can_be_read_in_two_ways_is_refused() {
    let members = [
        r#""method":"ping","method":"tools/call""#,
        r#""method":"ping","Method":"tools/call""#,
        r#""METHOD":"ping""#,
        r#""method":"ping","m\u0065thod":"tools/call""#,
        r#""method":"ping","param\u017f":{}"#,
        r#""method":"ping","ID":2"#,
        r#""method":"ping","JSONRPC":"2.0""#,
        r#""result":{},"Method":"tools/call""#,
        r#""Result":{}"#,
    ];
    for members in members {
        let found = read(&format!(r#"{{"jsonrpc":"2.0","id":1,{members}}}"#));
        assert!(found.starts_with("-32600 "), "{members}: {found}");
    }
    let params = [
        ("tools/call", r#"{"name":"a","name":"b"}"#),
        ("tools/call", r#"{"name":"a","Name":"b"}"#),
        ("tools/call", r#"{"n\u0061me":"a","NAME":"b"}"#),
        ("resources/read", r#"{"uri":"a","URI":"b"}"#),
        ("resources/subscribe", r#"{"uri":"a","uri":"b"}"#),
        ("completion/complete", r#"{"ref":{"type":"ref/prompt","name":"a"},"Ref":{"type":"ref/prompt","name":"b"}}"#),
        ("completion/complete", r#"{"ref":{"type":"ref/prompt","name":"a","name":"b"}}"#),
    ];
    for (method, params) in params {
        let found = read(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#));
        assert_eq!(found, "-32602 invalid params id=1", "{params}");
    }
}

#[test]
fn depth_and_length_are_bounded_by_the_body() {
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(read(&deep), "ping id=1");
    let id = "1".repeat(2_000);
    assert_eq!(read(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)), "-32600 invalid request id=null");
}

#[test]
fn an_error_names_the_id_and_the_status() {
    let body = crate::error_body(RpcCode::of_status(403), "a \"b\"", Some(403), "\"x\"");
    let expected = r#"{"jsonrpc":"2.0","error":{"code":-32002,"message":"a \"b\"","data":{"http_code":403}},"id":"x"}"#;
    assert_eq!(String::from_utf8(body).unwrap(), expected);
    let codes = [
        (400, -32600),
        (401, -32001),
        (404, -32601),
        (405, -32600),
        (413, -32000),
        (429, -32003),
        (500, -32603),
        (504, -32004),
        (599, -32603),
    ];
    for (status, code) in codes {
        assert_eq!(RpcCode::of_status(status).0, code, "{status}");
    }
}

#[test]
fn names_have_a_bound() {
    let long = "x".repeat(NAME_BYTES_MAX + 1);
    let call = |method: &str, params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    assert_eq!(read(&call(&long, "{}")), "-32600 invalid request id=1");
    for (method, params) in [
        ("tools/call", format!(r#"{{"name":"{long}"}}"#)),
        ("resources/read", format!(r#"{{"uri":"{long}"}}"#)),
        ("completion/complete", format!(r#"{{"ref":{{"type":"ref/prompt","name":"{long}"}}}}"#)),
    ] {
        assert_eq!(read(&call(method, &params)), "-32602 invalid params id=1", "{method}");
    }
}
