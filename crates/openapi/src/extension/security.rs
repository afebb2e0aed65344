//! Authentication: `security`, `components.securitySchemes` and `server.authentication` as the methods of a classic definition. In the mode
//! `legacy` a request must satisfy all methods of the first requirement; in the mode `compliant` all methods of any one requirement, which become
//! `tollgate.auth_alternatives`. A requirement that cannot be checked lets nobody in.

use serde_json::{Map, Value, json};
use tollgate_model::{JsonPath, span};

use super::{Writer, oauth2, place, places_read};
use crate::document::Document;
use crate::places::{member, put};

/// What claims of JSON Web Tokens must say: name in the extension, name in `tollgate.jwt` of a classic definition.
pub(crate) const JWT_CLAIMS: [(&str, &str); 6] = [
    ("allowedIssuers", "allowed_issuers"),
    ("allowedAudiences", "allowed_audiences"),
    ("allowedSubjects", "allowed_subjects"),
    ("jtiValidation.enabled", "jti_required"),
    ("subjectClaims", "subject_claims"),
    ("basePolicyClaims", "base_policy_claims"),
];

/// A rule for a claim: name in the extension, name in a classic definition.
pub(crate) const CLAIM_RULE: [(&str, &str); 3] =
    [("type", "type"), ("allowedValues", "allowed_values"), ("nonBlocking", "non_blocking")];

/// Settings of JSON Web Tokens: name in the extension, name in a classic definition.
pub(crate) const JWT_FIELDS: [(&str, &str); 10] = [
    ("enabled", "enable_jwt"),
    ("source", "jwt_source"),
    ("signingMethod", "jwt_signing_method"),
    ("identityBaseField", "jwt_identity_base_field"),
    ("skipKid", "jwt_skip_kid"),
    ("policyFieldName", "jwt_policy_field_name"),
    ("clientBaseField", "jwt_client_base_field"),
    ("defaultPolicies", "jwt_default_policies"),
    ("issuedAtValidationSkew", "jwt_issued_at_validation_skew"),
    ("notBeforeValidationSkew", "jwt_not_before_validation_skew"),
];

/// Settings of signatures of tokens: place in the extension, place in an entry of `auth_configs`.
pub(crate) const SIGNATURE_FIELDS: [(&str, &[&str]); 9] = [
    ("enabled", &["validate_signature"]),
    ("algorithm", &["signature", "algorithm"]),
    ("header", &["signature", "header"]),
    ("query.enabled", &["signature", "use_param"]),
    ("query.name", &["signature", "param_name"]),
    ("secret", &["signature", "secret"]),
    ("allowedClockSkew", &["signature", "allowed_clock_skew"]),
    ("errorCode", &["signature", "error_code"]),
    ("errorMessage", &["signature", "error_message"]),
];

pub(super) fn write(document: &Document, extension: &Value, writer: &mut Writer) {
    let empty = json!({});
    let authentication = member(extension, "server.authentication").filter(|value| value.is_object()).unwrap_or(&empty);
    key_lifetime(authentication, writer);
    proprietary(authentication, writer);
    let requirements = SchemeRequirements::read(document, authentication, writer);
    for name in requirements.schemes() {
        scheme(document, authentication, name, writer);
    }
    // After the token's scheme, because both write its entry.
    if let Some(on) = member(authentication, "certificateAuth.enabled") {
        writer.origins.add(
            "$.auth_configs.authToken.use_certificate".to_owned(),
            place("server.authentication.certificateAuth.enabled").to_string(),
        );
        writer.set(&["auth_configs", "authToken", "use_certificate"], on.clone());
    }
    if requirements.compliant {
        requirements.write_alternatives(document, authentication, writer);
    }
}

