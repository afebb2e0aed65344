//! What Tyk gives to scripts.

use super::*;
use crate::request_argument;
use tollgate_plugin::{HookKind, PluginRequest};

/// Evaluates an expression in a virtual endpoint.
fn value_of(expression: &str) -> Value {
    load(&format!("function f(request, session, config) {{ return JSON.stringify({expression}) }}"), "f")
        .answer(json!({"Body": "b"}))
}

#[test]
fn functions_return_what_tyk_s_return() {
    for (expression, expected) in [
        ("b64enc('hé?>')", json!("aMOpPz4=")),
        ("rawb64enc('hé?>')", json!("aMOpPz4")),
        ("b64dec('aMOpPz4=')", json!("hé?>")),
        ("b64dec('aMOpPz4')", json!("hé?>")),
        ("rawb64dec('aMOpPz4')", json!("hé?>")),
        ("[rawb64dec('aMOpPz4=')]", json!([null])),
        ("[b64dec('*')]", json!([null])),
        ("b64enc(5)", json!("NQ==")),
        ("b64enc()", json!("dW5kZWZpbmVk")),
        ("[log('x'), rawlog('x')]", json!([null, null])),
        ("[JSON.parse('1'), JSON.parse('[1]'), JSON.parse('\"a\"')]", json!([1, [1], "a"])),
        ("JSON.parse(TykGetKeyData('k', 'api'))", json!({"key": "k", "api": "api", "expires": 5})),
        ("[request.Body, session.meta_data.m, config.config_data.c]", json!(["b", 1, 2])),
        (
            "JSON.parse(TykJsResponse({Body: 'x', Code: 200}, {a: 'b'}))",
            json!({"Response": {"Body": "x", "Code": 200}, "SessionMeta": {"a": "b"}}),
        ),
    ] {
        assert_eq!(value_of(expression), expected, "{expression}");
    }
}

#[test]
fn requests_of_scripts_are_tyk_s() {
    let text = r#"function f(request) {
        var reply = TykMakeHttpRequest(request.Body);
        return JSON.stringify(reply === undefined ? "undefined" : JSON.parse(reply));
    }"#;
    let script = load(text, "f");
    let send = |call: Value| script.answer(json!({"Body": call.to_string()}));
    let reply = send(json!({
        "Method": "POST", "Domain": "http://a.example", "Resource": "/p", "Headers": {"X-H": "v"}, "FormData": {"b": "1 2", "a": "&"}
    }));
    let headers = json!({"X-A": ["1", "2"]});
    let body = "to http://a.example/p";
    assert_eq!(reply, json!({"Code": 201, "Body": body, "Headers": headers, "code": 201, "body": body, "headers": headers}));
    assert_eq!(
        script.host.calls.lock().unwrap().as_slice(),
        [HttpCall {
            method: "POST".into(),
            url: "http://a.example/p".into(),
            headers: vec![("X-H".into(), "v".into())],
            body: b"a=%26&b=1+2".to_vec()
        }]
    );
    assert_eq!(send(json!({"method": "GET", "domain": "http://nowhere", "body": "x"})), json!("undefined"));
    assert_eq!(send(json!({"Headers": {"a": 1}})), json!("undefined"));
    assert!(script.host.lines().concat().contains("\"a\" is no text"));
}

#[test]
fn batches_answer_in_order_and_a_lost_one_with_zero() {
    let text = "function f(request) { return TykBatchRequest(request.Body) }";
    let script = load(text, "f");
    let batch =
        json!({"requests": [{"relative_url": "http://a/1"}, {"method": "POST", "relative_url": "http://nowhere", "body": "b"}]});
    let replies = script.answer(json!({"Body": batch.to_string()}));
    let first = json!({"relative_url": "http://a/1", "code": 201, "headers": {"X-A": ["1", "2"]}, "body": "to http://a/1"});
    assert_eq!(replies, json!([first, {"relative_url": "", "code": 0, "headers": null, "body": ""}]));
    assert_eq!(script.host.lines(), ["batch in turn false"]);
}

