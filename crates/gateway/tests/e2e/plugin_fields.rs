//! What plugins see, field by field, from within each kind of plugin and in each hook. `docs/plugin-fields.md` is this table for people; what
//! plugins change is in `plugin_changes`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::definition::merge;
use crate::harness::{Definition, Gateway, Response, Upstream, api, request};
use crate::plugins::PluginServer;
use crate::wasm_plugins;

pub(crate) const HOOKS: [&str; 5] = ["pre", "auth_check", "post_key_auth", "post", "response"];

/// A kind of plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Grpc,
    Script,
    Wasm,
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::Grpc, Kind::Script, Kind::Wasm];
}

/// The upstream's response.
const ANSWER: &[u8] =
    b"HTTP/1.1 201 Created\r\nX-One: 1\r\nX-One: 2\r\nX-Gone: g\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nanswer\r\n0\r\n\r\n";

/// The header that tells a hook what to do.
pub(crate) fn header_of(hook: &str) -> &'static str {
    match hook {
        "pre" => "X-Pre",
        "auth_check" => "X-Auth",
        "post_key_auth" => "X-Key",
        "post" => "X-Post",
        _ => "X-Response",
    }
}

/// A gateway with an API `a` that has all hooks of one kind, and a keyless one, `b`.
pub(crate) struct Plugged {
    pub kind: Kind,
    pub gateway: Gateway,
    pub upstream: Upstream,
    _server: Option<PluginServer>,
    _scripts: TempDir,
}

impl Plugged {
    /// Starts it; scripts have these functions, which a header calls by their numbers. `None` if the machine can't.
    pub(crate) fn start(kind: Kind, functions: &[String], change: impl Fn(Definition) -> Definition) -> Option<Plugged> {
        let upstream = Upstream::start(|_| ANSWER.to_vec());
        let scripts = tempfile::tempdir().unwrap();
        let mut server = None;
        let mut conf = json!({"enable_jsvm": true, "tollgate": {"plugins": {"timeout_ms": 20_000}}});
        let (driver, file) = match kind {
            Kind::Grpc => {
                let started = PluginServer::start()?;
                merge(&mut conf, &started.conf());
                server = Some(started);
                ("grpc", PathBuf::new())
            }
            Kind::Script => ("otto", script(scripts.path(), functions)),
            Kind::Wasm => ("wasm", wasm_plugins::told()?),
        };
        let entry = |hook: &str| json!({"name": hook, "path": file, "require_session": true});
        let hooks = json!({"driver": driver, "pre": [entry("pre")], "auth_check": entry("auth_check"),
            "post_key_auth": [entry("post_key_auth")], "post": [entry("post")], "response": [entry("response")]});
        let definition = api("a", "/a/", &upstream.url())
            .set("custom_middleware", hooks)
            .set("use_keyless", false)
            .set("custom_plugin_auth_enabled", true)
            .set("org_id", "org")
            .set("config_data", json!({"limit": 7}))
            .version("global_headers", json!({"X-Meta": "$tyk_meta.plan"}));
        let beside = api("b", "/b/", &format!("{}/beside", upstream.url()));
        let gateway = Gateway::start(conf, [change(definition), beside]);
        Some(Plugged { kind, gateway, upstream, _server: server, _scripts: scripts })
    }

    /// Sends a request to the API. Its caller is `ann`, unless `auth_check` is told something itself.
    pub(crate) fn send(&self, head: &str, lines: &[&str], told: &[(&str, String)]) -> Response {
        let (method, target) = head.split_once(' ').unwrap();
        let mut all: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        all.extend(told.iter().map(|(hook, told)| format!("{}: {told}", header_of(hook))));
        if !told.iter().any(|(hook, _)| *hook == "auth_check") {
            all.push(format!("X-Auth: {}", self.admits()));
        }
        let lines: Vec<&str> = all.iter().map(String::as_str).collect();
        self.gateway.send(request(method, target, &lines, "sent"))
    }

