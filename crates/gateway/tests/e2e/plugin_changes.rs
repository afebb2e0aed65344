//! What plugins change, field by field, from within each kind of plugin and in each hook: what the upstream or the client gets. What they see
//! is in `plugin_fields`; `docs/plugin-fields.md` has both tables for people.

use serde_json::{Value, json};

use crate::harness::{Response, error_json};
use crate::plugin_fields::{HOOKS, Kind, Plugged};

/// A change, how each kind of plugin makes it, and its effect. A kind without a way to make it is left out.
struct Change {
    name: &'static str,
    grpc: Option<Value>,
    script: Option<&'static str>,
    wasm: Option<&'static str>,
    /// What the upstream gets: `method`, `target`, `body`, and all lines of headers.
    upstream: Value,
    /// What the client gets: `status`, `body`, and all lines of headers. Then the upstream gets nothing.
    client: Value,
}

fn change(name: &'static str) -> Change {
    Change { name, grpc: None, script: None, wasm: None, upstream: json!({}), client: json!({}) }
}

impl Change {
    fn grpc(self, told: Value) -> Change {
        Change { grpc: Some(told), ..self }
    }

    /// A gRPC plugin's change of the request.
    fn request(self, request: Value) -> Change {
        self.grpc(json!({"merge": {"request": request}}))
    }

    fn script(self, code: &'static str) -> Change {
        Change { script: Some(code), ..self }
    }

    fn wasm(self, commands: &'static str) -> Change {
        Change { wasm: Some(commands), ..self }
    }

    fn upstream(self, upstream: Value) -> Change {
        Change { upstream, ..self }
    }

    fn client(self, client: Value) -> Change {
        Change { client, ..self }
    }

    /// What the header of a hook tells one kind of plugin; `number` is that of the script's function.
    fn told(&self, kind: Kind, number: usize) -> Option<String> {
        match kind {
            Kind::Grpc => self.grpc.as_ref().map(Value::to_string),
            Kind::Script => self.script.map(|_| number.to_string()),
            Kind::Wasm => self.wasm.map(str::to_owned),
        }
    }
}

