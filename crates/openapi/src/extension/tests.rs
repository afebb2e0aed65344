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

/// An object with all of these places; their values are null.
fn skeleton(places: &[String]) -> Value {
    fn put_at(value: &mut Value, keys: &[&str]) {
        let Some((key, rest)) = keys.split_first() else { return };
        if !value.is_object() {
            *value = json!({});
        }
        let (key, is_list) = key.strip_suffix("[]").map_or((*key, false), |key| (key, true));
        let name = if key == "*" { "any" } else { key };
        let member = value.as_object_mut().unwrap().entry(name).or_insert(Value::Null);
        if !is_list {
            return put_at(member, rest);
        }
        if !member.is_array() {
            *member = json!([{}]);
        }
        put_at(&mut member[0], rest);
    }
    let mut object = json!({});
    places.iter().for_each(|place| put_at(&mut object, &place.split('.').collect::<Vec<_>>()));
    object
}

/// The pointers of all objects in a value.
fn objects(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            found.push(at.to_owned());
            members.iter().for_each(|(name, member)| objects(member, &format!("{at}/{name}"), found));
        }
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| objects(item, &format!("{at}/{index}"), found)),
        _ => {}
    }
}

/// A document with every object that the extension may have, and a scheme of each kind.
fn everything() -> Document {
    let known = |list: &[&str]| list.iter().map(|place| (*place).to_owned()).collect::<Vec<_>>();
    let mut extension = skeleton(&[places_read::of_fields(FIELDS), known(places_read::READ_ELSEWHERE)].concat());
    let mut operation = skeleton(&known(places_read::OPERATION_READ_ELSEWHERE));
    for middleware in OPERATION_FIELDS {
        operation[middleware.name] = skeleton(&places_read::of_fields(middleware.members));
    }
    for name in ["transformRequestBody", "transformResponseBody", "urlRewrite", "virtualEndpoint"] {
        let whole = skeleton(&known(places_read::OPERATION_READ_ELSEWHERE));
        operation[name].as_object_mut().unwrap().extend(whole[name].as_object().unwrap().clone());
    }
    put(&mut extension, &["middleware", "operations", "getA"], operation);
    let kinds = [
        ("token", places_read::TOKEN, json!({"type": "apiKey", "in": "header", "name": "X"})),
        ("jwt", places_read::JWT, json!({"type": "http", "scheme": "bearer", "bearerFormat": "JWT"})),
        ("basic", places_read::BASIC, json!({"type": "http", "scheme": "basic"})),
        ("oauth", places_read::OAUTH, json!({"type": "oauth2", "flows": {}})),
        ("external", places_read::EXTERNAL_OAUTH, json!({"type": "oauth2", "flows": {}})),
        ("scopes", places_read::SCOPES, json!({"type": "oauth2", "flows": {}})),
        ("nowhere", &[][..], Value::Null),
    ];
    let mut schemes = json!({});
    for (name, members, scheme) in kinds {
        let settings = skeleton(&[known(places_read::SOURCES), known(members)].concat());
        put(&mut extension, &["server", "authentication", "securitySchemes", name], settings);
        if !scheme.is_null() {
            schemes[name] = scheme;
        }
    }
    let more = json!({"components": {"securitySchemes": schemes}, "paths": {"/a": {"get": {"operationId": "getA"}}}});
    document(extension, more)
}

#[test]
fn an_unknown_member_of_any_object_is_named_and_a_protection_with_one_is_unusable() {
    let whole = everything();
    let is_told = |problem: &&Problem| problem.message.starts_with("unknown field");
    let unknown: Vec<String> = classic_form(&whole).problems.iter().filter(is_told).map(Problem::to_string).collect();
    assert_eq!(unknown, Vec::<String>::new(), "the tables know their own places");
    let mut pointers = Vec::new();
    objects(&whole.root[EXTENSION], "", &mut pointers);
    // Names are free there: of schemes, operations and claims, of codes that are overridden, and of what scripts read.
    let free = [
        "/server/authentication/securitySchemes",
        "/middleware/operations",
        "/server/authentication/securitySchemes/jwt/customClaimValidation",
    ];
    assert!(pointers.len() > 150, "{}", pointers.len());
    for pointer in pointers.iter().filter(|pointer| !free.contains(&pointer.as_str())) {
        let mut changed = whole.clone();
        let object = changed.root[EXTENSION].pointer_mut(pointer).unwrap();
        object["surprise"] = json!({"enabled": true});
        let problems = classic_form(&changed).problems;
        let told = problems.iter().filter(|problem| problem.path.ends_with(".surprise") && is_told(problem)).collect::<Vec<_>>();
        let [problem] = told.as_slice() else { panic!("{pointer}: {problems:?}") };
        let steps = problem.path.matches(['.', '[']).count();
        assert_eq!(steps, pointer.matches('/').count() + 2, "{pointer}: {}", problem.path);
        let protects =
            ["/server/authentication", "/server/clientCertificates", "/server/ipAccessControl", "/upstream/certificatePinning"];
        let operation = ["allow", "block", "validateRequest", "rateLimit", "requestSizeLimit", "scopeCheck", "internal"];
        let in_operation = |name: &&str| pointer.starts_with(&format!("/middleware/operations/getA/{name}"));
        if protects.iter().any(|section| pointer.starts_with(section)) || operation.iter().any(in_operation) {
            assert!(problem.is_error(), "{pointer}");
        }
    }
}

