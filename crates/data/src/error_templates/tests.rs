use super::*;

#[test]
fn a_file_name_says_the_status_and_the_format() {
    let check = |name, expect: Option<(Option<u16>, bool)>| {
        assert_eq!(use_for(name), expect.map(|(status, is_xml)| TemplateUse { status, is_xml }), "{name}");
    };
    check("error.json", Some((None, false)));
    check("error_429.json", Some((Some(429), false)));
    check("error_500.xml", Some((Some(500), true)));
    for other in ["error", "errors.json", "error_x.json", "error_.json", "playground.html", "error.json.bak", "error_70000.json"] {
        check(other, None);
    }
}

fn written(text: &str, status: u16, message: &str) -> String {
    let template = ErrorTemplate::parse(text).unwrap();
    let mut body = Vec::new();
    let data = ErrorData { status, message, invalid_params: "" };
    template.write(&data, |text, out| out.extend_from_slice(text.to_uppercase().as_bytes()), &mut body);
    String::from_utf8(body).unwrap()
}

#[test]
fn a_template_has_the_escaped_message_and_the_status() {
    assert_eq!(written(r#"{"code": {{.StatusCode}}, "why": "{{ .Message }}"}"#, 429, "slow"), r#"{"code": 429, "why": "SLOW"}"#);
}

#[test]
fn the_whole_language_can_be_used() {
    let text =
        r#"{{if eq .StatusCode 429 503}}later{{else if ge .StatusCode 500}}down{{else}}{{.Message | lower | printf "%q"}}{{end}}"#;
    assert_eq!([429, 500, 401].map(|status| written(text, status, "No")), ["later", "down", r#""no""#]);
}

#[test]
fn a_mistake_is_told_with_its_line() {
    let mistakes = [
        ("x\n{{.Message", "line 2: unclosed action"),
        ("{{nope .Message}}", "line 1: function \"nope\" not defined"),
        ("{{.Message.Text}}", "line 1: can't evaluate field Text in type string"),
        ("{{template \"other\"}}", "line 1: template \"other\" not defined"),
        ("{{if .Reason}}{{end}}", "\"Reason\" is not a field; the fields are Message, StatusCode, InvalidParams"),
    ];
    for (text, mistake) in mistakes {
        assert_eq!(ErrorTemplate::parse(text).unwrap_err(), mistake, "{text}");
    }
}
