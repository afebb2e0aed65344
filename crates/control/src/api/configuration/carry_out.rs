//! Carries out a set of changes: all checks first, then certificates, which definitions may refer to, then the files as one, then the rest of the
//! store. If the files can't be changed, the certificates are removed again.

use super::content::{StoredContent, digest_of, template_id};
use super::plan::{Plan, StoredSteps};
use super::written::{ChangeSet, ObjectChange, ObjectKind};
use super::{ChangeReport, PlannedAction, PlannedChange, SourceProblem, Unchanged, text_at};
use crate::api::Control;
use crate::api::answer::Done;
use crate::api::change_log::Change;
use crate::api::serving::{self, ServingGateway};
use crate::definitions::{ChangeAuthor, DocumentProblem, LOGGED_MAX, NotApplied, NotShared, ReadFiles, WantedDocument};
use axum::http::StatusCode;
use std::sync::Arc;
use tollgate_access::certificates::CertificateRejection;
use tollgate_clock::unix_s;
use tollgate_file_set::FileSetFault;
use tollgate_model::Level;
use tollgate_store::{DocumentSpace, SharedRevision, StoreFault};

/// Any digest is right.
const ANY: &str = "*";

/// Changes everything, or nothing. What it did to definitions and policies is logged by their store.
pub(super) async fn carry_out(control: &Arc<Control>, author: ChangeAuthor, set: ChangeSet) -> Result<ChangeReport, Unchanged> {
    let waits_for_none = set.wait && control.definitions.shared_definitions().is_none();
    let mut report = make(control, author, set).await?;
    if waits_for_none {
        let message = "this gateway does not share its definitions: there was no other one to wait for".to_owned();
        report.warnings.push(SourceProblem { source: String::new(), path: "$.wait".to_owned(), message });
    }
    Ok(report)
}

async fn make(control: &Arc<Control>, author: ChangeAuthor, set: ChangeSet) -> Result<ChangeReport, Unchanged> {
    let ChangeSet { digest, dry_run, wait, changes } = set;
    let stored = Arc::new(StoredContent::read(control).await.map_err(|fault| silent(&fault))?);
    let changes = Arc::new(changes);
    // New certificates must be there when definitions are compiled, but not before everything else is known to be right.
    let has_certificates = changes.iter().any(|change| change.kind == ObjectKind::Certificate && !change.pem.is_empty());
    if dry_run || has_certificates {
        let checked = change_documents(control, &stored, &changes, &digest, None).await?;
        if dry_run {
            let current = digest_of(&control.definitions.served(), &stored);
            return Ok(report(checked, true, current, gateways(control, None, wait).await));
        }
        let added = add_certificates(control, &checked.plan.stored).await?;
        let outcome = change_documents(control, &stored, &changes, &digest, Some(author.clone())).await;
        if outcome.is_err() {
            remove_certificates(control, &added).await;
        }
        return finish(control, &author, outcome?, wait).await;
    }
    let changed = change_documents(control, &stored, &changes, &digest, Some(author.clone())).await?;
    finish(control, &author, changed, wait).await
}

/// A plan whose part for definitions and policies is carried out, or checked.
struct CarriedOut {
    plan: Plan,
    /// Revision of the definitions that gateways share.
    revision: Option<SharedRevision>,
}

/// Changes definitions and policies, or only checks whether that could be done if nobody is the author.
async fn change_documents(
    control: &Arc<Control>,
    stored: &Arc<StoredContent>,
    changes: &Arc<Vec<ObjectChange>>,
    digest: &str,
    author: Option<ChangeAuthor>,
) -> Result<CarriedOut, Unchanged> {
    let (control, stored, changes, digest) = (control.clone(), stored.clone(), changes.clone(), digest.to_owned());
    let work = move || {
        let plan = |read: &ReadFiles| planned(&control, read, &stored, &changes, &digest);
        let outcome = match author {
            Some(author) => {
                control.definitions.apply(author, plan).map(|applied| (applied.planned, applied.problems, applied.revision))
            }
            None => control.definitions.check(plan).map(|(plan, problems)| (plan, problems, None)),
        };
        match outcome {
            Ok((mut plan, problems, revision)) => {
                let warnings = problems.iter().filter(|found| found.problem.level == Level::Warning);
                plan.warnings.extend(warnings.map(SourceProblem::of));
                Ok(CarriedOut { plan, revision })
            }
            Err(NotApplied::Shared(NotShared::Changed)) => {
                // So that the answer has the digest of what another gateway has stored.
                control.definitions.reload();
                Err(Unchanged::Changed(digest_of(&control.definitions.served(), &stored)))
            }
            Err(unchanged) => Err(unchanged.into()),
        }
    };
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|_| Err(Unchanged::Failed(StatusCode::INTERNAL_SERVER_ERROR, "the change did not finish".to_owned())))
}

