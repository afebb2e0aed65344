use serde_json::json;

use super::*;

/// Checks a request: the path, the query, header lines, a content type with a body.
fn check(operation: Value, path: &str, query_text: &str, headers: &[(&str, &str)], content: (&str, &str)) -> String {
    let root = json!({"openapi": "3.0.3", "paths": {"/things/{id}": {"post": operation}}, "components": {"schemas": {
        "Thing": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "integer"}}}},
    }}});
    let document = Document::new(root).unwrap().0;
    let mut compiler = RulesCompiler::new(&document);
    let index = compiler.add(&document.operations[0]);
    let (rules, problems) = compiler.finish();
    assert!(problems.is_empty(), "{problems:?}");
    let rules = &rules[index];
    let find =
        |name: &str| headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| Cow::Borrowed(*value));
    let parts = RequestParts { path, query: query_text, header: &find };
    let checked = rules
        .check_parameters(&parts)
        .and_then(|()| rules.check_body(content.0, content.1.as_bytes(), Budget::of_body(content.1.len())));
    checked.map_or_else(|mismatch| mismatch.to_string(), |()| String::new())
}

fn parameter(location: &str, more: Value) -> Value {
    let mut parameter = json!({"name": if location == "path" { "id" } else { "p" }, "in": location});
    parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"parameters": [parameter]})
}

#[test]
fn parameters_are_read_in_all_styles() {
    let list = || json!({"type": "array", "items": {"type": "integer"}});
    let object = || json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]});
    let integer = || json!({"type": "integer"});
    let table = [
        ("path", json!({"schema": integer()}), "5", "path"),
        ("path", json!({"schema": list()}), "5,6", "path"),
        ("path", json!({"schema": integer(), "style": "label"}), ".5", "path"),
        ("path", json!({"schema": list(), "style": "label"}), ".5,6", "path"),
        ("path", json!({"schema": list(), "style": "label", "explode": true}), ".5.6", "path"),
        ("path", json!({"schema": integer(), "style": "matrix"}), ";id=5", "path"),
        ("path", json!({"schema": list(), "style": "matrix"}), ";id=5,6", "path"),
        ("path", json!({"schema": list(), "style": "matrix", "explode": true}), ";id=5;id=6", "path"),
        ("path", json!({"schema": object()}), "a,1,b,x", "path"),
        ("path", json!({"schema": object(), "explode": true}), "a=1,b=x", "path"),
        ("query", json!({"schema": integer()}), "p=5", "query"),
        ("query", json!({"schema": list()}), "p=5&p=6", "query"),
        ("query", json!({"schema": list(), "explode": false}), "p=5,6", "query"),
        ("query", json!({"schema": list(), "explode": false, "style": "spaceDelimited"}), "p=5%206", "query"),
        ("query", json!({"schema": list(), "explode": false, "style": "pipeDelimited"}), "p=5|6", "query"),
        ("query", json!({"schema": object()}), "a=1&b=x", "query"),
        ("query", json!({"schema": object(), "explode": false}), "p=a,1,b,x", "query"),
        ("query", json!({"schema": object(), "style": "deepObject", "explode": true}), "p[a]=1&p[b]=x", "query"),
        ("query", json!({"content": {"application/json": {"schema": object()}}}), "p={\"a\":1}", "query"),
        ("header", json!({"schema": list()}), "5, 6", "header"),
        ("header", json!({"schema": object(), "explode": true}), "a=1,b=x", "header"),
        ("cookie", json!({"schema": integer()}), "q=1; p=5", "cookie"),
    ];
    for (location, more, written, place) in table {
        let run = |text: &str| {
            let path = format!("/things/{}", if location == "path" { text } else { "1" });
            let (query, headers) = match location {
                "query" => (text, vec![]),
                "header" => ("", vec![("P", text)]),
                "cookie" => ("", vec![("Cookie", text)]),
                _ => ("", vec![]),
            };
            check(parameter(location, more.clone()), &path, query, &headers, ("", ""))
        };
        assert_eq!(run(written), "", "{location} {more} {written}");
        let broken = written.replace(['1', '5'], "x");
        let refused = run(&broken);
        let start = format!("parameter \"{}\" in {place} has an error: ", if location == "path" { "id" } else { "p" });
        assert!(refused.starts_with(&start), "{location} {more} {broken}: {refused:?}");
    }
}