fn key_lifetime(authentication: &Value, writer: &mut Writer) {
    let Some(lifetime) = authentication.get("customKeyLifetime") else { return };
    if lifetime.get("enabled") != Some(&json!(true)) {
        return;
    }
    let at = place("server.authentication.customKeyLifetime.value");
    let written = lifetime.get("value").and_then(Value::as_str).unwrap_or("0");
    match span::parse_span(written) {
        Some(seconds) => writer.set(&["session_lifetime"], json!(seconds.as_secs())),
        None => writer.error(&at, "must be a span of time such as 12h"),
    }
}

/// The sources of credentials as an entry of `auth_configs`.
fn sources(scheme: &Value) -> Map<String, Value> {
    let mut config = Map::new();
    let on = |source: &Value| source.get("enabled").and_then(Value::as_bool).unwrap_or_default();
    let name = |source: &Value| source.get("name").cloned().unwrap_or(json!(""));
    let header = scheme.get("header");
    config.insert("disable_header".to_owned(), json!(!header.is_some_and(on)));
    if let Some(header) = header {
        config.insert("auth_header_name".to_owned(), name(header));
    }
    if let Some(query) = scheme.get("query") {
        config.insert("use_param".to_owned(), json!(on(query)));
        config.insert("param_name".to_owned(), name(query));
    }
    if let Some(cookie) = scheme.get("cookie") {
        config.insert("use_cookie".to_owned(), json!(on(cookie)));
        config.insert("cookie_name".to_owned(), name(cookie));
    }
    config
}

/// Methods that OpenAPI does not know.
fn proprietary(authentication: &Value, writer: &mut Writer) {
    let origin = |name: &str| place("server.authentication").key(name);
    if let Some(hmac) = authentication.get("hmac") {
        writer.origins.add("$.auth_configs.hmac".to_owned(), origin("hmac").to_string());
        copy(hmac, "enabled", &["enable_signature_checking"], writer);
        copy(hmac, "allowedAlgorithms", &["hmac_allowed_algorithms"], writer);
        copy(hmac, "allowedClockSkew", &["hmac_allowed_clock_skew"], writer);
        writer.set(&["auth_configs", "hmac"], Value::Object(sources(hmac)));
    }
    if let Some(oidc) = authentication.get("oidc") {
        writer.origins.add("$.auth_configs.oidc".to_owned(), origin("oidc").to_string());
        writer.origins.add("$.openid_options".to_owned(), origin("oidc").to_string());
        copy(oidc, "enabled", &["use_openid"], writer);
        copy(oidc, "segregateByClientId", &["openid_options", "segregate_by_client"], writer);
        writer.set(&["auth_configs", "oidc"], Value::Object(sources(oidc)));
        let mut providers = Vec::new();
        for provider in oidc.get("providers").and_then(Value::as_array).into_iter().flatten() {
            let clients = map(provider.get("clientToPolicyMapping"), "clientId", "policyId");
            providers.push(json!({"issuer": provider.get("issuer").cloned().unwrap_or(json!("")), "client_ids": clients}));
        }
        writer.set(&["openid_options", "providers"], Value::Array(providers));
        scopes(oidc.get("scopes"), "oidc", writer);
    }
    if let Some(custom) = authentication.get("custom") {
        copy(custom, "enabled", &["custom_plugin_auth_enabled"], writer);
        writer.origins.add("$.custom_plugin_auth_enabled".to_owned(), origin("custom").key("enabled").to_string());
        if let Some(config) = custom.get("config") {
            writer.origins.add("$.custom_middleware.auth_check".to_owned(), origin("custom").key("config").to_string());
            writer.set(&["custom_middleware", "auth_check"], super::sections::plugin(config));
            if let Some(extractor) = config.get("idExtractor") {
                let copied = |name: &str| extractor.get(name).cloned().unwrap_or(json!(""));
                let settings = extractor.get("config").cloned().unwrap_or(json!({}));
                let setting = |name: &str| settings.get(name).cloned().unwrap_or(Value::Null);
                let written = json!({
                    "disabled": extractor.get("enabled") != Some(&json!(true)),
                    "extract_from": copied("source"), "extract_with": copied("with"),
                    "extractor_config": {
                        "header_name": setting("headerName"), "form_param_name": setting("formParamName"),
                        "regex_expression": setting("regexp"), "regex_match_index": setting("regexpMatchIndex"),
                        "xpath_expression": setting("xPathExp"),
                    },
                });
                writer.set(&["custom_middleware", "id_extractor"], written);
            }
        }
        let config = sources(custom);
        if config != sources(&json!({})) {
            writer.set(&["auth_configs", "coprocess"], Value::Object(config));
        }
    }
}

