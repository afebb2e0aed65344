use serde_json::json;
use tollgate_model::api::ApiDefinition;

use super::*;

fn document(extension: Value, more: Value) -> Document {
    let mut root = json!({"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {}});
    if let (Value::Object(root), Value::Object(more)) = (&mut root, more) {
        root.extend(more);
        root.insert(EXTENSION.to_owned(), extension);
    }
    Document::new(root).unwrap().0
}

/// The definition and all problems of both languages.
fn read(document: &Document) -> (Option<ApiDefinition>, Vec<String>) {
    let form = classic_form(document);
    let mut problems = form.problems.clone();
    if form.problems.iter().any(Problem::is_error) {
        return (None, problems.iter().map(Problem::to_string).collect());
    }
    let read = ApiDefinition::from_value(form.definition.clone(), None, &|_, _| Ok(String::new()));
    let definition = match read {
        Ok((definition, more)) => {
            problems.extend(more.into_iter().map(|problem| form.relocated(problem)));
            Some(definition)
        }
        Err(more) => {
            problems.extend(more.into_iter().map(|problem| form.relocated(problem)));
            None
        }
    };
    (definition, problems.iter().map(Problem::to_string).collect())
}

fn minimal() -> Value {
    json!({
        "info": {"name": "a", "id": "a1", "state": {"active": true}},
        "upstream": {"url": "http://127.0.0.1:1/"},
        "server": {"listenPath": {"value": "/a/", "strip": true}},
    })
}

#[test]
fn a_minimal_extension_is_a_keyless_api() {
    let (definition, problems) = read(&document(minimal(), json!({})));
    let definition = definition.unwrap();
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!((definition.name.as_str(), definition.api_id.as_str()), ("a", "a1"));
    assert_eq!(definition.proxy.listen_path, "/a/");
    assert!(definition.use_keyless && definition.proxy.strip_listen_path && definition.do_not_track);
    assert!(definition.version_data.versions[""].use_extended_paths);
}

#[test]
fn problems_are_reported_at_their_place_in_the_extension() {
    let mut extension = minimal();
    put(&mut extension, &["upstream", "rateLimit"], json!({"enabled": true, "rate": 5, "per": "soon"}));
    let (_, problems) = read(&document(extension.clone(), json!({})));
    let at = "$.x-tyk-api-gateway";
    assert_eq!(problems, [format!("{at}.upstream.rateLimit.per: error: must be a span of time such as 10s or 1m30s")]);
    put(&mut extension, &["upstream", "rateLimit", "per"], json!("10s"));
    put(&mut extension, &["server", "listenPath", "strip"], json!("yes"));
    put(&mut extension, &["server", "nonsense"], json!(1));
    put(&mut extension, &["middleware", "operations", "getA", "enforceTimeout"], json!({"enabled": true, "value": -1}));
    put(&mut extension, &["middleware", "operations", "nobody"], json!({}));
    let paths = json!({"paths": {"/a": {"get": {"operationId": "getA"}}}});
    let (_, problems) = read(&document(extension, paths));
    assert_eq!(
        problems,
        [
            format!("{at}.middleware.operations.nobody: warning: no operation of this document has this id: nothing applies it"),
            format!("{at}.server.nonsense: ignored: unknown field"),
            format!("{at}.server.listenPath.strip: error: must be true or false, not a string"),
            format!("{at}.middleware.operations.getA.enforceTimeout.value: error: must not be negative"),
        ]
    );
}

fn with_security(mode: &str) -> Document {
    let mut extension = minimal();
    put(
        &mut extension,
        &["server", "authentication"],
        json!({
            "enabled": true, "securityProcessingMode": mode,
            "securitySchemes": {
                "key": {"enabled": true}, "user": {"enabled": true, "header": {"enabled": true, "name": "Authorization"}},
                "token": {"enabled": true, "source": "c2VjcmV0", "signingMethod": "hmac", "header": {"enabled": true, "name": "Authorization"}},
            },
        }),
    );
    document(
        extension,
        json!({
            "security": [{"key": [], "user": []}, {"token": []}],
            "components": {"securitySchemes": {
                "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
                "user": {"type": "http", "scheme": "basic"},
                "token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
            }},
        }),
    )
}

#[test]
fn legacy_security_is_the_first_requirement_and_compliant_any_one() {
    let (definition, problems) = read(&with_security("legacy"));
    let definition = definition.unwrap_or_else(|| panic!("{problems:?}"));
    assert!(!definition.use_keyless && definition.use_standard_auth && definition.use_basic_auth && !definition.enable_jwt);
    assert_eq!(definition.auth_configs["authToken"].auth_header_name, "X-Key");
    assert!(definition.tollgate.auth_alternatives.is_empty());
    let (definition, problems) = read(&with_security("compliant"));
    let definition = definition.unwrap_or_else(|| panic!("{problems:?}"));
    assert!(definition.enable_jwt && definition.use_basic_auth && definition.use_standard_auth);
    assert_eq!(definition.tollgate.auth_alternatives, [vec!["authToken", "basic"], vec!["jwt"]]);
}

#[test]
fn a_requirement_that_nothing_checks_lets_nobody_in() {
    let mut document = with_security("compliant");
    document.root["x-tyk-api-gateway"]["server"]["authentication"]["securitySchemes"]["key"]["enabled"] = json!(false);
    let (definition, problems) = read(&document);
    let definition = definition.unwrap();
    assert!(definition.enable_jwt && !definition.use_basic_auth && !definition.use_standard_auth && !definition.use_keyless);
    assert_eq!(
        problems,
        ["$.security[0]: warning: key is not enabled in server.authentication: nobody gets in by this requirement",]
    );
    document.root["x-tyk-api-gateway"]["server"]["authentication"]["securitySchemes"] = json!({});
    assert!(read(&document).0.is_none());
}
