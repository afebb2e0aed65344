use super::*;

#[test]
fn text_that_could_forge_a_line_is_quoted() {
    let line = |text: &str| {
        let mut out = Vec::new();
        AccessLogLine { out: &mut out, json: false }.text(text.as_bytes());
        String::from_utf8(out).unwrap()
    };
    assert_eq!(line("curl/8.0"), "curl/8.0");
    assert_eq!(line(""), "\"\"");
    assert_eq!(line("a b"), "\"a b\"");
    assert_eq!(line("x status=200\ntime=1"), "\"x status=200\\ntime=1\"");
    assert_eq!(line("\"\\\u{1b}[2J"), "\"\\\"\\\\\\u001b[2J\"");
}

#[test]
fn a_template_chooses_fields() {
    let names = |template: &[&str], known| {
        let template: Vec<String> = template.iter().map(ToString::to_string).collect();
        wanted(&template, known).map(|(name, _)| name).collect::<Vec<_>>()
    };
    let (none, all) = (Identifiers { traces: false, requests: false }, Identifiers { traces: true, requests: true });
    assert_eq!(names(&[], all).len(), FIELDS.len());
    assert_eq!(names(&["status", "method"], all), ["method", "prefix", "status"]);
    assert_eq!(names(&["upstream_address"], none), ["prefix", "upstream_addr"]);
    let left_out: Vec<_> = FIELDS.map(|(name, _)| name).into_iter().filter(|name| !names(&[], none).contains(name)).collect();
    assert_eq!(left_out, ["request_id", "trace_id"]);
    assert_eq!(names(&["request_id", "trace_id"], none), ["prefix", "request_id"]);
    assert!(FIELDS.is_sorted_by_key(|(name, _)| *name));
}