/// The kinds of security schemes that become a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SchemeKind {
    Token,
    Jwt,
    Basic,
    OAuth,
    ExternalOAuth,
    /// Scopes and metadata, which identify nobody.
    Scopes,
}

impl SchemeKind {
    fn method(self) -> &'static str {
        match self {
            SchemeKind::Token => "authToken",
            SchemeKind::Jwt => "jwt",
            SchemeKind::Basic => "basic",
            SchemeKind::OAuth => "oauth",
            SchemeKind::ExternalOAuth => "externalOAuth",
            SchemeKind::Scopes => "",
        }
    }
}

fn kind(document: &Document, authentication: &Value, name: &str) -> Result<SchemeKind, &'static str> {
    kind_by(document, settings(authentication, name), name)
}

fn kind_by(document: &Document, settings: Option<&Value>, name: &str) -> Result<SchemeKind, &'static str> {
    let schemes = member(&document.root, "components.securitySchemes");
    let scheme = schemes.and_then(|schemes| schemes.get(name)).and_then(|scheme| document.resolve(scheme));
    let scheme = scheme.ok_or("is not in components.securitySchemes")?;
    let is = |member: &str, text: &str| {
        scheme.get(member).and_then(Value::as_str).is_some_and(|written| written.eq_ignore_ascii_case(text))
    };
    match () {
        () if is("type", "apiKey") => Ok(SchemeKind::Token),
        () if is("type", "http") && is("scheme", "basic") => Ok(SchemeKind::Basic),
        () if is("type", "http") && is("scheme", "bearer") && is("bearerFormat", "JWT") => Ok(SchemeKind::Jwt),
        () if is("type", "oauth2") && settings.is_some_and(oauth2::is_scheme) => Ok(SchemeKind::Scopes),
        () if is("type", "oauth2")
            && settings.is_some_and(|s| s.get("providers").is_some_and(|p| p.as_array().is_some_and(|p| !p.is_empty()))) =>
        {
            Ok(SchemeKind::ExternalOAuth)
        }
        () if is("type", "oauth2") => Ok(SchemeKind::OAuth),
        () => Err("has a type that no authentication method checks"),
    }
}

/// What the settings of a scheme may have, besides where its credentials are. A scheme of no known kind may have what any may.
pub(super) fn members_of_scheme(document: &Document, name: &str, settings: &Value) -> Vec<&'static str> {
    let members = match kind_by(document, Some(settings), name) {
        Ok(SchemeKind::Token) => places_read::TOKEN,
        Ok(SchemeKind::Jwt) => places_read::JWT,
        Ok(SchemeKind::Basic) => places_read::BASIC,
        Ok(SchemeKind::OAuth) => places_read::OAUTH,
        Ok(SchemeKind::ExternalOAuth) => places_read::EXTERNAL_OAUTH,
        Ok(SchemeKind::Scopes) => places_read::SCOPES,
        Err(_) => {
            let all = [places_read::TOKEN, places_read::JWT, places_read::BASIC, places_read::OAUTH, places_read::EXTERNAL_OAUTH];
            return all.into_iter().chain([places_read::SCOPES]).flatten().copied().collect();
        }
    };
    members.to_vec()
}

fn settings<'v>(authentication: &'v Value, name: &str) -> Option<&'v Value> {
    authentication.get("securitySchemes")?.get(name)
}

