//! What a set of changes means for the configuration as it is: which files are written, what is stored, and what is as wanted already.

mod portal;

use super::content::{StoredContent, shown_client, takes_clients};
use super::written::{ChangeAction, ObjectChange, ObjectKind};
use super::{PlannedAction, PlannedChange, SourceProblem, text_at};
use crate::api::Control;
use crate::definitions::{DocumentClass, ReadDefinition, ReadFiles, WantedDocument, document_of, is_file_name};
use crate::known_keys::KnownKeys;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use tollgate_access::oauth::{OauthClient, new_client_secret};
use tollgate_admin::mask::{mask_named, unmask_named};
use tollgate_admin::{Difference, MASK, differences};
use tollgate_clock::unix_s;
use tollgate_data::snapshot::CompiledApi;
use tollgate_model::policy::Policy;
use tollgate_model::session::Session;
use tollgate_model::{Level, Problem};
use tollgate_openapi::{EXTENSION, is_openapi};
use tollgate_portal::{ApiProduct, PortalPage};

/// Everything that has to be done.
#[derive(Default)]
pub(super) struct Plan {
    pub rows: Vec<PlannedChange>,
    pub unchanged: usize,
    pub warnings: Vec<SourceProblem>,
    pub problems: Vec<SourceProblem>,
    pub documents: Vec<WantedDocument>,
    pub stored: StoredSteps,
}

/// What changes in the store.
#[derive(Default)]
pub(super) struct StoredSteps {
    /// Organisations and texts of new certificates.
    pub new_certificates: Vec<(String, String)>,
    pub old_certificates: Vec<String>,
    /// API, the client so far, the client.
    pub clients: Vec<(String, Option<OauthClient>, OauthClient)>,
    /// API and id.
    pub gone_clients: Vec<(String, String)>,
    pub templates: Vec<(String, Value)>,
    pub gone_templates: Vec<String>,
    pub products: Vec<ApiProduct>,
    pub gone_products: Vec<String>,
    pub pages: Vec<PortalPage>,
    pub gone_pages: Vec<String>,
}

/// The configuration before the change.
struct Before<'b> {
    control: &'b Control,
    read: &'b ReadFiles,
    stored: &'b StoredContent,
    /// The APIs that count by id, and whether their files are broken.
    apis: HashMap<&'b str, (&'b Arc<CompiledApi>, bool)>,
}

impl Plan {
    /// Makes the plan. Problems of documents that only compiling finds are not in it yet.
    pub(super) fn new(control: &Control, read: &ReadFiles, stored: &StoredContent, changes: &[ObjectChange]) -> Self {
        let apis = read.apis().map(|api| (api.api.id.as_str(), (api.api, api.is_broken))).collect();
        let before = Before { control, read, stored, apis };
        let mut plan = Plan::default();
        let mut seen = HashSet::new();
        let mut put_apis: BTreeMap<String, bool> = BTreeMap::new();
        for change in changes {
            let id = match (change.kind, change.action) {
                (ObjectKind::Api, ChangeAction::Put) => plan.put_api(&before, change, &mut put_apis),
                (ObjectKind::Api, ChangeAction::Delete) => plan.delete_api(&before, change),
                (ObjectKind::Policy, ChangeAction::Put) => plan.put_policy(&before, change),
                (ObjectKind::Policy, ChangeAction::Delete) => plan.delete_policy(&before, change),
                (ObjectKind::Certificate, ChangeAction::Put) => plan.put_certificate(&before, change),
                (ObjectKind::Certificate, ChangeAction::Delete) => plan.delete_certificate(&before, change),
                (ObjectKind::KeyTemplate, ChangeAction::Put) => plan.put_template(&before, change),
                (ObjectKind::KeyTemplate, ChangeAction::Delete) => plan.delete_template(&before, change),
                (ObjectKind::PortalProduct, ChangeAction::Put) => plan.put_product(&before, change),
                (ObjectKind::PortalPage, ChangeAction::Put) => plan.put_page(&before, change),
                (ObjectKind::PortalProduct | ObjectKind::PortalPage, ChangeAction::Delete) => {
                    plan.delete_published(&before, change)
                }
                // They need to know which APIs there will be.
                (ObjectKind::Client, _) => continue,
            };
            plan.once(change, id, &mut seen);
        }
        let deleted: HashSet<&str> = deleted(changes, ObjectKind::Api).collect();
        let known_apis: BTreeSet<&str> =
            before.apis.keys().copied().chain(put_apis.keys().map(String::as_str)).filter(|id| !deleted.contains(id)).collect();
        for change in changes.iter().filter(|change| change.kind == ObjectKind::Client) {
            let id = match change.action {
                ChangeAction::Put => {
                    let takes = |api: &str| match put_apis.get(api) {
                        Some(takes) => Some(*takes),
                        None => before.apis.get(api).filter(|_| known_apis.contains(api)).map(|(api, _)| takes_clients(&api.raw)),
                    };
                    plan.put_client(&before, change, &takes)
                }
                ChangeAction::Delete => plan.delete_client(&before, change),
            };
            plan.once(change, id, &mut seen);
        }
        plan.check_references(&before, changes, &known_apis);
        plan.check_published(&before, changes);
        plan
    }