/// What changes mean for what was read, if it is what they were made for.
pub(super) fn planned(
    control: &Control,
    read: &ReadFiles,
    stored: &StoredContent,
    changes: &[ObjectChange],
    digest: &str,
) -> Result<(Vec<WantedDocument>, Plan), Unchanged> {
    let current = digest_of(read, stored);
    if digest != ANY && digest != current {
        return Err(Unchanged::Changed(current));
    }
    let mut plan = Plan::new(control, read, stored, changes);
    if !plan.problems.is_empty() {
        return Err(Unchanged::Problems(std::mem::take(&mut plan.problems)));
    }
    Ok((std::mem::take(&mut plan.documents), plan))
}

impl From<NotApplied<Unchanged>> for Unchanged {
    fn from(unchanged: NotApplied<Unchanged>) -> Self {
        match unchanged {
            NotApplied::Refused(unchanged) => unchanged,
            NotApplied::Problems(problems) => Unchanged::Problems(problems.iter().map(SourceProblem::of).collect()),
            NotApplied::Files(FileSetFault::Busy) => Unchanged::Failed(
                StatusCode::SERVICE_UNAVAILABLE,
                "Another gateway is changing the files; nothing was changed".to_owned(),
            ),
            NotApplied::Files(fault) => {
                tracing::error!(%fault, "a change of the configuration can't be written");
                Unchanged::Failed(StatusCode::INTERNAL_SERVER_ERROR, fault.to_string())
            }
            NotApplied::Shared(why) => Unchanged::Failed(StatusCode::SERVICE_UNAVAILABLE, why.to_string()),
        }
    }
}

impl SourceProblem {
    fn of(found: &DocumentProblem) -> Self {
        let path = if found.problem.path.is_empty() { "$".to_owned() } else { found.problem.path.clone() };
        SourceProblem { source: found.source.clone(), path, message: found.problem.message.clone() }
    }
}

/// Changes the rest of the store.
async fn finish(control: &Arc<Control>, author: &ChangeAuthor, done: CarriedOut, wait: bool) -> Result<ChangeReport, Unchanged> {
    if let Err(fault) = change_store(control, &done.plan.stored).await {
        tracing::error!(%fault, "a change of the configuration is incomplete in the store");
        let message = format!(
            "the store failed ({fault}) after the files were changed: OAuth clients, templates of keys, the portal or removed certificates may be as before; the \
             same change can be sent again"
        );
        return Err(Unchanged::Failed(StatusCode::INTERNAL_SERVER_ERROR, message));
    }
    let stored = StoredContent::read(control).await.map_err(|fault| silent(&fault))?;
    let digest = digest_of(&control.definitions.served(), &stored);
    let gateways = gateways(control, done.revision.clone(), wait).await;
    let report = report(done, false, digest, gateways);
    log(control, author, &report.plan);
    Ok(report)
}

/// Has the other gateways serve a revision; says which do, if somebody waits for that.
async fn gateways(control: &Arc<Control>, revision: Option<SharedRevision>, wait: bool) -> Option<Vec<ServingGateway>> {
    match revision {
        _ if wait => {
            let known = control.definitions.shared_definitions()?.known().at();
            serving::confirmed(control, &revision.unwrap_or(known)).await
        }
        Some(revision) => {
            serving::tell(control, revision);
            None
        }
        None => None,
    }
}

