use serde_json::{Value, json};

use super::*;

fn problems(list: &Value) -> Vec<String> {
    let list: Vec<ResponseProcessor> = serde_json::from_value(list.clone()).unwrap();
    let mut findings = Findings::default();
    check(&list, &mut findings);
    findings.conclude(Some(())).map_or_else(|all| all, |((), all)| all).iter().map(ToString::to_string).collect()
}

#[test]
fn what_cannot_act_is_named() {
    let at = "$.response_processors[0]";
    for (processor, problem) in [
        (json!({"name": "header_injector"}), None),
        (json!({"name": "header_injector", "options": null}), None),
        (json!({"name": "header_injector", "options": {"Add_Headers": {"A": "b"}}}), None),
        (json!({"name": "response_body_transform", "options": {}}), None),
        (json!({"name": "header_transform", "options": {"rev_proxy_header_cleanup": {}}}), None),
        (json!({"name": "other"}), Some(format!("{at}: ignored: there is no response processor \"other\""))),
        (
            json!({"name": "goplugin_res_hook"}),
            Some(format!("{at}: ignored: response processor \"goplugin_res_hook\" is not supported")),
        ),
        (json!({"name": "header_injector", "options": {"add_headers": ["A"]}}), Some(format!("{at}.options.add_headers: error: "))),
        (json!({"name": "header_injector", "options": {"add": 1}}), Some(format!("{at}.options.add: ignored: unknown field"))),
        (
            json!({"name": "header_injector", "options": {"add_headers": {"A": "b\nc"}}}),
            Some(format!("{at}.options.add_headers.A: error: must not contain line ends")),
        ),
        (
            json!({"name": "header_injector", "options": {"remove_headers": ["Connection"]}}),
            Some(format!("{at}.options.remove_headers[0]: ignored: has no effect: the gateway writes this header itself")),
        ),
        (
            json!({"name": "header_transform", "options": {"rev_proxy_header_cleanup": {"headers": ["A"], "target_host": "api.test"}}}),
            Some(format!("{at}.options.rev_proxy_header_cleanup.target_host: warning: must be a URL")),
        ),
    ] {
        let found = problems(&json!([processor]));
        match problem {
            None => assert_eq!(found, [""; 0], "{processor}"),
            Some(problem) => assert!(found.len() == 1 && found[0].starts_with(&problem), "{processor}: {found:?}"),
        }
    }
}
