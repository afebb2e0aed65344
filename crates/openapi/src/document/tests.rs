use serde_json::json;

use super::*;

fn problems(text: &str) -> Vec<String> {
    let read = read_text(text.as_bytes()).map(Document::new);
    match read {
        Err(error) => vec![error],
        Ok(Ok((_, problems)) | Err(problems)) => problems.iter().map(Problem::to_string).collect(),
    }
}

fn with_paths(paths: Value) -> Vec<String> {
    problems(&json!({"openapi": "3.0.3", "info": {}, "paths": paths}).to_string())
}

#[test]
fn more_specific_paths_come_first() {
    let operation = |id: &str| json!({"get": {"operationId": id}});
    let root = json!({"openapi": "3.1.0", "paths": {
        "/{any}": operation("e"), "/users/{id}": operation("c"), "/users/me": operation("b"), "/users": operation("d"),
        "/users/{id}/posts": operation("a"),
    }});
    let (document, problems) = Document::new(root).unwrap();
    assert_eq!(document.operations.iter().map(|o| o.id.as_str()).collect::<Vec<_>>(), ["a", "b", "c", "d", "e"]);
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn json_and_yaml_are_the_same_document() {
    let yaml = "openapi: 3.0.3\ninfo: {title: A, version: '1'}\npaths:\n  /a:\n    get:\n      responses:\n        200: {description: ok}\n";
    let value = read_text(yaml.as_bytes()).unwrap();
    assert_eq!(value.pointer("/paths/~1a/get/responses/200/description"), Some(&json!("ok")));
    assert_eq!(value.get("openapi"), Some(&json!("3.0.3")));
    assert!(problems(yaml).is_empty());
}

#[test]
fn bad_documents_say_what_is_wrong_and_where() {
    let cases: [(&str, &[&str]); 6] = [
        ("openapi: [", &["not valid YAML"]),
        ("{\"openapi\": ", &["not valid JSON: EOF"]),
        ("- a", &["neither a JSON object nor a YAML mapping"]),
        ("{\"openapi\": \"4.0.0\"}", &["$.openapi: error: must be 3.0 or 3.1, not \"4.0.0\""]),
        ("{\"swagger\": \"2.0\"}", &["$.swagger: error: Swagger 2; convert it to OpenAPI 3 first"]),
        ("{}", &["$.openapi: error: is missing: not an OpenAPI document"]),
    ];
    for (text, expect) in cases {
        let found = problems(text);
        assert_eq!(found.len(), expect.len(), "{text}: {found:?}");
        found.iter().zip(expect).for_each(|(found, expect)| assert!(found.contains(expect), "{text}: {found}"));
    }
}

#[test]
fn references_stay_inside_and_do_not_run_in_circles() {
    let check = |schemas: Value, expect: &[&str]| {
        let text = json!({"openapi": "3.0.3", "components": {"schemas": schemas}}).to_string();
        assert_eq!(problems(&text), expect);
    };
    check(json!({"A": {"properties": {"next": {"$ref": "#/components/schemas/A"}}}}), &[]);
    check(
        json!({"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}}),
        &[
            "$.components.schemas.A.$ref: error: #/components/schemas/B leads to itself",
            "$.components.schemas.B.$ref: error: #/components/schemas/A leads to itself",
        ]
        .map(|text| text.replace(".$ref", "[\"$ref\"]"))
        .each_ref()
        .map(|text| text.as_str()),
    );
    check(
        json!({"A": {"$ref": "other.yaml#/B"}}),
        &["$.components.schemas.A[\"$ref\"]: error: other.yaml#/B is outside this document; such references are not followed"],
    );
    check(
        json!({"A": {"$ref": "#/components/schemas/C"}}),
        &["$.components.schemas.A[\"$ref\"]: error: #/components/schemas/C is not in this document"],
    );
    check(
        json!({"A": {"example": {"$ref": "http://a"}, "properties": {"$ref": {"type": "string"}, "example": {"$ref": "#/nothing"}}}}),
        &["$.components.schemas.A.properties.example[\"$ref\"]: error: #/nothing is not in this document"],
    );
}

#[test]
fn equal_operations_are_reported() {
    let operation = |id: &str| json!({"get": {"operationId": id}});
    let found = with_paths(json!({"/a": operation("x"), "/b": operation("x")}));
    assert_eq!(
        found,
        ["$.paths[\"/b\"].get.operationId: error: x is also the id of $.paths[\"/a\"].get: middleware could apply to either",]
    );
    let found = with_paths(json!({"/a/{x}": operation("x"), "/a/{y}": operation("y")}));
    assert_eq!(
        found,
        [
            "$.paths[\"/a/{y}\"].get: warning: matches the same requests as /a/{x}: the first of the two in order of names answers them",
        ]
    );
}

#[test]
fn documents_that_are_too_deep_are_refused_with_the_beginning_of_the_place() {
    let read = |schemas: usize| {
        let schema = (0..schemas).fold(json!({"type": "string"}), |schema, _| json!({"properties": {"a": schema}}));
        Document::new(json!({"openapi": "3.0.3", "components": {"schemas": {"A": schema}}}))
    };
    assert!(read(240).is_ok());
    let found: Vec<String> = read(300).unwrap_err().iter().map(ToString::to_string).collect();
    let place = format!("$.components.schemas.A{}.properties", ".properties.a".repeat(8));
    assert_eq!(found, [format!("{place}: error: nested deeper than 500 levels below this place")]);
}

#[test]
fn yaml_may_be_deep_and_large() {
    let flow = |levels: usize| format!("# YAML\n{}1{}", "{a: ".repeat(levels), "}".repeat(levels));
    let block = |levels: usize| {
        (0..levels).map(|level| format!("{}a:\n", " ".repeat(level))).collect::<String>() + &" ".repeat(levels) + "1"
    };
    let read = move || {
        for text in [flow(250), block(250)] {
            let read = read_text(text.as_bytes()).unwrap();
            assert_eq!(std::iter::successors(Some(&read), |value| value.get("a")).count(), 251);
        }
        for text in [flow(300), flow(50_000), block(300)] {
            assert!(read_text(text.as_bytes()).unwrap_err().starts_with("not valid YAML: "));
        }
    };
    // Threads of the gateway have two MiB.
    std::thread::Builder::new().stack_size(3 << 19).spawn(read).unwrap().join().unwrap();
    let large = (0..400_000).map(|number| format!("k{number}: {number}\n")).collect::<String>();
    assert_eq!(read_text(large.as_bytes()).unwrap().as_object().map(|members| members.len()), Some(400_000));
}

#[test]
fn yaml_is_that_of_1_2() {
    let text = "\u{feff}a: [NO, no, y, n, Y, on, off, Yes]\nb: [true, false]\ny: 1\nc: [null, ~]\nd: 'true'\ne: [1_000, 0x_f, 0x1f, -7, 1e3]\n";
    let read = read_text(text.as_bytes()).unwrap();
    let expect = serde_json::json!({
        "a": ["NO", "no", "y", "n", "Y", "on", "off", "Yes"], "b": [true, false], "y": 1, "c": [null, null], "d": "true",
        "e": ["1_000", "0x_f", 31, -7, 1000.0],
    });
    assert_eq!(read, expect);
}
