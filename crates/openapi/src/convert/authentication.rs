//! Authentication of a classic definition as `security`, schemes and `server.authentication`.

use serde_json::{Map, Value, json};

use super::classic::OpenApiWriter;
use super::{is_zero, members};
use crate::extension::{CLAIM_RULE, JWT_CLAIMS, JWT_FIELDS, SIGNATURE_FIELDS};
use crate::places::{member, put};

/// Methods besides the token, whose absence means the token.
const OTHERS: [&str; 6] =
    ["enable_jwt", "use_basic_auth", "use_oauth2", "use_openid", "enable_signature_checking", "custom_plugin_auth_enabled"];

impl OpenApiWriter {
    pub(super) fn authentication(&mut self, definition: &Value) {
        let is_on = |name: &str| definition.get(name) == Some(&json!(true));
        if is_on("use_keyless") {
            return;
        }
        let config = |name: &str| {
            let own = definition.get("auth_configs").and_then(|configs| configs.get(name));
            own.or_else(|| definition.get("auth")).cloned().unwrap_or(json!({}))
        };
        let mut requirement = Map::new();
        if is_on("use_standard_auth") || !OTHERS.iter().any(|name| is_on(name)) {
            let (scheme, settings) = token(&config("authToken"));
            self.scheme("authToken", scheme, settings, &mut requirement);
        }
        if is_on("enable_jwt") {
            let scheme = json!({"type": "http", "scheme": "bearer", "bearerFormat": "JWT"});
            self.scheme("jwtAuth", scheme, jwt(definition, &config("jwt")), &mut requirement);
        }
        if is_on("use_basic_auth") {
            let settings = basic(definition, &config("basic"));
            self.scheme("basicAuth", json!({"type": "http", "scheme": "basic"}), settings, &mut requirement);
        }
        if is_on("use_oauth2") {
            let (scheme, settings) = oauth(definition, &config("oauth"));
            self.scheme("oauth", scheme, settings, &mut requirement);
        }
        if is_on("enable_signature_checking") {
            let mut settings = sources(&config("hmac"), "Authorization");
            put(&mut settings, &["enabled"], json!(true));
            let fields = [("allowedAlgorithms", "hmac_allowed_algorithms"), ("allowedClockSkew", "hmac_allowed_clock_skew")];
            copy(definition, &fields, &mut settings);
            self.set("server.authentication.hmac", settings);
        }
        if is_on("use_openid") {
            self.set("server.authentication.oidc", openid(definition, &config("oidc")));
        }
        if is_on("custom_plugin_auth_enabled") {
            self.plugin(definition);
        }
        if !requirement.is_empty() {
            put(&mut self.root, &["security"], json!([requirement]));
        }
        if let Some(seconds) = definition.get("session_lifetime").and_then(Value::as_u64).filter(|seconds| *seconds > 0) {
            let lifetime = json!({"enabled": true, "value": format!("{seconds}s")});
            for (name, value) in members(Some(&lifetime)) {
                self.set(&format!("server.authentication.customKeyLifetime.{name}"), value.clone());
            }
        }
    }

    fn scheme(&mut self, name: &str, scheme: Value, settings: Value, requirement: &mut Map<String, Value>) {
        put(&mut self.root, &["components", "securitySchemes", name], scheme);
        put(&mut self.extension, &["server", "authentication", "securitySchemes", name], settings);
        requirement.insert(name.to_owned(), json!([]));
    }

    /// The plugin that checks credentials.
    fn plugin(&mut self, definition: &Value) {
        let mut settings = json!({"enabled": true});
        if let Some(plugin) = member(definition, "custom_middleware.auth_check").filter(|plugin| !is_zero(plugin)) {
            put(&mut settings, &["config"], super::sections::plugin(plugin));
        }
        if let Some(config) = member(definition, "auth_configs.coprocess") {
            for (name, source) in members(Some(&sources(config, "Authorization"))) {
                put(&mut settings, &[name], source.clone());
            }
        }
        if let Some(extractor) = member(definition, "custom_middleware.id_extractor").filter(|extractor| !is_zero(extractor)) {
            let of = |name: &str| member(extractor, name).cloned().unwrap_or_default();
            let mut config = json!({});
            for (name, classic) in [
                ("headerName", "header_name"),
                ("formParamName", "form_param_name"),
                ("regexp", "regex_expression"),
                ("regexpMatchIndex", "regex_match_index"),
                ("xPathExp", "xpath_expression"),
            ] {
                let value = of(&format!("extractor_config.{classic}"));
                if !value.is_null() {
                    put(&mut config, &[name], value);
                }
            }
            let is_on = extractor.get("disabled") != Some(&json!(true));
            let written = json!({"enabled": is_on, "source": of("extract_from"), "with": of("extract_with"), "config": config});
            put(&mut settings, &["config", "idExtractor"], written);
        }
        self.set("server.authentication.custom", settings);
    }
}

