use super::*;
use crate::Document;

fn pets() -> Value {
    json!({
        "swagger": "2.0",
        "info": {"title": "Pets", "version": "1"},
        "host": "pets.example", "basePath": "/v2", "schemes": ["https", "http"],
        "consumes": ["application/json"], "produces": ["application/json", "application/xml"],
        "parameters": {"limit": {"name": "limit", "in": "query", "type": "integer", "maximum": 100}, "whole": {"name": "pet", "in": "body", "required": true, "schema": {"$ref": "#/definitions/Pet"}}},
        "responses": {"gone": {"description": "It is gone."}},
        "securityDefinitions": {
            "me": {"type": "basic"}, "key": {"type": "apiKey", "name": "X-Key", "in": "header"},
            "web": {"type": "oauth2", "flow": "accessCode", "authorizationUrl": "https://a/", "tokenUrl": "https://t/", "scopes": {"read": "reads"}}
        },
        "definitions": {"Pet": {"type": "object", "discriminator": "kind", "required": ["kind"], "properties": {"kind": {"type": "string"}, "name": {"type": "string", "x-nullable": true}, "next": {"$ref": "#/definitions/Pet"}}}},
        "paths": {
            "/pets/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": true, "type": "string"}],
                "get": {
                    "operationId": "pet",
                    "parameters": [{"name": "id", "in": "path", "required": true, "type": "integer"}, {"name": "tags", "in": "query", "type": "array", "items": {"type": "string"}, "collectionFormat": "pipes"}, {"name": "odd", "in": "query", "type": "array", "items": {"type": "string"}, "collectionFormat": "tsv"}, {"$ref": "#/parameters/limit"}],
                    "responses": {"200": {"description": "A pet.", "schema": {"$ref": "#/definitions/Pet"}, "examples": {"application/json": {"kind": "cat"}}, "headers": {"X-Left": {"type": "integer"}}}, "410": {"$ref": "#/responses/gone"}}
                },
                "put": {"parameters": [{"$ref": "#/parameters/whole"}], "responses": {"204": {"description": "Done."}}},
                "post": {"consumes": ["multipart/form-data"], "parameters": [{"name": "photo", "in": "formData", "type": "file", "required": true}, {"name": "note", "in": "formData", "type": "string"}], "responses": {"204": {"description": "Done."}}}
            }
        }
    })
}

#[test]
fn a_swagger_document_becomes_an_openapi_document() {
    let ConvertedSwagger { document, notes } = convert_swagger(&pets());
    let at = |pointer: &str| document.pointer(pointer).cloned().unwrap_or_else(|| panic!("{pointer} in {document:#}"));
    let cases = [
        ("/openapi", json!("3.0.3")),
        ("/servers", json!([{"url": "https://pets.example/v2"}, {"url": "http://pets.example/v2"}])),
        (
            "/paths/~1pets~1{id}/get/parameters/0",
            json!({"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}),
        ),
        ("/paths/~1pets~1{id}/get/parameters/1/style", json!("pipeDelimited")),
        ("/paths/~1pets~1{id}/get/parameters/1/explode", json!(false)),
        ("/paths/~1pets~1{id}/get/parameters/2/style", json!("form")),
        ("/paths/~1pets~1{id}/get/parameters/3", json!({"$ref": "#/components/parameters/limit"})),
        ("/paths/~1pets~1{id}/get/responses/200/content/application~1xml", json!({"schema": {"$ref": "#/components/schemas/Pet"}})),
        ("/paths/~1pets~1{id}/get/responses/200/content/application~1json/example", json!({"kind": "cat"})),
        ("/paths/~1pets~1{id}/get/responses/200/headers/X-Left", json!({"schema": {"type": "integer"}})),
        ("/paths/~1pets~1{id}/get/responses/410", json!({"$ref": "#/components/responses/gone"})),
        (
            "/paths/~1pets~1{id}/put/requestBody",
            json!({"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}),
        ),
        ("/paths/~1pets~1{id}/put/parameters/0/schema/type", json!("string")),
        (
            "/paths/~1pets~1{id}/post/requestBody/content/multipart~1form-data/schema",
            json!({"type": "object", "required": ["photo"], "properties": {"photo": {"type": "string", "format": "binary"}, "note": {"type": "string"}}}),
        ),
        ("/components/schemas/Pet/discriminator", json!({"propertyName": "kind"})),
        ("/components/schemas/Pet/properties/name", json!({"type": "string", "nullable": true})),
        (
            "/components/parameters",
            json!({"limit": {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 100}}}),
        ),
        ("/components/securitySchemes/me", json!({"type": "http", "scheme": "basic"})),
        ("/components/securitySchemes/key", json!({"type": "apiKey", "name": "X-Key", "in": "header"})),
        (
            "/components/securitySchemes/web",
            json!({"type": "oauth2", "flows": {"authorizationCode": {"authorizationUrl": "https://a/", "tokenUrl": "https://t/", "scopes": {"read": "reads"}}}}),
        ),
    ];
    for (pointer, expected) in cases {
        assert_eq!(at(pointer), expected, "{pointer}");
    }
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("parameter odd: collectionFormat tsv"), "{notes:?}");
    assert!(Document::new(document.clone()).is_ok(), "{document:#}");
}

#[test]
fn properties_may_have_the_names_of_keywords() {
    let mut document = pets();
    let reference = json!({"$ref": "#/definitions/Pet"});
    document["definitions"]["Schema"] = json!({
        "type": "object", "default": {"$ref": "#/definitions/of-the-author"},
        "properties": {"default": reference, "enum": {"type": "array", "items": reference}, "example": reference, "properties": {"additionalProperties": reference}},
    });
    let converted = convert_swagger(&document).document;
    let at = |pointer: &str| converted.pointer(&format!("/components/schemas/Schema{pointer}")).cloned().unwrap_or_default();
    for pointer in
        ["/properties/default", "/properties/enum/items", "/properties/example", "/properties/properties/additionalProperties"]
    {
        assert_eq!(at(pointer)["$ref"], "#/components/schemas/Pet", "{pointer}");
    }
    assert_eq!(at("/default")["$ref"], "#/definitions/of-the-author", "a value is no part of the description");
    assert!(Document::new(converted.clone()).is_ok(), "{converted:#}");
}

#[test]
fn only_version_2_is_converted() {
    assert!(is_swagger(&pets()) && is_swagger(&json!({"swagger": 2.0})));
    assert!(!is_swagger(&json!({"swagger": "1.2"})) && !is_swagger(&json!({"openapi": "3.0.3"})));
}