#[test]
fn middlewares_change_requests_and_responses() {
    let text = r#"
        var mw = new TykJS.TykMiddleware.NewMiddleware({a: 1});
        mw.NewProcessRequest(function (request, session, config) {
            request.SetHeaders["X-Conf"] = config.APIID + mw.configuration.a;
            request.Body = request.Body + "!";
            return mw.ReturnData(request, session.meta_data);
        });
        mw.NewProcessResponse(function (response, request, session, config) {
            response.SetHeaders["X-R"] = request.URL;
            return mw.ReturnResponseData(response, {});
        });"#;
    let script = load(text, "mw");
    let request = json!({"Headers": {"A": ["b"]}, "SetHeaders": {}, "Body": "ü", "URL": "/u"});
    let made = script
        .call(SandboxEntry::Request, [request.clone(), json!({"meta_data": {"k": "v"}}), json!({"APIID": "api"}), json!(true)]);
    assert_eq!(made.unwrap(), "SetHeaders\0X-Conf\0api1\0JSON\0Body\0\"ü!\"\0JSON\0SessionMeta\0{\"k\":\"v\"}\0");
    let made = script.call(SandboxEntry::Response, [json!({"SetHeaders": {}, "Body": "r"}), request, json!({}), json!({})]);
    let made: Value = serde_json::from_str(&made.unwrap()).unwrap();
    assert_eq!(made, json!({"Response": {"SetHeaders": {"X-R": "/u"}, "IsBodyKept": true}, "SessionMeta": {}}));
}

#[test]
fn a_request_made_of_texts_is_an_ordinary_object() {
    let request = PluginRequest {
        method: "PUT".to_owned(),
        scheme: "https",
        url: "/u?a=1".to_owned(),
        absolute_url: None,
        request_uri: "/x".to_owned(),
        headers: [("B", "1"), ("A", "2"), ("B", "3")].map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        host: "h".to_owned(),
        params: vec![("a".to_owned(), "1".to_owned())],
        body: b"b".to_vec(),
    };
    let whole = r#"{"Headers":{"A":["2"],"B":["1","3"],"Host":["h"]},"SetHeaders":{},"DeleteHeaders":[],"Body":"b","URL":"/u?a=1","Params":{"a":["1"]},"AddParams":{},"ExtendedParams":{},"DeleteParams":[],"ReturnOverrides":{"ResponseCode":0,"ResponseError":"","ResponseBody":"","ResponseHeaders":null,"OverrideError":false},"IgnoreBody":false,"Method":"PUT","RequestURI":"/x","Scheme":"https"}"#;
    for (expression, expected) in [
        ("JSON.stringify(request)", whole),
        ("JSON.stringify(Object.assign({}, request))", whole),
        ("Object.keys(request).length", "14"),
        ("(request.Headers.C = 'c', Object.keys(request.Headers).join())", "A,B,Host,C"),
        ("(request.Headers = 5, request.Headers)", "5"),
        ("(request.Params = 5, delete request.Headers, 'Headers' in request)", "false"),
        ("Object.create(request).Params.a[0]", "1"),
        ("(request.Method = 'A', delete request.Method, request.Method)", "undefined"),
        ("(request.Method = undefined, 'Method' in request)", "true"),
        ("(Object.create(request).Method = 'A', request.Method)", "PUT"),
        ("(request.Extra = 1, Object.keys(request).length)", "15"),
        ("(request.SetHeaders.A = 'c', Object.values(request)[1].A)", "c"),
        ("(Object.freeze(request), request.Method = 'A', request.Method)", "PUT"),
        ("Object.getOwnPropertyDescriptor(request, 'Headers').value.A", "2"),
        ("request.toString() + request.nothing + ('valueOf' in request)", "[object Object]undefinedtrue"),
    ] {
        let text = format!(
            "var mw = new TykJS.TykMiddleware.NewMiddleware({{}});
            mw.NewProcessRequest(function (request) {{ return {{Request: {{Body: '' + ({expression}), URL: request.URL}}}} }});"
        );
        let script = load(&text, "mw");
        let (sender, receiver) = channel();
        let arguments =
            [request_argument(request.clone(), true), Argument::Json("{}".into()), Argument::Json("{}".into()), Argument::None];
        script
            .script
            .call(ScriptCall { handler: script.handler, entry: SandboxEntry::Request, arguments }, Box::new(Channel(sender)));
        let answer = crate::request_answer(&receiver.recv().unwrap().unwrap(), HookKind::Pre, None).unwrap();
        let body = answer.request.body.map(|body| String::from_utf8(body).unwrap());
        assert_eq!(body.as_deref(), Some(expected), "{expression}");
    }
}