#[test]
fn the_texts_are_those_of_tyk() {
    let p = |location: &str, schema: Value| parameter(location, json!({"required": true, "schema": schema}));
    let table = [
        (p("query", json!({"type": "integer"})), "", r#"parameter "p" in query has an error: value is required but missing"#),
        (p("query", json!({"type": "integer"})), "p=", r#"parameter "p" in query has an error: empty value is not allowed"#),
        (
            p("query", json!({"type": "integer"})),
            "p=a",
            r#"parameter "p" in query has an error: value a: an invalid integer: invalid syntax"#,
        ),
        (
            p("query", json!({"type": "integer", "minimum": 5})),
            "p=4",
            r#"parameter "p" in query has an error: number must be at least 5"#,
        ),
        (
            p("query", json!({"type": "string", "enum": ["a"]})),
            "p=b",
            r#"parameter "p" in query has an error: value is not one of the allowed values ["a"]"#,
        ),
        (
            p("query", json!({"type": "array", "items": {"type": "integer"}})),
            "p=1&p=x",
            r#"parameter "p" in query has an error: path 1: value x: an invalid integer: invalid syntax"#,
        ),
        (p("query", json!({"oneOf": [{"type": "integer"}, {"type": "boolean"}]})), "p=true", ""),
        (p("query", json!({"type": "string"})), "p=%E9", ""),
    ];
    for (operation, query, expect) in table {
        assert_eq!(check(operation, "/things/1", query, &[], ("", "")), expect, "{query}");
    }
}

#[test]
fn bodies_are_read_by_their_type() {
    let operation = |kind: &str| json!({"requestBody": {"required": true, "content": {kind: {"schema": {"$ref": "#/components/schemas/Thing"}}}}});
    let run = |kind: &str, content_type: &str, body: &str| check(operation(kind), "/things/1", "", &[], (content_type, body));
    let start = "request body has an error: ";
    let named = format!("{start}doesn't match schema #/components/schemas/Thing: ");
    assert_eq!(run("application/json", "application/json; charset=utf-8", r#"{"name": "a"}"#), "");
    assert_eq!(run("application/json", "application/json", ""), format!("{start}value is required but missing"));
    assert_eq!(
        run("application/json", "text/xml", "<a/>"),
        format!("{start}header Content-Type has unexpected value \"text/xml\"")
    );
    assert_eq!(
        run("application/json", "application/json", "{}"),
        format!("{named}Error at \"/name\": property \"name\" is missing")
    );
    assert_eq!(
        run("application/*", "application/vnd.x+json", r#"{"name": 1}"#),
        format!("{named}Error at \"/name\": value must be a string")
    );
    assert!(run("application/json", "application/json", "{").starts_with(&format!("{start}failed to decode request body: ")));
    let form = "application/x-www-form-urlencoded";
    assert_eq!(run(form, form, "name=a+b&tags=1&tags=2"), "");
    assert_eq!(
        run(form, form, "name=a&tags=x"),
        format!("{start}failed to decode request body: path tags: value x: an invalid integer: invalid syntax")
    );
    assert_eq!(run(form, form, "tags=1"), format!("{named}Error at \"/name\": property \"name\" is missing"));
    let part = |name: &str, value: &str| format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    let multipart =
        |parts: &[String]| run("multipart/form-data", "multipart/form-data; boundary=b", &format!("{}--b--\r\n", parts.concat()));
    assert_eq!(multipart(&[part("name", "a"), part("tags", "1"), part("tags", "2")]), "");
    assert_eq!(multipart(&[part("tags", "1")]), format!("{named}Error at \"/name\": property \"name\" is missing"));
    assert!(run("multipart/form-data", "multipart/form-data; boundary=b", "--b\r\nxx").contains("multipart"));
    assert_eq!(run("text/plain", "text/plain", "x"), format!("{named}value must be an object"));
}
