use serde_json::json;

use super::*;

const ALL: ExampleKinds = ExampleKinds { examples: true, defaults: true };

fn problems(root: Value, kinds: ExampleKinds) -> Vec<String> {
    let (document, _) = Document::new(root).unwrap();
    check_examples(&document, kinds, Level::Warning).iter().map(Problem::to_string).collect()
}

fn shop(version: &str) -> Value {
    json!({
        "openapi": version, "info": {"title": "t", "version": "1"},
        "paths": {"/things": {
            "parameters": [{"name": "n", "in": "query", "schema": {"type": "integer", "default": "none"}, "example": "five"}],
            "post": {
                "requestBody": {"content": {
                    "application/json": {"schema": {"$ref": "#/components/schemas/Thing"}, "examples": {
                        "good": {"value": {"name": "a"}},
                        "bad": {"value": {"name": 7}},
                        "shared": {"$ref": "#/components/examples/Bad"},
                        "elsewhere": {"externalValue": "http://example.test/"},
                    }},
                    "application/xml": {"schema": {"$ref": "#/components/schemas/Thing"}, "example": "<name>a</name>"},
                }},
                "responses": {"200": {"$ref": "#/components/responses/Made"}},
            },
        }},
        "components": {
            "examples": {"Bad": {"value": {"id": 1, "name": "sent by a client"}}},
            "responses": {"Made": {"description": "Made.", "headers": {"X-N": {"schema": {"type": "integer"}, "example": "x"}}, "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/Thing"}, "example": {"name": "a"}},
            }}},
            "schemas": {"Thing": {
                "type": "object", "required": ["id", "name"], "example": {"id": 1, "name": "both sides"},
                "properties": {"id": {"type": "integer", "readOnly": true}, "name": {"type": "string", "example": 5}},
            }},
        },
    })
}

#[test]
fn examples_that_do_not_fit_are_named_with_their_places() {
    let media = "$.paths[\"/things\"].post.requestBody.content[\"application/json\"]";
    let expected = [
        ("$.components.responses.Made.headers.X-N.example", "value must be an integer"),
        ("$.components.responses.Made.content[\"application/json\"].example", "property \"id\" is missing"),
        ("$.paths[\"/things\"].parameters[0].example", "value must be an integer"),
        (&format!("{media}.examples.bad.value"), "Error at \"/name\": value must be a string"),
        (&format!("{media}.examples.shared.value"), "readOnly property \"id\" in request"),
        ("$.components.schemas.Thing.properties.name.example", "value must be a string"),
        ("$.paths[\"/things\"].parameters[0].schema.default", "value must be an integer"),
    ];
    for version in ["3.0.3", "3.1.0"] {
        let found = problems(shop(version), ALL);
        for (place, why) in expected {
            let is_there = found.iter().any(|problem| problem.starts_with(&format!("{place}: warning: ")) && problem.contains(why));
            assert!(is_there, "{place}: {why}, in {found:#?}");
        }
        assert_eq!(found.len(), expected.len(), "{found:#?}");
    }
}

#[test]
fn examples_and_defaults_are_checked_apart() {
    let of = |examples, defaults| problems(shop("3.0.3"), ExampleKinds { examples, defaults }).len();
    assert_eq!([of(true, false), of(false, true), of(false, false)], [6, 1, 0]);
}

#[test]
fn lists_of_examples_are_those_of_3_1() {
    let schema = json!({"type": "string", "examples": ["a", 5]});
    let root = |version: &str| json!({"openapi": version, "info": {"title": "t", "version": "1"}, "components": {"schemas": {"A": schema}}});
    assert_eq!(problems(root("3.0.3"), ALL).len(), 0);
    let found = problems(root("3.1.0"), ALL);
    assert!(found.len() == 1 && found[0].starts_with("$.components.schemas.A.examples[1]"), "{found:?}");
}

#[test]
fn many_problems_are_summed_up() {
    let properties: serde_json::Map<String, Value> =
        (0..80).map(|number| (format!("p{number}"), json!({"type": "integer", "example": "x"}))).collect();
    let schemas = json!({"A": {"type": "object", "properties": properties}});
    let found =
        problems(json!({"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "components": {"schemas": schemas}}), ALL);
    assert_eq!(found.len(), 51);
    assert!(found[50].contains("and 30 more examples"), "{}", found[50]);
}