fn of_requests() -> Vec<Change> {
    let overrides = |overrides: Value| json!({"return_overrides": overrides});
    vec![
        change("nothing")
            .grpc(json!({}))
            .script("")
            .wasm("print nothing")
            .upstream(json!({"method": "POST", "target": "/x?p=1&q=2", "body": "sent", "X-Set": ["old", "older"], "X-Gone": ["1"]})),
        change("method").request(json!({"method": "PUT"})).wasm("set :method=PUT").upstream(json!({"method": "PUT"})),
        change("method of a script").script("x.request.Method = 'PUT'").upstream(json!({"method": "POST"})),
        change("url, whose query has no effect")
            .request(json!({"url": "/a/other?z=1"}))
            .upstream(json!({"target": "/other?p=1&q=2"})),
        change("url with its query")
            .script("x.request.URL = '/a/other?z=1'")
            .wasm("set :path=/a/other?z=1")
            .upstream(json!({"target": "/other?z=1"})),
        change("url without a query").script("x.request.URL = '/a/other'").wasm("set :path=/a/other").upstream(json!({"target": "/other"})),
        change("url of another API's path")
            .request(json!({"url": "/b/other"}))
            .script("x.request.URL = '/b/other?p=1&q=2'")
            .wasm("set :path=/b/other?p=1&q=2")
            .upstream(json!({"target": "/b/other?p=1&q=2"})),
        change("url of another server")
            .request(json!({"url": "http://127.0.0.1:1/a/other"}))
            .script("x.request.URL = 'http://127.0.0.1:1/a/other?p=1&q=2'")
            .wasm("set :path=http://127.0.0.1:1/a/other?p=1&q=2")
            .upstream(json!({"target": "/other?p=1&q=2"})),
        change("url of another API")
            .request(json!({"url": "tyk://b/other?z=1"}))
            .upstream(json!({"target": "/beside/other?p=1&q=2"})),
        change("url of another API with its query")
            .script("x.request.URL = 'tyk://b/other?z=1&method=GET'")
            .wasm("set :path=tyk://b/other?z=1&method=GET")
            .upstream(json!({"target": "/beside/other?z=1", "method": "GET"})),
        change("url of an API that does not exist")
            .request(json!({"url": "tyk://nowhere/other"}))
            .script("x.request.URL = 'tyk://nowhere/other'")
            .wasm("set :path=tyk://nowhere/other")
            .client(json!({"status": 500, "body": error_json("Can't detect loop target")})),
        change("add_params")
            .request(json!({"add_params": {"p": "9", "z": "a b"}}))
            .script("x.request.AddParams = {p: '9', z: 'a b'}")
            .upstream(json!({"target": "/x?p=9&q=2&z=a+b"})),
        change("delete_params")
            .request(json!({"delete_params": ["p"]}))
            .script("x.request.DeleteParams.push('p')")
            .upstream(json!({"target": "/x?q=2"})),
        change("extended_params of a script")
            .script("x.request.ExtendedParams = {p: ['8', '9']}")
            .upstream(json!({"target": "/x?p=1&p=8&p=9&q=2"})),
        change("extended_params").request(json!({"extended_params": {"p": "8"}})).upstream(json!({"target": "/x?p=1&q=2"})),
        change("params").request(json!({"params": {"p": "8"}})).script("x.request.Params.p = ['8']").upstream(json!({"target": "/x?p=1&q=2"})),
        change("set_headers")
            .request(json!({"set_headers": {"x-set": "new", "X-New": "1"}}))
            .script("x.request.SetHeaders['x-set'] = 'new'; x.request.SetHeaders['X-New'] = '1'")
            .wasm("set x-set=new;;set X-New=1")
            .upstream(json!({"X-Set": ["new"], "X-New": ["1"]})),
        change("a line beside others").wasm("add X-Set=oldest").upstream(json!({"X-Set": ["old", "older", "oldest"]})),
        change("delete_headers")
            .request(json!({"delete_headers": ["x-gone", "X-Set"], "set_headers": {"X-Set": "new"}}))
            .script("x.request.DeleteHeaders = ['x-gone', 'X-Set']; x.request.SetHeaders['X-Set'] = 'new'")
            .wasm("remove x-gone;;remove X-Set;;set X-Set=new")
            .upstream(json!({"X-Gone": [], "X-Set": ["new"]})),
        change("headers")
            .request(json!({"headers": {"X-Set": "direct"}}))
            .script("x.request.Headers['X-Set'] = ['direct']")
            .upstream(json!({"X-Set": ["old", "older"]})),
        change("headers of the connection")
            .request(json!({"set_headers": {"Host": "evil", "Content-Length": "1", "Transfer-Encoding": "chunked"}, "delete_headers": ["Content-Length"]}))
            .script("x.request.SetHeaders = {Host: 'evil', 'Content-Length': '1', 'Transfer-Encoding': 'chunked'}; x.request.DeleteHeaders = ['Content-Length']")
            .wasm("set Host=evil;;set Content-Length=1;;set Transfer-Encoding=chunked;;set :authority=evil")
            .upstream(json!({"Host": ["UPSTREAM"], "Content-Length": ["4"], "Transfer-Encoding": [], "body": "sent"})),
        change("raw_body")
            .grpc(json!({"body": "changed"}))
            .script("x.request.Body = 'changed'")
            .wasm("body changed")
            .upstream(json!({"body": "changed", "Content-Length": ["7"]})),
        change("raw_body, empty").grpc(json!({"body": ""})).script("x.request.Body = ''").wasm("body ").upstream(json!({"body": ""})),
        change("body").request(json!({"body": "changed"})).upstream(json!({"body": "sent"})),
        change("a part of the body").wasm("append -more;;prepend first-").upstream(json!({"body": "first-sent-more"})),
        change("IgnoreBody").script("x.request.Body = 'changed'; x.request.IgnoreBody = true").upstream(json!({"body": "sent"})),
        change("scheme, request_uri")
            .request(json!({"scheme": "https", "request_uri": "/b/x"}))
            .script("x.request.Scheme = 'https'; x.request.RequestURI = '/b/x'")
            .wasm("set :scheme=https")
            .upstream(json!({"target": "/x?p=1&q=2"})),
        change("return_overrides below 400")
            .request(overrides(json!({"response_code": 201, "response_body": "made", "headers": {"x-plugin": "1"}})))
            .script("x.request.ReturnOverrides = {ResponseCode: 201, ResponseBody: 'made', ResponseHeaders: {'x-plugin': '1'}}")
            .client(json!({"status": 201, "body": "made", "X-Plugin": ["1"], "Content-Type": ["text/plain; charset=utf-8"]})),
        change("a response of a module")
            .wasm("reply 418 teapot")
            .client(json!({"status": 418, "body": "teapot", "X-Plugin": ["1", "2"]})),
        change("return_overrides from 400 on")
            .request(overrides(json!({"response_code": 403, "response_error": "no", "response_body": "lost", "headers": {"x-plugin": "1"}})))
            .script("x.request.ReturnOverrides = {ResponseCode: 403, ResponseError: 'no', ResponseBody: 'lost', ResponseHeaders: {'x-plugin': '1'}}")
            .client(json!({"status": 403, "body": error_json("no"), "X-Plugin": ["1"], "Content-Type": ["application/json"]})),
        change("return_overrides with a body only")
            .request(overrides(json!({"response_code": 403, "response_body": "no"})))
            .script("x.request.ReturnOverrides.ResponseCode = 403; x.request.ReturnOverrides.ResponseBody = 'no'")
            .client(json!({"status": 403, "body": error_json("no")})),
        change("return_overrides without a text")
            .request(overrides(json!({"response_code": 401})))
            .client(json!({"status": 401, "body": error_json("Key not authorised")})),
        change("return_overrides of a script without a text")
            .script("x.request.ReturnOverrides.ResponseCode = 401")
            .client(json!({"status": 401, "body": error_json("")})),
        change("override_error")
            .request(overrides(json!({"response_code": 418, "response_body": "teapot", "override_error": true, "headers": {"Content-Type": "a/b"}})))
            .script("x.request.ReturnOverrides = {ResponseCode: 418, ResponseBody: 'teapot', OverrideError: true, ResponseHeaders: {'Content-Type': 'a/b'}}")
            .client(json!({"status": 418, "body": "teapot", "Content-Type": ["a/b"]})),
    ]
}

