//! Security schemes of type `oauth2` for an authorization server elsewhere: the scopes that tokens must have, which stand in the `security` of the
//! document and of its operations, and the metadata of the protected resource (RFC 9728). They identify nobody: another scheme verifies the token.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tollgate_model::JsonPath;

use super::mcp_paths::endpoint_of;
use super::operations::shield_fixed_paths;
use super::primitives::primitives_of;
use super::{Writer, place};
use crate::document::{Document, METHODS};
use crate::mcp_mark;
use crate::places::member;

/// Members that tell such a scheme from the gateway's own OAuth 2.0 server.
const MARKS: [&str; 3] = ["scopeCheck", "protectedResourceMetadata", "tokenExchange"];

/// Maximum scopes in all requirements of one `security`.
const SCOPES_MAX: usize = 1_000;

const SCHEMES: &str = "server.authentication.securitySchemes";

/// Whether the settings of a scheme are those of such a scheme.
pub(super) fn is_scheme(settings: &Value) -> bool {
    MARKS.iter().any(|mark| settings.get(mark).is_some())
}

/// Which `security` counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScopeSource {
    Union,
    Operation,
    Global,
}

pub(super) fn write(document: &Document, extension: &Value, writer: &mut Writer) {
    let schemes = member(extension, SCHEMES).and_then(Value::as_object);
    let schemes: Vec<(&String, &Value)> = schemes.into_iter().flatten().filter(|(_, settings)| is_scheme(settings)).collect();
    let names: Vec<&str> = schemes.iter().map(|(name, _)| name.as_str()).collect();
    let mut checked: Option<&str> = None;
    let mut told: Option<&str> = None;
    for (name, settings) in &schemes {
        let at = place(SCHEMES).key(name);
        let on = flag(settings, "enabled", &at, writer);
        if on && flag(settings, "tokenExchange.enabled", &at, writer) {
            writer.error(&at.key("tokenExchange"), "is not supported: upstreams would get the client's token");
        }
        if flag(settings, "scopeCheck.enabled", &at, writer) && on {
            match checked.replace(name) {
                None => scope_check(document, extension, name, settings, &names, writer),
                Some(first) => writer.error(&at.key("scopeCheck"), format!("{first} checks scopes already")),
            }
        }
        if flag(settings, "protectedResourceMetadata.enabled", &at, writer) {
            match told.replace(name) {
                None => metadata(document, extension, name, settings, &names, writer),
                Some(first) => writer.error(&at.key("protectedResourceMetadata"), format!("{first} has it already")),
            }
        }
    }
    if told.is_none() {
        older_metadata(extension, mcp_mark::is_in(&document.root), writer);
    }
    if checked.is_none() {
        idle_operations(extension, writer);
    }
}

/// A switch; anything else than true or false is an error, and nothing is served.
fn flag(settings: &Value, dotted: &str, at: &JsonPath, writer: &mut Writer) -> bool {
    match member(settings, dotted) {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(_) => {
            writer.error(&dotted.split('.').fold(at.clone(), |path, key| path.key(key)), "must be true or false");
            false
        }
    }
}

fn scope_check(document: &Document, extension: &Value, name: &str, settings: &Value, names: &[&str], writer: &mut Writer) {
    if member(extension, "server.authentication.enabled") != Some(&json!(true)) {
        return;
    }
    let at = place(SCHEMES).key(name).key("scopeCheck");
    let rules = settings.get("scopeCheck").unwrap_or(&Value::Null);
    let source = match rules.get("scopeSource").and_then(Value::as_str).unwrap_or_default() {
        "" | "union" => ScopeSource::Union,
        "operation" => ScopeSource::Operation,
        "global" => ScopeSource::Global,
        _ => return writer.error(&at.key("scopeSource"), "must be union, operation or global"),
    };
    writer.origins.add("$.tollgate.scope_check".to_owned(), at.to_string());
    let global = match source {
        ScopeSource::Operation => Vec::new(),
        _ => root_alternatives(document, name, writer),
    };
    writer.set(&["tollgate", "scope_check", "alternatives"], json!(global));
    for (from, to) in [("claimNames", "claim_names"), ("separator", "separator")] {
        writer.origins.add(format!("$.tollgate.scope_check.{to}"), at.key(from).to_string());
        if let Some(value) = rules.get(from) {
            writer.set(&["tollgate", "scope_check", to], value.clone());
        }
    }
    if source != ScopeSource::Global {
        operation_alternatives(document, extension, names, writer);
    }
}

