//! What the configuration consists of: the files, and what the store has of it.

use super::{shown_digest, text_at};
use crate::api::Control;
use crate::definitions::{ReadFiles, document_of};
use crate::known_keys::KnownKeys;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use tollgate_access::certificates::{CertificateSummary, summary};
use tollgate_access::oauth::OauthClient;
use tollgate_admin::mask::mask_named;
use tollgate_data::snapshot::CompiledApi;
use tollgate_model::policy::Policy;
use tollgate_portal::Portal;
use tollgate_store::{DocumentSpace, Store, StoreFault};
use utoipa::ToSchema;

/// Before the name of a template in the store.
const TEMPLATE: &str = "key_template/";
/// Templates that are read at once.
const PAGE_DOCUMENTS: usize = 1_000;

/// The configuration of APIs.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Configuration)]
pub(super) struct ConfigurationContent {
    /// Digest of everything below, and of the secrets.
    digest: String,
    /// The gateway that answers.
    node: String,
    version: &'static str,
    /// Errors in files, which are not part of the configuration in service.
    problems: Vec<String>,
    /// API definitions by id; OpenAPI documents as they are, others classic. `broken` if the file has errors, so that this is its last good version.
    #[schema(inline)]
    apis: Vec<ShownDocument>,
    /// Policies by id.
    #[schema(inline)]
    policies: Vec<ShownDocument>,
    /// Certificates by id, without the certificates themselves.
    certificates: Vec<CertificateSummary>,
    /// OAuth clients by the id of their API and their own, without secrets.
    #[schema(inline)]
    clients: Vec<ShownDocument>,
    /// Templates of keys by name.
    #[schema(inline)]
    key_templates: Vec<ShownDocument>,
    /// Products of the developer portal by id; missing if this gateway has no portal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, inline)]
    portal_products: Option<Vec<ShownDocument>>,
    /// Pages of the developer portal by id; missing if this gateway has no portal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, inline)]
    portal_pages: Option<Vec<ShownDocument>>,
}

/// A document with masked secrets.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ShownDocument {
    id: String,
    broken: bool,
    #[schema(value_type = Object)]
    document: Value,
}

/// Parts that are asked for.
pub(super) struct Parts {
    apis: bool,
    policies: bool,
    certificates: bool,
    clients: bool,
    key_templates: bool,
    portal_products: bool,
    portal_pages: bool,
}

impl Parts {
    /// Reads a list of parts; the error is an unknown one.
    pub(super) fn read(only: &str) -> Result<Self, String> {
        let all = only.is_empty();
        let mut parts = Parts {
            apis: all,
            policies: all,
            certificates: all,
            clients: all,
            key_templates: all,
            portal_products: all,
            portal_pages: all,
        };
        for name in only.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let part = match name {
                "apis" => &mut parts.apis,
                "policies" => &mut parts.policies,
                "certificates" => &mut parts.certificates,
                "clients" => &mut parts.clients,
                "key_templates" => &mut parts.key_templates,
                "portal_products" => &mut parts.portal_products,
                "portal_pages" => &mut parts.portal_pages,
                unknown => return Err(unknown.to_owned()),
            };
            *part = true;
        }
        Ok(parts)
    }
}

/// What the store has of the configuration.
pub(super) struct StoredContent {
    /// Ids of certificates.
    pub certificates: Vec<String>,
    /// Clients by API and id.
    pub clients: BTreeMap<(String, String), OauthClient>,
    /// Templates of keys by name.
    pub templates: BTreeMap<String, Value>,
    /// What the developer portal offers; `None` without one.
    pub published: Option<PublishedContent>,
}

/// What the developer portal offers, by id.
pub(super) struct PublishedContent {
    pub products: BTreeMap<String, Value>,
    pub pages: BTreeMap<String, Value>,
}

impl PublishedContent {
    async fn read(portal: &Portal) -> Result<Self, StoreFault> {
        let (products, pages) = portal.published().await?;
        let shown = |value: Result<Value, serde_json::Error>| value.unwrap_or_default();
        Ok(PublishedContent {
            products: products.into_iter().map(|one| (one.id.clone(), shown(serde_json::to_value(one)))).collect(),
            pages: pages.into_iter().map(|one| (one.id.clone(), shown(serde_json::to_value(one)))).collect(),
        })
    }
}

impl StoredContent {
    pub(super) async fn read(control: &Control) -> Result<Self, StoreFault> {
        let snapshot = control.shared.current.load_full();
        let mut clients = BTreeMap::new();
        for api in snapshot.apis.iter().filter(|api| takes_clients(&api.raw)) {
            for client in control.token_store.clients(&api.id, &text_at(&api.raw, "/org_id")).await? {
                clients.insert((api.id.clone(), client.id.clone()), client);
            }
        }
        let templates = templates(control.shared.keys.store()).await?;
        let published = match &control.portal {
            Some(portal) => Some(PublishedContent::read(portal).await?),
            None => None,
        };
        Ok(StoredContent { certificates: control.shared.certificates.ids(""), clients, templates, published })
    }