    /// A set that changes one object twice has no order in which it could.
    fn once(&mut self, change: &ObjectChange, id: Option<String>, seen: &mut HashSet<(ObjectKind, String)>) {
        if let Some(id) = id
            && !seen.insert((change.kind, id.clone()))
        {
            self.problem(change, "$", format!("{} {id} is changed twice", change.kind.name()));
        }
    }

    fn problem(&mut self, change: &ObjectChange, path: &str, message: impl Into<String>) {
        let path = if path.is_empty() { "$" } else { path };
        self.problems.push(SourceProblem { source: change.source.clone(), path: path.to_owned(), message: message.into() });
    }

    /// Problems that are no errors are warnings; notes and ignored fields are the business of checks.
    fn take(&mut self, change: &ObjectChange, problems: Vec<Problem>) {
        for problem in problems {
            match problem.level {
                Level::Error => self.problem(change, &problem.path, problem.message),
                Level::Warning => self.warn(&change.source, &problem.path, problem.message),
                Level::Note | Level::Ignored => {}
            }
        }
    }

    fn warn(&mut self, source: &str, path: &str, message: impl Into<String>) {
        let path = if path.is_empty() { "$" } else { path };
        self.warnings.push(SourceProblem { source: source.to_owned(), path: path.to_owned(), message: message.into() });
    }

    fn row(&mut self, before: &Before<'_>, change: &ObjectChange, id: &str, old: Option<&Value>, new: Option<&Value>) {
        let action = match (old, new) {
            (None, _) => PlannedAction::Create,
            (_, None) => PlannedAction::Delete,
            _ => PlannedAction::Update,
        };
        let (diff, diff_more) = match (old, new) {
            (Some(old), Some(new)) => named_differences(before.control, old, new),
            _ => Default::default(),
        };
        self.rows.push(PlannedChange {
            kind: change.kind,
            id: id.to_owned(),
            action,
            source: change.source.clone(),
            diff,
            diff_more,
        });
    }

    /// A document with the secrets that its masks stand for.
    fn unmasked(&mut self, before: &Before<'_>, change: &ObjectChange, stored: Option<&Value>) -> Option<Value> {
        let mut document = change.document.clone();
        match unmask_named(&mut document, stored, &KnownKeys(&before.control.shared.keys)) {
            Ok(()) => Some(document),
            Err(paths) => {
                for path in paths {
                    self.problem(change, &path, "there is no stored secret for this mask: write the secret, or a reference to it such as secrets:// or env://");
                }
                None
            }
        }
    }

