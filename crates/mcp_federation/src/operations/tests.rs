use super::*;
use crate::outside::{ApiAccess, ApiReply};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::sync::Mutex;
use tollgate_pattern::Glob;

/// An API that keeps what it is asked.
#[derive(Default)]
struct Shop {
    asked: Mutex<Vec<String>>,
}

impl OwnApis for Shop {
    fn document(&self, api: &str) -> Option<Arc<Document>> {
        let document = json!({"openapi": "3.0.3", "info": {"title": "shop", "version": "1"}, "paths": {
            "/orders/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
                "get": {"operationId": "getOrder", "summary": "One order", "tags": ["read"], "responses": {},
                    "parameters": [{"name": "view", "in": "query", "schema": {"type": "string", "nullable": true}},
                        {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                        {"name": "Authorization", "in": "header", "schema": {"type": "string"}}]},
                "delete": {"operationId": "drop order!", "responses": {}},
            },
            "/orders": {"post": {"tags": ["write"], "responses": {}, "requestBody": {"required": true, "content": {
                "text/plain": {}, "application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}}}},
            "/forms": {
                "post": {"operationId": "form", "responses": {}, "requestBody": {"content": {"application/x-www-form-urlencoded": {}}}},
                "put": {"operationId": "event", "responses": {}, "requestBody": {"content": {"application/cloudevents+json; v=1": {}}}},
                "patch": {"operationId": "upload", "responses": {}, "requestBody": {"content": {"multipart/form-data": {}, "text/xml": {}}}},
            },
        }, "components": {"schemas": {"Order": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Order"}}}}}});
        (api == "shop").then(|| Arc::new(Document::new(document).unwrap().0))
    }

    fn access(&self, api: &str) -> Option<ApiAccess> {
        let headers =
            [("authToken", "X-Key"), ("jwt", "Authorization")].map(|(method, header)| (method.to_owned(), header.to_owned()));
        let (id, org, listen_path) = (api.to_owned(), String::new(), "/shop/".to_owned());
        Some(ApiAccess { id, org, listen_path, credential_headers: headers.to_vec() })
    }

    fn call(&self, request: OwnRequest) -> BoxFuture<'static, Result<ApiReply, String>> {
        let OwnRequest { method, target, headers, body, .. } = request;
        let headers: Vec<_> =
            headers.iter().filter(|(name, _)| name != "Accept").map(|(name, value)| format!("{name}={value}")).collect();
        let asked = format!("{method} {target} {} {}", headers.join(","), String::from_utf8_lossy(&body));
        self.asked.lock().unwrap().push(asked);
        let status = if target.contains("404") { 404 } else { 200 };
        async move { Ok(ApiReply { status, body: br#"{"id": 7}"#.to_vec() }) }.boxed()
    }
}

fn ask(terms: OperationTerms, message: Value, headers: &[(&str, &str)]) -> (Value, Vec<String>) {
    let shop = Arc::new(Shop::default());
    let server = OperationsServer { terms, apis: shop.clone(), time_max: Duration::from_secs(1) };
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let asked = server.send(Outbound { message: &message, agreed: None, headers, holder: None });
    let answer = asked.now_or_never().unwrap().unwrap();
    let Messages::One(answer) = answer.messages else { panic!("one message") };
    let asked = shop.asked.lock().unwrap().clone();
    (answer.message, asked)
}

fn all() -> OperationTerms {
    OperationTerms {
        api: "shop".to_owned(),
        include: Vec::new(),
        tags: Vec::new(),
        credentials: vec![("authToken".to_owned(), "Authorization".to_owned())],
    }
}

fn names(terms: OperationTerms) -> Vec<String> {
    let (answer, _) = ask(terms, json!({"id": 1, "method": "tools/list"}), &[]);
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// A path without a part, or with dots, is that of another operation.
#[test]
fn arguments_do_not_lead_to_other_operations() {
    for id in [json!(""), json!("."), json!("..")] {
        let call = json!({"id": 1, "method": "tools/call", "params": {"name": "getOrder", "arguments": {"id": id}}});
        let (answer, asked) = ask(all(), call, &[]);
        assert_eq!((&answer["error"]["code"], asked.len()), (&json!(-32602), 0), "{answer}");
    }
    let call = json!({"id": 1, "method": "tools/call", "params": {"name": "getOrder", "arguments": {"id": "a/../.b"}}});
    assert!(ask(all(), call, &[]).1[0].starts_with("GET /orders/a%2F..%2F.b "));
}

#[test]
fn operations_are_tools_by_id_or_path_and_are_chosen_by_name_or_tag() {
    assert_eq!(names(all()), ["getOrder", "drop_order_", "post_orders", "event", "form", "upload"]);
    assert_eq!(names(OperationTerms { include: vec![Glob::new("get*")], ..all() }), ["getOrder"]);
    assert_eq!(names(OperationTerms { tags: vec!["write".to_owned()], ..all() }), ["post_orders"]);
}

#[test]
fn schemas_stand_for_themselves() {
    let (answer, _) = ask(all(), json!({"id": 1, "method": "tools/list"}), &[]);
    let of = |name: &str| answer["result"]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone();
    let get = of("getOrder");
    assert_eq!(get["inputSchema"]["properties"]["view"]["type"], json!(["string", "null"]));
    assert_eq!((&get["inputSchema"]["required"], &get["annotations"]["readOnlyHint"]), (&json!(["id"]), &json!(true)));
    let post = of("post_orders");
    assert_eq!(post["inputSchema"]["properties"]["body"], json!({"$ref": "#/$defs/Order"}));
    assert_eq!(post["inputSchema"]["$defs"]["Order"]["properties"]["next"], json!({"$ref": "#/$defs/Order"}));
    assert_eq!(of("drop_order_")["annotations"]["destructiveHint"], json!(true));
}

#[test]
fn a_call_is_a_request_with_the_callers_own_credentials() {
    let call =
        |name: &str, arguments: Value| json!({"id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
    let caller = [("authorization", "key"), ("cookie", "secret")];
    let arguments = json!({"id": "7/../8", "view": "a&b", "X-Trace": "t", "Authorization": "stolen"});
    let (answer, asked) = ask(all(), call("getOrder", arguments), &caller);
    assert_eq!(asked, ["GET /orders/7%2F..%2F8?view=a%26b X-Key=key,X-Trace=t "], "where the API reads it");
    assert_eq!((&answer["result"]["isError"], &answer["result"]["structuredContent"]), (&json!(false), &json!({"id": 7})));
    let (answer, asked) = ask(all(), call("post_orders", json!({"body": {"a": 1}})), &[]);
    assert_eq!(
        (asked[0].as_str(), &answer["result"]["isError"]),
        ("POST /orders Content-Type=application/json {\"a\":1}", &json!(false))
    );
    let (answer, _) = ask(all(), call("getOrder", json!({"id": 404})), &[]);
    assert_eq!(answer["result"]["isError"], json!(true));
    for (name, arguments) in [("getOrder", json!({})), ("nothing", json!({}))] {
        let (answer, asked) = ask(all(), call(name, arguments), &[]);
        assert!(answer["error"]["code"] == -32602 && asked.is_empty(), "{answer}");
    }
}

/// What would be lost on the way is no tool.
#[test]
fn bodies_are_json_or_forms_and_other_operations_are_left_out_with_the_reason() {
    let call =
        |name: &str, body: Value| json!({"id": 1, "method": "tools/call", "params": {"name": name, "arguments": {"body": body}}});
    let sent = |name: &str, body: Value| ask(all(), call(name, body), &[]).1;
    let form = json!({"a b": "c&d", "deep": {"x": 1}, "list": [1, true], "none": null});
    let expected = "POST /forms Content-Type=application/x-www-form-urlencoded a%20b=c%26d&deep=%7B%22x%22%3A1%7D&list=1&list=true";
    assert_eq!(sent("form", form), [expected]);
    assert_eq!(sent("event", json!({"a": 1})), ["PUT /forms Content-Type=application/cloudevents+json; v=1 {\"a\":1}"]);
    assert!(sent("upload", json!({"a": 1})).is_empty());
    let (answer, _) = ask(all(), json!({"id": 1, "method": "tools/list"}), &[]);
    let tools = answer["result"]["tools"].as_array().unwrap();
    let upload = tools.iter().find(|tool| tool["name"] == "upload").unwrap();
    assert_eq!(upload[WITHHELD], "its body is neither JSON nor a form, but multipart/form-data, text/xml");
}

/// A caller that may only read.
struct Reader;

impl CallerRights for Reader {
    fn refuses(&self, api: &ApiAccess, method: &str, path: &str) -> bool {
        assert!(api.id == "shop" && path.starts_with('/'));
        method != "GET"
    }
}

#[test]
fn what_an_api_refuses_a_caller_is_known_where_it_gets_all_its_credentials() {
    let refused = |terms: OperationTerms, wanted: &str| {
        let server = OperationsServer { terms, apis: Arc::new(Shop::default()), time_max: Duration::from_secs(1) };
        server.refused(&Reader, |name| name.contains(wanted))
    };
    let credentials = ["authToken", "jwt"].map(|method| (method.to_owned(), "Authorization".to_owned())).to_vec();
    let known = || OperationTerms { credentials: credentials.clone(), ..all() };
    assert_eq!(
        refused(known(), "order").into_iter().collect::<BTreeSet<_>>(),
        ["drop_order_".to_owned(), "post_orders".to_owned()].into()
    );
    assert!(refused(known(), "getOrder").is_empty());
    assert!(refused(all(), "order").is_empty(), "it takes tokens, too");
    assert!(refused(OperationTerms { api: "gone".to_owned(), ..known() }, "order").is_empty());
}