/// Writes the method of a security scheme.
fn scheme(document: &Document, authentication: &Value, name: &str, writer: &mut Writer) {
    let at = place("server.authentication.securitySchemes").key(name);
    if ["hmac", "oidc", "custom"].contains(&name) && authentication.get(name).is_some() {
        return;
    }
    let kind = match kind(document, authentication, name) {
        Ok(kind) => kind,
        Err(why) => return writer.warning(&at, format!("{name} {why}")),
    };
    let empty = json!({});
    let settings = settings(authentication, name).unwrap_or(&empty);
    if kind == SchemeKind::Scopes {
        return;
    }
    let config_name = kind.method();
    if writer.definition.pointer(&format!("/auth_configs/{config_name}")).is_some() {
        writer.warning(&at, format!("another security scheme is the {config_name} already: this one is not checked"));
        return;
    }
    writer.origins.add(format!("$.auth_configs.{config_name}"), at.to_string());
    let mut config = Value::Object(sources(settings));
    put(&mut config, &["name"], json!(name));
    match kind {
        SchemeKind::Token => token(document, name, settings, &mut config, writer),
        SchemeKind::Jwt => jwt(settings, &at, writer),
        SchemeKind::Basic => basic(settings, writer),
        SchemeKind::OAuth => oauth(document, name, settings, writer),
        SchemeKind::ExternalOAuth => external_oauth(settings, writer),
        SchemeKind::Scopes => {}
    }
    writer.set(&["auth_configs", config_name], config);
}

fn token(document: &Document, name: &str, settings: &Value, config: &mut Value, writer: &mut Writer) {
    copy(settings, "enabled", &["use_standard_auth"], writer);
    let pointer = member(&document.root, "components.securitySchemes").and_then(|schemes| document.resolve(schemes.get(name)?));
    let key = pointer.and_then(|scheme| scheme.get("name")).cloned().unwrap_or(json!(""));
    match pointer.and_then(|scheme| scheme.get("in")).and_then(Value::as_str) {
        Some("header") => {
            put(config, &["auth_header_name"], key);
            put(config, &["disable_header"], json!(false));
        }
        Some("query") => {
            put(config, &["param_name"], key);
            put(config, &["use_param"], json!(true));
        }
        Some("cookie") => {
            put(config, &["cookie_name"], key);
            put(config, &["use_cookie"], json!(true));
        }
        _ => {}
    }
    if let Some(on) = settings.get("enableClientCertificate") {
        put(config, &["use_certificate"], on.clone());
    }
    if let Some(signature) = settings.get("signatureValidation") {
        let copied = |name: &str| member(signature, name).cloned();
        for (from, to) in SIGNATURE_FIELDS {
            if let Some(value) = copied(from) {
                put(config, to, value);
            }
        }
    }
}

fn jwt(settings: &Value, at: &JsonPath, writer: &mut Writer) {
    for (name, classic) in JWT_FIELDS.into_iter().chain([
        ("expiresAtValidationSkew", "jwt_expires_at_validation_skew"),
        ("idpClientIdMappingDisabled", "idp_client_id_mapping_disabled"),
    ]) {
        copy(settings, name, &[classic], writer);
        writer.origins.add(format!("$.{classic}"), at.key(name).to_string());
    }
    for (name, classic) in JWT_CLAIMS {
        writer
            .origins
            .add(format!("$.tollgate.jwt.{classic}"), name.split('.').fold(at.clone(), |at, key| at.key(key)).to_string());
        if let Some(value) = member(settings, name) {
            writer.set(&["tollgate", "jwt", classic], value.clone());
        }
    }
    // Tyk reads the older fields where the lists are empty; they also say which kind of claim identifies a token at all.
    for (list, classic) in [("subjectClaims", "jwt_identity_base_field"), ("basePolicyClaims", "jwt_policy_field_name")] {
        if let Some(first) = settings.get(list).and_then(|list| list.get(0)) {
            writer.set(&[classic], first.clone());
        }
    }
    custom_claims(settings, at, writer);
    let mut uris = Vec::new();
    for uri in settings.get("jwksURIs").and_then(Value::as_array).into_iter().flatten() {
        uris.push(json!({
            "url": uri.get("url").cloned().unwrap_or(json!("")),
            "cache_timeout": uri.get("cacheTimeout").cloned().unwrap_or(json!("")),
        }));
    }
    if !uris.is_empty() {
        writer.origins.add("$.jwt_jwks_uris".to_owned(), at.key("jwksURIs").to_string());
        writer.set(&["jwt_jwks_uris"], Value::Array(uris));
    }
    scopes(settings.get("scopes"), "jwt", writer);
}

