use super::*;
use serde_json::json;

struct Values(Value);

impl TemplateValues for Values {
    fn value(&self, variable: &SourceVariable) -> Option<Value> {
        let root = match variable.scope {
            VariableSource::Arguments => "arguments",
            VariableSource::Object => "object",
            VariableSource::Headers => "headers",
        };
        variable.path.iter().try_fold(self.0.get(root)?, |value, step| value.get(step)).cloned()
    }

    fn literal<'t>(&'t self, text: &'t str) -> &'t str {
        text
    }
}

fn rendered(text: &str, kind: TemplateKind, values: Value) -> String {
    SourceTemplate::parse(text, kind).unwrap_or_else(|fault| panic!("{text}: {}", fault.0)).render(&Values(values))
}

#[test]
fn variables_stay_in_their_place() {
    let values = |text: &str| json!({"arguments": {"id": text, "n": 7}, "object": {"owner": {"id": 3}}, "headers": {"x-a": text}});
    let url = "http://a/users/{{.arguments.id}}/x{{ .object.owner.id }}";
    assert_eq!(rendered(url, TemplateKind::Url, values("7")), "http://a/users/7/x3");
    assert_eq!(rendered(url, TemplateKind::Url, values("../a?b#c")), "http://a/users/..%2Fa%3Fb%23c/x3");
    assert_eq!(rendered("http://a/{{.arguments.id}}", TemplateKind::Url, values("..")), "http://a/%2E%2E");
    let body = r#"{"id": "{{.arguments.id}}", "n": {{.arguments.n}}, "all": {{.object}} }"#;
    assert!(SourceTemplate::parse(body, TemplateKind::Body).is_err());
    let body = r#"{"id": "{{.arguments.id}}", "n": {{.arguments.n}}, "none": {{.arguments.none}}, "empty": "{{.arguments.none}}"}"#;
    assert_eq!(
        rendered(body, TemplateKind::Body, values("a\",\"b\":\"")),
        r#"{"id": "a\",\"b\":\"", "n": 7, "none": null, "empty": ""}"#
    );
    assert_eq!(rendered("Bearer {{.request.headers.X-A}}", TemplateKind::Value, values("k")), "Bearer k");
}

#[test]
fn parameters_repeat_and_vanish() {
    let all = |text: &str| {
        let template = SourceTemplate::parse(text, TemplateKind::Value).unwrap_or_else(|fault| panic!("{}", fault.0));
        template.render_all(&Values(json!({"arguments": {"ids": [1, "b"], "null": null, "n": 1}})))
    };
    assert_eq!(all("{{.arguments.ids}}"), ["1", "b"]);
    assert_eq!(all("{{.arguments.n}}"), ["1"]);
    assert_eq!(all("constant"), ["constant"]);
    assert!(all("{{.arguments.null}}").is_empty());
    assert!(all("{{.arguments.missing}}").is_empty());
}

#[test]
fn faults_are_named() {
    for (text, kind, part) in [
        ("http://{{.arguments.host}}/", TemplateKind::Url, "host"),
        ("{{.object.url}}", TemplateKind::Url, "host"),
        ("http://a/{{.arguments.id", TemplateKind::Url, "does not end"),
        ("{{.argument.id}}", TemplateKind::Value, "neither"),
        ("{{.request.query.id}}", TemplateKind::Value, "neither"),
        ("{{}}", TemplateKind::Value, "neither"),
    ] {
        let fault = SourceTemplate::parse(text, kind).err().unwrap_or_else(|| panic!("{text} is taken"));
        assert!(fault.0.contains(part), "{text}: {}", fault.0);
    }
}
