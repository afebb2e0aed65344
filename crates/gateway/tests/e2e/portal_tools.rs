//! Tools of MCP servers at the portal: those that a caller of the plan sees, and what a hostile server can do to a visitor.

use serde_json::{Value, json};

use crate::harness::browser::Browser;
use crate::harness::{Definition, Upstream, reply};
use crate::keys::keyed;
use crate::portal::{expect_accessible, stage_of};

const EVIL: &str = "<img src=x onerror='window.ran=1'><script>window.ran=1</script>[go](javascript:window.ran=1)";

/// A server with sessions, which tells of three tools.
fn server() -> Upstream {
    Upstream::start(|request| {
        let asked: Value = serde_json::from_str(&request.text()).unwrap_or_default();
        let schema = json!({"type": "object", "required": ["sku"], "properties": {
            "sku": {"type": "string", "description": EVIL}, "more": {"$ref": "#"}, "elsewhere": {"$ref": "http://127.0.0.1:9/spy"},
        }});
        let tool = |name: &str| json!({"name": name, "title": EVIL, "description": format!("{EVIL}{}", "x".repeat(10_000)), "inputSchema": schema});
        let result = match asked["method"].as_str().unwrap_or_default() {
            "initialize" => {
                json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
            }
            "tools/list" if request.header("mcp-session-id") == Some("session-1") => {
                json!({"tools": [tool("order"), tool("drop_everything"), tool(EVIL)]})
            }
            _ => return reply("202 Accepted", &[], ""),
        };
        let body = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string();
        reply("200 OK", &["Content-Type: application/json", "Mcp-Session-Id: session-1"], &body)
    })
}

fn proxy(upstream: &Upstream) -> Definition {
    keyed("shop", upstream).set("application_protocol", "mcp").set("json_rpc_version", "2.0")
}

#[test]
fn a_visitor_sees_the_tools_that_their_plan_allows_and_nothing_of_a_server_runs() {
    let Some(mut browser) = Browser::start() else { return };
    let tools = server();
    let stage = stage_of(None, json!({}), |_| proxy(&tools));
    let rights = json!({"shop": {"api_id": "shop", "api_name": "shop", "versions": ["Default"],
        "mcp_access_rights": {"tools": {"blocked": ["drop_everything"]}}}});
    let gold = json!({"id": "gold", "name": "gold", "org_id": "default", "active": true, "rate": 1000, "per": 60, "quota_max": -1, "access_rights": rights});
    stage.control("PUT", "/tyk/policies/gold", &gold);
    let mut ada = stage.invited("ada@example.com");
    let grant = ada.granted("free");
    let (key, _) = ada.key(&grant);

    let mut tab = browser.tab();
    for (width, dark) in [(1280, false), (375, true)] {
        tab.screen(width, 740, dark);
        tab.open_page(&stage.page("#/products/shop/apis/shop"));
        tab.fill("Your key", "no key of anybody");
        tab.click("button", "List its tools");
        tab.see("The gateway answered with status 40");
        tab.fill("Your key", &key);
        tab.click("button", "List its tools");
        tab.wait("document.querySelectorAll('main details').length === 2");
        assert_eq!(tab.eval("document.querySelector('main details summary code').innerText"), json!("order"));
        tab.eval("document.querySelectorAll('details').forEach((one) => { one.open = true })");
        tab.see("sku *");
        assert_eq!(tab.eval("document.documentElement.scrollWidth > innerWidth"), json!(false), "at {width}");
        tab.screenshot(&format!("portal-tools-{width}"));
        expect_accessible(&mut tab);
    }
    assert_eq!(tab.eval("document.body.innerText.includes('drop_everything')"), json!(false));
    // What the server has told is found by a search, which leads to it.
    if tab.eval("document.querySelector('button.menu')?.checkVisibility()") == json!(true) {
        tab.click("button", "Menu");
    }
    tab.click("nav[aria-label=Pages] a", "Search");
    tab.fill("Words", "drop_everything");
    tab.see("Nothing found");
    tab.fill("Words", "order javascript");
    tab.click(".cards a", "order");
    tab.wait("document.activeElement?.closest('details[open]')?.innerText.includes('sku *')");
    assert_eq!(tab.eval("window.ran === undefined"), json!(true));
    assert_eq!(tab.eval("document.querySelectorAll('main img, main script, main a[href^=javascript]').length"), json!(0));
    // The refused request is the only complaint.
    let other: Vec<&String> = tab.complaints.iter().filter(|one| !one.contains("status of 40")).collect();
    assert!(other.is_empty(), "{other:#?}");
}
