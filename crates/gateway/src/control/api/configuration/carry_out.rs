//! Carries out a set of changes: all checks first, then certificates, which definitions may refer to, then the files as one, then the rest of the
//! store. If the files can't be changed, the certificates are removed again.

use super::content::{StoredContent, digest_of, template_id};
use super::plan::{Plan, StoredSteps};
use super::written::{ChangeSet, ObjectChange, ObjectKind};
use super::{ChangeReport, PlannedAction, PlannedChange, SourceProblem, Unchanged, text_at};
use crate::auth::certificates::CertificateRejection;
use crate::base::clock::unix_s;
use crate::control::api::Control;
use crate::control::api::answer::Done;
use crate::control::api::change_log::Change;
use crate::control::loader::FilesUnchanged;
use crate::data::control_caller::ControlCaller;
use axum::http::StatusCode;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use tollgate_admin::Operator;
use tollgate_file_set::FileSetFault;
use tollgate_model::{Level, Problem};
use tollgate_store::{DocumentSpace, Question, StoreFault};

/// Any digest is right.
const ANY: &str = "*";
/// Objects of one change that get their own entries in the log of changes.
const LOGGED_MAX: usize = 200;

/// Changes everything, or nothing.
pub(super) async fn carry_out(control: &Arc<Control>, set: ChangeSet) -> Result<ChangeReport, Unchanged> {
    let _alone = control.files.lock().await;
    let ChangeSet { digest, dry_run, changes } = set;
    let concerns_files = changes.iter().any(|change| matches!(change.kind, ObjectKind::Api | ObjectKind::Policy));
    if concerns_files && control.loader.shared_definitions().is_some() {
        // The files of one gateway are not what all of them serve.
        let message = "with tollgate.shared_definitions, definitions and policies are changed one by one; nothing was changed";
        return Err(Unchanged::Failed(StatusCode::CONFLICT, message.to_owned()));
    }
    let stored = Arc::new(StoredContent::read(control).await.map_err(|fault| silent(&fault))?);
    let changes = Arc::new(changes);
    // New certificates must be there when definitions are compiled, but not before everything else is known to be right.
    let has_certificates = changes.iter().any(|change| change.kind == ObjectKind::Certificate && !change.pem.is_empty());
    if dry_run || has_certificates {
        let checked = change_files(control, &stored, &changes, &digest, true).await?;
        if dry_run {
            let current = digest_of(&control.loader.served(), &stored);
            return Ok(report(checked, true, current));
        }
        let added = add_certificates(control, &checked.stored).await?;
        let outcome = change_files(control, &stored, &changes, &digest, false).await;
        if outcome.is_err() {
            remove_certificates(control, &added).await;
        }
        return finish(control, outcome?).await;
    }
    let changed = change_files(control, &stored, &changes, &digest, false).await?;
    finish(control, changed).await
}

/// Changes the files, or checks whether that could be done.
async fn change_files(
    control: &Arc<Control>,
    stored: &Arc<StoredContent>,
    changes: &Arc<Vec<ObjectChange>>,
    digest: &str,
    dry_run: bool,
) -> Result<Plan, Unchanged> {
    let (control, stored, changes, digest) = (control.clone(), stored.clone(), changes.clone(), digest.to_owned());
    let work = move || {
        let has_files = changes.iter().any(|change| matches!(change.kind, ObjectKind::Api | ObjectKind::Policy));
        // Problems that compiling finds have the files' names; authors know the sources.
        let mut sources = HashMap::new();
        let outcome = control.loader.change(dry_run || !has_files, |read| {
            let current = digest_of(read, &stored);
            if digest != ANY && digest != current {
                return Err(Unchanged::Changed(current));
            }
            let mut plan = Plan::new(&control, read, &stored, &changes);
            if !plan.problems.is_empty() {
                return Err(Unchanged::Problems(std::mem::take(&mut plan.problems)));
            }
            sources = std::mem::take(&mut plan.sources);
            Ok((std::mem::take(&mut plan.files), plan))
        });
        match outcome {
            Ok((mut plan, report)) => {
                let warnings = report.problems.iter().filter(|problem| problem.level == Level::Warning);
                let of_changed = warnings.filter(|problem| problem.file.as_ref().is_some_and(|file| sources.contains_key(file)));
                plan.warnings.extend(of_changed.map(|problem| sourced(problem, &sources)));
                Ok(plan)
            }
            Err(FilesUnchanged::Refused(unchanged)) => Err(unchanged),
            Err(FilesUnchanged::Problems(problems)) => {
                Err(Unchanged::Problems(problems.iter().map(|problem| sourced(problem, &sources)).collect()))
            }
            Err(FilesUnchanged::Fault(FileSetFault::Busy)) => Err(Unchanged::Failed(
                StatusCode::SERVICE_UNAVAILABLE,
                "Another gateway is changing the files; nothing was changed".to_owned(),
            )),
            Err(FilesUnchanged::Fault(fault)) => {
                tracing::error!(%fault, "a change of the configuration can't be written");
                Err(Unchanged::Failed(StatusCode::INTERNAL_SERVER_ERROR, fault.to_string()))
            }
        }
    };
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|_| Err(Unchanged::Failed(StatusCode::INTERNAL_SERVER_ERROR, "the change did not finish".to_owned())))
}

