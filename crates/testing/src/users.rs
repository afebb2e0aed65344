//! Users with a password, and APIs that ask for one.

use serde_json::{Value, json};

use crate::keys::{Served, basic, keyed, session};
use crate::{Definition, Response, Upstream, error_json, request};

pub fn with_users(id: &str, upstream: &Upstream) -> Definition {
    keyed(id, upstream).set("use_basic_auth", true)
}

pub fn put_user(gateway: &impl Served, method: &str, user: &str, data: Value) {
    let target = format!("/tyk/keys/{user}?org_id=default");
    let answer = gateway.control_answer(method, &target, &session(json!({"basic_auth_data": data})).to_string());
    assert_eq!(answer.status, 200, "{answer}");
}

/// A request of a user to the API `a`.
pub fn ask(gateway: &impl Served, user: &str, password: &str) -> Response {
    gateway.answer(request("GET", "/a/x", &[&basic(user, password)], "").as_bytes())
}

/// The API `a` has refused a user.
pub fn refused(response: &Response, message: &str) {
    assert_eq!((response.status, response.text()), (401, error_json(message)), "{response}");
    assert_eq!(response.header("www-authenticate"), Some("Basic realm=\"a\""));
}

/// How many passwords were compared with a slow hash so far.
pub fn checks(gateway: &impl Served) -> u64 {
    let metrics = gateway.control_answer("GET", "/tyk/metrics", "").text();
    let line = metrics.lines().find_map(|line| line.strip_prefix("tollgate_password_checks_total "));
    line.expect("the figure").trim().parse().expect("a number")
}
