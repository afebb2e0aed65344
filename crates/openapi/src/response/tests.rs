use serde_json::json;

use super::*;

fn rules(version: &str) -> Arc<ResponseRules> {
    let root = json!({
        "openapi": version, "info": {"title": "t", "version": "1"},
        "paths": {"/things": {"get": {"operationId": "things", "responses": {
            "200": {
                "description": "All.",
                "headers": {"X-Total": {"required": true, "schema": {"type": "integer"}}, "X-Page": {"schema": {"type": "integer"}}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}, "text/csv": {}},
            },
            "204": {"description": "None."},
            "4XX": {"description": "Wrong.", "content": {"application/problem+json": {"schema": {"type": "object", "required": ["title"]}}}},
        }}}},
        "components": {"schemas": {"Thing": {"type": "object", "required": ["id", "secret"], "properties": {
            "id": {"type": "integer", "readOnly": true}, "secret": {"type": "string", "writeOnly": true},
        }}}},
    });
    let (document, _) = Document::new(root).unwrap();
    let mut compiler = ResponseCompiler::new(&document);
    compiler.add(&document.operations[0]);
    let (mut rules, problems) = compiler.finish();
    assert!(problems.is_empty(), "{problems:?}");
    rules.remove(0)
}

fn verdict(rules: &ResponseRules, status: u16, headers: &[(&str, &str)], body: &str, must: bool) -> Result<(), String> {
    let header =
        |name: &str| headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| (*value).to_owned());
    match rules.check_head(status, must, &header)? {
        Some(check) if check.reads_body() => {
            check.check_body(body.as_bytes(), Budget::of_body(body.len())).map_err(|why| why.to_string())
        }
        _ => Ok(()),
    }
}

/// Status, headers, body, and what is wrong.
type ResponseCase = (u16, &'static [(&'static str, &'static str)], &'static str, &'static str);

#[test]
fn responses_fit_what_the_document_describes() {
    const JSON: (&str, &str) = ("Content-Type", "application/json; charset=utf-8");
    const TOTAL: (&str, &str) = ("x-total", "5");
    let cases: &[ResponseCase] = &[
        (200, &[JSON, TOTAL], r#"{"id": 1}"#, ""),
        (
            200,
            &[JSON, TOTAL],
            r#"{"id": "one"}"#,
            "doesn't match schema #/components/schemas/Thing: Error at \"/id\": value must be an integer",
        ),
        (200, &[JSON, TOTAL], r#"{"id": 1, "secret": "x"}"#, "writeOnly property \"secret\" in response"),
        (200, &[JSON, TOTAL], "{", "is not valid JSON"),
        (200, &[JSON, TOTAL], "", "is not valid JSON"),
        (200, &[JSON], r#"{"id": 1}"#, "header X-Total has an error: value is required but missing"),
        (200, &[JSON, ("X-Total", "many")], r#"{"id": 1}"#, "header X-Total has an error: value many: an invalid integer"),
        (200, &[JSON, TOTAL, ("X-Page", "x")], r#"{"id": 1}"#, "header X-Page has an error"),
        (200, &[("Content-Type", "text/html"), TOTAL], "<p>", "header Content-Type has unexpected value \"text/html\""),
        (200, &[("Content-Type", "text/csv"), TOTAL], "anything", ""),
        (204, &[], "", ""),
        (404, &[("Content-Type", "application/problem+json")], r#"{"title": "No"}"#, ""),
        (499, &[("Content-Type", "application/problem+json")], "{}", "property \"title\" is missing"),
        (500, &[("Content-Type", "text/plain")], "busy", "status 500 is not described"),
    ];
    for version in ["3.0.3", "3.1.0"] {
        let rules = rules(version);
        for (status, headers, body, expected) in cases {
            let found = verdict(&rules, *status, headers, body, true).err().unwrap_or_default();
            let fits = if expected.is_empty() { found.is_empty() } else { found.contains(expected) };
            assert!(fits, "{version} {status} {body}: {found:?}, not {expected:?}");
        }
        assert_eq!(verdict(&rules, 500, &[], "", false), Ok(()), "what is not described fits");
    }
}

#[test]
fn the_most_specific_description_counts() {
    let parsed: Vec<_> = ["default", "2XX", "200", "nonsense"].into_iter().filter_map(Statuses::parse).collect();
    let of = |status: u16| {
        let mut all = parsed.clone();
        all.sort();
        all.into_iter().find(|statuses| statuses.has(status))
    };
    assert_eq!([of(200), of(201), of(500)], [Some(Statuses::One(200)), Some(Statuses::Class(2)), Some(Statuses::Others)]);
}