/// Changes the rest of the store.
async fn finish(control: &Arc<Control>, plan: Plan) -> Result<ChangeReport, Unchanged> {
    if let Err(fault) = change_store(control, &plan.stored).await {
        tracing::error!(%fault, "a change of the configuration is incomplete in the store");
        let message = format!(
            "the store failed ({fault}) after the files were changed: OAuth clients, templates of keys or removed certificates may be as before; the same \
             change can be sent again"
        );
        return Err(Unchanged::Failed(StatusCode::INTERNAL_SERVER_ERROR, message));
    }
    let stored = StoredContent::read(control).await.map_err(|fault| silent(&fault))?;
    let digest = digest_of(&control.loader.served(), &stored);
    Ok(report(plan, false, digest))
}

fn report(plan: Plan, dry_run: bool, digest: String) -> ChangeReport {
    let Plan { mut rows, unchanged, warnings, .. } = plan;
    rows.sort_by(|a, b| (a.kind, &a.id).cmp(&(b.kind, &b.id)));
    ChangeReport { status: Done::Ok, dry_run, digest, plan: rows, unchanged, warnings }
}

pub(super) fn sourced(problem: &Problem, sources: &HashMap<PathBuf, String>) -> SourceProblem {
    let file = problem.file.as_ref();
    let source = file.map(|file| sources.get(file).cloned().unwrap_or_else(|| file.display().to_string()));
    let path = if problem.path.is_empty() { "$".to_owned() } else { problem.path.clone() };
    SourceProblem { source: source.unwrap_or_default(), path, message: problem.message.clone() }
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
        store.ask(Question::Put { kind: DocumentSpace::Console, id: template_id(name), value, expires_unix_s: None }).await?;
    }
    for name in &steps.gone_templates {
        store.ask(Question::Delete { kind: DocumentSpace::Console, id: template_id(name) }).await?;
    }
    for id in &steps.old_certificates {
        control.shared.certificates.remove(id).await?;
    }
    if !steps.old_certificates.is_empty() {
        control.shared.refresh_certificates();
    }
    Ok(())
}

/// Adds a change to the log of changes: an entry for each object, or one for all if there are very many.
pub(super) fn log(control: &Control, operator: Option<Operator>, caller: Option<ControlCaller>, rows: &[PlannedChange]) {
    let add = |change: Change| control.changes.add(operator.as_ref(), caller, change);
    if rows.len() > LOGGED_MAX {
        let count = |action| rows.iter().filter(|row| row.action == action).count();
        let [created, updated, deleted] = [PlannedAction::Create, PlannedAction::Update, PlannedAction::Delete].map(count);
        let target = format!("{created} created, {updated} updated, {deleted} deleted");
        return add(Change { action: "update", kind: "configuration", target, status: 200, ..Change::default() });
    }
    for row in rows {
        let action = match row.action {
            PlannedAction::Create => "create",
            PlannedAction::Update => "update",
            PlannedAction::Delete => "delete",
        };
        let diff = (row.diff.clone(), row.diff_more);
        add(Change { action, kind: row.kind.name(), target: row.id.clone(), status: 200, diff, etag: None });
    }
}

fn silent(fault: &StoreFault) -> Unchanged {
    tracing::error!(%fault, "the configuration in the store can't be read or written");
    Unchanged::Failed(StatusCode::INTERNAL_SERVER_ERROR, "the store can't be reached".to_owned())
}