/// The alternatives of the document's own `security`: one for each requirement that names the scheme.
fn root_alternatives(document: &Document, scheme: &str, writer: &mut Writer) -> Vec<Vec<String>> {
    let at = JsonPath::root().key("security");
    alternatives(document.root.get("security"), &[scheme], &at, writer, |requirement| requirement.get(scheme).is_some())
}

/// What the operations that check scopes require: an alternative for each requirement, whichever scheme it names.
fn operation_alternatives(document: &Document, extension: &Value, names: &[&str], writer: &mut Writer) {
    let mut any = false;
    for operation in document.operations.iter().filter(|operation| !operation.id.is_empty()) {
        let at = place("middleware.operations").key(&operation.id);
        let settings = member(extension, "middleware.operations").and_then(|operations| operations.get(&operation.id));
        if !settings.is_some_and(|settings| flag(settings, "scopeCheck.enabled", &at, writer)) {
            continue;
        }
        let item = document.path_item(&operation.path);
        let security = item.and_then(|item| item.get(operation.method.to_lowercase())?.get("security"));
        let of = JsonPath::root().key("paths").key(&operation.path).key(&operation.method.to_lowercase()).key("security");
        let required = alternatives(security, names, &of, writer, |_| true);
        if !required.is_empty() {
            let [path, method] = endpoint_of(document, operation);
            let entry = json!({"path": path, "method": method, "alternatives": required});
            writer.push_entry("operation_scopes", entry, &at.key("scopeCheck"));
            any = true;
        }
    }
    if any {
        shield_fixed_paths(document, "operation_scopes", &json!({"alternatives": []}), writer);
    }
    for (at, path, settings) in primitives_of(document, extension) {
        if !flag(settings, "scopeCheck.enabled", &at, writer) {
            continue;
        }
        // One without requirements shields its name from a wildcard that has some.
        let required = alternatives(settings.get("security"), names, &at.key("security"), writer, |_| true);
        let entry = json!({"path": path, "method": "POST", "alternatives": required});
        writer.push_entry("operation_scopes", entry, &at.key("scopeCheck"));
    }
}

/// The scopes that requirements name for some schemes, each once and in their order.
fn alternatives(
    security: Option<&Value>,
    names: &[&str],
    at: &JsonPath,
    writer: &mut Writer,
    counts: impl Fn(&Value) -> bool,
) -> Vec<Vec<String>> {
    let requirements = security.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut all = Vec::new();
    let mut total = 0;
    for (index, requirement) in requirements.iter().enumerate().filter(|(_, requirement)| counts(requirement)) {
        let mut scopes: Vec<String> = Vec::new();
        for (name, list) in names.iter().filter_map(|name| Some((name, requirement.get(name)?))) {
            let Some(list) = list.as_array().filter(|list| list.iter().all(Value::is_string)) else {
                writer.error(&at.index(index).key(name), "must be a list of scopes");
                continue;
            };
            for scope in list.iter().filter_map(Value::as_str).filter(|scope| !scope.is_empty()) {
                if !scopes.iter().any(|known| known == scope) {
                    scopes.push(scope.to_owned());
                }
            }
        }
        total += scopes.len();
        all.push(scopes);
    }
    if total > SCOPES_MAX {
        writer.error(at, format!("names more than {SCOPES_MAX} scopes"));
    }
    all
}

