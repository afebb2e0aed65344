use super::*;
use tollgate_http::{HeaderStorage, Request};

/// Whether conditions hold for a request with these header lines and this query.
fn hold(conditions: &RuleConditions, method: &str, lines: &str, query: &str) -> bool {
    let text = format!("GET / HTTP/1.1\r\nHost: h\r\n{lines}\r\n");
    let mut storage = HeaderStorage::new();
    let request = Request::parse(text.as_bytes(), &mut storage).unwrap().unwrap();
    conditions.hold(&RoutedRequest::new(method, HeadView::new(&request.headers), Some(query)))
}

fn exact(name: &str, value: &str) -> ValueCondition {
    ValueCondition { name: name.to_owned(), pattern: ValuePattern::Exact(value.to_owned()) }
}

fn expression(name: &str, pattern: &str) -> ValueCondition {
    ValueCondition { name: name.to_owned(), pattern: ValuePattern::expression(pattern).unwrap() }
}

#[test]
fn all_headers_of_a_match_must_be_there_with_their_whole_values() {
    let conditions =
        RuleConditions { headers: vec![exact("Version", "two"), expression("color", "gr[ae]y")], ..Default::default() };
    assert!(hold(&conditions, "GET", "version: two\r\ncolor: grey\r\n", ""));
    assert!(!hold(&conditions, "GET", "version: two\r\ncolor: greyish\r\n", ""));
    assert!(!hold(&conditions, "GET", "version: TWO\r\ncolor: grey\r\n", ""));
    assert!(!hold(&conditions, "GET", "color: grey\r\n", ""));
}

#[test]
fn lines_with_one_name_are_one_value() {
    let conditions = RuleConditions { headers: vec![exact("a", "1, 2")], ..Default::default() };
    assert!(hold(&conditions, "GET", "a: 1\r\nA: 2\r\n", ""));
    assert!(hold(&conditions, "GET", "a: 1, 2\r\n", ""));
    assert!(!hold(&conditions, "GET", "a: 1\r\n", ""));
}

#[test]
fn the_first_value_of_a_parameter_counts() {
    let conditions = RuleConditions { query: vec![exact("animal", "blue whale")], ..Default::default() };
    assert!(hold(&conditions, "GET", "", "x=1&animal=blue%20whale&animal=dog"));
    assert!(!hold(&conditions, "GET", "", "animal=dog&animal=blue%20whale"));
    assert!(!hold(&conditions, "GET", "", "Animal=blue%20whale"));
}

#[test]
fn methods_are_compared_as_they_are() {
    let conditions = RuleConditions { method: Some("POST".to_owned()), ..Default::default() };
    assert!(hold(&conditions, "POST", "", ""));
    assert!(!hold(&conditions, "post", "", ""));
}

#[test]
fn an_expression_cannot_leave_its_group() {
    assert!(RulePath::pattern("a)|(b").is_err());
    let request = RoutedRequest::bare("GET");
    assert_eq!(RulePath::pattern("/a|/b").unwrap().matches("/bb", &request), None);
    assert_eq!(RulePath::pattern("/a|/b").unwrap().matches("/b", &request), Some(2));
}

#[test]
fn a_request_that_would_cost_too_much_meets_nothing() {
    let query = "a".repeat(EXPRESSION_BYTES_MAX / 100);
    let request = RoutedRequest { query: Some(&format!("q={query}")), ..RoutedRequest::bare("GET") };
    let conditions = RuleConditions { query: vec![expression("q", "a*")], ..Default::default() };
    assert!((0..100).all(|_| conditions.hold(&request)));
    assert!(!request.is_too_costly());
    assert!(!conditions.hold(&request));
    assert!(request.is_too_costly());
}