    /// What lets `ann` in. Scripts do so without being told.
    pub(crate) fn admits(&self) -> String {
        match self.kind {
            Kind::Grpc => {
                let session = json!({"rate": 1000, "per": 1, "alias": "an alias", "metadata": {"plan": "gold"}});
                json!({"merge": {"session": session, "metadata": {"token": "ann"}}}).to_string()
            }
            Kind::Script => "none".to_owned(),
            Kind::Wasm => format!("property tollgate/session={CALLER};;property tollgate/token=ann"),
        }
    }
}

const CALLER: &str = r#"{"rate": 1000, "per": 1, "alias": "an alias", "meta_data": {"plan": "gold"}}"#;

/// A script with a middleware for each hook. The functions get `x`: what the middleware got, and the result of `auth_check`.
fn script(directory: &Path, functions: &[String]) -> PathBuf {
    let functions: Vec<String> = functions.iter().map(|body| format!("function (x) {{ {body} }}")).collect();
    let code = format!(
        r#"
var rows = [{functions}], hooks = {{}};
function run(request, header, x) {{
    var told = request.Headers[header];
    if (told && rows[told[0]]) rows[told[0]](x);
    return x;
}}
["pre", "auth_check", "post_key_auth", "post"].forEach(function (hook) {{
    var header = {{pre: "X-Pre", auth_check: "X-Auth", post_key_auth: "X-Key", post: "X-Post"}}[hook];
    var made = new TykJS.TykMiddleware.NewMiddleware({{}});
    made.NewProcessRequest(function (request, session, config) {{
        var x = run(request, header, {{request: request, session: session, config: config, caller: {CALLER}}});
        if (hook != "auth_check") return made.ReturnData(request, session ? session.meta_data || {{}} : {{}});
        var answer = made.ReturnAuthData(request, x.caller);
        answer.AuthValue = "ann";
        return answer;
    }});
    hooks[hook] = made;
}});
var pre = hooks.pre, auth_check = hooks.auth_check, post_key_auth = hooks.post_key_auth, post = hooks.post;
var response = new TykJS.TykMiddleware.NewMiddleware({{}});
response.NewProcessResponse(function (response_, request, session, config) {{
    run(request, "X-Response", {{response: response_, request: request, session: session, config: config}});
    return response.ReturnResponseData(response_, {{}});
}});
"#,
        functions = functions.join(",\n")
    );
    let file = directory.join("hooks.js");
    fs::write(&file, code).unwrap();
    file
}

/// A field: its name, and where it is in a gRPC call, in what a script gets, and among the properties of a module. Empty where it is not.
const FIELDS: [[&str; 4]; 22] = [
    ["request.method", "/request/method", "x.request.Method", "request/method"],
    ["request.url", "/request/url", "x.request.URL", "request/path"],
    ["request.request_uri", "/request/request_uri", "x.request.RequestURI", "tollgate/request_uri"],
    ["request.scheme", "/request/scheme", "x.request.Scheme", "request/scheme"],
    ["request.headers", "/request/headers/X-Twice", "x.request.Headers['X-Twice'][0]", "request/headers/x-twice"],
    ["request.headers Host", "/request/headers/Host", "x.request.Headers.Host[0]", "request/host"],
    [
        "request.headers of the connection",
        "/request/headers/Transfer-Encoding",
        "x.request.Headers['Transfer-Encoding']",
        "request/headers/transfer-encoding",
    ],
    ["request.params", "/request/params/p", "x.request.Params.p[0]", "tollgate/params/p"],
    ["request.body", "/request/body", "x.request.Body", "body"],
    ["request.raw_body", "/request/raw_body", "", ""],
    ["request.return_overrides", "/request/return_overrides/response_code", "x.request.ReturnOverrides.ResponseCode", ""],
    ["spec.APIID", "/spec/APIID", "x.config.APIID", "tollgate/api_id"],
    ["spec.OrgID", "/spec/OrgID", "x.config.OrgID", "tollgate/org_id"],
    ["spec.config_data", "/spec/config_data", "JSON.stringify(x.config.config_data)", "tollgate/config_data"],
    ["spec.bundle_hash", "/spec/bundle_hash", "", "tollgate/bundle_hash"],
    ["hook_name", "/hook_name", "", "plugin_name"],
    ["session", "/session/alias", "x.session.alias", ""],
    ["session.key_id", "/session/key_id", "", "tollgate/token"],
    ["metadata", "/metadata/plan", "x.session.meta_data.plan", "tollgate/meta_data/plan"],
    ["response.headers", "/response/headers/X-One", "x.response.Headers['X-One'][0]", "response/headers/x-one"],
    [
        "response.headers of the connection",
        "/response/headers/Transfer-Encoding",
        "x.response.Headers['Transfer-Encoding']",
        "response/headers/transfer-encoding",
    ],
    ["response.status_code", "/response/status_code", "x.response.StatusCode", "response/headers/:status"],
];

