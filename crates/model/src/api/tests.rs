use serde_json::{Value, json};

use super::{ApiDefinition, AuthMethod, VersionLocation};
use crate::problem::Problem;

/// The smallest definition without problems.
fn smallest() -> Value {
    json!({
        "api_id": "1",
        "version_data": {"not_versioned": true, "versions": {"Default": {"use_extended_paths": true}}},
        "proxy": {"listen_path": "/a/", "target_url": "http://upstream/"}
    })
}

/// The smallest definition, changed at one place (a JSON pointer whose parents exist).
fn with(pointer: &str, value: Value) -> Value {
    let mut document = smallest();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    document.pointer_mut(parent).unwrap()[key] = value;
    document
}

fn with_paths(list: &str, entries: Value) -> Value {
    with("/version_data/versions/Default/extended_paths", json!({ list: entries }))
}

fn problems(document: &Value) -> Vec<String> {
    let text = document.to_string();
    let problems: Vec<Problem> = match ApiDefinition::parse(text.as_bytes(), None) {
        Ok((_, problems)) | Err(problems) => problems,
    };
    problems.iter().map(ToString::to_string).collect()
}

fn parsed(document: &Value) -> ApiDefinition {
    ApiDefinition::parse(document.to_string().as_bytes(), None).unwrap().0
}

/// Checks the problems of a definition.
#[track_caller]
fn check(document: Value, expect: &[&str]) {
    assert_eq!(problems(&document), expect);
}

#[test]
fn the_smallest_definition_has_no_problems() {
    check(smallest(), &[]);
}

#[test]
fn text_that_is_not_json_says_where_it_ends_to_be() {
    let problems = ApiDefinition::parse(b"{\n  \"name\" 1}", Some("apps/a.json".as_ref())).unwrap_err();
    let text = problems[0].to_string();
    assert_eq!(text, "apps/a.json: error: not valid JSON: expected `:` at line 2 column 10");
}

#[test]
fn the_document_is_kept_as_written() {
    let document = with("/unknown", json!({"A": [null]}));
    assert_eq!(parsed(&document).raw, document);
}

#[test]
fn references_to_secrets_are_resolved_but_not_in_the_kept_document() {
    let document = with("/proxy/target_url", json!("env://TARGET"));
    let (api, _) =
        ApiDefinition::from_value(document.clone(), None, &|scheme, name| Ok(format!("http://{scheme}.{name}/"))).unwrap();
    assert_eq!(api.proxy.target_url, "http://env.TARGET/");
    assert_eq!(api.raw, document);
    check(document, &["$.proxy.target_url: error: env://TARGET has no value"]);
}

#[test]
fn paths_and_targets() {
    let listen = "$.proxy.listen_path: error:";
    check(with("/proxy/listen_path", json!("")), &[&format!("{listen} must not be empty")]);
    check(with("/proxy/listen_path", json!("/a b")), &[&format!("{listen} must not contain spaces")]);
    check(
        with("/proxy/target_url", json!("upstream")),
        &["$.proxy.target_url: error: must be an absolute URL such as http://host:8080/"],
    );
    check(
        with("/proxy/enable_load_balancing", json!(true)),
        &["$.proxy.target_list: warning: load balancing without targets: every request goes to target_url"],
    );
    let mut balanced = with("/proxy/target_list", json!(["a:80", "https://b", "ftp://c"]));
    balanced["proxy"]["enable_load_balancing"] = json!(true);
    balanced["proxy"]["target_url"] = json!("/relative");
    check(balanced, &["$.proxy.target_list[2]: error: must begin with http, https, h2c, ws, wss or tyk and ://"]);
}

#[test]
fn versions() {
    let versions = json!({"v1": {}, "v2": {}});
    check(
        with("/version_data/versions", versions.clone()),
        &["$.version_data.versions: warning: must have one version, or one called Default: every request is refused"],
    );
    check(
        with("/version_data", json!({})),
        &["$.version_data.versions: warning: must have a version, or not_versioned must be true: every request is refused"],
    );
    check(
        with("/version_data", json!({"versions": versions, "default_version": "v3"})),
        &[
            "$.version_data.default_version: warning: names no version: requests without a version are refused",
            "$.definition.location: warning: must say where requests name their version, \
         or version_data.not_versioned must be true",
        ],
    );
    check(
        with("/version_data/versions", json!({"1.0": {"expires": "soon", "override_target": "x"}})),
        &[
            "$.version_data.versions[\"1.0\"].expires: warning: is not a date such as 2006-01-02 15:04: counts as expired",
            "$.version_data.versions[\"1.0\"].override_target: error: must be an absolute URL such as http://host:8080/",
        ],
    );
}

