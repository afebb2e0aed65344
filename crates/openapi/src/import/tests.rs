use super::*;

fn petstore() -> Value {
    json!({
        "openapi": "3.0.3", "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": "https://{host}/v1", "variables": {"host": {"default": "pets.example"}}}],
        "security": [{"key": []}],
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
        "paths": {
            "/pets": {
                "get": {"operationId": "list", "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}}],
                    "responses": {"200": {"description": "", "content": {"application/json": {"example": []}}}}},
                "post": {"requestBody": {"content": {"application/json": {"schema": {}}}}, "responses": {"400": {"description": ""}, "201": {"description": "", "content": {"application/json": {"schema": {}}}}}},
            },
            "/health": {"get": {"operationId": "health", "responses": {"200": {"description": ""}}}},
        },
    })
}

#[test]
fn a_plain_document_becomes_an_api() {
    let mut root = petstore();
    apply(&mut root, &ImportOptions::default(), true).unwrap();
    let extension = &root[EXTENSION];
    assert_eq!(extension["info"]["name"], "Pets");
    assert_eq!(extension["upstream"]["url"], "https://pets.example/v1");
    assert_eq!(extension["server"]["listenPath"], json!({"strip": true, "value": "/"}));
    assert_eq!(root["paths"]["/pets"]["post"]["operationId"], "petsPOST");
    let form = crate::classic_form(&crate::Document::new(root).unwrap().0);
    assert!(form.problems.is_empty(), "{:?}", form.problems);
}

#[test]
fn choices_reach_the_operations_that_they_concern() {
    let mut root = petstore();
    let options = ImportOptions {
        authentication: Some(true),
        allow_list: Some(true),
        validate_request: Some(true),
        mock_response: Some(true),
        listen_path: Some("/pets/".to_owned()),
        ..ImportOptions::default()
    };
    apply(&mut root, &options, true).unwrap();
    let operations = &root[EXTENSION]["middleware"]["operations"];
    assert_eq!(operations["health"], json!({"allow": {"enabled": true}}));
    assert_eq!(operations["list"]["mockResponse"]["fromOASExamples"], json!({"enabled": true}));
    assert_eq!(operations["petsPOST"]["mockResponse"]["fromOASExamples"], json!({"enabled": true, "code": 201}));
    assert_eq!(operations["petsPOST"]["validateRequest"], json!({"enabled": true, "errorResponseCode": 422}));
    assert_eq!(root[EXTENSION]["server"]["authentication"]["securitySchemes"]["key"]["enabled"], true);
}

#[test]
fn what_is_missing_is_said() {
    let import = |change: &dyn Fn(&mut Value), options: ImportOptions| {
        let mut root = petstore();
        change(&mut root);
        apply(&mut root, &options, true).unwrap_err()
    };
    let without = |name: &'static str| move |root: &mut Value| drop(root.as_object_mut().unwrap().remove(name));
    assert_eq!(import(&without("servers"), ImportOptions::default()), "the document has no servers: give the upstream's URL");
    let authenticated = || ImportOptions { authentication: Some(true), ..ImportOptions::default() };
    assert!(import(&without("security"), authenticated()).contains("has no security"));
    let relative = |root: &mut Value| root["servers"][0]["url"] = json!("/v1");
    assert!(import(&relative, ImportOptions::default()).contains("must be an absolute URL"));
}
