use super::*;
use serde_json::{Value, json};

fn compiled(written: &Value) -> (OverrideRules, Vec<String>) {
    let written: WrittenOverrides = serde_json::from_value(written.clone()).unwrap();
    let (rules, problems) = OverrideRules::compile(&written, &ErrorTemplates::default());
    let told = problems.into_iter().map(|problem| format!("{} {}: {}", problem.is_error, problem.path, problem.message));
    (rules, told.collect())
}

/// Rules of an API and of the gateway; the status that a rule gives says which one it is.
fn rules(own: &Value, gateway: &Value) -> Arc<CompiledOverrides> {
    let (own, gateway) = (compiled(own), compiled(gateway));
    assert_eq!((own.1, gateway.1), (Vec::new(), Vec::new()));
    CompiledOverrides::new(own.0, &Arc::new(gateway.0)).unwrap()
}

fn rule(status: u16, matcher: Value) -> Value {
    json!({"match": matcher, "response": {"status_code": status}})
}

#[test]
fn the_apis_rules_come_first_and_the_status_before_its_class() {
    let overrides = rules(
        &json!({"401": [rule(201, json!({"flag": "AMF"}))], "4xx": [rule(202, json!({"flag": "AKI"})), rule(203, json!({"flag": "AMF"}))]}),
        &json!({"401": [rule(204, json!({}))], "4xx": [rule(205, json!({}))], "5xx": [{"response": {"status_code": 206}}]}),
    );
    let found = |status, flags: &[&str]| overrides.for_refusal(status, "", flags).map(|rule| rule.status(status));
    assert_eq!(found(401, &["AMF"]), Some(201));
    assert_eq!(found(401, &["AKI"]), Some(202));
    assert_eq!(found(403, &["AMF"]), Some(203));
    assert_eq!(found(401, &[]), Some(204));
    assert_eq!(found(404, &[]), Some(205));
    assert_eq!(found(502, &[]), Some(206));
    assert_eq!(found(302, &[]), None);
    assert!(CompiledOverrides::new(OverrideRules::default(), &Arc::default()).is_none());
}

#[test]
fn a_refusal_fits_by_flag_or_message() {
    for (matcher, message, flags, fits) in [
        (json!({}), "any", &[] as &[&str], true),
        (json!({"flag": "RLT"}), "any", &["RLT"], true),
        (json!({"flag": "RLT"}), "any", &["UCT", "RLT"], true),
        (json!({"flag": "RLT"}), "any", &["QEX"], false),
        (json!({"message_pattern": "^Quota"}), "Quota exceeded", &[], true),
        (json!({"message_pattern": "^quota"}), "Quota exceeded", &[], false),
        (json!({"flag": "RLT", "message_pattern": "^Quota"}), "Quota exceeded", &[], true),
        (json!({"flag": "RLT", "message_pattern": "^Quota"}), "other", &["RLT"], true),
        (json!({"flag": "RLT", "message_pattern": "^Quota"}), "other", &[], false),
        // A refusal has no body to look at.
        (json!({"body_field": "a", "body_value": "b"}), "any", &[], true),
        (json!({"body_field": "a", "body_value": "b", "message_pattern": "no"}), "any", &[], false),
    ] {
        let overrides = rules(&json!({"4xx": [rule(200, matcher.clone())]}), &json!({}));
        assert_eq!(overrides.for_refusal(429, message, flags).is_some(), fits, "{matcher} {message} {flags:?}");
    }
}

