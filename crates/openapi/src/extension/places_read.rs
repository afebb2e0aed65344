//! Places of the extension that files other than the table of fields read. `[]` stands for the items of a list, `*` for any name. What stands
//! below none of them is unknown.

use super::fields::{Field, OPERATION_FIELDS};
use super::form::Form;

macro_rules! below {
    ($($prefix:literal: $($name:literal)+;)+) => {
        &[$($(concat!($prefix, $name)),+),+]
    };
}

/// Places outside of operations and security schemes.
pub(crate) const READ_ELSEWHERE: &[&str] = below! {
    "upstream.loadBalancing.targets[].": "url" "weight";
    "upstream.uptimeTests.tests[].": "url" "timeout" "enableProxyProtocol" "method" "headers" "body" "commands[].name" "commands[].message";
    "upstream.proxy.": "enabled";
    "server.authentication.": "securityProcessingMode" "security" "certificateAuth.enabled"
        "customKeyLifetime.enabled" "customKeyLifetime.value";
    "server.authentication.protectedResourceMetadata.": "enabled" "wellKnownPath" "resource" "authorizationServers" "scopesSupported";
    "server.authentication.hmac.": "enabled" "allowedAlgorithms" "allowedClockSkew"
        "header.enabled" "header.name" "query.enabled" "query.name" "cookie.enabled" "cookie.name";
    "server.authentication.oidc.": "enabled" "segregateByClientId" "providers[].issuer"
        "providers[].clientToPolicyMapping[].clientId" "providers[].clientToPolicyMapping[].policyId"
        "scopes.claimName" "scopes.claims" "scopes.scopeToPolicyMapping[].scope" "scopes.scopeToPolicyMapping[].policyId"
        "header.enabled" "header.name" "query.enabled" "query.name" "cookie.enabled" "cookie.name";
    "server.authentication.custom.": "enabled" "config.enabled" "config.functionName" "config.path" "config.rawBodyOnly"
        "config.requireSession" "config.idExtractor.enabled" "config.idExtractor.source" "config.idExtractor.with"
        "config.idExtractor.config.headerName" "config.idExtractor.config.formParamName" "config.idExtractor.config.regexp"
        "config.idExtractor.config.regexpMatchIndex" "config.idExtractor.config.xPathExp"
        "header.enabled" "header.name" "query.enabled" "query.name" "cookie.enabled" "cookie.name";
    "server.eventHandlers[].": "enabled" "trigger" "type" "id" "name" "functionName" "path" "logPrefix" "method" "url" "bodyTemplate"
        "cooldownPeriod" "headers[].name" "headers[].value";
    "middleware.global.prePlugins[].": "enabled" "functionName" "path" "rawBodyOnly" "requireSession";
    "middleware.global.postAuthenticationPlugins[].": "enabled" "functionName" "path" "rawBodyOnly" "requireSession";
    "middleware.global.postPlugins[].": "enabled" "functionName" "path" "rawBodyOnly" "requireSession";
    "middleware.global.responsePlugins[].": "enabled" "functionName" "path" "rawBodyOnly" "requireSession";
    "middleware.global.prePlugin.plugins[].": "enabled" "functionName" "path" "rawBodyOnly" "requireSession";
    "middleware.global.postAuthenticationPlugin.plugins[].": "enabled" "functionName" "path" "rawBodyOnly" "requireSession";
    "middleware.global.postPlugin.plugins[].": "enabled" "functionName" "path" "rawBodyOnly" "requireSession";
    "middleware.global.responsePlugin.plugins[].": "enabled" "functionName" "path" "rawBodyOnly" "requireSession";
    "middleware.global.trafficLogs.plugins[].": "enabled" "functionName" "path";
    // Read as rules of a classic definition, which reports what they do not have.
    "errorOverrides.": "value";
};

/// Where every scheme looks for credentials.
pub(super) const SOURCES: &[&str] =
    &["enabled", "header.enabled", "header.name", "query.enabled", "query.name", "cookie.enabled", "cookie.name"];

/// Members of the settings of security schemes, by kind.
pub(super) const TOKEN: &[&str] = below! {
    "": "enableClientCertificate";
    "signatureValidation.": "enabled" "algorithm" "header" "query.enabled" "query.name" "secret" "allowedClockSkew" "errorCode"
        "errorMessage";
};
pub(super) const JWT: &[&str] = below! {
    "": "source" "signingMethod" "identityBaseField" "subjectClaims" "jwksURIs[].url" "jwksURIs[].cacheTimeout" "skipKid" "policyFieldName"
        "basePolicyClaims" "allowedIssuers" "allowedAudiences" "jtiValidation.enabled" "allowedSubjects" "clientBaseField" "defaultPolicies"
        "issuedAtValidationSkew" "notBeforeValidationSkew" "expiresAtValidationSkew" "idpClientIdMappingDisabled";
    "scopes.": "claimName" "claims" "scopeToPolicyMapping[].scope" "scopeToPolicyMapping[].policyId";
    "customClaimValidation.*.": "type" "allowedValues" "nonBlocking";
};
pub(super) const BASIC: &[&str] = below! {
    "": "disableCaching" "cacheTTL";
    "extractCredentialsFromBody.": "enabled" "userRegexp" "passwordRegexp";
};
pub(super) const OAUTH: &[&str] = below! {
    "": "allowedAuthorizeTypes" "refreshToken" "authLoginRedirect" "notifications.sharedSecret" "notifications.onKeyChangeUrl";
};
pub(super) const EXTERNAL_OAUTH: &[&str] = below! {
    "providers[].jwt.": "enabled" "signingMethod" "source" "identityBaseField" "issuedAtValidationSkew" "notBeforeValidationSkew"
        "expiresAtValidationSkew";
    "providers[].introspection.": "enabled" "url" "clientId" "clientSecret" "identityBaseField" "cache.enabled" "cache.timeout";
};
pub(super) const SCOPES: &[&str] = below! {
    "scopeCheck.": "enabled" "claimNames" "separator" "scopeSource";
    "protectedResourceMetadata.": "enabled" "wellKnownPath" "resource" "authorizationServers" "autoDeriveScopes";
    "tokenExchange.": "enabled";
    // A document that exchanges tokens is not served.
    "tokenExchange.": "providers";
};

/// Members of an operation's middleware.
pub(crate) const OPERATION_READ_ELSEWHERE: &[&str] = below! {
    "transformRequestBody.": "body" "path";
    "transformResponseBody.": "body" "path";
    "urlRewrite.triggers[].": "condition" "rewriteTo" "rules[].in" "rules[].name" "rules[].pattern" "rules[].negate";
    "virtualEndpoint.": "name" "functionName" "path" "body";
    "postPlugins[].": "enabled" "name" "functionName" "path";
    "scopeCheck.": "enabled";
    "exchange.": "enabled" "audience" "scopes";
};

/// The places of the middleware of an operation.
pub(super) fn of_operations() -> Vec<String> {
    let own = OPERATION_FIELDS
        .iter()
        .flat_map(|middleware| of_fields(middleware.members).into_iter().map(|place| format!("{}.{place}", middleware.name)));
    OPERATION_READ_ELSEWHERE.iter().map(|place| (*place).to_owned()).chain(own).collect()
}

/// The places of the fields of a table.
pub(super) fn of_fields(fields: &[Field]) -> Vec<String> {
    let of = |field: &Field| match field.2 {
        Form::Map(name, member) | Form::JoinedMap(name, member) => {
            vec![format!("{}[].{name}", field.0), format!("{}[].{member}", field.0)]
        }
        _ => vec![field.0.to_owned()],
    };
    fields.iter().flat_map(of).collect()
}
