use crate::api::ApiDefinition;
use serde_json::json;

fn problems(limits: serde_json::Value) -> Vec<String> {
    let definition = json!({"name": "a", "api_id": "a", "use_keyless": true, "proxy": {"listen_path": "/a/", "target_url": "http://a"},
        "version_data": {"not_versioned": true, "versions": {"Default": {"name": "Default"}}}, "tollgate": {"request_limits": limits}});
    match ApiDefinition::parse(definition.to_string().as_bytes(), None) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().map(|problem| problem.path.clone()).collect(),
    }
}

#[test]
fn limits_that_cannot_be_are_found() {
    let cases = [
        (json!([{"requests": 1, "window_s": 1}]), vec![]),
        (json!([{"requests": 1, "window_s": 86_400, "by": "header", "name": "X-Tenant"}]), vec![]),
        (json!([{"window_s": 1}]), vec!["$.tollgate.request_limits[0].requests"]),
        (json!([{"requests": -1, "window_s": 1}]), vec!["$.tollgate.request_limits[0].requests"]),
        (json!([{"requests": 1, "window_s": 86_401}]), vec!["$.tollgate.request_limits[0].window_s"]),
        (json!([{"requests": 1, "window_s": 1, "by": "header", "name": "a b"}]), vec!["$.tollgate.request_limits[0].name"]),
        (json!([{"requests": 1, "window_s": 1, "by": "claim"}]), vec!["$.tollgate.request_limits[0].name"]),
        (json!(vec![json!({"requests": 1, "window_s": 1}); 17]), vec!["$.tollgate.request_limits"]),
    ];
    for (limits, expected) in cases {
        assert_eq!(problems(limits.clone()), expected, "{limits}");
    }
}
