//! What an application's keys were used for, what is left of their quotas, and why requests were refused.

use super::{PortalAnswer, PortalCall, PortalResult};
use crate::application::PortalApplication;
use crate::catalogue::{self, ApiProduct};
use crate::overview::{KEYS_SHOWN_MAX, PERIOD_S, STEP_S, keys_of};
use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use serde_json::json;
use std::collections::BTreeSet;
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
    let unrecorded = unrecorded(&call.portal, &application).await?;
    Ok(PortalAnswer::of(json!({ "from_unix_s": from, "step_s": STEP_S, "keys": keys, "unrecorded": unrecorded })))
}

/// Names of the APIs of an application whose requests are not recorded.
async fn unrecorded(portal: &Portal, application: &PortalApplication) -> Result<BTreeSet<String>, PortalRefusal> {
    let products: BTreeSet<&str> = keys_of(application).map(|(grant, _)| grant.product.as_str()).collect();
    let mut names = BTreeSet::new();
    for id in products {
        let product = match catalogue::one::<ApiProduct>(&portal.documents, id).await {
            Ok(product) => product,
            Err(refusal) if refusal.status == 404 => continue,
            Err(refusal) => return Err(refusal),
        };
        let apis = product.apis.iter().filter_map(|id| portal.door.api(id));
        names.extend(apis.filter(|api| !api.is_recorded).map(|api| api.name));
    }
    Ok(names)
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