#[test]
fn deprecation() {
    let with = |rules: Value| with("/tollgate", json!({ "deprecation": rules }));
    let at = "2026-01-01T00:00:00Z";
    check(with(json!({"at": at, "sunset": at, "link": "https://a.test:8443/b?c=%3Cd#e", "versions": ["Default"]})), &[]);
    check(with(json!({"sunset": "2026-01-01"})), &[]);
    check(with(json!({"link": "https://a.test/"})), &["$.tollgate.deprecation: error: must have at or sunset"]);
    for date in ["soon", "2026-13-01T00:00:00Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00"] {
        let message = "error: must be a date from 1970 to 9999 such as 2026-01-01T00:00:00Z";
        check(with(json!({"at": date})), &[&format!("$.tollgate.deprecation.at: {message}")]);
        check(with(json!({"sunset": date})), &[&format!("$.tollgate.deprecation.sunset: {message}")]);
    }
    let sooner = json!({"at": at, "sunset": "2026-01-01T00:00:00+00:01"});
    check(with(sooner), &["$.tollgate.deprecation.sunset: error: must not be before at"]);
    for link in ["/page", "tyk://a/", "https://", "https://a.test/>; rel=\"x", "https://a.test/\r\nX: y", "https://a.test/ü"] {
        let message = "$.tollgate.deprecation.link: error: must be a URL such as https://example.com/deprecated";
        check(with(json!({"at": at, "link": link})), &[message]);
    }
    check(
        with(json!({"at": at, "versions": ["Default", "v9"]})),
        &["$.tollgate.deprecation.versions[1]: error: \"v9\" is not a version of the API"],
    );
}

#[test]
fn compression() {
    let with = |rules: Value| with("/tollgate", json!({"compression": rules}));
    let all = json!({"encodings": ["gzip", "br"], "types": ["text/*", "*+json", "*", "application/json"], "bytes_min": 1,
        "statuses": [200, 404], "gzip_level": 6, "brotli_level": 4, "event_streams": true});
    check(with(all), &[]);
    check(with(json!({})), &[]);
    let levels = ["gzip_level: error: must be from 1 to 6", "brotli_level: error: must be from 1 to 4"];
    let levels = levels.map(|level| format!("$.tollgate.compression.{level}: more would hold up the requests of others"));
    check(with(json!({"gzip_level": 7, "brotli_level": 5})), &[&levels[0], &levels[1]]);
    check(with(json!({"statuses": [200, 101]})), &["$.tollgate.compression.statuses[1]: error: must be a status from 200 to 599"]);
    check(with(json!({"encodings": ["gzip", "gzip"]})), &["$.tollgate.compression.encodings[1]: error: is there twice"]);
    for pattern in ["json", "", "/", "text/", "text/html; charset=utf-8", "text/html, text/plain", "a/b/c"] {
        let message = "must be a media type such as application/json, text/* or *+json";
        check(with(json!({"types": [pattern]})), &[&format!("$.tollgate.compression.types[0]: error: {message}")]);
    }
}

