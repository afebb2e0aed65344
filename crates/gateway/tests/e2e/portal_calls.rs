//! Calls from pages of the portal: forms for operations of OpenAPI documents and for GraphQL queries, with the visitor's own key.

use serde_json::{Value, json};

use crate::harness::browser::{Browser, Tab};
use crate::harness::graph::SCHEMA;
use crate::harness::{Upstream, eventually, reply};
use crate::keys::keyed;
use crate::portal::{PASSWORD, Stage, expect_accessible, follow, stage, stage_of};

const EVIL: &str = "<img src=x onerror='window.ran=1'><script>window.ran=1</script>";
const CHANGE: &str = "details[data-place='post /orders/{id}']";
const ANSWER: &str =
    "[...document.querySelectorAll('[aria-label=Answer] > pre')].find((one) => one.checkVisibility())?.innerText ?? ''";

/// Tells what it has got; at other paths, it answers with markup, and with more than is shown.
fn echo() -> Upstream {
    Upstream::start(|request| match request.target.as_str() {
        "/page" => reply("200 OK", &["Content-Type: text/html"], EVIL),
        "/long" => reply("200 OK", &["Content-Type: text/plain"], &"x".repeat(400_000)),
        target => {
            let body = format!(r#"{{"target":"{target}","exact":12345678901234567890,"got":{}}}"#, json!(request.text()));
            reply("201 Created", &["Content-Type: application/json", "X-Own: of the API"], &body)
        }
    })
}

fn document(target: &str) -> Value {
    let operation = |summary: &str| json!({"get": {"summary": summary, "responses": {"200": {"description": "All right"}}}});
    let order = json!({"type": "object", "properties": {
        "sku": {"type": "string", "example": "A-1"}, "id": {"type": "integer", "readOnly": true},
    }});
    json!({
        "openapi": "3.0.3",
        "info": {"title": "Orders", "version": "2.1"},
        "paths": {
            "/orders/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
                "post": {
                    "summary": "Change an order",
                    "parameters": [
                        {"name": "page", "in": "query", "schema": {"type": "integer", "default": 3}},
                        {"name": "tags", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
                        {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                        {"name": "Authorization", "in": "header", "schema": {"type": "string", "default": "of the document"}},
                    ],
                    "requestBody": {"required": true, "content": {"application/json": {"schema": order}}},
                    "responses": {"201": {"description": "Changed"}},
                },
            },
            "/forms": {"post": {"summary": "Send a form", "responses": {"201": {"description": "Sent"}}, "requestBody": {"content": {
                "application/x-www-form-urlencoded": {"schema": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}},
                }}},
                "multipart/form-data": {"schema": {"type": "object", "properties": {"note": {"type": "string", "default": "a note"}}}},
                "text/csv": {"schema": {"type": "string"}, "example": "sku;n"},
            }}}},
            "/page": operation("A page"),
            "/long": operation("A long text"),
            "/../shop/": operation("Out of the API"),
        },
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "Authorization"}}},
        "x-tyk-api-gateway": {
            "info": {"name": "Orders", "id": "orders", "state": {"active": true}},
            "server": {
                "listenPath": {"value": "/orders-api/", "strip": true},
                "authentication": {"enabled": true, "securitySchemes": {"key": {"enabled": true}}},
            },
            "upstream": {"url": target},
        },
    })
}

/// Publishes the document as the product `orders`.
fn publish(stage: &Stage, upstream: &Upstream) {
    stage.control("POST", "/tyk/apis/oas", &document(&upstream.url()));
    let rights = json!({"orders": {"api_id": "orders", "api_name": "orders", "versions": ["Default"]}});
    let gold = json!({"id": "gold", "name": "gold", "org_id": "default", "active": true, "rate": 1000, "per": 60, "quota_max": -1, "access_rights": rights});
    stage.control("PUT", "/tyk/policies/gold", &gold);
    let plan = json!({"id": "free", "name": "Free", "policy": "gold", "approval": "automatic"});
    let product = json!({"name": "Orders", "apis": ["orders"], "is_public": true, "plans": [plan]});
    stage.control("PUT", "/tyk/portal/products/orders", &product);
}

/// A page of somebody who has just got a key of a product, and the key.
fn with_key(browser: &mut Browser, stage: &Stage, product: &str) -> (Tab, String) {
    stage.invited("ada@example.com");
    let mut tab = browser.tab();
    tab.open_page(&stage.page("#/sign-in"));
    tab.fill("Mail address", "ada@example.com");
    tab.fill("Password", PASSWORD);
    tab.click("button", "Sign in");
    tab.click("a", product);
    tab.click("button", "Choose Free");
    tab.click("dialog button", "Get a key");
    tab.wait("document.querySelector('[data-key]')");
    let key = tab.eval("document.querySelector('[data-key]').innerText").as_str().expect("the key").to_owned();
    (tab, key)
}