#[test]
fn a_response_fits_by_its_body_or_by_urs() {
    let body = br#"{"error": {"code": 17}, "message": "no such order"}"#;
    for (status, matcher, needs_body, fits) in [
        (500, json!({}), false, true),
        (500, json!({"flag": "URS"}), false, true),
        (404, json!({"flag": "URS"}), false, false),
        (500, json!({"flag": "RLT"}), false, false),
        (500, json!({"flag": "URS", "message_pattern": "nothing"}), false, true),
        (500, json!({"message_pattern": "no such [a-z]+"}), true, true),
        (500, json!({"message_pattern": "^no such"}), true, false),
        (500, json!({"body_field": "error.code", "body_value": "17"}), true, true),
        (500, json!({"body_field": "error.code", "body_value": "18"}), true, false),
        (500, json!({"body_field": "error.code", "body_value": "18", "message_pattern": "order"}), true, true),
    ] {
        let class = if status == 404 { "4xx" } else { "5xx" };
        let overrides = rules(&json!({class: [rule(200, matcher.clone())]}), &json!({}));
        let at_head = overrides.for_response(status, None);
        assert_eq!(matches!(at_head, FoundRule::NeedsBody), needs_body, "{matcher}");
        assert_eq!(matches!(overrides.for_response(status, Some(body)), FoundRule::Rule(_)), fits, "{matcher}");
    }
}

#[test]
fn a_body_is_text_or_template_and_has_the_clients_form() {
    let made = |response: Value, form: ErrorForm<'static>| {
        let overrides = rules(&json!({"500": [{"response": response}]}), &json!({}));
        match overrides.for_refusal(500, "", &[]).unwrap().body(form, 503, "a \"b\"") {
            MadeBody::Kept => "kept".to_owned(),
            MadeBody::Message(message) => format!("message {message}"),
            MadeBody::Made(content_type, body) => format!("{content_type} {}", String::from_utf8(body).unwrap()),
        }
    };
    let template = json!({"body": "{{.StatusCode}} {{.Message}} {{.InvalidParams}}", "message": "<it's>"});
    assert_eq!(made(template.clone(), ErrorForm::Json), "application/json 503 \\u003Cit's\\u003E a \\\"b\\\"");
    assert_eq!(made(template.clone(), ErrorForm::Problem), "application/json 503 \\u003Cit's\\u003E a \\\"b\\\"");
    assert_eq!(made(template.clone(), ErrorForm::Xml("text/xml; charset=x")), "text/xml 503 &lt;it&#39;s&gt; a &#34;b&#34;");
    assert_eq!(made(template, ErrorForm::Xml("application/soap+xml")), "application/json 503 \\u003Cit's\\u003E a \\\"b\\\"");
    assert_eq!(made(json!({"body": "{{ .Message }}"}), ErrorForm::Json), "application/json {{ .Message }}");
    assert_eq!(made(json!({"message": "later"}), ErrorForm::Json), "message later");
    assert_eq!(made(json!({"template": "error", "message": "later"}), ErrorForm::Json), "message later");
    assert_eq!(made(json!({"status_code": 501}), ErrorForm::Json), "kept");
}

#[test]
fn a_rule_that_cannot_be_used_is_named() {
    for (rule, problem) in [
        (json!({"match": {"message_pattern": "("}}), "true [\"500\"][0].match.message_pattern: not a valid pattern: "),
        (
            json!({"match": {"body_field": "a.#", "body_value": "1"}}),
            "true [\"500\"][0].match.body_field: '#' is not supported: names and positions with dots between, such as error.details.0.code",
        ),
        (json!({"response": {"body": "{{.Message"}}), "true [\"500\"][0].response.body: not a template: line 1: unclosed action"),
        (
            json!({"response": {"body": "{{.Reason}}"}}),
            "true [\"500\"][0].response.body: not a template: \"Reason\" is not a field; the fields are Message, StatusCode, InvalidParams",
        ),
        (
            json!({"response": {"template": "error_mine"}}),
            "true [\"500\"][0].response.template: there is no usable error_mine.json or error_mine.xml in template_path; its name must begin \
             with error",
        ),
        (
            json!({"response": {"body": "{{.Message}}"}}),
            "false [\"500\"][0].response.message: is not set: {{.Message}} prints nothing",
        ),
    ] {
        let (_, problems) = compiled(&json!({"500": [rule]}));
        assert!(problems.len() == 1 && problems[0].starts_with(problem), "{rule}: {problems:?}");
    }
}