fn custom_claims(settings: &Value, at: &JsonPath, writer: &mut Writer) {
    let at = at.key("customClaimValidation");
    let rules = match settings.get("customClaimValidation") {
        None | Some(Value::Null) => return,
        Some(Value::Object(rules)) => rules,
        Some(_) => return writer.error(&at, "must be an object"),
    };
    writer.origins.add("$.tollgate.jwt.custom_claims".to_owned(), at.to_string());
    for (claim, rule) in rules {
        let at = at.key(claim);
        if !rule.is_object() {
            writer.error(&at, "must be an object");
            continue;
        }
        if rule.get("type").is_none() {
            writer.error(&at.key("type"), "is missing");
        }
        writer.set(&["tollgate", "jwt", "custom_claims", claim], super::sections::renamed(rule, &CLAIM_RULE));
        let classic = JsonPath::of("tollgate.jwt.custom_claims").key(claim);
        for (from, to) in CLAIM_RULE {
            writer.origins.add(classic.key(to).to_string(), at.key(from).to_string());
        }
    }
}

fn basic(settings: &Value, writer: &mut Writer) {
    copy(settings, "enabled", &["use_basic_auth"], writer);
    copy(settings, "disableCaching", &["basic_auth", "disable_caching"], writer);
    copy(settings, "cacheTTL", &["basic_auth", "cache_ttl"], writer);
    if let Some(body) = settings.get("extractCredentialsFromBody") {
        copy(body, "enabled", &["basic_auth", "extract_from_body"], writer);
        copy(body, "userRegexp", &["basic_auth", "body_user_regexp"], writer);
        copy(body, "passwordRegexp", &["basic_auth", "body_password_regexp"], writer);
    }
}

fn oauth(document: &Document, name: &str, settings: &Value, writer: &mut Writer) {
    copy(settings, "enabled", &["use_oauth2"], writer);
    copy(settings, "allowedAuthorizeTypes", &["oauth_meta", "allowed_authorize_types"], writer);
    copy(settings, "authLoginRedirect", &["oauth_meta", "auth_login_redirect"], writer);
    let flows =
        member(&document.root, "components.securitySchemes").and_then(|schemes| document.resolve(schemes.get(name)?)?.get("flows"));
    let mut types = Vec::new();
    if settings.get("refreshToken") == Some(&json!(true)) {
        types.push(json!("refresh_token"));
    }
    let has = |flow: &str| flows.is_some_and(|flows| flows.get(flow).is_some());
    for (flow, kind) in [
        ("authorizationCode", "authorization_code"),
        ("clientCredentials", "client_credentials"),
        ("password", "password"),
        ("implicit", "implicit"),
    ] {
        if has(flow) {
            types.push(json!(kind));
        }
    }
    writer.set(&["oauth_meta", "allowed_access_types"], Value::Array(types));
    if let Some(notifications) = settings.get("notifications") {
        copy(notifications, "sharedSecret", &["notifications", "shared_secret"], writer);
        copy(notifications, "onKeyChangeUrl", &["notifications", "oauth_on_keychange_url"], writer);
    }
}