fn of_responses() -> Vec<Change> {
    vec![
        change("nothing")
            .grpc(json!({}))
            .script("")
            .wasm("print nothing")
            .client(json!({"status": 201, "body": "answer", "X-One": ["1", "2"]})),
        change("status_code")
            .grpc(json!({"merge": {"response": {"status_code": 202}}}))
            .script("x.response.StatusCode = 202")
            .wasm("set :status=202")
            .client(json!({"status": 202, "body": "answer"})),
        change("raw_body")
            .grpc(json!({"response_body": "longer than before"}))
            .script("x.response.Body = 'longer than before'")
            .wasm("body longer than before")
            .client(json!({"body": "longer than before", "Content-Length": ["18"]})),
        change("raw_body, empty")
            .grpc(json!({"response_body": ""}))
            .script("x.response.Body = ''")
            .wasm("body ")
            .client(json!({"body": "", "Content-Length": ["0"]})),
        change("body").grpc(json!({"merge": {"response": {"body": "changed"}}})).client(json!({"body": "answer"})),
        change("a new header")
            .grpc(json!({"merge": {"response": {"headers": {"X-New": "n"}}}}))
            .script("x.response.SetHeaders['x-new'] = 'n'")
            .wasm("set x-new=n")
            .client(json!({"X-New": ["n"], "X-One": ["1", "2"]})),
        change("headers: the first line")
            .grpc(json!({"merge": {"response": {"headers": {"X-One": "9"}}}}))
            .client(json!({"X-One": ["9", "2"]})),
        change("all lines of a header")
            .script("x.response.SetHeaders['X-One'] = '9'")
            .wasm("set x-one=9")
            .client(json!({"X-One": ["9"]})),
        change("multivalue_headers")
            .grpc(json!({"lines": {"X-One": ["7", "8", "9"]}}))
            .wasm("set X-One=7;;add X-One=8;;add X-One=9")
            .client(json!({"X-One": ["7", "8", "9"]})),
        change("a header that goes")
            .grpc(json!({"drop": ["X-Gone", "X-One"]}))
            .script("x.response.DeleteHeaders = ['x-gone', 'X-One']")
            .wasm("remove x-gone;;remove X-One")
            .client(json!({"X-Gone": [], "X-One": []})),
        change("Headers of a script").script("x.response.Headers['X-One'] = ['9']").client(json!({"X-One": ["1", "2"]})),
        change("headers of the connection")
            .grpc(json!({"merge": {"response": {"headers": {"Content-Length": "1", "Transfer-Encoding": "chunked"}}}}))
            .script("x.response.SetHeaders = {'Content-Length': '1', 'Transfer-Encoding': 'chunked'}")
            .wasm("set Content-Length=1;;set Transfer-Encoding=chunked")
            .client(json!({"body": "answer", "Content-Length": ["6"], "Transfer-Encoding": []})),
        change("the request")
            .grpc(json!({"merge": {"request": {"return_overrides": {"response_code": 403}, "set_headers": {"X-Late": "1"}}}}))
            .script("x.request.ReturnOverrides.ResponseCode = 403; x.request.SetHeaders['X-Late'] = '1'")
            .client(json!({"status": 201, "body": "answer", "X-Late": []})),
        change("a response of a module")
            .wasm("reply 418 teapot")
            .client(json!({"status": 418, "body": "teapot", "X-Plugin": ["1", "2"]})),
    ]
}

