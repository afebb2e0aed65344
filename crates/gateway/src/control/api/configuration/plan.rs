//! What a set of changes means for the configuration as it is: which files are written, what is stored, and what is as wanted already.

use super::content::{StoredContent, shown_client, takes_clients};
use super::written::{ChangeAction, ObjectChange, ObjectKind};
use super::{PlannedAction, PlannedChange, SourceProblem, text_at};
use crate::auth::oauth::{OauthClient, new_client_secret};
use crate::base::clock::unix_s;
use crate::base::definition_files::{ApiFile, companion_of};
use crate::control::api::Control;
use crate::control::api::definition_store::is_file_name;
use crate::control::definition::{DefinitionText, FILE_BYTES_MAX};
use crate::control::known_keys::KnownKeys;
use crate::control::loader::{ReadFiles, WantedFile, document_of};
use crate::data::snapshot::CompiledApi;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tollgate_admin::mask::{mask_named, unmask_named};
use tollgate_admin::{Difference, MASK, differences};
use tollgate_model::policy::Policy;
use tollgate_model::session::Session;
use tollgate_model::{Level, Problem};
use tollgate_openapi::{Document, EXTENSION, classic_form, is_openapi};

/// Everything that has to be done.
#[derive(Default)]
pub(super) struct Plan {
    pub rows: Vec<PlannedChange>,
    pub unchanged: usize,
    pub warnings: Vec<SourceProblem>,
    pub problems: Vec<SourceProblem>,
    pub files: Vec<WantedFile>,
    /// Source of each written file, for problems that compiling finds.
    pub sources: HashMap<PathBuf, String>,
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
}

/// The configuration before the change.
struct Before<'b> {
    control: &'b Control,
    read: &'b ReadFiles,
    stored: &'b StoredContent,
    /// The file that counts, by id.
    apis: HashMap<&'b str, (&'b Path, &'b Arc<CompiledApi>, bool)>,
    /// Who an API file belongs to.
    owners: HashMap<&'b Path, &'b str>,
}

impl Plan {
    /// Makes the plan. Problems of documents that only compiling finds are not in it yet.
    pub(super) fn new(control: &Control, read: &ReadFiles, stored: &StoredContent, changes: &[ObjectChange]) -> Self {
        let mut before = Before { control, read, stored, apis: HashMap::new(), owners: HashMap::new() };
        for api in read.apis() {
            before.apis.insert(&api.api.id, (api.path, api.api, api.is_broken));
            before.owners.insert(api.path, &api.api.id);
        }
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
                        None => {
                            before.apis.get(api).filter(|_| known_apis.contains(api)).map(|(_, api, _)| takes_clients(&api.raw))
                        }
                    };
                    plan.put_client(&before, change, &takes)
                }
                ChangeAction::Delete => plan.delete_client(&before, change),
            };
            plan.once(change, id, &mut seen);
        }
        plan.check_references(&before, changes, &known_apis);
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
        let stored = known.map(|(_, api, _)| document_of(api));
        // A document in the other language has its secrets elsewhere.
        let document = self.unmasked(before, change, stored.filter(|stored| is_openapi(stored) == in_openapi))?;
        let classic = match in_openapi {
            false => None,
            true => match Document::new(document.clone()) {
                Ok((document, _)) => Some(classic_form(&document).definition),
                Err(problems) => {
                    self.take(change, problems);
                    return Some(id);
                }
            },
        };
        put.insert(id.clone(), takes_clients(classic.as_ref().unwrap_or(&document)));
        if known.is_some_and(|(_, _, is_broken)| !is_broken) && stored == Some(&document) {
            self.unchanged += 1;
            return Some(id);
        }
        self.row(before, change, &id, stored, Some(&document));
        let path = known.map_or_else(|| before.new_file(&id), |(path, ..)| path.to_owned());
        let pretty = |value: &Value| serde_json::to_vec_pretty(value).unwrap_or_default();
        let is_alone = known.is_some() && ApiFile::at(path.clone()).companion.is_none();
        let (text, companion) = match classic {
            Some(classic) if !is_alone => {
                let text = DefinitionText { text: pretty(&classic), companion: Some(pretty(&document)) };
                (text, companion_of(&path))
            }
            _ => (DefinitionText { text: pretty(&document), companion: None }, None),
        };
        if text.text.len().max(text.companion.as_ref().map_or(0, Vec::len)) > FILE_BYTES_MAX {
            self.problem(change, "$", format!("its file would be larger than {FILE_BYTES_MAX} bytes"));
        }
        self.sources.insert(path.clone(), change.source.clone());
        self.sources.extend(companion.iter().map(|path| (path.clone(), change.source.clone())));
        self.files.push(WantedFile::Api { file: ApiFile { path, companion }, text });
        Some(id)
    }

    fn delete_api(&mut self, before: &Before<'_>, change: &ObjectChange) -> Option<String> {
        let Some((_, api, _)) = before.apis.get(change.id.as_str()).copied() else {
            self.unchanged += 1;
            return Some(change.id.clone());
        };
        self.row(before, change, &change.id, Some(document_of(api)), None);
        // An earlier file with this id would take its place.
        let all = before.read.apis().filter(|api| api.api.id == change.id);
        self.files.extend(all.map(|api| WantedFile::NoApi { file: ApiFile::at(api.path.to_owned()) }));
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
        let Some(directory) = before.control.loader.policy_path() else {
            self.problem(change, "$", "the gateway has no policies.policy_path: there is nowhere to write policies to");
            return Some(id);
        };
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
        let path = before.read.policies().file_of(&id).map_or_else(|| directory.join(format!("{id}.json")), Path::to_owned);
        self.files.push(WantedFile::Policy { path, policy: Box::new(policy) });
        Some(id)
    }

    fn delete_policy(&mut self, before: &Before<'_>, change: &ObjectChange) -> Option<String> {
        let policies = before.read.policies();
        let (Some(policy), Some(path)) = (policies.get(&change.id), policies.file_of(&change.id)) else {
            self.unchanged += 1;
            return Some(change.id.clone());
        };
        if before.control.loader.policy_path().is_none() {
            self.problem(change, "$", "the gateway has no policies.policy_path: its policies share one file, which is not written");
            return None;
        }
        self.row(before, change, &change.id, Some(&policy.to_json()), None);
        self.files.push(WantedFile::NoPolicy { path: path.to_owned(), id: change.id.clone() });
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
        for (source, path, message) in found {
            self.warn(&source, &path, message);
        }
    }
}

impl Before<'_> {
    /// Where a new definition is written: the file named after its id, unless another API is there.
    fn new_file(&self, id: &str) -> PathBuf {
        let directory = self.control.loader.app_path();
        let names = std::iter::once(format!("{id}.json")).chain((2..).map(|number| format!("{id}.{number}.json")));
        let mut paths = names.map(|name| directory.join(name));
        paths.find(|path| !self.owners.contains_key(path.as_path())).unwrap_or_else(|| directory.join(id))
    }
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