#[test]
fn authentication() {
    check(with("/auth", json!({"disable_header": true})), &["$.auth: error: header, query parameter and cookie are all disabled"]);
    check(with("/auth_configs", json!({"authToken": {"disable_header": true, "use_cookie": true}})), &[]);
    check(
        with("/use_go_plugin_auth", json!(true)),
        &["$.use_go_plugin_auth: warning: authentication by Go plugin is not supported yet: the API refuses every request"],
    );
    check(
        with("/enable_jwt", json!(true)),
        &["$.jwt_signing_method: warning: is neither hmac, rsa, ecdsa nor eddsa: tokens must be signed with HMAC"],
    );
    check(
        with("/jwt_jwks_uris", json!([{"url": "http://a/", "cacheTimeout": "5m"}, {"url": "http://b/", "cacheTimeout": "soon"}])),
        &[],
    );
    let mut timed =
        with("/jwt_jwks_uris", json!([{"url": "http://a/", "cacheTimeout": "5m"}, {"url": "x", "cacheTimeout": "soon"}]));
    timed["enable_jwt"] = json!(true);
    timed["jwt_signing_method"] = json!("rsa");
    check(
        timed,
        &[
            "$.jwt_jwks_uris[1].url: error: must be an absolute URL such as http://host:8080/",
            "$.jwt_jwks_uris[1].cacheTimeout: error: must be a span of time such as 500ms or 1m30s",
        ],
    );
    check(with("/use_openid", json!(true)), &["$.openid_options.providers: warning: is empty: every request is refused"]);
    check(
        with("/tollgate", json!({"forward_auth": {"url": "http://auth.test/"}})),
        &[
            "$.tollgate.forward_auth.request_headers: warning: is empty: the service sees no credentials, and answers for everybody the same",
        ],
    );
    check(
        with("/tollgate", json!({"cache": {"by_caler": true, "by_headers": ["X Y"], "wait_ms_max": 70_000, "hit_for_miss_ms": 1}})),
        &[
            "$.tollgate.cache.by_caler: error: unknown field",
            "$.tollgate.cache.by_headers[0]: error: \"X Y\" is not a header name",
            "$.tollgate.cache.wait_ms_max: error: must be at most 60000",
        ],
    );
    let mut both = with("/tollgate", json!({"cache": {}}));
    both["cache_options"] = json!({"enable_cache": true});
    check(both, &["$.tollgate.cache: error: cache_options.enable_cache is on as well: an API has one cache"]);
    let unknown_word = "must be one of \"allow\", \"local\", \"deny\", not \"open\"";
    for place in ["/tollgate/on_store_failure", "/global_rate_limit/on_store_failure"] {
        let mut document = with("/tollgate", json!({}));
        document["global_rate_limit"] = json!({});
        let (at, field) = place[1..].split_once('/').unwrap();
        document[at][field] = json!("open");
        check(document, &[&format!("$.{at}.{field}: error: {unknown_word}")]);
    }
    check(
        with("/base_identity_provided_by", json!("jwt_claim")),
        &["$.base_identity_provided_by: warning: names no method that is switched on: every request is refused"],
    );
    let mut signed =
        with("/auth", json!({"validate_signature": true, "signature": {"algorithm": "Blake", "allowed_clock_skew": -1}}));
    signed["auth"]["signature"]["error_code"] = json!(99);
    check(
        signed,
        &[
            "$.auth.signature.algorithm: warning: must be MasheryMd5 or MasherySha256, not \"Blake\": every request is refused",
            "$.auth.signature.header: warning: is empty, as is param_name: every request is refused",
            "$.auth.signature.secret: warning: is empty: every request is refused",
            "$.auth.signature.allowed_clock_skew: error: must not be negative",
            "$.auth.signature.error_code: error: must be a status code from 200 to 599",
        ],
    );
    let skewed = json!({"algorithm": "MasheryMd5", "header": "X", "secret": "s", "allowed_clock_skew": 900});
    check(
        with("/auth_configs", json!({"authToken": {"validate_signature": true, "signature": skewed}})),
        &["$.auth_configs.authToken.signature.allowed_clock_skew: warning: is more than 300: 300 seconds are allowed"],
    );
    let mut elsewhere = with("/auth_configs", json!({"basic": {"validate_signature": true}}));
    elsewhere["use_basic_auth"] = json!(true);
    check(elsewhere, &["$.auth_configs.basic.validate_signature: ignored: only keys have such signatures"]);
    let mut keyless = with("/use_go_plugin_auth", json!(true));
    keyless["use_keyless"] = json!(true);
    assert!(parsed(&keyless).unsupported_auth().is_empty());
    check(keyless, &[]);
}

/// The smallest definition with these methods and these alternatives.
fn with_alternatives(switches: &[&str], alternatives: Value) -> Value {
    let mut document = with("/tollgate", json!({"auth_alternatives": alternatives}));
    for field in switches {
        document[field] = json!(true);
    }
    document["jwt_signing_method"] = json!("hmac");
    document
}

