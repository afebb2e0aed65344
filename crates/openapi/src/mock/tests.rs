use super::*;

fn mocks(responses: Value) -> Mocks {
    let root = json!({"openapi": "3.0.3", "paths": {"/a": {"get": {"operationId": "a", "responses": responses}}}, "components": {"schemas": {
        "Node": {"type": "object", "properties": {"id": {"type": "integer", "minimum": 3}, "when": {"type": "string", "format": "date"}, "next": {"$ref": "#/components/schemas/Node"}}},
    }}});
    let document = Document::new(root).unwrap().0;
    Mocks::new(&document, &document.operations[0])
}

fn ask(mocks: &Mocks, headers: &[(&str, &str)]) -> Result<(u16, String, String), String> {
    let find = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    let mocked = mocks.select(&MockSelection::default(), &find)?;
    Ok((mocked.status, mocked.content_type.to_owned(), String::from_utf8(mocked.body.to_vec()).unwrap()))
}

#[test]
fn requests_select_examples() {
    let mocks = mocks(json!({
        "200": {"description": "", "headers": {"X-Rate": {"schema": {"type": "integer", "example": 7}}}, "content": {
            "application/json": {"examples": {"two": {"value": {"n": 2}}, "one": {"value": {"n": 1}}}},
            "text/plain": {"example": "hello"},
        }},
        "204": {"description": ""},
        "404": {"description": "", "content": {"application/json": {"example": {"error": "gone"}, "examples": {"x": {"value": 1}}}}},
    }));
    let json = "application/json".to_owned();
    assert_eq!(ask(&mocks, &[]), Ok((200, json.clone(), "{\"n\":1}".to_owned())));
    assert_eq!(ask(&mocks, &[("X-Tyk-Accept-Example-Name", "two")]), Ok((200, json.clone(), "{\"n\":2}".to_owned())));
    assert_eq!(ask(&mocks, &[("X-Tyk-Accept-Example-Code", "404")]), Ok((404, json.clone(), "{\"error\":\"gone\"}".to_owned())));
    assert_eq!(ask(&mocks, &[("Accept", "text/plain")]), Ok((200, "text/plain".to_owned(), "hello".to_owned())));
    assert_eq!(ask(&mocks, &[("Accept", "text/html, text/*;q=0.5")]), Ok((200, "text/plain".to_owned(), "hello".to_owned())));
    assert_eq!(ask(&mocks, &[("Accept", "text/html, */*")]), Ok((200, json, "{\"n\":1}".to_owned())));
    assert_eq!(ask(&mocks, &[("X-Tyk-Accept-Example-Code", "204")]), Ok((204, String::new(), String::new())));
    for (header, value, expect) in [
        ("X-Tyk-Accept-Example-Code", "x", "given code x is not a valid integer value"),
        ("X-Tyk-Accept-Example-Code", "500", "there is no example response for the code: 500"),
        ("X-Tyk-Accept-Example-Name", "three", "there is no example response for the example name: three"),
        ("Accept", "image/png", "there is no example response for the content type: image/png"),
    ] {
        assert_eq!(ask(&mocks, &[(header, value)]), Err(expect.to_owned()));
    }
    let find = |_: &str| None;
    let headers = mocks.select(&MockSelection::default(), &find).unwrap().headers;
    assert_eq!(headers, [("X-Rate".to_owned(), "7".to_owned())]);
}