#[test]
fn other_extensions_of_tyk_are_reported() {
    let mut document = everything();
    document.root["x-tyk-mcp-server"] = json!({"enabled": true});
    let problems = classic_form(&document).problems;
    let told = problems.iter().find(|problem| problem.path == "$[\"x-tyk-mcp-server\"]" || problem.path == "$.x-tyk-mcp-server");
    assert!(told.is_some_and(|problem| problem.message.contains("no effect") && !problem.is_error()), "{problems:?}");
}

/// A document whose tokens are verified by one scheme, and whose scopes are checked by another.
fn with_scopes(settings: Value) -> Document {
    let mut extension = minimal();
    let jwt = json!({"enabled": true, "source": "c2VjcmV0", "signingMethod": "hmac", "header": {"enabled": true, "name": "Authorization"}});
    put(
        &mut extension,
        &["server", "authentication"],
        json!({"enabled": true, "securitySchemes": {"token": jwt, "corp": settings}}),
    );
    put(&mut extension, &["middleware", "operations", "getA"], json!({"scopeCheck": {"enabled": true}}));
    put(&mut extension, &["middleware", "operations", "getB"], json!({"scopeCheck": {"enabled": false}}));
    let flows = json!({"clientCredentials": {"tokenUrl": "x", "scopes": {"listed": "", "api:use": ""}}});
    document(
        extension,
        json!({
            "security": [{"token": [], "corp": ["api:use", "api:use", ""]}, {"token": []}],
            "components": {"securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}, "corp": {"type": "oauth2", "flows": flows},
            }},
            "paths": {
                "/a/{id}": {"get": {"operationId": "getA", "security": [{"corp": ["a:read", "a:list"]}, {"token": []}]}},
                "/a/me": {"get": {"operationId": "getMe"}},
                "/b": {"get": {"operationId": "getB", "security": [{"corp": ["b:read"]}]}},
            },
        }),
    )
}

#[test]
fn scopes_of_an_external_server_are_checked_and_never_make_the_gateway_that_server() {
    let check = json!({"enabled": true, "scopeCheck": {"enabled": true, "claimNames": ["perms"], "separator": ","}});
    let (definition, problems) = read(&with_scopes(check.clone()));
    let definition = definition.unwrap_or_else(|| panic!("{problems:?}"));
    assert_eq!(problems, Vec::<String>::new());
    assert!(!definition.use_oauth2 && definition.enable_jwt && !definition.use_keyless);
    let rules = definition.tollgate.scope_check.as_ref().unwrap();
    assert_eq!((rules.claims(), rules.separator()), (vec!["perms"], ","));
    assert_eq!(rules.alternatives, [vec!["api:use"]]);
    let entries = &definition.version_data.versions[""].extended_paths.operation_scopes;
    let entries: Vec<_> = entries.iter().map(|entry| (entry.path.as_str(), entry.alternatives.clone())).collect();
    let wanted = vec![vec!["a:read".to_owned(), "a:list".to_owned()], vec![]];
    assert!(entries.contains(&("/a/{id}", wanted)) && entries.contains(&("/a/me", vec![])), "{entries:?}");
    assert!(!entries.iter().any(|(path, alternatives)| *path == "/b" && !alternatives.is_empty()));
    for (source, of_api, of_operations) in [("operation", 0, true), ("global", 1, false), ("union", 1, true)] {
        let mut check = check.clone();
        put(&mut check, &["scopeCheck", "scopeSource"], json!(source));
        let definition = read(&with_scopes(check)).0.unwrap();
        assert_eq!(definition.tollgate.scope_check.unwrap().alternatives.len(), of_api, "{source}");
        assert_eq!(!definition.version_data.versions[""].extended_paths.operation_scopes.is_empty(), of_operations, "{source}");
    }
    for (keys, value, place) in [
        (&["scopeCheck", "scopeSource"][..], json!("any"), "scopeCheck.scopeSource"),
        (&["scopeCheck", "enabled"], json!("yes"), "scopeCheck.enabled"),
        (&["scopeCheck", "claimNames"], json!("scope"), "scopeCheck.claimNames"),
        (&["tokenExchange"], json!({"enabled": true, "providers": [{"name": "x"}]}), "tokenExchange"),
        (&["introspection"], json!({"url": "x"}), "introspection"),
        (&["scopeCheck", "claimName"], json!("scope"), "scopeCheck.claimName"),
    ] {
        let mut check = check.clone();
        put(&mut check, keys, value);
        let (definition, problems) = read(&with_scopes(check));
        let at = format!("$.x-tyk-api-gateway.server.authentication.securitySchemes.corp.{place}: error");
        assert!(definition.is_none() && problems.iter().any(|problem| problem.starts_with(&at)), "{place}: {problems:?}");
    }
}