/// What a field has to be; `None` if it must not be there.
fn wanted(field: &str, kind: Kind, hook: &str, upstream: &str) -> Option<String> {
    let (is_response, knows_caller) = (hook == "response", !matches!(hook, "pre" | "auth_check"));
    let text = match field {
        "request.method" => "POST",
        // As in Tyk, which has made it the upstream's by then. Modules see what the client sees, as in other proxies.
        "request.url" if is_response && kind != Kind::Wasm => return Some(format!("{upstream}/x%20y?p=1&p=2&q=%26")),
        "request.url" | "request.request_uri" => "/a/x%20y?p=1&p=2&q=%26",
        "request.scheme" => "http",
        "request.headers" => "one",
        "request.headers Host" => "gateway.test",
        "request.headers of the connection" => return None,
        "request.params" => "1",
        "request.body" if is_response && kind == Kind::Script => return None,
        "request.body" if is_response && kind == Kind::Wasm => "answer",
        "request.body" => "some body",
        "request.raw_body" => "c29tZSBib2R5",
        "request.return_overrides" if kind == Kind::Grpc => "-1",
        "request.return_overrides" => "0",
        "spec.APIID" => "a",
        "spec.OrgID" => "org",
        "spec.config_data" => "{\"limit\":7}",
        "spec.bundle_hash" => "d41d8cd98f00b204e9800998ecf8427e",
        "hook_name" => hook,
        "session" if knows_caller => "an alias",
        "session.key_id" if knows_caller => "ann",
        "metadata" if knows_caller => "gold",
        "response.headers" if is_response => "1",
        "response.status_code" if is_response => "201",
        _ => return None,
    };
    Some(text.to_owned())
}

/// A value as text; `None` for what is not there.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The function of a script that shows the values of expressions.
fn shows(expressions: impl Iterator<Item = &'static str>) -> String {
    let each: Vec<String> =
        expressions.filter(|expression| !expression.is_empty()).map(|e| format!("function () {{ return {e} }}")).collect();
    format!(
        "var text = JSON.stringify([{}].map(function (get) {{ try {{ return get() }} catch (e) {{ return null }} }}));
         if (x.response) x.response.Body = text;
         else {{ x.request.ReturnOverrides.ResponseCode = 200; x.request.ReturnOverrides.ResponseBody = text; }}",
        each.join(", ")
    )
}

