use super::{RequestTemplate, TemplateText, TemplateVariable, Wire};
use crate::load::wire::url::RequestUrl;

fn variables() -> Vec<TemplateVariable> {
    let lines = |lines: &[&str]| lines.iter().map(|line| line.as_bytes().to_vec()).collect();
    vec![
        TemplateVariable { name: "key".into(), lines: lines(&["k1", "k22"]) },
        TemplateVariable { name: "n".into(), lines: lines(&["7"]) },
    ]
}

fn message(method: &str, path: &str, header: &str, body: Option<&str>, variables: &[TemplateVariable]) -> RequestTemplate {
    let url = RequestUrl::parse(&format!("http://h:1{path}")).unwrap();
    RequestTemplate {
        method: method.into(),
        path: TemplateText::parse(url.path.as_bytes(), variables),
        authority: TemplateText::fixed("h:1"),
        url,
        headers: vec![("A".into(), TemplateText::parse(header.as_bytes(), variables))],
        body: TemplateText::parse(body.unwrap_or_default().as_bytes(), variables),
        has_body: body.is_some(),
    }
}

fn sent(message: &RequestTemplate, variables: &[TemplateVariable], number: u64) -> String {
    let wire = Wire::new(message, true, false, variables);
    String::from_utf8(wire.bytes(variables, number, &mut Vec::new()).to_vec()).unwrap()
}

#[test]
fn variables_take_the_next_line_with_each_request() {
    let variables = variables();
    let message = message("POST", "/{key}?n={n}", "Bearer {key}", Some("{\"k\":\"{key}\"}"), &variables);
    let expect = |key: &str| {
        format!(
            "POST /{key}?n=7 HTTP/1.1\r\nHost: h:1\r\nA: Bearer {key}\r\nContent-Length: {}\r\n\r\n{{\"k\":\"{key}\"}}",
            8 + key.len()
        )
    };
    assert_eq!(sent(&message, &variables, 0), expect("k1"));
    assert_eq!(sent(&message, &variables, 1), expect("k22"));
    assert_eq!(sent(&message, &variables, 2), expect("k1"));
    assert!(!message.is_fixed());
}

#[test]
fn braces_that_name_no_variable_stand_for_themselves() {
    let message = message("GET", "/{id}", "{keys} {", None, &variables());
    assert_eq!(sent(&message, &variables(), 0), "GET /{id} HTTP/1.1\r\nHost: h:1\r\nA: {keys} {\r\n\r\n");
    assert!(message.is_fixed());
}

#[test]
fn a_redirect_keeps_what_it_may() {
    let mut posted = message("POST", "/", "a", Some("b"), &[]);
    posted.headers.push(("Authorization".into(), TemplateText::fixed("secret")));
    let elsewhere = RequestUrl::parse("http://other/x").unwrap();
    let home = RequestUrl::parse("http://h:1/x").unwrap();
    let names = |message: &RequestTemplate| message.headers.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();

    let seen_other = posted.redirected(303, home.clone(), &[], 0);
    assert_eq!((seen_other.method.as_str(), seen_other.has_body), ("GET", false));
    assert_eq!(names(&seen_other), ["A", "Authorization"]);
    let permanent = posted.redirected(308, home, &[], 0);
    assert_eq!((permanent.method.as_str(), permanent.has_body), ("POST", true));
    assert_eq!(names(&posted.redirected(302, elsewhere, &[], 0)), ["A"], "no credentials for another server");
}