fn external_oauth(settings: &Value, writer: &mut Writer) {
    copy(settings, "enabled", &["external_oauth", "enabled"], writer);
    let mut providers = Vec::new();
    for provider in settings.get("providers").and_then(Value::as_array).into_iter().flatten() {
        let mut written = json!({});
        for (section, fields) in [
            (
                "jwt",
                &[
                    ("enabled", "enabled"),
                    ("signingMethod", "signing_method"),
                    ("source", "source"),
                    ("identityBaseField", "identity_base_field"),
                    ("issuedAtValidationSkew", "issued_at_validation_skew"),
                    ("notBeforeValidationSkew", "not_before_validation_skew"),
                    ("expiresAtValidationSkew", "expires_at_validation_skew"),
                ][..],
            ),
            (
                "introspection",
                &[
                    ("enabled", "enabled"),
                    ("url", "url"),
                    ("clientId", "client_id"),
                    ("clientSecret", "client_secret"),
                    ("identityBaseField", "identity_base_field"),
                    ("cache", "cache"),
                ][..],
            ),
        ] {
            for (from, to) in fields {
                if let Some(value) = provider.get(section).and_then(|section| section.get(from)) {
                    put(&mut written, &[section, to], value.clone());
                }
            }
        }
        providers.push(written);
    }
    writer.set(&["external_oauth", "providers"], Value::Array(providers));
}

fn scopes(scopes: Option<&Value>, method: &str, writer: &mut Writer) {
    let Some(scopes) = scopes else { return };
    let first_claim = scopes.get("claims").and_then(Value::as_array).and_then(|claims| claims.first());
    let claim = first_claim.or_else(|| scopes.get("claimName").filter(|name| *name != ""));
    if let Some(claim) = claim {
        writer.set(&["scopes", method, "scope_claim_name"], claim.clone());
    }
    if let Some(claims) = scopes.get("claims").filter(|_| method == "jwt") {
        writer.set(&["tollgate", "jwt", "scope_claims"], claims.clone());
    }
    let mapping = map(scopes.get("scopeToPolicyMapping"), "scope", "policyId");
    writer.set(&["scopes", method, "scope_to_policy"], mapping);
}

fn map(list: Option<&Value>, name: &str, member: &str) -> Value {
    let mut map = Map::new();
    for item in list.and_then(Value::as_array).into_iter().flatten() {
        if let Some(key) = item.get(name).and_then(Value::as_str) {
            map.insert(key.to_owned(), item.get(member).cloned().unwrap_or(json!("")));
        }
    }
    Value::Object(map)
}

fn copy(from: &Value, name: &str, to: &[&str], writer: &mut Writer) {
    if let Some(value) = from.get(name) {
        writer.set(to, value.clone());
    }
}

/// What requests must satisfy.
struct SchemeRequirements {
    compliant: bool,
    /// One of these sets must be satisfied; in the mode `legacy`, the only one there is.
    sets: Vec<(Vec<String>, JsonPath)>,
}

impl SchemeRequirements {
    fn read(document: &Document, authentication: &Value, writer: &mut Writer) -> Self {
        let mode = authentication.get("securityProcessingMode").and_then(Value::as_str).unwrap_or_default();
        if !["", "legacy", "compliant"].contains(&mode) {
            writer.error(&place("server.authentication.securityProcessingMode"), "must be legacy or compliant");
        }
        let compliant = mode == "compliant";
        let mut sets = Vec::new();
        let written = document.root.get("security").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (index, requirement) in written.iter().enumerate() {
            let names = requirement.as_object().map(|members| members.keys().cloned().collect()).unwrap_or_default();
            sets.push((names, JsonPath::root().key("security").index(index)));
        }
        if compliant {
            let own = authentication.get("security").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            for (index, names) in own.iter().enumerate() {
                let names = names.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
                sets.push((names, place("server.authentication.security").index(index)));
            }
            remove_parts_of_mixed_sets(&mut sets, written.len());
        } else {
            let on = authentication.get("enabled") == Some(&json!(true));
            let has_schemes = authentication.get("securitySchemes").and_then(Value::as_object).is_some_and(|s| !s.is_empty());
            sets.truncate(if on || has_schemes { 1 } else { 0 });
        }
        SchemeRequirements { compliant, sets }
    }

