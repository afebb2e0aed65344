//! A change on a gateway that has no endpoint for several objects, such as Tyk: one request for each object, in an order in which nothing refers to what
//! is not there, and a reload at the end.

use super::PartName;
use super::live::LiveConfiguration;
use super::object::{LocalContent, LocalObject, PartKind, is_mcp, is_openapi, without_zeros};
use super::plan::Comparison;
use super::show::{OutcomeRow, SyncOutcome};
use crate::ask::{CommandFailure, Gateway, accepted, segment};
use serde_json::Value;
use tollgate_admin::mask::{mask_named, unmask_named};
use tollgate_admin::{Difference, differences};
use tollgate_openapi::mcp_mark;

/// Makes the change, or says what it would do.
pub(super) fn send(
    comparison: &Comparison<'_>,
    live: &LiveConfiguration,
    gateway: &Gateway,
    dry_run: bool,
) -> Result<SyncOutcome, CommandFailure> {
    let mut outcome = SyncOutcome {
        rows: Vec::new(),
        unchanged: comparison.unchanged,
        kept: comparison.kept.clone(),
        warnings: Vec::new(),
        notes: comparison.notes.clone(),
        dry_run,
        gateways: serde_json::Value::Null,
    };
    let mut puts: Vec<(&LocalObject, Option<Value>)> = Vec::new();
    let mut problems = Vec::new();
    for object in &comparison.puts {
        match with_secrets(object, live) {
            Ok(document) => {
                outcome.rows.push(row(object, document.as_ref(), live));
                puts.push((object, document));
            }
            Err(problem) => problems.push(format!("{}: {problem}", object.file)),
        }
    }
    if !problems.is_empty() {
        return Err(CommandFailure::Refused(problems.join("\n")));
    }
    puts.sort_by_key(|(object, _)| object.kind);
    let mut deletes: Vec<&(PartKind, String)> = comparison.deletes.iter().collect();
    deletes.sort_by_key(|(kind, _)| std::cmp::Reverse(*kind));
    let delete = |(kind, id): &&(PartKind, String)| OutcomeRow {
        kind: kind.name().to_owned(),
        id: id.clone(),
        action: "delete".to_owned(),
        file: String::new(),
        diff: Vec::new(),
        diff_more: 0,
    };
    outcome.rows.extend(deletes.iter().map(delete));
    if dry_run || outcome.rows.is_empty() {
        return Ok(outcome);
    }
    let all = outcome.rows.len();
    let mut done = 0;
    let puts = puts
        .into_iter()
        .map(|(object, document)| put(object, document.as_ref(), live, gateway).map_err(|failure| (object.id.clone(), failure)));
    let deletes = deletes.into_iter().map(|(kind, id)| remove(*kind, id, live, gateway).map_err(|failure| (id.clone(), failure)));
    for made in puts.chain(deletes) {
        match made {
            Ok(()) => done += 1,
            Err((id, CommandFailure::Refused(why))) => {
                let _ = gateway.get("/tyk/reload?block=true");
                return Err(CommandFailure::Refused(format!("{id}: {why}\n{done} of {all} changes are made")));
            }
            Err((_, failure)) => return Err(failure),
        }
    }
    gateway.get("/tyk/reload?block=true")?;
    Ok(outcome)
}

/// The document with the gateway's secrets in place of masks.
fn with_secrets(object: &LocalObject, live: &LiveConfiguration) -> Result<Option<Value>, String> {
    let LocalContent::Document(document) = &object.content else { return Ok(None) };
    if object.kind == PartKind::KeyTemplate {
        return Err("this gateway keeps no templates of keys".to_owned());
    }
    if object.kind.part() == PartName::Portal {
        return Err("this gateway has no developer portal".to_owned());
    }
    let mut document = document.clone();
    let stored = live.get(object.kind, &object.id).and_then(|known| known.unmasked.as_ref());
    unmask_named(&mut document, stored, &())
        .map_err(|paths| format!("{}: there is no stored secret for this mask", paths.join(", ")))?;
    Ok(Some(document))
}

