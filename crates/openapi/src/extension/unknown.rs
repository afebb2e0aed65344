//! Reports members of the extension that nothing reads: what protects may lack something that its author wants, so the document is unusable;
//! anything else is served without it.

use serde_json::Value;
use tollgate_model::JsonPath;

use super::fields::FIELDS;
use super::mcp_paths::SECTIONS;
use super::places_read::{self, READ_ELSEWHERE};
use super::{EXTENSION, Writer, security};
use crate::document::Document;
use crate::mcp_mark;

const SCHEMES: &str = "server.authentication.securitySchemes";
const OPERATIONS: &str = "middleware.operations";

/// Sections that decide who may call.
const PROTECTIONS: [&str; 4] =
    ["server.authentication", "server.clientCertificates", "server.ipAccessControl", "upstream.certificatePinning"];

/// Middleware of operations that decides who may call, and with what.
const OPERATION_PROTECTIONS: [&str; 10] = [
    "allow",
    "block",
    "ignoreAuthentication",
    "internal",
    "validateRequest",
    "rateLimit",
    "requestSizeLimit",
    "scopeCheck",
    "exchange",
    "security",
];

pub(super) fn report(document: &Document, extension: &Value, writer: &mut Writer) {
    let mut known = places_read::of_fields(FIELDS);
    known.extend(READ_ELSEWHERE.iter().copied().chain([SCHEMES, OPERATIONS]).map(str::to_owned));
    known.extend(SECTIONS.map(|(section, _)| format!("middleware.{section}")));
    let at = JsonPath::root().key(EXTENSION);
    UnknownWalk { known: &known, protections: &PROTECTIONS, is_protection: false }.below(extension, &at, "", writer);
    other_extensions(document, writer);
    schemes(document, extension, writer);
    operations(extension, writer);
    primitives(document, extension, writer);
}

/// Tyk's other extensions of a document, such as `x-tyk-mcp-server`.
fn other_extensions(document: &Document, writer: &mut Writer) {
    let members = document.root.as_object().into_iter().flatten();
    for (name, _) in members.filter(|(name, value)| name.starts_with("x-tyk-") && *name != EXTENSION && !value.is_null()) {
        writer.ignored(&JsonPath::root().key(name), "is not supported, and has no effect");
    }
}

/// The members that a place may have, and what to make of others.
struct UnknownWalk<'k> {
    known: &'k [String],
    /// Places below which an unknown member makes the document unusable.
    protections: &'k [&'k str],
    /// Whether everything here is such a place.
    is_protection: bool,
}

impl UnknownWalk<'_> {
    fn below(&self, value: &Value, at: &JsonPath, dotted: &str, writer: &mut Writer) {
        match value {
            Value::Object(members) => {
                for (name, member) in members.iter().filter(|(_, member)| !member.is_null()) {
                    self.member(member, &at.key(name), dotted, name, writer);
                }
            }
            Value::Array(items) => {
                let dotted = format!("{dotted}[]");
                for (index, item) in items.iter().enumerate() {
                    match item {
                        Value::Object(_) => self.below(item, &at.index(index), &dotted, writer),
                        _ => writer.error(&at.index(index), "must be an object"),
                    }
                }
            }
            _ => {}
        }
    }

    fn member(&self, member: &Value, at: &JsonPath, dotted: &str, name: &str, writer: &mut Writer) {
        let below = |name: &str| if dotted.is_empty() { name.to_owned() } else { format!("{dotted}.{name}") };
        let (named, any) = (below(name), below("*"));
        let leads =
            |place: &str| self.known.iter().any(|known| known.strip_prefix(place).is_some_and(|rest| rest.starts_with(['.', '['])));
        if self.known.contains(&named) {
            return;
        }
        let Some(place) = [named.clone(), any].into_iter().find(|place| leads(place)) else {
            return self.unknown(at, &named, writer);
        };
        let is_list = self.known.iter().any(|known| known.strip_prefix(&place).is_some_and(|rest| rest.starts_with('[')));
        match (member, is_list) {
            (Value::Object(_), false) | (Value::Array(_), true) => self.below(member, at, &place, writer),
            (_, false) => writer.error(at, "must be an object"),
            (_, true) => writer.error(at, "must be a list"),
        }
    }

    fn unknown(&self, at: &JsonPath, dotted: &str, writer: &mut Writer) {
        let is_below =
            |section: &&str| dotted.strip_prefix(*section).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        if self.is_protection || self.protections.iter().any(is_below) {
            writer.error(at, "unknown field: what it should protect is not protected");
        } else {
            writer.ignored(at, "unknown field");
        }
    }
}

fn schemes(document: &Document, extension: &Value, writer: &mut Writer) {
    let at = SCHEMES.split('.').fold(JsonPath::root().key(EXTENSION), |at, key| at.key(key));
    let schemes = match crate::places::member(extension, SCHEMES) {
        None | Some(Value::Null) => return,
        Some(Value::Object(schemes)) => schemes,
        Some(_) => return writer.error(&at, "must be an object"),
    };
    for (name, settings) in schemes.iter().filter(|(_, settings)| !settings.is_null()) {
        let at = at.key(name);
        if !settings.is_object() {
            writer.error(&at, "must be an object");
            continue;
        }
        let own = security::members_of_scheme(document, name, settings);
        let known: Vec<String> = places_read::SOURCES.iter().copied().chain(own).map(str::to_owned).collect();
        UnknownWalk { known: &known, protections: &[], is_protection: true }.below(settings, &at, "", writer);
    }
}

fn operations(extension: &Value, writer: &mut Writer) {
    let at = OPERATIONS.split('.').fold(JsonPath::root().key(EXTENSION), |at, key| at.key(key));
    let Some(Value::Object(operations)) = crate::places::member(extension, OPERATIONS) else { return };
    let known = places_read::of_operations();
    for (id, operation) in operations {
        middleware_of(operation, &known, &at.key(id), writer);
    }
}

/// Tools, resources and prompts of the Model Context Protocol.
fn primitives(document: &Document, extension: &Value, writer: &mut Writer) {
    let is_mcp = mcp_mark::is_in(&document.root);
    let mut known = places_read::of_operations();
    known.push("security".to_owned());
    for (section, _) in SECTIONS {
        let at = JsonPath::root().key(EXTENSION).key("middleware").key(section);
        let written = extension.get("middleware").and_then(|middleware| middleware.get(section)?.as_object());
        let Some(written) = written.filter(|written| !written.is_empty()) else {
            if extension
                .get("middleware")
                .and_then(|middleware| middleware.get(section))
                .is_some_and(|value| !value.is_object() && !value.is_null())
            {
                writer.error(&at, "must be an object");
            }
            continue;
        };
        if !is_mcp {
            let message = "only acts in proxies for the Model Context Protocol, and the API is not served without its rules: name the \
                           document's file NAME-mcp.json, or set x-tollgate.application_protocol to mcp";
            writer.error(&at, message);
            continue;
        }
        for (name, primitive) in written {
            if name.is_empty() {
                writer.error(&at.key(name), "needs a name");
            }
            middleware_of(primitive, &known, &at.key(name), writer);
        }
    }
}

fn middleware_of(operation: &Value, known: &[String], at: &JsonPath, writer: &mut Writer) {
    if !operation.is_object() {
        return writer.error(at, "must be an object");
    }
    UnknownWalk { known, protections: &OPERATION_PROTECTIONS, is_protection: false }.below(operation, at, "", writer);
    if crate::places::member(operation, "exchange.enabled") == Some(&Value::Bool(true)) {
        writer.error(&at.key("exchange"), "is not supported, and the API is not served without it");
    }
}