/// The scheme of tokens is in the first place that is on.
fn token(config: &Value) -> (Value, Value) {
    let text = |name: &str| config.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    let is_on = |name: &str| config.get(name) == Some(&json!(true));
    let header = text("auth_header_name").unwrap_or_else(|| "Authorization".to_owned());
    let mut settings = sources(config, &header);
    put(&mut settings, &["enabled"], json!(true));
    if is_on("use_certificate") {
        put(&mut settings, &["enableClientCertificate"], json!(true));
    }
    if is_on("validate_signature") {
        for (name, classic) in SIGNATURE_FIELDS {
            let classic = classic.join(".");
            if let Some(value) = member(config, &classic).filter(|value| !is_zero(value)) {
                let keys: Vec<&str> = std::iter::once("signatureValidation").chain(name.split('.')).collect();
                put(&mut settings, &keys, value.clone());
            }
        }
    }
    let (place, name) = match () {
        () if is_on("disable_header") && is_on("use_param") => ("query", text("param_name").unwrap_or(header)),
        () if is_on("disable_header") && is_on("use_cookie") => ("cookie", text("cookie_name").unwrap_or(header)),
        () => ("header", header),
    };
    (json!({"type": "apiKey", "in": place, "name": name}), settings)
}

fn jwt(definition: &Value, config: &Value) -> Value {
    let mut settings = sources(config, "Authorization");
    copy(definition, &JWT_FIELDS, &mut settings);
    copy(definition, &[("expiresAtValidationSkew", "jwt_expires_at_validation_skew")], &mut settings);
    let uris = definition.get("jwt_jwks_uris").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if !uris.is_empty() {
        let of = |uri: &Value, name: &str| uri.get(name).cloned().unwrap_or(json!(""));
        let uris = uris.iter().map(|uri| json!({"url": of(uri, "url"), "cacheTimeout": of(uri, "cache_timeout")}));
        put(&mut settings, &["jwksURIs"], uris.collect());
    }
    scopes(definition, "jwt", &mut settings);
    claims(definition, &mut settings);
    put(&mut settings, &["enabled"], json!(true));
    settings
}

/// What claims must say.
fn claims(definition: &Value, settings: &mut Value) {
    let rules = member(definition, "tollgate.jwt").unwrap_or(&Value::Null);
    for (name, classic) in JWT_CLAIMS.into_iter().chain([("scopes.claims", "scope_claims")]) {
        if let Some(value) = rules.get(classic).filter(|value| !is_zero(value)) {
            put(settings, &name.split('.').collect::<Vec<_>>(), value.clone());
        }
    }
    for (claim, rule) in members(rules.get("custom_claims")) {
        let mut written = json!({"type": "required"});
        for (name, classic) in CLAIM_RULE {
            if let Some(value) = rule.get(classic).filter(|value| !is_zero(value)) {
                put(&mut written, &[name], value.clone());
            }
        }
        put(settings, &["customClaimValidation", claim], written);
    }
}

fn basic(definition: &Value, config: &Value) -> Value {
    let mut settings = sources(config, "Authorization");
    put(&mut settings, &["enabled"], json!(true));
    for (name, classic) in [
        ("disableCaching", "disable_caching"),
        ("cacheTTL", "cache_ttl"),
        ("extractCredentialsFromBody.enabled", "extract_from_body"),
        ("extractCredentialsFromBody.userRegexp", "body_user_regexp"),
        ("extractCredentialsFromBody.passwordRegexp", "body_password_regexp"),
    ] {
        if let Some(value) = member(definition, &format!("basic_auth.{classic}")).filter(|value| !is_zero(value)) {
            put(&mut settings, &name.split('.').collect::<Vec<_>>(), value.clone());
        }
    }
    settings
}

