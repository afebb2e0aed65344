//! The lists of `extended_paths`.

use super::{check_headers, check_method, check_names};
use crate::api::version::ExtendedPaths;
use crate::api::{AccessEntry, Action};
use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::span;

/// Adds the problems of the lists to `findings`. Disabled entries are checked too, because one edit enables them.
pub(super) fn check(paths: &ExtendedPaths, at: &JsonPath, findings: &mut Findings) {
    check_endpoints(paths, at, findings);
    check_answers(paths, at, findings);
    check_numbers(paths, at, findings);
    check_transforms(paths, at, findings);
}

/// Path and method of every entry of every list.
fn check_endpoints(paths: &ExtendedPaths, at: &JsonPath, findings: &mut Findings) {
    macro_rules! endpoints {
        ($($list:ident)*) => {
            [$((
                stringify!($list),
                paths.$list.iter().map(|e| (e.path.as_str(), e.method.as_str())).collect::<Vec<_>>(),
            )),*]
        };
    }
    let lists = endpoints! { ignored white_list black_list mock_response hard_timeouts size_limits method_transforms
    url_rewrites transform_headers transform_response_headers circuit_breakers internal do_not_track_endpoints
    track_endpoints rate_limit validate_json transform transform_response transform_jq transform_jq_response advance_cache_config operation_validations
    operation_mocks operation_scopes virtual_endpoints persist_graphql };
    for (list, endpoints) in lists {
        for (index, (path, method)) in endpoints.into_iter().enumerate() {
            let at = at.key(if list == "virtual_endpoints" { "virtual" } else { list }).index(index);
            if path.is_empty() {
                findings.warning(&at.key("path"), "is empty and matches every path");
            }
            if !method.is_empty() {
                check_method(&at.key("method"), method, findings);
            }
        }
    }
}

/// Responses that the gateway generates.
fn check_answers(paths: &ExtendedPaths, at: &JsonPath, findings: &mut Findings) {
    for (index, mock) in paths.mock_response.iter().enumerate() {
        let at = at.key("mock_response").index(index);
        if mock.code != 0 {
            check_status(&at.key("code"), mock.code, findings);
        }
        check_headers(&at.key("headers"), &mock.headers, findings);
    }
    let lists: [(&str, &[AccessEntry]); 3] =
        [("ignored", &paths.ignored), ("white_list", &paths.white_list), ("black_list", &paths.black_list)];
    for (list, entries) in lists {
        for (index, entry) in entries.iter().enumerate() {
            check_actions(entry, &at.key(list).index(index).key("method_actions"), findings);
        }
    }
}

fn check_actions(entry: &AccessEntry, at: &JsonPath, findings: &mut Findings) {
    for (method, action) in entry.method_actions.iter().flatten() {
        let at = at.key(method);
        check_method(&at, method, findings);
        if action.action == Action::Reply {
            check_status(&at.key("code"), action.code, findings);
            check_headers(&at.key("headers"), &action.headers, findings);
        }
    }
}

fn check_numbers(paths: &ExtendedPaths, at: &JsonPath, findings: &mut Findings) {
    for (index, timeout) in paths.hard_timeouts.iter().enumerate() {
        let at = at.key("hard_timeouts").index(index);
        if timeout.timeout < 0.0 {
            findings.error(&at.key("timeout"), "must not be negative");
        }
        if !timeout.duration.is_empty() && span::parse_span(&timeout.duration).is_none() {
            findings.error(&at.key("duration"), "must be a span of time such as 500ms or 1m30s");
        }
    }
    for (index, breaker) in paths.circuit_breakers.iter().enumerate() {
        let at = at.key("circuit_breakers").index(index).key("threshold_percent");
        if breaker.threshold_percent > 1.0 {
            findings.warning(&at, "is a share from 0 to 1, such as 0.5: the breaker never opens, as in Tyk");
        } else if breaker.threshold_percent.is_nan() || breaker.threshold_percent < 0.0 {
            findings.error(&at, "must be a share from 0 to 1");
        }
    }
    for (index, limit) in paths.rate_limit.iter().enumerate() {
        let at = at.key("rate_limit").index(index);
        if limit.rate < 0.0 {
            findings.error(&at.key("rate"), "must not be negative");
        }
        if limit.per < 0.0 {
            findings.error(&at.key("per"), "must not be negative");
        }
    }
}

fn check_transforms(paths: &ExtendedPaths, at: &JsonPath, findings: &mut Findings) {
    for (index, transform) in paths.method_transforms.iter().enumerate() {
        let at = at.key("method_transforms").index(index);
        check_method(&at.key("to_method"), &transform.to_method, findings);
    }
    for (list, transforms) in
        [("transform_headers", &paths.transform_headers), ("transform_response_headers", &paths.transform_response_headers)]
    {
        for (index, transform) in transforms.iter().enumerate() {
            let at = at.key(list).index(index);
            check_headers(&at.key("add_headers"), &transform.add_headers, findings);
            check_names(&at.key("delete_headers"), &transform.delete_headers, findings);
        }
    }
}

fn check_status(at: &JsonPath, code: u16, findings: &mut Findings) {
    if !(100..=599).contains(&code) {
        findings.error(at, "must be a status code from 100 to 599");
    }
}