    /// The names of all schemes, each once.
    fn schemes(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.sets.iter().flat_map(|(names, _)| names) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// One alternative for each set whose schemes are all checked.
    fn write_alternatives(&self, document: &Document, authentication: &Value, writer: &mut Writer) {
        if authentication.get("enabled") != Some(&json!(true)) {
            return;
        }
        let mut alternatives: Vec<Value> = Vec::new();
        for (names, at) in &self.sets {
            // Scopes come in addition to the other schemes of a requirement.
            if names.is_empty() {
                writer.warning(at, "no scheme at all: requests without credentials are rejected all the same");
                continue;
            }
            let methods: Result<Vec<&str>, String> = names.iter().map(|name| method(document, authentication, name)).collect();
            match methods {
                Ok(methods) if methods.iter().all(|method| method.is_empty()) => {
                    writer.warning(at, "no scheme that verifies a token or key: nobody gets in by this requirement");
                }
                Ok(methods) => alternatives.push(methods.into_iter().filter(|method| !method.is_empty()).collect()),
                Err(why) => writer.warning(at, format!("{why}: nobody gets in by this requirement")),
            }
        }
        if alternatives.is_empty() && !self.sets.is_empty() {
            writer.error(
                &place("server.authentication.securitySchemes"),
                "no requirement can be satisfied: every scheme is disabled or unknown",
            );
            return;
        }
        disable_unused(&alternatives, writer);
        if alternatives.len() > 1 {
            writer.origins.add("$.tollgate.auth_alternatives".to_owned(), JsonPath::root().key("security").to_string());
            writer.set(&["tollgate", "auth_alternatives"], Value::Array(alternatives));
        }
    }
}

/// A scheme that a mixed set combines with a method of Tyk's does not suffice alone.
fn remove_parts_of_mixed_sets(sets: &mut Vec<(Vec<String>, JsonPath)>, standard: usize) {
    let is_own = |name: &String| ["hmac", "custom", "mtls", "coprocess"].contains(&name.as_str());
    let own_sets = sets.get(standard..).unwrap_or_default();
    let mixed = own_sets.iter().filter(|(names, _)| names.iter().any(is_own) && names.iter().any(|name| !is_own(name)));
    let parts: Vec<String> = mixed.flat_map(|(names, _)| names.iter().filter(|name| !is_own(name)).cloned()).collect();
    let mut index = 0;
    sets.retain(|(names, _)| {
        let is_standard = index < standard;
        index += 1;
        !(is_standard && names.len() == 1 && names.iter().all(|name| parts.contains(name)))
    });
}

/// The method that checks a scheme, if it is enabled.
fn method(document: &Document, authentication: &Value, name: &str) -> Result<&'static str, String> {
    let enabled = |settings: Option<&Value>| settings.and_then(|settings| settings.get("enabled")) == Some(&json!(true));
    let (method, on) = match name {
        "hmac" => ("hmac", enabled(authentication.get("hmac"))),
        "oidc" if authentication.get("oidc").is_some() => ("oidc", enabled(authentication.get("oidc"))),
        _ => {
            let kind = kind(document, authentication, name).map_err(|why| format!("{name} {why}"))?;
            (kind.method(), enabled(settings(authentication, name)))
        }
    };
    if on { Ok(method) } else { Err(format!("{name} is not enabled in server.authentication")) }
}

/// Disables methods that are in no alternative: they would be required in addition.
fn disable_unused(alternatives: &[Value], writer: &mut Writer) {
    let used = |method: &str| alternatives.iter().any(|methods| methods.as_array().is_some_and(|m| m.iter().any(|m| m == method)));
    for (method, keys) in [
        ("authToken", &["use_standard_auth"][..]),
        ("jwt", &["enable_jwt"][..]),
        ("basic", &["use_basic_auth"][..]),
        ("oauth", &["use_oauth2"][..]),
        ("externalOAuth", &["external_oauth", "enabled"][..]),
        ("hmac", &["enable_signature_checking"][..]),
        ("oidc", &["use_openid"][..]),
    ] {
        if !used(method) {
            writer.set(keys, json!(false));
        }
    }
}