#[test]
fn every_method_that_is_on_stands_in_an_alternative() {
    let both = ["use_basic_auth", "enable_jwt"];
    let at = "$.tollgate.auth_alternatives";
    check(with_alternatives(&both, json!([["jwt"], ["basic"]])), &[]);
    check(with_alternatives(&both, json!([["jwt", "basic"], ["basic"]])), &[]);
    check(with_alternatives(&both, json!([["jwt"]])), &[&format!("{at}: error: basic is enabled and in no alternative")]);
    check(
        with_alternatives(&both, json!([["jwt"], ["basic", "authToken"]])),
        &[&format!("{at}[1][1]: error: authToken is not enabled")],
    );
    check(
        with_alternatives(&both, json!([["jwt", "password"], ["basic"]])),
        &[&format!("{at}[0][1]: error: \"password\" is not a method of auth_configs")],
    );
    check(
        with_alternatives(&both, json!([["jwt", "basic"], []])),
        &[&format!("{at}[1]: error: must name a method; otherwise everybody would be admitted")],
    );
    check(with_alternatives(&[], json!([["authToken"]])), &[]);
}

#[test]
fn an_alternative_is_a_definition_with_its_methods_alone() {
    let mut document =
        with_alternatives(&["use_basic_auth", "enable_jwt", "use_standard_auth"], json!([["jwt", "authToken"], ["basic"]]));
    document["base_identity_provided_by"] = json!("jwt_claim");
    let api = parsed(&document);
    assert!(!AuthMethod::ALL.iter().any(|method| api.uses(*method)), "none alone is asked of everybody");
    let alternatives = api.auth_alternatives();
    assert_eq!(alternatives, [vec![AuthMethod::Jwt, AuthMethod::Token], vec![AuthMethod::Basic]], "in the order of the chain");
    for (methods, base) in alternatives.iter().zip(["jwt_claim", ""]) {
        let narrowed = api.with_methods(methods);
        assert!(narrowed.auth_alternatives().is_empty());
        assert_eq!(narrowed.auth_methods().collect::<Vec<_>>(), *methods);
        assert!(methods.iter().all(|method| narrowed.uses(*method)));
        assert_eq!(narrowed.base_identity_provided_by, base);
    }
    document["use_keyless"] = json!(true);
    assert!(parsed(&document).auth_alternatives().is_empty());
}

#[test]
fn the_oauth_provider() {
    let with_meta = |meta: Value| {
        let mut api = with("/use_oauth2", json!(true));
        api["oauth_meta"] = meta;
        api
    };
    check(
        with("/use_oauth2", json!(true)),
        &["$.oauth_meta.allowed_access_types: warning: is empty: no client can get a token at the token endpoint"],
    );
    check(
        with_meta(json!({
            "allowed_access_types": ["authorization_code", "assertion", "sorcery"],
            "allowed_authorize_types": ["code", "token", "id_token"],
            "auth_login_redirect": "https://login.test/a b"
        })),
        &[
            "$.oauth_meta.allowed_access_types[1]: warning: \"assertion\" is not a grant type that there is: it is refused",
            "$.oauth_meta.allowed_access_types[2]: warning: \"sorcery\" is not a grant type that there is: it is refused",
            "$.oauth_meta.allowed_authorize_types[2]: warning: \"id_token\" is not a response type that there is: it is refused",
            "$.oauth_meta.auth_login_redirect: error: must not contain spaces, control characters or anything but ASCII",
        ],
    );
    check(
        with_meta(json!({"allowed_access_types": ["authorization_code"]})),
        &["$.oauth_meta.allowed_authorize_types: warning: is empty: no client can get a code"],
    );
    let mut noted = with_meta(json!({"allowed_access_types": ["client_credentials"]}));
    noted["notifications"] = json!({"shared_secret": "s", "oauth_on_keychange_url": "nowhere"});
    noted["tollgate"] = json!({"oauth": {"pkce_required": true, "pkce_methods": ["S256"], "exact_redirect_uris": true}});
    check(
        noted,
        &[
            "$.notifications.oauth_on_keychange_url: warning: must be an absolute URL such as http://host:8080/: nobody is notified of \
             new tokens",
        ],
    );
}