#[test]
fn auth_middlewares_return_a_session() {
    let text = r#"
        var auth = new TykJS.TykMiddleware.NewMiddleware({});
        auth.NewProcessRequest(function (request, session) {
            return auth.ReturnAuthData(request, {rate: 100});
        });"#;
    let made = load(text, "auth").call(SandboxEntry::Request, [json!({}), json!({}), json!({}), json!(null)]).unwrap();
    assert_eq!(made, "JSON\0Session\0{\"rate\":100}\0");
}

#[test]
fn event_handlers_get_event_and_context() {
    let text = r#"
        var handler = new TykJS.TykEventHandlers.NewEventHandler({});
        handler.NewHandler(function (event, context) {
            var session = JSON.parse(TykGetKeyData(event.Meta.Key, context.APIID));
            session.expires += 1000;
            TykSetKeyData(event.Meta.Key, JSON.stringify(session));
            TykSetKeyData("bad", "{}", 1);
        });
        log("ready");"#;
    let script = load(text, "handler");
    assert_eq!(script.host.lines(), ["log ready"], "top-level code is heard when the script is loaded");
    script.call(SandboxEntry::Event, [json!({"Meta": {"Key": "k"}}), json!({"APIID": "api"}), json!(null), json!(null)]).unwrap();
    let session = r#"{"key":"k","api":"api","expires":1005}"#;
    assert_eq!(
        script.host.lines(),
        [format!("set k {session} false"), "set bad {} true".into(), "log TykSetKeyData: no such key".into()]
    );
}