fn row(object: &LocalObject, document: Option<&Value>, live: &LiveConfiguration) -> OutcomeRow {
    let known = live.get(object.kind, &object.id).and_then(|known| known.unmasked.as_ref());
    let masked = |value: &Value| {
        let mut value = without_zeros(value);
        mask_named(&mut value, &());
        value
    };
    let (diff, diff_more) = match (known, document) {
        (Some(known), Some(document)) => differences(&masked(known), &masked(document)),
        _ => Default::default(),
    };
    OutcomeRow {
        kind: object.kind.name().to_owned(),
        id: object.id.clone(),
        action: if known.is_some() { "update" } else { "create" }.to_owned(),
        file: object.file.clone(),
        diff: diff.into_iter().map(|Difference { path, old, new }| (path, old, new)).collect(),
        diff_more: diff_more as u64,
    }
}

fn put(object: &LocalObject, document: Option<&Value>, live: &LiveConfiguration, gateway: &Gateway) -> Result<(), CommandFailure> {
    if let LocalContent::Certificate { pem, org } = &object.content {
        let path = format!("/tyk/certs?org_id={}", segment(org));
        return accepted(gateway.ask("POST", &path, Some(pem.clone().into_bytes()))?).map(drop);
    }
    let Some(document) = document else { return Ok(()) };
    let known = live.get(object.kind, &object.id);
    let id = segment(&object.id);
    let collection = if object.kind == PartKind::Api { api_collection(document) } else { "/tyk/policies" };
    // An API that changes its language is another one.
    let is_other = object.kind == PartKind::Api && known.is_some_and(|known| api_collection(&known.document) != collection);
    if is_other {
        remove(object.kind, &object.id, live, gateway)?;
        gateway.get("/tyk/reload?block=true")?;
    }
    // The endpoint says what the mark says.
    let document = &if is_mcp(document) { mcp_mark::without(document.clone()) } else { document.clone() };
    match (object.kind, known) {
        (PartKind::Client, known) => put_client(&object.id, document, known.is_some(), gateway),
        (_, Some(_)) if !is_other => gateway.call("PUT", &format!("{collection}/{id}"), Some(document)).map(drop),
        _ => gateway.call("POST", collection, Some(document)).map(drop),
    }
}

/// Where APIs of a definition's language are.
fn api_collection(document: &Value) -> &'static str {
    match is_openapi(document) {
        true if is_mcp(document) => "/tyk/mcps",
        true => "/tyk/apis/oas",
        false => "/tyk/apis",
    }
}

fn put_client(id: &str, document: &Value, is_known: bool, gateway: &Gateway) -> Result<(), CommandFailure> {
    let (api, client) = id.split_once('/').unwrap_or_default();
    let mut document = document.clone();
    if let Value::Object(members) = &mut document {
        members.insert("api_id".to_owned(), api.into());
    }
    // Clients belong to APIs that are served.
    gateway.get("/tyk/reload?block=true")?;
    if is_known {
        let path = format!("/tyk/oauth/clients/{}/{}", segment(api), segment(client));
        return gateway.call("PUT", &path, Some(&document)).map(drop);
    }
    gateway.call("POST", "/tyk/oauth/clients/create", Some(&document)).map(drop)
}

fn remove(kind: PartKind, id: &str, live: &LiveConfiguration, gateway: &Gateway) -> Result<(), CommandFailure> {
    let is_mcp = live.get(kind, id).is_some_and(|known| is_mcp(&known.document));
    let path = match (kind, id.split_once('/')) {
        (PartKind::Client, Some((api, client))) => format!("/tyk/oauth/clients/{}/{}", segment(api), segment(client)),
        (PartKind::Api, _) if is_mcp => format!("/tyk/mcps/{}", segment(id)),
        (PartKind::Api, _) => format!("/tyk/apis/{}", segment(id)),
        (PartKind::Policy, _) => format!("/tyk/policies/{}", segment(id)),
        _ => format!("/tyk/certs/{}", segment(id)),
    };
    gateway.call("DELETE", &path, None).map(drop)
}
