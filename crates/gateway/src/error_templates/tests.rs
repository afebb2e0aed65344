use super::*;

#[test]
fn a_file_name_says_the_status_and_the_format() {
    let check = |name, expect| assert_eq!(what_for(name), expect, "{name}");
    check("error.json", Some((None, false)));
    check("error_429.json", Some((Some(429), false)));
    check("error_500.xml", Some((Some(500), true)));
    for other in ["error", "errors.json", "error_x.json", "error_.json", "playground.html", "error.json.bak", "error_70000.json"] {
        check(other, None);
    }
}

#[test]
fn a_template_has_the_message_and_the_status_at_their_places() {
    let parts = cut(r#"{"code": {{.StatusCode}}, "why": "{{ .Message }}"}"#).unwrap();
    let template = ErrorTemplate { status: None, is_xml: false, parts };
    let mut body = Vec::new();
    template.write(429, "slow", |text, out| out.extend_from_slice(text.to_uppercase().as_bytes()), &mut body);
    assert_eq!(String::from_utf8(body).unwrap(), r#"{"code": 429, "why": "SLOW"}"#);
}

#[test]
fn other_actions_are_named() {
    assert!(cut("{{if .Message}}x{{end}}").unwrap_err().contains("{{if .Message}}"));
    assert!(cut("x {{.Message").unwrap_err().contains("no end"));
}