#[test]
fn the_metadata_of_a_resource_lists_the_scopes_of_flows_and_of_every_requirement() {
    let metadata = json!({"enabled": true, "resource": "https://api", "authorizationServers": ["https://idp"]});
    let settings = json!({"enabled": true, "protectedResourceMetadata": metadata});
    let metadata = read(&with_scopes(settings.clone())).0.unwrap().tollgate.protected_resource.unwrap();
    assert_eq!(metadata.scopes_supported, ["a:list", "a:read", "api:use", "b:read", "listed"]);
    assert_eq!((metadata.resource.as_str(), metadata.well_known_path()), ("https://api", ".well-known/oauth-protected-resource"));
    let mut fixed = settings;
    put(&mut fixed, &["protectedResourceMetadata", "autoDeriveScopes"], json!(false));
    let metadata = read(&with_scopes(fixed)).0.unwrap().tollgate.protected_resource.unwrap();
    assert_eq!(metadata.scopes_supported, ["api:use", "listed"]);
}

#[test]
fn rules_for_claims_are_those_of_the_definition() {
    let mut document = with_security("legacy");
    document.root["security"] = json!([{"token": []}]);
    let rules = json!({
        "allowedIssuers": ["i"], "allowedAudiences": ["a"], "allowedSubjects": ["s"], "jtiValidation": {"enabled": true},
        "subjectClaims": ["user", "sub"], "identityBaseField": "old", "basePolicyClaims": ["pol", "tier"],
        "scopes": {"claims": ["scp", "scope"], "scopeToPolicyMapping": []},
        "customClaimValidation": {"role.name": {"type": "exact_match", "allowedValues": ["admin", 1], "nonBlocking": true}},
    });
    let settings = &mut document.root[EXTENSION]["server"]["authentication"]["securitySchemes"]["token"];
    settings.as_object_mut().unwrap().extend(rules.as_object().unwrap().clone());
    let (definition, problems) = read(&document);
    let definition = definition.unwrap_or_else(|| panic!("{problems:?}"));
    assert_eq!(problems, Vec::<String>::new());
    let claims = &definition.tollgate.jwt;
    assert!(claims.jti_required && claims.custom_claims["role.name"].non_blocking);
    assert_eq!(
        (&claims.allowed_issuers[0], &claims.allowed_audiences[0], &claims.allowed_subjects[0]),
        (&"i".into(), &"a".into(), &"s".into())
    );
    assert_eq!(definition.jwt_subject_claims(), ["user", "sub"]);
    assert_eq!(definition.jwt_policy_claims(), ["pol", "tier"]);
    assert_eq!(definition.jwt_scope_claims(), ["scp", "scope"]);
    let classic = crate::convert::to_classic(document.root.clone()).unwrap();
    assert_eq!(classic.losses, Vec::<String>::new());
    let back = crate::convert::to_openapi(&classic.document).unwrap();
    assert_eq!(back.losses, Vec::<String>::new());
    let written = &back.document[EXTENSION]["server"]["authentication"]["securitySchemes"]["jwtAuth"];
    for name in [
        "allowedIssuers",
        "allowedAudiences",
        "allowedSubjects",
        "jtiValidation",
        "subjectClaims",
        "basePolicyClaims",
        "customClaimValidation",
    ] {
        assert_eq!(written[name], rules[name], "{name}");
    }
    assert_eq!(written["scopes"]["claims"], rules["scopes"]["claims"]);
    assert!(back.document.get("x-tollgate").is_none_or(|own| own.get("jwt").is_none()));
}