/// The kinds of grants are the flows of the scheme.
fn oauth(definition: &Value, config: &Value) -> (Value, Value) {
    let mut settings = sources(config, "Authorization");
    put(&mut settings, &["enabled"], json!(true));
    for (name, classic) in [
        ("allowedAuthorizeTypes", "oauth_meta.allowed_authorize_types"),
        ("authLoginRedirect", "oauth_meta.auth_login_redirect"),
        ("notifications.sharedSecret", "notifications.shared_secret"),
        ("notifications.onKeyChangeUrl", "notifications.oauth_on_keychange_url"),
    ] {
        if let Some(value) = member(definition, classic).filter(|value| !is_zero(value)) {
            put(&mut settings, &name.split('.').collect::<Vec<_>>(), value.clone());
        }
    }
    let listen_path = member(definition, "proxy.listen_path").and_then(Value::as_str).unwrap_or("/").trim_end_matches('/');
    let (token, authorize) = (format!("{listen_path}/oauth/token/"), format!("{listen_path}/oauth/authorize/"));
    let mut flows = json!({});
    let kinds = member(definition, "oauth_meta.allowed_access_types").and_then(Value::as_array).into_iter().flatten();
    for kind in kinds.filter_map(Value::as_str) {
        match kind {
            "authorization_code" => {
                let flow = json!({"authorizationUrl": authorize, "tokenUrl": token, "scopes": {}});
                put(&mut flows, &["authorizationCode"], flow);
            }
            "client_credentials" => put(&mut flows, &["clientCredentials"], json!({"tokenUrl": token, "scopes": {}})),
            "password" => put(&mut flows, &["password"], json!({"tokenUrl": token, "scopes": {}})),
            "implicit" => put(&mut flows, &["implicit"], json!({"authorizationUrl": authorize, "scopes": {}})),
            "refresh_token" => put(&mut settings, &["refreshToken"], json!(true)),
            // The comparison with what was given reports it.
            _ => {}
        }
    }
    (json!({"type": "oauth2", "flows": flows}), settings)
}

fn openid(definition: &Value, config: &Value) -> Value {
    let mut settings = sources(config, "Authorization");
    put(&mut settings, &["enabled"], json!(true));
    let options = definition.get("openid_options").unwrap_or(&Value::Null);
    copy(options, &[("segregateByClientId", "segregate_by_client")], &mut settings);
    let providers = options.get("providers").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let providers = providers.iter().map(|provider| {
        json!({
            "issuer": provider.get("issuer").cloned().unwrap_or(json!("")),
            "clientToPolicyMapping": pairs(provider.get("client_ids"), "clientId", "policyId"),
        })
    });
    put(&mut settings, &["providers"], providers.collect());
    scopes(definition, "oidc", &mut settings);
    settings
}

fn scopes(definition: &Value, method: &str, settings: &mut Value) {
    let Some(scopes) = member(definition, &format!("scopes.{method}")).filter(|scopes| !is_zero(scopes)) else { return };
    let claim = scopes.get("scope_claim_name").cloned().unwrap_or(json!(""));
    let mapping = pairs(scopes.get("scope_to_policy"), "scope", "policyId");
    put(settings, &["scopes"], json!({"claimName": claim, "scopeToPolicyMapping": mapping}));
}

fn pairs(map: Option<&Value>, name: &str, member: &str) -> Value {
    members(map).map(|(key, value)| json!({name: key, member: value})).collect()
}

/// Copies members with other names.
fn copy(from: &Value, names: &[(&str, &str)], settings: &mut Value) {
    for (name, classic) in names {
        if let Some(value) = from.get(classic).filter(|value| !is_zero(value)) {
            put(settings, &[name], value.clone());
        }
    }
}

/// Where credentials are, as in the extension.
fn sources(config: &Value, header: &str) -> Value {
    let is_on = |name: &str| config.get(name) == Some(&json!(true));
    let text = |name: &str| config.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let named = text("auth_header_name").unwrap_or(header);
    let mut made = json!({"header": {"enabled": !is_on("disable_header"), "name": named}});
    if is_on("use_param") {
        put(&mut made, &["query"], json!({"enabled": true, "name": text("param_name").unwrap_or(named)}));
    }
    if is_on("use_cookie") {
        put(&mut made, &["cookie"], json!({"enabled": true, "name": text("cookie_name").unwrap_or(named)}));
    }
    made
}