    fn put_api(&mut self, before: &Before<'_>, change: &ObjectChange, put: &mut BTreeMap<String, bool>) -> Option<String> {
        let in_openapi = is_openapi(&change.document);
        let (pointer, path) = if in_openapi {
            (format!("/{EXTENSION}/info/id"), format!("$.{EXTENSION}.info.id"))
        } else {
            ("/api_id".to_owned(), "$.api_id".to_owned())
        };
        if !change.document.is_object() {
            self.problem(change, "$", "must be an API definition or an OpenAPI document");
            return None;
        }
        let id = text_at(&change.document, &pointer);
        if id.is_empty() || !is_file_name(&id) {
            self.problem(change, &path, "must be an id: letters, digits, '-', '_', '~' and '.', at most 200 of them");
            return None;
        }
        let known = before.apis.get(id.as_str()).copied();
        let stored = known.map(|(api, _)| document_of(api));
        // A document in the other language has its secrets elsewhere.
        let document = self.unmasked(before, change, stored.filter(|stored| is_openapi(stored) == in_openapi))?;
        let definition = match ReadDefinition::new(document, None) {
            Ok(definition) => definition,
            Err(problems) => {
                self.take(change, problems);
                return Some(id);
            }
        };
        put.insert(id.clone(), takes_clients(definition.classic()));
        if known.is_some_and(|(_, is_broken)| !is_broken) && stored == Some(definition.written()) {
            self.unchanged += 1;
            return Some(id);
        }
        self.row(before, change, &id, stored, Some(definition.written()));
        self.documents.push(WantedDocument::api(&id, definition).with_source(&change.source));
        Some(id)
    }

    fn delete_api(&mut self, before: &Before<'_>, change: &ObjectChange) -> Option<String> {
        let Some((api, _)) = before.apis.get(change.id.as_str()).copied() else {
            self.unchanged += 1;
            return Some(change.id.clone());
        };
        self.row(before, change, &change.id, Some(document_of(api)), None);
        self.documents.push(WantedDocument::gone(DocumentClass::Api, &change.id).with_source(&change.source));
        Some(change.id.clone())
    }

    fn put_policy(&mut self, before: &Before<'_>, change: &ObjectChange) -> Option<String> {
        let (parsed, problems) = match Policy::from_value(&change.document, None) {
            Ok(read) => read,
            Err(problems) => {
                self.take(change, problems);
                return None;
            }
        };
        self.take(change, problems);
        let id = parsed.id().to_owned();
        if id.is_empty() || !is_file_name(&id) {
            self.problem(change, "$.id", "must be an id: letters, digits, '-', '_', '~' and '.', at most 200 of them");
            return None;
        }
        let stored = before.read.policies().get(&id).map(Policy::to_json);
        let document = self.unmasked(before, change, stored.as_ref())?;
        let mut policy = Policy::from_value(&document, None).map_or(parsed, |(policy, _)| policy);
        if policy.id.is_empty() {
            policy.id.clone_from(&id);
        }
        let new = policy.to_json();
        if stored.as_ref() == Some(&new) {
            self.unchanged += 1;
            return Some(id);
        }
        self.row(before, change, &id, stored.as_ref(), Some(&new));
        self.documents.push(WantedDocument::policy(policy).with_source(&change.source));
        Some(id)
    }

    fn delete_policy(&mut self, before: &Before<'_>, change: &ObjectChange) -> Option<String> {
        let Some(policy) = before.read.policies().get(&change.id) else {
            self.unchanged += 1;
            return Some(change.id.clone());
        };
        self.row(before, change, &change.id, Some(&policy.to_json()), None);
        self.documents.push(WantedDocument::gone(DocumentClass::Policy, &change.id).with_source(&change.source));
        Some(change.id.clone())
    }

    fn put_certificate(&mut self, before: &Before<'_>, change: &ObjectChange) -> Option<String> {
        let certificate = match before.control.shared.certificates.parse(change.pem.as_bytes()) {
            Ok(certificate) => certificate,
            Err(why) => {
                self.problem(change, "$.pem", why);
                return None;
            }
        };
        let id = format!("{}{}", change.org_id, certificate.fingerprint);
        if before.stored.certificates.contains(&id) {
            self.unchanged += 1;
            return Some(id);
        }
        if let Err(why) = certificate.check(unix_s()) {
            self.problem(change, "$.pem", why);
        }
        self.row(before, change, &id, None, Some(&Value::Null));
        self.stored.new_certificates.push((change.org_id.clone(), change.pem.clone()));
        Some(id)
    }

    fn delete_certificate(&mut self, before: &Before<'_>, change: &ObjectChange) -> Option<String> {
        if before.stored.certificates.contains(&change.id) {
            self.row(before, change, &change.id, Some(&Value::Null), None);
            self.stored.old_certificates.push(change.id.clone());
        } else {
            self.unchanged += 1;
        }
        Some(change.id.clone())
    }