/// The functions of scripts, by the numbers of changes.
fn functions(changes: &[Change]) -> Vec<String> {
    changes.iter().map(|change| change.script.unwrap_or_default().to_owned()).collect()
}

#[track_caller]
fn check(wanted: &Value, what: &str, seen: impl Fn(&str) -> Value) {
    for (field, value) in wanted.as_object().unwrap() {
        assert_eq!(&seen(field), value, "{what}: {field}");
    }
}

fn of_client(response: &Response, field: &str) -> Value {
    match field {
        "status" => json!(response.status),
        "body" => json!(response.text()),
        name => json!(response.head.all(name)),
    }
}

#[test]
fn each_change_of_a_request_acts_in_each_hook_of_each_kind() {
    let changes = of_requests();
    for kind in Kind::ALL {
        let Some(plugged) = Plugged::start(kind, &functions(&changes), |definition| definition) else { return };
        let host = format!("127.0.0.1:{}", plugged.upstream.port());
        for hook in HOOKS.into_iter().filter(|hook| *hook != "response") {
            for (number, change) in changes.iter().enumerate() {
                let Some(mut told) = change.told(kind, number) else { continue };
                let ends = change.client.get("status").is_some();
                if hook == "auth_check" && kind != Kind::Script {
                    told = and_admits(&plugged, &told);
                }
                let before = plugged.upstream.requests();
                let lines = ["X-Gone: 1", "X-Set: old", "X-Set: older"];
                let answer = plugged.send("POST /a/x?p=1&q=2", &lines, &[(hook, told)]);
                let what = format!("{kind:?} {hook}: {} ({answer})", change.name);
                check(&change.client, &what, |field| of_client(&answer, field));
                if ends {
                    assert_eq!(plugged.upstream.requests(), before, "{what}");
                    continue;
                }
                assert_eq!((answer.status, plugged.upstream.requests()), (201, before + 1), "{what} {}", plugged.gateway.log());
                let seen = plugged.upstream.last();
                check(&change.upstream, &what, |field| match field {
                    "method" => json!(seen.method),
                    "target" => json!(seen.target),
                    "body" => json!(seen.text()),
                    name => {
                        let lines = seen.head.all(name);
                        json!(lines.iter().map(|line| line.replace(&host, "UPSTREAM")).collect::<Vec<_>>())
                    }
                });
            }
        }
        plugged.gateway.expect_no_panic();
    }
}

/// What tells `auth_check` to make a change and to let the caller in.
fn and_admits(plugged: &Plugged, told: &str) -> String {
    match plugged.kind {
        Kind::Grpc => {
            let mut both: Value = serde_json::from_str(&plugged.admits()).unwrap();
            crate::harness::definition::merge(&mut both, &serde_json::from_str(told).unwrap());
            both.to_string()
        }
        _ => format!("{};;{told}", plugged.admits()),
    }
}

#[test]
fn each_change_of_a_response_acts_from_each_kind() {
    let changes = of_responses();
    for kind in Kind::ALL {
        let Some(plugged) = Plugged::start(kind, &functions(&changes), |definition| definition) else { return };
        for (number, change) in changes.iter().enumerate() {
            let Some(told) = change.told(kind, number) else { continue };
            let answer = plugged.send("POST /a/x", &[], &[("response", told)]);
            let what = format!("{kind:?}: {} ({answer}) {}", change.name, plugged.gateway.log());
            check(&change.client, &what, |field| of_client(&answer, field));
        }
        plugged.gateway.expect_no_panic();
    }
}