#[test]
fn functions_for_records_change_or_drop_them() {
    for (body, expected) in [
        ("record.path = config.APIID;", r#"{"path":"api"}"#),
        ("return {path: '/other'}", r#"{"path":"/other"}"#),
        ("return record", r#"{"path":"/a"}"#),
        ("return null", ""),
        ("return false", ""),
    ] {
        let script = load(&format!("function f(record, config) {{ {body} }}"), "f");
        let made = script.call(SandboxEntry::Record, [json!({"path": "/a"}), json!({"APIID": "api"}), json!(null), json!(null)]);
        assert_eq!(made.as_deref(), Ok(expected), "{body}");
    }
}

#[test]
fn constants_are_made_anew_for_each_call() {
    let mut builder = ProgramBuilder::default();
    let text = "function f(a, b) { a.list.push(1); b['__proto__'] = 1; return JSON.stringify([a, b]) }";
    let source = builder.source("plugin.js", text, Scope::Shared);
    let handler = builder.handler(source, "f").unwrap();
    let constants = [r#"{"list": []}"#, r#"{"__proto__": {"x": "\\"}}"#].map(|text| Argument::Constant(builder.constant(text)));
    let script = ScriptEngine::new().load(builder.build(), Arc::new(NotedHost::default()), LIMITS).unwrap();
    for _ in 0..2 {
        let (sender, receiver) = channel();
        let [a, b] = constants.clone();
        let call =
            ScriptCall { handler, entry: SandboxEntry::Virtual, arguments: [a, b, Argument::Json("{}".into()), Argument::None] };
        script.call(call, Box::new(Channel(sender)));
        assert_eq!(receiver.recv().unwrap().as_deref(), Ok(r#"[{"list":[1]},{"__proto__":1}]"#));
    }
}

#[test]
fn a_constant_is_an_ordinary_object() {
    for (expression, expected) in [
        ("a", r#"{"rate":5,"meta":null,"rights":{"api":[1]}}"#),
        ("[a.rate, a.meta, a.rights.api, a.nothing]", "[5,null,[1],null]"),
        ("(a.rights.api[0] = 2, a)", r#"{"rate":5,"meta":null,"rights":{"api":[2]}}"#),
        ("(a.meta = {b: 1}, a)", r#"{"rate":5,"meta":{"b":1},"rights":{"api":[1]}}"#),
        ("(a.rate = undefined, [a.rate, Object.keys(a).join()])", r#"[null,"rate,meta,rights"]"#),
        ("(delete a.rate, [a.rate, 'rate' in a, 'meta' in a])", "[null,false,true]"),
        ("(a.constructor === Object) + a.toString()", r#""true[object Object]""#),
    ] {
        let mut builder = ProgramBuilder::default();
        let source = builder.source("plugin.js", format!("function f(a) {{ return JSON.stringify({expression}) }}"), Scope::Shared);
        let handler = builder.handler(source, "f").unwrap();
        let constant = Argument::Constant(builder.constant(r#"{"rate": 5, "meta": null, "rights": {"api": [1]}}"#));
        let script = ScriptEngine::new().load(builder.build(), Arc::new(NotedHost::default()), LIMITS).unwrap();
        for _ in 0..2 {
            let (sender, receiver) = channel();
            let arguments = [constant.clone(), Argument::Json("{}".into()), Argument::Json("{}".into()), Argument::None];
            script.call(ScriptCall { handler, entry: SandboxEntry::Virtual, arguments }, Box::new(Channel(sender)));
            assert_eq!(receiver.recv().unwrap().as_deref(), Ok(expected), "{expression}");
        }
    }
}

#[test]
fn two_files_may_use_one_name() {
    let file = |answer: &str| format!("var f = function () {{ return shared() + '{answer}' }};");
    let mut builder = ProgramBuilder::default();
    let shared = builder.source("lib.js", "function shared() { return 'from ' }", Scope::Shared);
    let one = builder.source("one.js", file("one"), Scope::Own);
    let two = builder.source("two.js", file("two"), Scope::Own);
    let handlers = [(one, "f"), (two, "f"), (shared, "shared")].map(|(source, name)| builder.handler(source, name).unwrap());
    let script = Arc::new(ScriptEngine::new().load(builder.build(), Arc::new(NotedHost::default()), LIMITS).unwrap());
    let made = handlers.map(|handler| {
        let (sender, receiver) = channel();
        let arguments = ["{}", "{}", "{}", "{}"].map(|text| Argument::Json(text.to_owned()));
        script.call(ScriptCall { handler, entry: SandboxEntry::Virtual, arguments }, Box::new(Channel(sender)));
        receiver.recv().unwrap().unwrap()
    });
    assert_eq!(made, ["from one", "from two", "from "]);
}

#[test]
fn faults_of_programs_name_file_and_line() {
    for (text, name, expected) in [
        ("var a = 1;\nvar b = = 2;", "f", "plugin.js: SyntaxError: unexpected token in expression: '=' in line 2"),
        ("var a = 1;\n\nnothing.at.all;", "f", "ReferenceError: nothing is not defined (plugin.js, line 3)"),
        ("var a = 1;", "f", "plugin.js: defines no f"),
        ("var f = 5;", "f", "plugin.js: defines no f"),
        ("while (true) {}", "f", "its top-level code takes too long, or logs too much"),
    ] {
        let fault = load_fault(text, name);
        assert!(fault.starts_with(expected), "{text:?}: {fault}");
    }
    let mut builder = ProgramBuilder::default();
    let source = builder.source("plugin.js", "", Scope::Shared);
    for name in ["", "a b", "f()", "1a", "a..b", "f;log(1)"] {
        assert!(builder.handler(source, name).is_err(), "{name:?}");
    }
}