#[test]
fn ranges_get_a_type_that_fits_their_example() {
    let of = |content: Value| mocks(json!({"200": {"description": "", "content": content}}));
    let object = || json!({"example": {"n": 1}});
    for (content, accept, expect) in [
        (json!({"*/*": object()}), "", Ok(("application/json", "{\"n\":1}"))),
        (json!({"*/*": object()}), "text/html", Ok(("application/json", "{\"n\":1}"))),
        (json!({"*/*": object()}), "application/*", Ok(("application/json", "{\"n\":1}"))),
        (json!({"*/*": object()}), "image/*", Err("there is no example response for the content type: image/*")),
        (json!({"*/*": {"schema": {"type": "string"}}}), "", Ok(("text/plain; charset=utf-8", "string"))),
        (json!({"application/*": {"schema": {"type": "string"}}}), "", Ok(("application/json", "\"string\""))),
        (json!({"application/*": object()}), "application/json", Ok(("application/json", "{\"n\":1}"))),
        (json!({"application/*": object()}), "text/html", Err("there is no example response for the content type: text/html")),
        (json!({"text/*": {"example": "x"}}), "text/plain", Ok(("text/plain; charset=utf-8", "x"))),
        (json!({"image/*": {"example": "x"}}), "image/png", Ok(("application/octet-stream", "x"))),
        // The most specific one.
        (json!({"*/*": {"example": "any"}, "text/*": {"example": "text"}}), "text/csv", Ok(("text/plain; charset=utf-8", "text"))),
        // Nobody asked for a type.
        (json!({"application/pdf": {"example": "%PDF"}}), "*/*", Ok(("application/pdf", "%PDF"))),
        (
            json!({"application/pdf": {"example": "%PDF"}}),
            "application/json",
            Err("there is no example response for the content type: application/json"),
        ),
    ] {
        let expect = expect.map(|(kind, body)| (200, kind.to_owned(), body.to_owned())).map_err(str::to_owned);
        assert_eq!(ask(&of(content.clone()), &[("Accept", accept)]), expect, "{content} {accept}");
    }
}

#[test]
fn schemas_without_examples_get_fitting_ones_and_recursion_ends() {
    let mocks = mocks(
        json!({"200": {"description": "", "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}}}}}}),
    );
    let (_, _, body) = ask(&mocks, &[]).unwrap();
    let value: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&value[0]["id"], &value[0]["when"]), (&json!(3), &json!("2024-01-01")));
    assert_eq!(value[0]["next"]["next"]["id"], json!(3));
}

#[test]
fn what_needs_itself_is_left_out_where_it_may_be() {
    let endless = json!({"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#/components/schemas/Endless"}}});
    let optional = json!({"type": "object", "properties": {
        "n": {"type": "integer"}, "endless": {"$ref": "#/components/schemas/Endless"},
        "list": {"type": "array", "items": {"$ref": "#/components/schemas/Endless"}},
    }});
    let content = json!({"application/json": {"schema": {"$ref": "#/components/schemas/Optional"}}});
    let root = json!({
        "openapi": "3.0.3", "paths": {"/a": {"get": {"operationId": "a", "responses": {"200": {"description": "", "content": content}}}}},
        "components": {"schemas": {"Endless": endless, "Optional": optional}},
    });
    let document = Document::new(root).unwrap().0;
    let mocks = Mocks::new(&document, &document.operations[0]);
    assert_eq!(ask(&mocks, &[]).map(|(_, _, body)| body), Ok("{\"n\":0,\"list\":[]}".to_owned()));
}

/// References on each of several levels multiply, and so do lists with a minimum length in each other.
#[test]
fn an_example_that_would_be_too_large_is_made_less_deep() {
    let mut schemas = serde_json::Map::new();
    for level in 0..30 {
        let next = json!({"$ref": format!("#/components/schemas/L{}", level + 1)});
        let properties: serde_json::Map<String, Value> = (0..10).map(|number| (format!("p{number}"), next.clone())).collect();
        schemas.insert(format!("L{level}"), json!({"type": "object", "properties": properties}));
    }
    schemas.insert("L30".to_owned(), json!({"type": "string"}));
    let lists = (0..11).fold(json!({"type": "integer"}), |items, _| json!({"type": "array", "minItems": 16, "items": items}));
    schemas.insert("Lists".to_owned(), json!({"type": "object", "properties": {"a": {"type": "string"}, "b": lists}}));
    let root = json!({"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {}, "components": {"schemas": schemas}});
    let document = Document::new(root).unwrap().0;
    let of = |name: &str| made(&document, &json!({"$ref": format!("#/components/schemas/{name}")})).unwrap();
    let wide = of("L0");
    assert_eq!(wide.as_object().map(Map::len), Some(10));
    assert!(parts(&wide) > 100 && parts(&wide) <= PARTS_MAX, "{}", parts(&wide));
    let lists = of("Lists");
    assert_eq!(lists.get("a"), Some(&json!("string")));
    assert!(parts(&lists) <= PARTS_MAX);
}