#[test]
fn each_hook_of_each_kind_sees_every_field() {
    for kind in Kind::ALL {
        let functions = [shows(FIELDS.iter().map(|field| field[2]))];
        let Some(plugged) = Plugged::start(kind, &functions, |definition| definition) else { return };
        for hook in HOOKS {
            let ask = |told: &str| {
                // The token of a caller who is not identified yet is nobody's.
                let auth = if hook == "auth_check" { "X-Other: 1".to_owned() } else { format!("X-Auth: {}", plugged.admits()) };
                let answer = plugged.gateway.send(format!(
                    "POST /a/x%20y?p=1&p=2&q=%26 HTTP/1.1\r\nHost: gateway.test\r\n{auth}\r\n{}: {told}\r\nX-Twice: one\r\nX-Twice: two\r\n\
                     Transfer-Encoding: chunked\r\n\r\n9\r\nsome body\r\n0\r\n\r\n",
                    header_of(hook)
                ));
                assert!(answer.status < 300, "{kind:?} {hook} {told}: {answer} {}", plugged.gateway.log());
                answer
            };
            let whole = match kind {
                Kind::Grpc => ask("{\"show\": true}").json(),
                Kind::Script => ask("0").json(),
                Kind::Wasm => Value::Null,
            };
            let mut number = 0;
            for [field, grpc, script, wasm] in FIELDS {
                let seen = match kind {
                    Kind::Grpc => text(whole.pointer(grpc).unwrap_or(&Value::Null)),
                    Kind::Script if script.is_empty() => continue,
                    Kind::Script => {
                        number += 1;
                        text(&whole[number - 1])
                    }
                    Kind::Wasm if wasm.is_empty() => continue,
                    Kind::Wasm => Some(ask(&format!("show {wasm}")).text()).filter(|text| text != "none"),
                };
                assert_eq!(seen, wanted(field, kind, hook, &plugged.upstream.url()), "{kind:?} {hook}: {field}");
            }
        }
    }
}

/// The fields of a session: their names in JSON, those in gRPC where they differ, and values.
fn session_fields() -> Vec<(&'static str, &'static str, Value)> {
    let rights = json!({"a": {"api_id": "a", "api_name": "a", "versions": ["Default"], "allowed_urls": [{"url": "/.*", "methods": ["POST"]}]}});
    vec![
        ("rate", "", json!(1000)),
        ("per", "", json!(60)),
        ("quota_max", "", json!(500)),
        ("quota_renewal_rate", "", json!(3600)),
        ("expires", "", json!(4_000_000_000_u64)),
        ("access_rights", "", rights),
        ("oauth_client_id", "", json!("client")),
        ("oauth_keys", "", json!({"client": "key"})),
        ("basic_auth_data/password", "", json!("a password")),
        ("basic_auth_data/hash_type", "basic_auth_data/hash", json!("bcrypt")),
        ("jwt_data/secret", "", json!("a secret")),
        ("hmac_enabled", "", json!(true)),
        ("hmac_string", "hmac_secret", json!("an hmac secret")),
        ("data_expires", "", json!(4_000_000_001_u64)),
        ("monitor/trigger_limits", "", json!([80, 90])),
        ("enable_detailed_recording", "", json!(true)),
        ("meta_data/plan", "metadata/plan", json!("gold")),
        ("tags", "", json!(["one", "two"])),
        ("alias", "", json!("an alias")),
        ("last_updated", "", json!("1700000000")),
        ("id_extractor_deadline", "", json!(4_000_000_002_u64)),
        ("session_lifetime", "", json!(77)),
        ("post_expiry_action", "", json!("delete")),
        ("post_expiry_grace_period", "", json!(88)),
    ]
}