/// The metadata of the protected resource.
fn metadata(document: &Document, extension: &Value, name: &str, settings: &Value, names: &[&str], writer: &mut Writer) {
    let at = place(SCHEMES).key(name).key("protectedResourceMetadata");
    let rules = settings.get("protectedResourceMetadata").unwrap_or(&Value::Null);
    let mut scopes = catalogue(document, name);
    if rules.get("autoDeriveScopes") != Some(&json!(false)) {
        scopes.extend(derived_scopes(document, extension, names));
    }
    writer.set(&["tollgate", "protected_resource", "scopes_supported"], json!(scopes));
    writer.set(&["tollgate", "protected_resource", "tells_bearer_methods"], json!(true));
    copy_metadata(rules, &at, writer);
}

/// The older place of the metadata, which says everything itself.
fn older_metadata(extension: &Value, is_mcp: bool, writer: &mut Writer) {
    let dotted = "server.authentication.protectedResourceMetadata";
    let Some(rules) = member(extension, dotted).filter(|rules| !rules.is_null()) else { return };
    if !flag(rules, "enabled", &place(dotted), writer) {
        if is_mcp {
            // Otherwise it would be what the upstream says.
            writer.set(&["tollgate", "protected_resource", "disabled"], json!(true));
        }
        return;
    }
    if !is_mcp && rules.get("resource").and_then(Value::as_str).unwrap_or_default().is_empty() {
        return writer.error(&place(dotted).key("resource"), "is missing");
    }
    writer.set(&["tollgate", "protected_resource"], json!({}));
    if let Some(scopes) = rules.get("scopesSupported") {
        writer.set(&["tollgate", "protected_resource", "scopes_supported"], scopes.clone());
    }
    copy_metadata(rules, &place(dotted), writer);
}

fn copy_metadata(rules: &Value, at: &JsonPath, writer: &mut Writer) {
    writer.origins.add("$.tollgate.protected_resource".to_owned(), at.to_string());
    for (from, to) in [("wellKnownPath", "path"), ("resource", "resource"), ("authorizationServers", "authorization_servers")] {
        writer.origins.add(format!("$.tollgate.protected_resource.{to}"), at.key(from).to_string());
        if let Some(value) = rules.get(from) {
            writer.set(&["tollgate", "protected_resource", to], value.clone());
        }
    }
}

/// The scopes that the flows of a scheme describe.
fn catalogue(document: &Document, name: &str) -> BTreeSet<String> {
    let scheme = member(&document.root, "components.securitySchemes").and_then(|schemes| document.resolve(schemes.get(name)?));
    let flows = ["implicit", "password", "clientCredentials", "authorizationCode"];
    let scopes = flows.iter().filter_map(|flow| scheme?.get("flows")?.get(flow)?.get("scopes")?.as_object());
    scopes.flat_map(|scopes| scopes.keys()).filter(|scope| !scope.is_empty()).cloned().collect()
}

/// The scopes that any `security` of the document names for these schemes.
fn derived_scopes(document: &Document, extension: &Value, names: &[&str]) -> BTreeSet<String> {
    let items = document.root.get("paths").and_then(Value::as_object).into_iter().flatten();
    let items = items.filter_map(|(_, item)| document.resolve(item));
    let operations = items.flat_map(|item| METHODS.iter().filter_map(|method| item.get(*method)));
    let primitives = primitives_of(document, extension).into_iter().filter_map(|(_, _, settings)| settings.get("security"));
    let securities = operations.filter_map(|operation| operation.get("security")).chain(document.root.get("security"));
    let requirements = securities.chain(primitives).filter_map(Value::as_array).flatten();
    let lists = requirements.flat_map(|requirement| names.iter().filter_map(|name| requirement.get(*name)?.as_array()));
    lists.flatten().filter_map(Value::as_str).filter(|scope| !scope.is_empty()).map(str::to_owned).collect()
}

/// Operations that ask for a check which no scheme makes.
fn idle_operations(extension: &Value, writer: &mut Writer) {
    let operations = member(extension, "middleware.operations").and_then(Value::as_object);
    for (id, settings) in operations.into_iter().flatten() {
        let at = place("middleware.operations").key(id);
        if flag(settings, "scopeCheck.enabled", &at, writer) {
            writer.warning(&at.key("scopeCheck"), "no security scheme has scopeCheck switched on: scopes are not checked");
        }
    }
}