#[test]
fn address_lists() {
    check(
        with("/allowed_ips", json!(["10.0.0.1", "10.0.0.0/8", "ten"])),
        &["$.allowed_ips[2]: error: \"ten\" is neither an IP address nor a CIDR range"],
    );
}

#[test]
fn endpoint_lists() {
    let at = "$.version_data.versions.Default.extended_paths";
    for (list, entry, expect) in [
        ("white_list", json!({"path": 5}), "[0].path: error: must be a string, not 5"),
        ("ignored", json!({"path": "/", "method": "G T"}), "[0].method: error: \"G T\" is not a method"),
        ("hard_timeouts", json!({"path": "/", "timeout": -1}), "[0].timeout: error: must not be negative"),
        (
            "hard_timeouts",
            json!({"path": "/", "duration": "1 s"}),
            "[0].duration: error: must be a span of time such as 500ms or 1m30s",
        ),
        (
            "circuit_breakers",
            json!({"path": "/", "threshold_percent": 50}),
            "[0].threshold_percent: warning: is a share from 0 to 1, such as 0.5: the breaker never opens, as in Tyk",
        ),
        (
            "circuit_breakers",
            json!({"path": "/", "threshold_percent": -1}),
            "[0].threshold_percent: error: must be a share from 0 to 1",
        ),
        ("mock_response", json!({"path": "/", "code": 999}), "[0].code: error: must be a status code from 100 to 599"),
        (
            "transform_headers",
            json!({"path": "/", "add_headers": {"X-A": "a\r\nb"}}),
            "[0].add_headers.X-A: error: must not contain line ends or other control characters",
        ),
        (
            "transform_response_headers",
            json!({"path": "/", "delete_headers": ["X A"]}),
            "[0].delete_headers[0]: error: \"X A\" is not a header name",
        ),
        (
            "black_list",
            json!({"path": "/", "method_actions": {"GET": {"action": "reply"}}}),
            "[0].method_actions.GET.code: error: must be a status code from 100 to 599",
        ),
        ("method_transforms", json!({"path": "/"}), "[0].to_method: error: \"\" is not a method"),
        ("advance_cache_config", json!({"path": "/", "method": "G T"}), "[0].method: error: \"G T\" is not a method"),
    ] {
        check(with_paths(list, json!([entry])), &[&format!("{at}.{list}{expect}")]);
    }
}

#[test]
fn fields_without_effect_are_reported_when_they_are_set() {
    check(with("/nonsense", json!(false)), &["$.nonsense: ignored: unknown field"]);
    check(with("/upstream_certificates", json!({"*": "id"})), &[]);
    check(with("/tag_headers", json!(["X-A"])), &[]);
    check(with("/cache_options", json!({"enable_cache": false, "cache_timeout": 60})), &[]);
    check(with_paths("transform_jq", json!([{"path": "/", "disabled": true}])), &[]);
    check(with("/cache_options", json!({"enable_cache": true, "cache_timeout": 60})), &[]);
    check(
        with("/proxy/service_discovery", json!({"use_discovery_service": true})),
        &[
            "$.proxy.service_discovery.query_endpoint: error: must be an absolute URL such as http://host:8080/",
            "$.proxy.service_discovery.data_path: error: must not be empty",
        ],
    );
    check(with("/hmac_allowed_clock_skew", json!(-1)), &[]);
}

#[test]
fn openapi_documents_are_refused_with_one_problem() {
    for member in ["openapi", "swagger", "x-tyk-api-gateway"] {
        let problem = format!("$.{member}: error: an OpenAPI document, where a classic API definition is expected");
        check(json!({"paths": {}, member: "3.0.3"}), &[&problem]);
    }
}

#[test]
fn a_time_for_the_upstream_is_a_number_or_a_span() {
    let seconds = |value: Value| {
        let api = parsed(&with("/version_data/versions/Default/global_enforce_timeout", value));
        api.version_data.versions["Default"].global_enforce_timeout
    };
    for (value, expect) in
        [(json!(2), 2.0), (json!(0.5), 0.5), (json!("10s"), 10.0), (json!("250ms"), 0.25), (json!(""), 0.0), (json!(null), 0.0)]
    {
        assert_eq!(seconds(value.clone()), expect, "{value}");
    }
    let place = "$.version_data.versions.Default.global_enforce_timeout: error:";
    check(
        with("/version_data/versions/Default/global_enforce_timeout", json!("soon")),
        &[&format!("{place} must be a span of time such as \"30s\"")],
    );
    check(
        with("/proxy/preserve_host_header", json!("5")),
        &["$.proxy.preserve_host_header: error: must be true or false, not a string"],
    );
    check(with("/session_lifetime", json!("5")), &["$.session_lifetime: error: must be a number, not a string"]);
}