/// A document with values at paths.
fn document(fields: impl Iterator<Item = (&'static str, Value)>) -> Value {
    let mut document = json!({});
    for (path, value) in fields {
        let mut at = &mut document;
        for step in path.split('/') {
            at = &mut at[step];
        }
        *at = value;
    }
    document
}

/// Values without the difference between numbers and texts: in the JSON of Protocol Buffers, long integers are texts.
fn plain(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<_, _> = members.iter().map(|(name, value)| (name, plain(value))).collect();
            format!("{members:?}")
        }
        Value::Array(values) => format!("{:?}", values.iter().map(plain).collect::<Vec<_>>()),
        Value::Number(number) => number.as_f64().unwrap().to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[test]
fn the_session_that_auth_check_returns_is_that_of_all_later_hooks() {
    for kind in Kind::ALL {
        let fields = session_fields();
        let json_document = document(fields.iter().map(|(name, _, value)| (*name, value.clone())));
        let functions = [shows(["x.session"].into_iter()), format!("x.caller = {json_document};")];
        let Some(plugged) = Plugged::start(kind, &functions, |definition| definition) else { return };
        let proto =
            document(fields.iter().map(|(name, proto, value)| (if proto.is_empty() { *name } else { *proto }, value.clone())));
        let (admits, show) = match kind {
            Kind::Grpc => (json!({"merge": {"session": proto, "metadata": {"token": "ann"}}}).to_string(), "{\"show\": true}"),
            Kind::Script => ("1".to_owned(), "0"),
            Kind::Wasm => {
                (format!("property tollgate/session={json_document};;property tollgate/token=ann"), "show tollgate/session")
            }
        };
        for hook in ["post_key_auth", "post", "response"] {
            let answer = plugged.send("POST /a/x", &[], &[("auth_check", admits.clone()), (hook, show.to_owned())]);
            assert!(answer.status < 300, "{kind:?} {hook}: {answer} {}", plugged.gateway.log());
            let shown = answer.json();
            let session = match kind {
                Kind::Grpc => &shown["session"],
                Kind::Script => &shown[0],
                Kind::Wasm => &shown,
            };
            for (name, proto, value) in &fields {
                let path = if kind == Kind::Grpc && !proto.is_empty() { proto } else { name };
                let seen = session.pointer(&format!("/{path}")).unwrap_or(&Value::Null);
                assert_eq!(plain(seen), plain(value), "{kind:?} {hook}: {path} of {session}");
            }
            // The organisation is the API's, whatever the plugin says.
            assert_eq!(session["org_id"], json!("org"), "{kind:?} {hook}");
        }
    }
}

#[test]
fn a_response_hook_without_a_caller_sees_an_empty_session() {
    for (kind, show, wanted) in
        [(Kind::Grpc, "{\"show\": true}", "{}"), (Kind::Script, "0", "0"), (Kind::Wasm, "show tollgate/session", "none")]
    {
        let functions = [shows(["x.session.rate"].into_iter())];
        let Some(plugged) = Plugged::start(kind, &functions, |definition| definition.set("use_keyless", true)) else { return };
        let answer = plugged.send("POST /a/x", &[], &[("response", show.to_owned())]);
        let seen = match kind {
            // Messages within the session are there, too: programs read them without asking.
            Kind::Grpc => answer.json()["session"]["jwt_data"].to_string(),
            Kind::Script => answer.json()[0].to_string(),
            Kind::Wasm => answer.text(),
        };
        assert_eq!(seen, wanted, "{kind:?}");
        // A hook of the request sees none.
        if kind == Kind::Grpc {
            let shown = plugged.send("POST /a/x", &[], &[("post", show.to_owned())]).json();
            assert_eq!(shown["session"], Value::Null);
        }
    }
}

#[test]
fn changed_metadata_counts_for_the_rest_of_the_request() {
    for (kind, told, header, wanted) in [
        // As in Tyk, gRPC hooks after the identification of the caller change nothing of the session.
        (Kind::Grpc, "{\"merge\": {\"metadata\": {\"plan\": \"silver\"}}}", "{\"show\": true}", "gold"),
        (Kind::Script, "0", "1", "silver"),
        (Kind::Wasm, "property tollgate/meta_data/plan=silver", "show tollgate/meta_data/plan", "silver"),
    ] {
        let functions = ["x.session.meta_data.plan = 'silver';".to_owned(), shows(["x.session.meta_data.plan"].into_iter())];
        let Some(plugged) = Plugged::start(kind, &functions, |definition| definition) else { return };
        assert_eq!(plugged.send("POST /a/x", &[], &[("post_key_auth", told.to_owned())]).status, 201);
        assert_eq!(plugged.upstream.last().header("X-Meta"), Some(wanted), "{kind:?}: $tyk_meta");
        for hook in ["post", "response"] {
            let answer = plugged.send("POST /a/x", &[], &[("post_key_auth", told.to_owned()), (hook, header.to_owned())]);
            let seen = match kind {
                Kind::Grpc => answer.json()["session"]["metadata"]["plan"].clone(),
                Kind::Script => answer.json()[0].clone(),
                Kind::Wasm => json!(answer.text()),
            };
            assert_eq!(seen, json!(wanted), "{kind:?} {hook}");
        }
    }
}