    fn put_template(&mut self, before: &Before<'_>, change: &ObjectChange) -> Option<String> {
        let name = &change.id;
        if name.is_empty() || !is_file_name(name) {
            self.problem(change, "$", "a template needs a name in id: letters, digits, '-', '_', '~' and '.', at most 200 of them");
            return None;
        }
        let stored = before.stored.templates.get(name);
        let document = self.unmasked(before, change, stored)?;
        match Session::parse(document.to_string().as_bytes()) {
            Ok((_, problems)) | Err(problems) => self.take(change, problems),
        }
        if stored == Some(&document) {
            self.unchanged += 1;
        } else {
            self.row(before, change, name, stored, Some(&document));
            self.stored.templates.push((name.clone(), document));
        }
        Some(name.clone())
    }

    fn delete_template(&mut self, before: &Before<'_>, change: &ObjectChange) -> Option<String> {
        match before.stored.templates.get(&change.id) {
            Some(stored) => {
                self.row(before, change, &change.id, Some(stored), None);
                self.stored.gone_templates.push(change.id.clone());
            }
            None => self.unchanged += 1,
        }
        Some(change.id.clone())
    }

    fn put_client(
        &mut self,
        before: &Before<'_>,
        change: &ObjectChange,
        takes_clients: &dyn Fn(&str) -> Option<bool>,
    ) -> Option<String> {
        let mut document = change.document.clone();
        if let Value::Object(members) = &mut document
            && members.get("secret").and_then(Value::as_str) == Some(MASK)
        {
            members.shift_remove("secret");
        }
        let written = match OauthClient::from_written(document.to_string().as_bytes()) {
            Ok(written) => written,
            Err(why) => {
                self.problem(
                    change,
                    "$",
                    why.unwrap_or("must be a client: client_id, redirect_uri, policy_id, description, meta_data, public"),
                );
                return None;
            }
        };
        let (mut client, mut api) = (written.client, written.api_id);
        if api.is_empty() {
            api = change.id.split_once('/').map(|(api, _)| api.to_owned()).unwrap_or_default();
        }
        if client.id.is_empty() {
            self.problem(change, "$.client_id", "must be set");
            return None;
        }
        let id = format!("{api}/{}", client.id);
        match takes_clients(&api) {
            None => self.problem(change, "$.api_id", format!("there is no API {api}")),
            Some(false) => self.problem(change, "$.api_id", format!("the API {api} does not have use_oauth2")),
            Some(true) => {}
        }
        let known = before.stored.clients.get(&(api.clone(), client.id.clone()));
        if let Some(known) = known {
            // What the developer portal has decided stays.
            (client.ends_unix_s, client.is_suspended) = (known.ends_unix_s, known.is_suspended);
        }
        if client.secret.is_empty() {
            client.secret = match known.filter(|known| known.is_public == client.is_public) {
                Some(known) => known.secret.clone(),
                None => new_client_secret().unwrap_or_default(),
            };
        }
        if client.secret.is_empty() {
            self.problem(change, "$.secret", "no secret can be made");
        }
        if known.is_some_and(|known| known.to_stored() == client.to_stored()) {
            self.unchanged += 1;
            return Some(id);
        }
        let is_new_secret = known.is_some_and(|known| known.secret != client.secret);
        self.row(before, change, &id, known.map(shown_client).as_ref(), Some(&shown_client(&client)));
        if let Some(row) = self.rows.last_mut().filter(|_| is_new_secret) {
            row.diff.push(Difference { path: "$.secret".to_owned(), old: Some(MASK.into()), new: Some(MASK.into()) });
        }
        self.stored.clients.push((api, known.cloned(), client));
        Some(id)
    }

    fn delete_client(&mut self, before: &Before<'_>, change: &ObjectChange) -> Option<String> {
        let named = change.id.split_once('/').map(|(api, id)| (api.to_owned(), id.to_owned()));
        match named.and_then(|named| Some((before.stored.clients.get(&named)?, named))) {
            Some((client, named)) => {
                self.row(before, change, &change.id, Some(&shown_client(client)), None);
                self.stored.gone_clients.push(named);
            }
            None => self.unchanged += 1,
        }
        Some(change.id.clone())
    }