/// Opens the form of an operation, after those of others are closed.
fn open_form(tab: &mut Tab, place: &str) {
    tab.eval("document.querySelectorAll('details details').forEach((one) => { one.open = false })");
    tab.wait("![...document.querySelectorAll('form.try')].some((one) => one.checkVisibility())");
    tab.click(&format!("details[data-place='{place}'] details > summary"), "Try it");
    tab.wait("[...document.querySelectorAll('form.try')].some((one) => one.checkVisibility())");
}

#[test]
fn an_operation_is_called_with_the_visitors_own_key() {
    let Some(mut browser) = Browser::start() else { return };
    let (stage, upstream) = (stage(None, json!({})), echo());
    publish(&stage, &upstream);
    let (mut tab, key) = with_key(&mut browser, &stage, "Orders");
    tab.click("button", "Done");
    // The key is in the page's memory alone, so the page stays.
    tab.eval("location.hash = '#/products/orders/apis/orders'");
    tab.see("Change an order");
    // With the keyboard alone.
    tab.eval(&format!("document.querySelector(\"{CHANGE} > summary\").focus()"));
    follow(&mut tab, "Try it");
    tab.wait("document.querySelector('form.try')");
    assert_eq!(tab.eval("document.querySelector('form.try textarea[required]').value"), json!("{\n  \"sku\": \"A-1\"\n}"));
    tab.fill("id *", "7 7");
    tab.fill("tags", "a\nb&c");
    tab.fill("X-Trace", "abc");
    assert_eq!(tab.eval(&format!("document.querySelector('form.try').innerText.includes({})", json!(key))), json!(false));
    tab.eval("document.querySelector('form.try input').focus()");
    follow(&mut tab, "Send");
    let target = "/orders/7%207?page=3&tags=a&tags=b%26c";
    tab.wait(&format!("({ANSWER}).includes({})", json!(format!("\"target\": \"{target}\""))));
    tab.see("Created in");
    assert_eq!(tab.eval(&format!("({ANSWER}).includes('12345678901234567890')")), json!(true), "numbers stay as they are");
    let seen = upstream.last();
    let told = (seen.method.as_str(), seen.target.as_str(), seen.header("x-trace"), seen.header("authorization"));
    assert_eq!(told, ("POST", target, Some("abc"), Some(key.as_str())), "the document has no say in the key");
    assert_eq!(serde_json::from_str::<Value>(&seen.text()).expect("JSON"), json!({"sku": "A-1"}));
    assert_eq!(seen.header("cookie"), None);
    for (width, dark) in [(1280, false), (375, true)] {
        tab.screen(width, 740, dark);
        assert_eq!(tab.eval("document.documentElement.scrollWidth > innerWidth"), json!(false), "at {width}");
        tab.screenshot(&format!("portal-call-{width}"));
        expect_accessible(&mut tab);
    }
    tab.screen(1280, 800, false);

    // Another key, which is refused in the gateway's words.
    tab.eval("(() => { const one = document.querySelector('form.try select'); one.value = ''; one.dispatchEvent(new Event('change', {bubbles: true})) })()");
    tab.fill("Your key", "of nobody");
    tab.click("button", "Send");
    tab.wait(&format!("({ANSWER}).includes('\"error\": ')"));
    let asked = upstream.requests();

    tab.fill("Your key", &key);
    open_form(&mut tab, "get /page");
    tab.click("button", "Send");
    tab.wait(&format!("({ANSWER}) === {}", json!(EVIL)));
    open_form(&mut tab, "get /long");
    tab.click("button", "Send");
    tab.see("The rest of the body is not shown.");
    assert_eq!(tab.eval(&format!("({ANSWER}).length <= 100_000")), json!(true));
    assert_eq!(upstream.requests(), asked + 2);
    open_form(&mut tab, "get /../shop/");
    tab.see("This path leads out of the API");
    tab.click("button", "Send");
    tab.wait("[...document.querySelectorAll('form.try [role=alert]')].some((one) => one.checkVisibility())");
    assert_eq!(upstream.requests(), asked + 2);
    assert_eq!(tab.eval("window.ran === undefined"), json!(true));
    assert_eq!(tab.eval("document.querySelectorAll('main img, main script').length"), json!(0));
    assert!(tab.complaints.is_empty(), "{:#?}", tab.complaints);
}