fn report(done: CarriedOut, dry_run: bool, digest: String, gateways: Option<Vec<ServingGateway>>) -> ChangeReport {
    let CarriedOut { plan: Plan { mut rows, unchanged, warnings, .. }, revision } = done;
    rows.sort_by(|a, b| (a.kind, &a.id).cmp(&(b.kind, &b.id)));
    let revision = revision.map(|revision| revision.number);
    ChangeReport { status: Done::Ok, dry_run, digest, revision, gateways, plan: rows, unchanged, warnings }
}

/// Stores new certificates; returns their ids. If one can't be stored, none is.
async fn add_certificates(control: &Control, steps: &StoredSteps) -> Result<Vec<String>, Unchanged> {
    let mut added = Vec::new();
    for (org, pem) in &steps.new_certificates {
        match control.shared.certificates.add(org, pem.as_bytes(), unix_s()).await {
            Ok(id) => added.push(id),
            Err(rejection) => {
                remove_certificates(control, &added).await;
                return Err(match rejection {
                    CertificateRejection::Bad(why) => Unchanged::Failed(StatusCode::BAD_REQUEST, why),
                    CertificateRejection::Store(fault) => silent(&fault),
                });
            }
        }
    }
    if !added.is_empty() {
        control.shared.refresh_certificates();
    }
    Ok(added)
}

async fn remove_certificates(control: &Control, ids: &[String]) {
    for id in ids {
        if let Err(fault) = control.shared.certificates.remove(id).await {
            tracing::error!(%fault, id, "the certificate of a change that was not made can't be removed");
        }
    }
    control.shared.refresh_certificates();
}

async fn change_store(control: &Control, steps: &StoredSteps) -> Result<(), StoreFault> {
    let org_of = |api: &str| control.shared.current.load().api(api).map(|api| text_at(&api.raw, "/org_id")).unwrap_or_default();
    for (api, old, client) in &steps.clients {
        control.token_store.put_client(api, &org_of(api), client).await?;
        let is_other_policy = old.as_ref().is_some_and(|old| !old.policy_id.is_empty() && old.policy_id != client.policy_id);
        if is_other_policy {
            control.token_store.revoke_access_of(api, &client.id, unix_s()).await?;
        }
    }
    for (api, client) in &steps.gone_clients {
        control.token_store.remove_client(api, &org_of(api), client).await?;
    }
    let store = control.shared.keys.store();
    for (name, template) in &steps.templates {
        let value = template.to_string().into_bytes();
        store.write(DocumentSpace::Console, template_id(name), value, None).await?;
    }
    for name in &steps.gone_templates {
        store.remove(DocumentSpace::Console, template_id(name)).await?;
    }
    if let Some(portal) = &control.portal {
        portal.publish(&steps.products, &steps.pages).await?;
        portal.unpublish(&steps.gone_products, &steps.gone_pages).await?;
    }
    for id in &steps.old_certificates {
        control.shared.certificates.remove(id).await?;
    }
    if !steps.old_certificates.is_empty() {
        control.shared.refresh_certificates();
    }
    Ok(())
}

/// Logs what became of certificates, clients and templates.
fn log(control: &Control, author: &ChangeAuthor, rows: &[PlannedChange]) {
    let operator = author.operator();
    let of_store = |row: &&PlannedChange| !matches!(row.kind, ObjectKind::Api | ObjectKind::Policy);
    for row in rows.iter().filter(of_store).take(LOGGED_MAX) {
        let action = match row.action {
            PlannedAction::Create => "create",
            PlannedAction::Update => "update",
            PlannedAction::Delete => "delete",
        };
        let diff = (row.diff.clone(), row.diff_more);
        let change = Change { action, kind: row.kind.name(), target: row.id.clone(), status: 200, diff, etag: None };
        control.changes.add(operator.as_ref(), author.caller(), change);
    }
}

fn silent(fault: &StoreFault) -> Unchanged {
    tracing::error!(%fault, "the configuration in the store can't be read or written");
    Unchanged::Failed(StatusCode::INTERNAL_SERVER_ERROR, "the store can't be reached".to_owned())
}
