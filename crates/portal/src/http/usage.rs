//! What an application's keys were used for, what is left of their quotas, and why requests were refused.

use super::{PortalAnswer, PortalCall, PortalResult};
use crate::overview::{KEYS_SHOWN_MAX, PERIOD_S, STEP_S, keys_of};
use crate::portal::Portal;
use serde_json::json;
use std::fmt::Write as _;

/// Refused requests of a key that are shown.
const REFUSALS_MAX: usize = 20;
pub(super) async fn show(call: PortalCall) -> PortalResult {
    let (_, application) = call.application().await?;
    let from = Portal::now().saturating_sub(PERIOD_S);
    let door = &call.portal.door;
    let mut keys = Vec::new();
    for (grant, key) in keys_of(&application).take(KEYS_SHOWN_MAX) {
        let id = || key.listed_id.clone();
        let (usage, state, refusals) =
            tokio::join!(door.usage(id(), from, STEP_S), door.key_state(id()), door.refusals(id(), REFUSALS_MAX));
        keys.push(json!({
            "id": key.id,
            "tail": key.tail,
            "product": grant.product,
            "usage": usage?,
            "state": state?,
            "refusals": refusals?,
        }));
    }
    Ok(PortalAnswer::of(json!({ "from_unix_s": from, "step_s": STEP_S, "keys": keys })))
}

/// Requests per day, product, plan and key, for invoices.
pub(super) async fn csv(call: PortalCall) -> PortalResult {
    let (_, application) = call.application().await?;
    let from = Portal::now().saturating_sub(PERIOD_S);
    let mut text = String::from("day_unix_s,product,plan,key,requests,successful\n");
    for (grant, key) in keys_of(&application).take(KEYS_SHOWN_MAX) {
        for row in call.portal.door.usage(key.listed_id.clone(), from, STEP_S).await? {
            // Ids have letters, digits and hyphens alone; of a key, only the end is here.
            let _ =
                writeln!(text, "{},{},{},{},{},{}", row.from_unix_s, grant.product, grant.plan, key.tail, row.requests, row.good);
        }
    }
    Ok(PortalAnswer::csv(text))
}