    fn update(&self, digest: &mut blake3::Hasher) {
        for id in &self.certificates {
            digest.update(id.as_bytes()).update(b"\n");
        }
        for ((api, _), client) in &self.clients {
            digest.update(api.as_bytes()).update(client.to_stored().to_string().as_bytes());
        }
        for (name, template) in &self.templates {
            digest.update(name.as_bytes()).update(template.to_string().as_bytes());
        }
        for document in self.published.iter().flat_map(|published| published.products.values().chain(published.pages.values())) {
            digest.update(document.to_string().as_bytes());
        }
    }
}

/// Digest of the whole configuration.
pub(super) fn digest_of(files: &ReadFiles, stored: &StoredContent) -> String {
    let mut digest = blake3::Hasher::new();
    digest.update(files.digest().as_bytes());
    stored.update(&mut digest);
    shown_digest(&digest.finalize())
}

/// Whether an API has clients, by its classic form.
pub(super) fn takes_clients(classic: &Value) -> bool {
    classic.get("use_oauth2") == Some(&Value::Bool(true))
}

/// A client without its secret.
pub(super) fn shown_client(client: &OauthClient) -> Value {
    let mut shown = serde_json::to_value(client.to_shown()).unwrap_or_default();
    if let Value::Object(members) = &mut shown {
        members.shift_remove("secret");
        members.retain(|name, value| name == "client_id" || !is_unset(value));
    }
    shown
}

fn is_unset(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("") || value.as_object().is_some_and(serde_json::Map::is_empty)
}

/// The id of a template in the store.
pub(super) fn template_id(name: &str) -> String {
    format!("{TEMPLATE}{name}")
}

async fn templates(store: &dyn Store) -> Result<BTreeMap<String, Value>, StoreFault> {
    let mut found = BTreeMap::new();
    let mut after = None;
    loop {
        let page = store.page(DocumentSpace::Console, TEMPLATE.to_owned(), after, PAGE_DOCUMENTS).await?;
        for (id, document) in page.documents {
            if let (Some(name), Ok(template)) = (id.strip_prefix(TEMPLATE), serde_json::from_slice(&document)) {
                found.insert(name.to_owned(), template);
            }
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(found),
        }
    }
}

impl ConfigurationContent {
    pub(super) fn of(control: &Control, stored: &StoredContent, parts: &Parts) -> Self {
        let files = control.definitions.served();
        let keys = KnownKeys(&control.shared.keys);
        let shown = |id: &str, document: &Value, broken: bool| {
            let mut document = document.clone();
            mask_named(&mut document, &keys);
            ShownDocument { id: id.to_owned(), broken, document }
        };
        let by_id: BTreeMap<&str, (&Arc<CompiledApi>, bool)> =
            files.apis().filter(|_| parts.apis).map(|read| (read.api.id.as_str(), (read.api, read.is_broken))).collect();
        let apis = by_id.iter().filter(|(id, _)| !id.is_empty());
        let apis = apis.map(|(id, (api, broken))| shown(id, document_of(api), *broken)).collect();
        let policies = files.policies().iter().filter(|_| parts.policies);
        let certificates = stored.certificates.iter().filter(|_| parts.certificates);
        let certificates = certificates.filter_map(|id| Some(summary(id, &*control.shared.certificates.get(id)?)));
        let clients = stored.clients.iter().filter(|_| parts.clients);
        let templates = stored.templates.iter().filter(|_| parts.key_templates);
        let published = |is_wanted: bool, documents: fn(&PublishedContent) -> &BTreeMap<String, Value>| {
            let published = stored.published.as_ref()?;
            let wanted = documents(published).iter().filter(|_| is_wanted);
            Some(wanted.map(|(id, document)| ShownDocument { id: id.clone(), broken: false, document: document.clone() }).collect())
        };
        ConfigurationContent {
            digest: digest_of(&files, stored),
            node: control.shared.observer.node().to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            problems: files.errors().map(ToString::to_string).collect(),
            apis,
            policies: policies.map(|policy: &Policy| shown(policy.id(), &policy.to_json(), false)).collect(),
            certificates: certificates.collect(),
            clients: clients.map(|((api, id), client)| shown(&format!("{api}/{id}"), &shown_client(client), false)).collect(),
            key_templates: templates.map(|(name, template)| shown(name, template, false)).collect(),
            portal_products: published(parts.portal_products, |published| &published.products),
            portal_pages: published(parts.portal_pages, |published| &published.pages),
        }
    }
}