#[test]
fn credentials_are_looked_for_where_tyk_looks() {
    let api = parsed(&with("/auth", json!({"use_param": true, "use_cookie": true, "cookie_name": "c"})));
    let auth = api.auth_token();
    assert_eq!(auth.header(), Some("Authorization"));
    assert_eq!(auth.param(), Some("Authorization"));
    assert_eq!(auth.cookie(), Some("c"));
}

#[test]
fn address_lists_apply_unless_switched_off() {
    let mut document = with("/allowed_ips", json!(["::1"]));
    assert_eq!(parsed(&document).ip_allow_list(), ["::1"]);
    document["ip_access_control_disabled"] = json!(true);
    assert!(parsed(&document).ip_allow_list().is_empty());
    document["enable_ip_whitelisting"] = json!(true);
    assert_eq!(parsed(&document).ip_allow_list(), ["::1"]);
}

#[test]
fn timeouts_are_seconds_or_spans() {
    let entries = json!([{"path": "/", "timeout": 2}, {"path": "/", "timeout": 0.5},
        {"path": "/", "timeout": 9, "duration": "250ms"}, {"path": "/"}]);
    let api = parsed(&with_paths("hard_timeouts", entries));
    let limits: Vec<Option<u128>> = api.version_data.versions["Default"]
        .extended_paths
        .hard_timeouts
        .iter()
        .map(|t| t.limit().map(|limit| limit.as_millis()))
        .collect();
    assert_eq!(limits, [Some(2000), Some(500), Some(250), None]);
}

#[test]
fn version_locations() {
    for (word, location) in [
        ("header", VersionLocation::Header),
        ("url-param", VersionLocation::UrlParam),
        ("url", VersionLocation::Url),
        ("", VersionLocation::Unset),
        ("body", VersionLocation::Unset),
    ] {
        let api = parsed(&with("/definition", json!({"location": word})));
        assert_eq!(api.definition.location, location, "{word}");
    }
}

#[test]
fn tools_of_one_name_and_tokens_for_anybody_are_told_of_a_federation() {
    let told = |tools_of_a: Value, tools_of_b: Value, more: Value| {
        let mut document = with("/application_protocol", json!("mcp"));
        document["use_keyless"] = json!(false);
        let servers = json!([
            {"name": "a", "url": "http://a/", "prefix": "p_", "tools": tools_of_a},
            {"name": "b", "url": "http://b/", "tools": tools_of_b},
        ]);
        document["tollgate"] = json!({"mcp": {"servers": servers}});
        for (name, value) in more.as_object().unwrap() {
            document[name] = value.clone();
        }
        problems(&document).into_iter().filter(|problem| problem.contains("tollgate")).collect::<Vec<_>>()
    };
    let said = |told: &[String], path: &str, why: &str| told.iter().any(|one| one.contains(path) && one.contains(why));
    assert_eq!(told(json!({"one": {"name": "x"}, "two": {}}), json!({"one": {"name": "x"}}), json!({})), [""; 0]);
    let twice = told(json!({"one": {"name": "x"}, "x": {"digest": "sha256:1"}}), json!({}), json!({}));
    assert!(said(&twice, "servers[0].tools.x", "by one name: \"p_x\""), "{twice:?}");
    let across = told(json!({"one": {"name": "x"}}), json!({"two": {"name": "p_x"}}), json!({}));
    assert!(said(&across, "servers[1].tools.two", "is \"p_x\" for clients"), "{across:?}");
    let tokens = told(json!({}), json!({}), json!({"enable_jwt": true, "jwt_signing_method": "hmac", "jwt_source": "c2VjcmV0"}));
    assert!(said(&tokens, "tollgate.jwt.allowed_audiences", "given for other applications"), "{tokens:?}");
}
