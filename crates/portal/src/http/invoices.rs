//! Invoices of one's teams.

use super::{PortalAnswer, PortalCall, PortalResult};
use crate::developer::TeamRole;
use serde_json::json;

pub(super) async fn list(call: PortalCall) -> PortalResult {
    let team = call.part("team");
    call.team(team, TeamRole::Member)?;
    Ok(PortalAnswer::of(json!({ "months": call.portal.invoice_months(team).await? })))
}

pub(super) async fn show(call: PortalCall) -> PortalResult {
    let team = call.part("team");
    call.team(team, TeamRole::Member)?;
    Ok(PortalAnswer::of(json!(call.portal.invoice(team, call.part("month")).await?)))
}

pub(super) async fn csv(call: PortalCall) -> PortalResult {
    let team = call.part("team");
    call.team(team, TeamRole::Member)?;
    Ok(PortalAnswer::csv(call.portal.invoice(team, call.part("month")).await?.csv()))
}