    /// Names what refers to something that will not be there. Tyk allows it, but it is rarely meant.
    fn check_references(&mut self, before: &Before<'_>, changes: &[ObjectChange], apis: &BTreeSet<&str>) {
        let gone: HashSet<&str> = deleted(changes, ObjectKind::Policy).collect();
        let put: HashMap<String, &ObjectChange> = changes
            .iter()
            .filter(|change| change.kind == ObjectKind::Policy && change.action == ChangeAction::Put)
            .filter_map(|change| Some((Policy::from_value(&change.document, None).ok()?.0.id().to_owned(), change)))
            .collect();
        let mut found = Vec::new();
        for (id, change) in &put {
            let rights = change.document.get("access_rights").and_then(Value::as_object).into_iter().flatten();
            for (api, _) in rights.filter(|(api, _)| !apis.contains(api.as_str())) {
                found.push((
                    change.source.clone(),
                    format!("$.access_rights[{}]", Value::from(api.as_str())),
                    format!("policy {id}: there is no API with this id"),
                ));
            }
        }
        let stays = |policy: &&Policy| !gone.contains(policy.id()) && !put.contains_key(policy.id());
        for policy in before.read.policies().iter().filter(stays) {
            for api in deleted(changes, ObjectKind::Api).filter(|api| policy.access_rights.contains_key(*api)) {
                found.push((
                    String::new(),
                    format!("$.access_rights[{}]", Value::from(api)),
                    format!("policy {} still refers to this API, which is deleted", policy.id()),
                ));
            }
        }
        let has_policy = |id: &str| put.contains_key(id) || (before.read.policies().get(id).is_some() && !gone.contains(id));
        for change in changes.iter().filter(|change| change.action == ChangeAction::Put) {
            let named: Vec<(String, &str)> = match change.kind {
                ObjectKind::Client => {
                    vec![("$.policy_id".to_owned(), change.document.get("policy_id").and_then(Value::as_str).unwrap_or_default())]
                }
                ObjectKind::KeyTemplate => {
                    let policies = change.document.get("apply_policies").and_then(Value::as_array).into_iter().flatten();
                    policies
                        .enumerate()
                        .map(|(place, id)| (format!("$.apply_policies[{place}]"), id.as_str().unwrap_or_default()))
                        .collect()
                }
                _ => continue,
            };
            for (path, id) in named.into_iter().filter(|(_, id)| !id.is_empty() && !has_policy(id)) {
                found.push((change.source.clone(), path, format!("there is no policy {id}")));
            }
        }
        for (change, product) in changes.iter().filter_map(|change| Some((change, product(change)?))) {
            let apis = product.apis.iter().enumerate().filter(|(_, id)| !apis.contains(id.as_str()));
            let apis = apis.map(|(place, id)| (format!("$.apis[{place}]"), format!("there is no API {id}")));
            let plans = product.plans.iter().enumerate().filter(|(_, plan)| !has_policy(&plan.policy));
            let plans =
                plans.map(|(place, plan)| (format!("$.plans[{place}].policy"), format!("there is no policy {}", plan.policy)));
            found.extend(apis.chain(plans).map(|(path, message)| (change.source.clone(), path, message)));
        }
        for (source, path, message) in found {
            self.warn(&source, &path, message);
        }
    }
}

/// The product that a change puts.
fn product(change: &ObjectChange) -> Option<ApiProduct> {
    let is_put = change.kind == ObjectKind::PortalProduct && change.action == ChangeAction::Put;
    is_put.then(|| serde_json::from_value(change.document.clone()).ok()).flatten()
}

/// The ids that are deleted.
fn deleted(changes: &[ObjectChange], kind: ObjectKind) -> impl Iterator<Item = &str> {
    let is_deleted = move |change: &&ObjectChange| change.kind == kind && change.action == ChangeAction::Delete;
    changes.iter().filter(is_deleted).map(|change| change.id.as_str())
}

/// Differences without secrets: a secret that was changed is named, but not shown.
fn named_differences(control: &Control, old: &Value, new: &Value) -> (Vec<Difference>, usize) {
    let masked = |value: &Value| {
        let mut value = value.clone();
        mask_named(&mut value, &KnownKeys(&control.shared.keys));
        value
    };
    let (mut shown, more) = differences(&masked(old), &masked(new));
    for Difference { path, .. } in differences(old, new).0 {
        if !shown.iter().any(|known| path.starts_with(&known.path)) {
            shown.push(Difference { path, old: Some(MASK.into()), new: Some(MASK.into()) });
        }
    }
    (shown, more)
}
