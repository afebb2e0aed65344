//! The objects that a configuration consists of: their ids, their tags, and when two of them are equal.

use super::PartName;
use serde_json::{Map, Value};

/// What an OpenAPI document has of Tyk.
const EXTENSION: &str = "x-tyk-api-gateway";

/// Kinds of objects, in the order in which one may refer to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum PartKind {
    Certificate,
    Api,
    Policy,
    Client,
    KeyTemplate,
    PortalProduct,
    PortalPage,
}

/// What a directory has.
#[derive(Debug, Default)]
pub(super) struct LocalConfiguration {
    pub objects: Vec<LocalObject>,
    /// What is read and has no effect.
    pub notes: Vec<String>,
}

/// An object in a directory.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LocalObject {
    pub kind: PartKind,
    /// Its id; that of a client begins with the id of its API and a slash.
    pub id: String,
    /// The file, relative to the directory.
    pub file: String,
    pub content: LocalContent,
}

/// What a file says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LocalContent {
    /// A document.
    Document(Value),
    /// A certificate with or without its private key.
    Certificate { pem: String, org: String },
    /// That the gateway has the certificate.
    Fingerprint,
}

impl PartKind {
    pub(super) const ALL: [PartKind; 7] = [
        PartKind::Certificate,
        PartKind::Api,
        PartKind::Policy,
        PartKind::Client,
        PartKind::KeyTemplate,
        PartKind::PortalProduct,
        PartKind::PortalPage,
    ];

    /// The name in requests and answers.
    pub(super) fn name(self) -> &'static str {
        match self {
            PartKind::Certificate => "certificate",
            PartKind::Api => "api",
            PartKind::Policy => "policy",
            PartKind::Client => "client",
            PartKind::KeyTemplate => "key_template",
            PartKind::PortalProduct => "portal_product",
            PartKind::PortalPage => "portal_page",
        }
    }

    /// The part of a configuration that has these objects.
    pub(super) fn plural(self) -> &'static str {
        match self {
            PartKind::Certificate => "certificates",
            PartKind::Api => "apis",
            PartKind::Policy => "policies",
            PartKind::Client => "clients",
            PartKind::KeyTemplate => "key_templates",
            PartKind::PortalProduct => "portal_products",
            PartKind::PortalPage => "portal_pages",
        }
    }

    /// The folder of these objects in a directory.
    pub(super) fn folder(self) -> &'static str {
        match self {
            PartKind::KeyTemplate => "keys",
            PartKind::PortalProduct => "portal/products",
            PartKind::PortalPage => "portal/pages",
            other => other.plural(),
        }
    }

    pub(super) fn part(self) -> PartName {
        match self {
            PartKind::Certificate => PartName::Certificates,
            PartKind::Api => PartName::Apis,
            PartKind::Policy => PartName::Policies,
            PartKind::Client => PartName::Clients,
            PartKind::KeyTemplate => PartName::Keys,
            PartKind::PortalProduct | PartKind::PortalPage => PartName::Portal,
        }
    }

    /// Whether objects of this kind can belong to a tag.
    pub(super) fn takes_tags(self) -> bool {
        !matches!(self, PartKind::PortalProduct | PartKind::PortalPage)
    }
}

/// Whether an API definition is an OpenAPI document.
pub(super) fn is_openapi(document: &Value) -> bool {
    document.get("openapi").is_some() || document.get("swagger").is_some()
}

/// Whether an API definition is an OpenAPI document of a proxy for the Model Context Protocol.
pub(super) fn is_mcp(document: &Value) -> bool {
    is_openapi(document) && tollgate_openapi::mcp_mark::is_in(document)
}

/// The JSON path of an API's id, and the id.
pub(super) fn api_id(document: &Value) -> (String, String) {
    let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    if is_openapi(document) {
        (format!("$.{EXTENSION}.info.id"), text(&format!("/{EXTENSION}/info/id")))
    } else {
        ("$.api_id".to_owned(), text("/api_id"))
    }
}

/// The id of a policy: `id`, otherwise `_id`.
pub(super) fn policy_id(document: &Value) -> String {
    let places = ["/id", "/_id/$oid", "/_id"];
    let mut ids = places.iter().filter_map(|place| document.pointer(place)?.as_str()).filter(|id| !id.is_empty());
    ids.next().unwrap_or_default().to_owned()
}

/// Whether an object has a tag. Certificates and clients have none of their own.
pub(super) fn has_tag(document: &Value, tag: &str) -> bool {
    let gateway_tags = format!("/{EXTENSION}/server/gatewayTags/tags");
    ["/tags", &gateway_tags].iter().any(|place| {
        // The `tags` of an OpenAPI document describe operations.
        let is_of_document = *place == "/tags" && is_openapi(document);
        let tags = document.pointer(place).and_then(Value::as_array).filter(|_| !is_of_document);
        tags.is_some_and(|tags| tags.iter().any(|own| own.as_str() == Some(tag)))
    })
}

/// A document without members that say what their absence says: null, false, 0, and empty texts, lists and objects. Tyk writes all of them.
pub(super) fn without_zeros(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept =
                members.iter().map(|(name, value)| (name.clone(), without_zeros(value))).filter(|(_, value)| !is_zero(value));
            Value::Object(kept.collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_zeros).collect()),
        Value::Number(number) => match number.as_f64() {
            Some(number) if number.fract() == 0.0 && number.abs() < 9e15 => Value::from(number as i64),
            _ => value.clone(),
        },
        other => other.clone(),
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        // Tyk writes a time that is not set as 0s.
        Value::String(text) => text.is_empty() || text == "0s",
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(true) => false,
    }
}
