//! MCP proxies whose server checks that head and body name the same call: what the head names is decided about, and the body passes unread.

use serde_json::{Value, json};

use super::harness::{Definition, Gateway, Upstream, api, request};

const VERSION: &str = "Mcp-Protocol-Version: 2026-07-28";
const CALL: &str = "Mcp-Method: tools/call";

/// A proxy that blocks the tool `drop`.
fn ruled(upstream: &Upstream, checks: bool) -> Definition {
    let blocked = json!([{"path": "^/mcp-tool:drop$", "method": "POST"}]);
    let proxy = api("a", "/a/", &upstream.url()).set("application_protocol", "mcp").list("black_list", blocked);
    proxy.set("tollgate/mcp_server_checks_heads", checks)
}

fn body(tool: &str) -> String {
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool}}).to_string()
}

#[test]
fn what_the_head_names_once_is_decided_about_and_anything_else_is_read() {
    let upstream = Upstream::ok();
    let (checking, reading) =
        (Gateway::start(json!({}), [ruled(&upstream, true)]), Gateway::start(json!({}), [ruled(&upstream, false)]));
    let (echo, drop) = (body("echo"), body("drop"));
    // Lines of the head, the body, and the status where the head counts and where it does not.
    let cases: &[(&[&str], &str, u16, u16)] = &[
        (&[VERSION, CALL, "Mcp-Name: echo"], &echo, 200, 200),
        (&[VERSION, CALL, "Mcp-Name: drop"], &drop, 403, 403),
        (&[VERSION, CALL, "MCP-NAME: =?base64?ZHJvcA==?="], &drop, 403, 403),
        // What the server refuses is not looked at.
        (&[VERSION, CALL, "Mcp-Name: echo"], &drop, 200, 403),
        (&[VERSION, CALL, "Mcp-Name: drop"], &echo, 403, 200),
        (&[VERSION, CALL, "Mcp-Name: echo"], "{", 200, 400),
        (&[VERSION, "Mcp-Method: ping"], "{", 200, 400),
        // Servers could read the other line, or the other version's rules.
        (&[VERSION, CALL, "Mcp-Name: echo", "Mcp-Name: drop"], &drop, 403, 403),
        (&[VERSION, CALL, "Mcp-Name: echo", "mcp_name: drop"], &drop, 403, 403),
        (&[VERSION, CALL, "Mcp-Method: ping", "Mcp-Name: echo"], &drop, 403, 403),
        (&[VERSION, VERSION, CALL, "Mcp-Name: echo"], &drop, 403, 403),
        (&["Mcp-Protocol-Version: 2025-11-25", CALL, "Mcp-Name: echo"], &drop, 403, 403),
        (&[CALL, "Mcp-Name: echo"], &drop, 403, 403),
        // The name is missing, is no text, or stands in bodies alone.
        (&[VERSION, CALL], &drop, 403, 403),
        (&[VERSION, CALL, "Mcp-Name: =?base64?!?="], &drop, 403, 403),
        (&[VERSION, "Mcp-Method: completion/complete", "Mcp-Name: echo"], &drop, 403, 403),
    ];
    for (lines, body, by_head, by_body) in cases {
        let lines = [&["Content-Type: application/json"], *lines].concat();
        let ask = |gateway: &Gateway| gateway.send(request("POST", "/a/", &lines, body));
        let answers = [ask(&checking), ask(&reading)];
        assert_eq!(answers.each_ref().map(|answer| answer.status), [*by_head, *by_body], "{lines:?} {body}");
        for refusal in answers.iter().filter(|answer| answer.status == 403) {
            let error: Value = serde_json::from_str(&refusal.text()).unwrap();
            assert_eq!(error["jsonrpc"], "2.0", "{refusal}");
        }
    }
    assert!(upstream.seen().iter().any(|seen| seen.body == b"{"), "it passes as it came");
}
