//! A set of changes as it is sent.

use super::SourceProblem;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tollgate_model::json_document;
use utoipa::ToSchema;

/// Changes that are made as one.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ConfigurationChange)]
pub(super) struct ChangeSet {
    /// The digest of the configuration that the changes were made for; `*` for any.
    pub digest: String,
    /// Only say what would change.
    #[serde(default)]
    #[schema(required = false)]
    pub dry_run: bool,
    /// Answer when the other gateways that share definitions serve the change, and say which do; at most two seconds later.
    #[serde(default)]
    #[schema(required = false)]
    pub wait: bool,
    /// The changes, in any order.
    #[schema(inline)]
    pub changes: Vec<ObjectChange>,
}

/// The change of one object.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ObjectChange {
    #[schema(inline)]
    pub kind: ObjectKind,
    #[schema(inline)]
    pub action: ChangeAction,
    /// Id of the object: for a `delete`, and for a template of keys, which has none in itself. That of a client begins with the id of its API and a slash.
    #[serde(default)]
    #[schema(required = false)]
    pub id: String,
    /// What problems name: usually a file.
    #[serde(default)]
    #[schema(required = false)]
    pub source: String,
    /// A classic definition or an OpenAPI document, a policy, a client, the session of a template, a product or page of the developer portal.
    #[serde(default)]
    #[schema(required = false, value_type = Object)]
    pub document: Value,
    /// A certificate with or without its private key, as PEM.
    #[serde(default)]
    #[schema(required = false)]
    pub pem: String,
    /// Organisation of the certificate.
    #[serde(default)]
    #[schema(required = false)]
    pub org_id: String,
}

/// Kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ObjectKind {
    Certificate,
    Api,
    Policy,
    Client,
    KeyTemplate,
    PortalProduct,
    PortalPage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChangeAction {
    Put,
    Delete,
}

impl ObjectKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            ObjectKind::Certificate => "certificate",
            ObjectKind::Api => "api",
            ObjectKind::Policy => "policy",
            ObjectKind::Client => "client",
            ObjectKind::KeyTemplate => "key_template",
            ObjectKind::PortalProduct => "portal_product",
            ObjectKind::PortalPage => "portal_page",
        }
    }
}

impl ChangeSet {
    pub(super) fn parse(body: &[u8]) -> Result<Self, Vec<SourceProblem>> {
        let problem = |message: String| vec![SourceProblem { source: String::new(), path: "$".to_owned(), message }];
        if body.first().is_none_or(|first| *first != b'{') && !body.trim_ascii_start().starts_with(b"{") {
            return Err(problem("must be an object with digest and changes".to_owned()));
        }
        let set: ChangeSet = json_document::from_slice(body).map_err(|error| problem(format!("not a set of changes: {error}")))?;
        let of = |place: usize, change: &ObjectChange| {
            if change.source.is_empty() { format!("changes[{place}]") } else { change.source.clone() }
        };
        let sources: Vec<String> = set.changes.iter().enumerate().map(|(place, change)| of(place, change)).collect();
        let changes = set.changes.into_iter().zip(sources).map(|(change, source)| ObjectChange { source, ..change }).collect();
        Ok(ChangeSet { changes, ..set })
    }
}