#[test]
fn a_body_is_sent_as_its_type_says() {
    let Some(mut browser) = Browser::start() else { return };
    let (stage, upstream) = (stage(None, json!({})), echo());
    publish(&stage, &upstream);
    let (mut tab, key) = with_key(&mut browser, &stage, "Orders");
    tab.open_page(&stage.page("#/products/orders/apis/orders"));
    tab.see("Send a form");
    open_form(&mut tab, "post /forms");
    tab.fill("Your key", &key);
    let choose = |tab: &mut Tab, kind: &str| {
        tab.eval(&format!(
            "(() => {{ const one = [...document.querySelectorAll('form.try select')].at(-1); one.value = {}; \
             one.dispatchEvent(new Event('change', {{bubbles: true}})) }})()",
            json!(kind)
        ));
    };
    tab.fill("name *", "a & b");
    tab.fill("tags", "x\ny");
    for (kind, sent) in [
        ("application/x-www-form-urlencoded", "name=a+%26+b&tags=x&tags=y"),
        ("text/csv", "sku;n"),
        ("multipart/form-data", "name=\"note\"\r\n\r\na note\r\n"),
    ] {
        if kind != "application/x-www-form-urlencoded" {
            choose(&mut tab, kind);
        }
        let asked = upstream.requests();
        tab.click("button", "Send");
        eventually("the upstream is asked", || upstream.requests() > asked);
        let seen = upstream.last();
        assert!(seen.header("content-type").is_some_and(|own| own.starts_with(kind)), "{kind}: {:?}", seen.header("content-type"));
        assert!(seen.text().contains(sent), "{kind}: {}", seen.text());
        tab.see("Created in");
    }
    assert!(tab.complaints.is_empty(), "{:#?}", tab.complaints);
}

#[test]
fn where_pages_may_not_call_apis_no_page_offers_it() {
    let Some(mut browser) = Browser::start() else { return };
    let (stage, upstream) = (stage(None, json!({"tollgate": {"portal": {"try_it": false}}})), echo());
    publish(&stage, &upstream);
    let (mut tab, _) = with_key(&mut browser, &stage, "Orders");
    tab.see("A first call of Orders");
    assert_eq!(tab.eval("document.body.innerText.includes('Call it now')"), json!(false));
    tab.click("button", "Done");
    tab.eval("location.hash = '#/products/orders/apis/orders'");
    tab.see("Change an order");
    tab.wait(&format!("document.querySelector(\"{CHANGE}\").innerText.includes('Changed')"));
    assert_eq!(tab.eval("document.body.innerText.includes('Try it')"), json!(false));
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn a_query_is_sent_beside_the_schema() {
    let Some(mut browser) = Browser::start() else { return };
    let graph = Upstream::start(|_| reply("200 OK", &["Content-Type: application/json"], r#"{"data":{"user":{"name":"Ada"}}}"#));
    let stage = stage_of(None, json!({}), |_| {
        keyed("shop", &graph)
            .set("graphql", json!({"enabled": true, "execution_mode": "proxyOnly", "version": "2", "schema": SCHEMA}))
    });
    let mut ada = stage.invited("ada@example.com");
    let grant = ada.granted("free");
    let (key, _) = ada.key(&grant);
    let mut tab = browser.tab();
    tab.open_page(&stage.page("#/products/shop/apis/shop"));
    tab.see("interface Node");
    tab.fill("Your key", &key);
    let query = "query ($id: ID!) { user(id: $id) { name } }";
    tab.fill("Query", query);
    tab.fill("Variables", "{");
    tab.see("The variables must be JSON.");
    tab.fill("Variables", r#"{"id": "7"}"#);
    tab.click("button", "Send");
    tab.wait(&format!("({ANSWER}).includes('\"name\": \"Ada\"')"));
    let sent: Value = serde_json::from_str(&graph.last().text()).expect("JSON");
    assert_eq!(sent, json!({"query": query, "variables": {"id": "7"}}));
    for (width, dark) in [(1280, true), (375, false)] {
        tab.screen(width, 740, dark);
        assert_eq!(tab.eval("document.documentElement.scrollWidth > innerWidth"), json!(false), "at {width}");
        tab.screenshot(&format!("portal-query-{width}"));
        expect_accessible(&mut tab);
    }
    assert!(tab.complaints.is_empty(), "{:#?}", tab.complaints);
}
