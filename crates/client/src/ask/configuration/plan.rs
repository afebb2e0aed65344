//! What differs between a directory and a gateway, and the change that makes them equal.

use super::ConfigurationScope;
use super::live::LiveConfiguration;
use super::object::{LocalConfiguration, LocalContent, LocalObject, PartKind, has_tag, without_zeros};
use super::show::{OutcomeRow, SyncOutcome};
use crate::ask::change_answer::{located, made};
use crate::ask::{CommandFailure, Gateway};
use serde_json::{Value, json};
use std::collections::HashSet;
use tollgate_admin::mask::unmask_named;

/// The differences.
pub(super) struct Comparison<'c> {
    /// Objects of the directory that the gateway does not have, or has otherwise.
    pub puts: Vec<&'c LocalObject>,
    /// Objects that go.
    pub deletes: Vec<(PartKind, String)>,
    /// Objects that are not in the directory, and stay.
    pub kept: Vec<(PartKind, String)>,
    pub unchanged: usize,
    pub notes: Vec<String>,
}

impl<'c> Comparison<'c> {
    pub(super) fn new(
        local: &'c LocalConfiguration,
        live: &LiveConfiguration,
        scope: &ConfigurationScope,
        prune: bool,
    ) -> Result<Self, CommandFailure> {
        let mut comparison = Comparison {
            puts: Vec::new(),
            deletes: Vec::new(),
            kept: Vec::new(),
            unchanged: 0,
            notes: local.notes.iter().chain(&live.notes).cloned().collect(),
        };
        let mut problems = Vec::new();
        let own: HashSet<(PartKind, &str)> = local.objects.iter().map(|object| (object.kind, object.id.as_str())).collect();
        let uploads: HashSet<&str> = local
            .objects
            .iter()
            .filter(|object| matches!(object.content, LocalContent::Certificate { .. }))
            .map(|object| object.id.as_str())
            .collect();
        for object in &local.objects {
            let known = live.get(object.kind, &object.id);
            if let Some(tag) = &scope.tag
                && known.is_some()
                && !is_owned(live, object.kind, &object.id, tag)
                && object.kind != PartKind::Certificate
            {
                problems.push(format!(
                    "{}: the gateway's {} {} does not have the tag {tag}: it belongs to others",
                    object.file,
                    object.kind.name(),
                    object.id
                ));
                continue;
            }
            let is_equal = match (&object.content, known) {
                (LocalContent::Document(document), Some(known)) => {
                    !known.is_broken && is_equal(document, &known.document, known.unmasked.as_ref())
                }
                (_, Some(_)) => true,
                (LocalContent::Fingerprint, None) if uploads.contains(object.id.as_str()) => continue,
                (LocalContent::Fingerprint, None) => {
                    problems.push(format!("{}: the gateway does not have this certificate: put its PEM file beside", object.file));
                    continue;
                }
                (_, None) => false,
            };
            if is_equal { comparison.unchanged += 1 } else { comparison.puts.push(object) }
        }
        if !problems.is_empty() {
            return Err(CommandFailure::Refused(problems.join("\n")));
        }
        let others = live.iter().filter(|(kind, id, _)| scope.has(*kind) && !own.contains(&(*kind, *id)));
        let others = others.filter(|(kind, id, _)| scope.tag.as_ref().is_none_or(|tag| is_owned(live, *kind, id, tag)));
        for (kind, id, _) in others {
            // A directory that has nothing of a kind says nothing about it: it may be empty by mistake.
            let has_kind = local.objects.iter().any(|object| object.kind == kind);
            let list = if prune && has_kind { &mut comparison.deletes } else { &mut comparison.kept };
            list.push((kind, id.to_owned()));
        }
        let is_empty = |kind: PartKind| !local.objects.iter().any(|object| object.kind == kind);
        let mut spared: Vec<&str> =
            comparison.kept.iter().filter(|(kind, _)| is_empty(*kind)).map(|(kind, _)| kind.plural()).collect();
        spared.dedup();
        if prune && !spared.is_empty() {
            comparison.notes.push(format!("the directory has no {}: --prune deletes none", spared.join(" and no ")));
        }
        Ok(comparison)
    }

    pub(super) fn changes(&self) -> Vec<Value> {
        let put = |object: &&LocalObject| {
            let (kind, source, id) = (object.kind.name(), &object.file, &object.id);
            match &object.content {
                LocalContent::Document(document) => {
                    let mut document = document.clone();
                    let api = id.split_once('/').map(|(api, _)| api).filter(|_| object.kind == PartKind::Client);
                    if let (Some(api), Value::Object(members)) = (api, &mut document) {
                        members.insert("api_id".to_owned(), api.into());
                    }
                    json!({"kind": kind, "action": "put", "source": source, "id": id, "document": document})
                }
                LocalContent::Certificate { pem, org } => {
                    json!({"kind": kind, "action": "put", "source": source, "id": id, "pem": pem, "org_id": org})
                }
                // The gateway has it: a comparison refuses others.
                LocalContent::Fingerprint => json!({"kind": kind, "action": "put", "source": source, "id": id}),
            }
        };
        let delete = |(kind, id): &(PartKind, String)| json!({"kind": kind.name(), "action": "delete", "id": id});
        self.puts.iter().map(put).chain(self.deletes.iter().map(delete)).collect()
    }

    /// Has the gateway make the change, or say what it would do.
    pub(super) fn send(&self, gateway: &Gateway, digest: &str, dry_run: bool, wait: bool) -> Result<SyncOutcome, CommandFailure> {
        let mut outcome = SyncOutcome {
            rows: Vec::new(),
            unchanged: self.unchanged,
            kept: self.kept.clone(),
            warnings: Vec::new(),
            notes: self.notes.clone(),
            dry_run,
            gateways: Value::Null,
        };
        let changes = self.changes();
        // Others may not serve yet what nothing differs from here.
        if changes.is_empty() && !wait {
            return Ok(outcome);
        }
        let body = json!({"digest": digest, "dry_run": dry_run, "wait": wait, "changes": changes}).to_string().into_bytes();
        let answer = made(gateway.ask("POST", "/tyk/configuration", Some(body))?)?;
        let list = |name: &str| answer.get(name).and_then(Value::as_array).into_iter().flatten();
        outcome.rows = list("plan").filter_map(OutcomeRow::read).collect();
        outcome.warnings = list("warnings").map(located).collect();
        outcome.gateways = answer.get("gateways").cloned().unwrap_or_default();
        outcome.unchanged += answer.get("unchanged").and_then(Value::as_u64).unwrap_or_default() as usize;
        Ok(outcome)
    }
}

/// Whether an object belongs to a tag. A client belongs to whoever has its API, a certificate to everybody.
fn is_owned(live: &LiveConfiguration, kind: PartKind, id: &str, tag: &str) -> bool {
    let document = match kind {
        PartKind::Certificate => None,
        PartKind::Client => id.split_once('/').and_then(|(api, _)| live.get(PartKind::Api, api)),
        _ => live.get(kind, id),
    };
    document.is_some_and(|object| has_tag(&object.document, tag))
}

/// Whether a document is what the gateway has. Where a gateway shows its documents with all members, those that say nothing do not count.
fn is_equal(local: &Value, masked: &Value, unmasked: Option<&Value>) -> bool {
    let Some(unmasked) = unmasked else { return local == masked };
    let mut whole = local.clone();
    // A mask without a secret is an error of the change itself.
    unmask_named(&mut whole, Some(unmasked), &()).is_ok() && without_zeros(&whole) == without_zeros(unmasked)
}
