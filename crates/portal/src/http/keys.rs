//! Keys of a grant: made, rotated, removed; of APIs with OAuth, clients in their place. A key is made at the gateway first; if the grant is gone or suspended meanwhile, it is removed again.

use super::{PortalAnswer, PortalCall, PortalResult};
use crate::application::{AccessGrant, ApplicationId, GrantKey, GrantState, KEYS_MAX};
use crate::catalogue::{self, ApiProduct};
use crate::developer::Developer;
use crate::door::{KeyChange, MadeKey, PublishedApi, WantedKey};
use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use serde::Deserialize;
use serde_json::json;
use tollgate_access::secret::random_text;
use tollgate_model::session::QUOTA_OF;

/// How long two keys may work at the same time.
const OVERLAP_S_MAX: u64 = 30 * 24 * 3600;
/// How long they do if nobody says otherwise.
const OVERLAP_S: u64 = 24 * 3600;
/// Keys of a grant that are made in a day.
const MADE_PER_DAY_MAX: u32 = 30;
const DAY_S: u64 = 24 * 3600;
/// Characters at the end of a key that lists show.
const TAIL_CHARS: usize = 4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RotationBody {
    overlap_s: Option<u64>,
}

pub(super) async fn create(call: PortalCall) -> PortalResult {
    let (id, application, grant_id, grant) = call.grant().await?;
    let (key, made) = make(&call, &id, &application.name, &grant_id, &grant, None).await?;
    Ok(PortalAnswer::made(json!({"key": made.key, "secret": shown_secret(&made), "id": key.id})))
}

/// Makes a key in the place of another one, which goes on working for a while.
pub(super) async fn rotate(call: PortalCall) -> PortalResult {
    let RotationBody { overlap_s } = call.body()?;
    let overlap_s = overlap_s.unwrap_or(OVERLAP_S);
    if overlap_s > OVERLAP_S_MAX {
        return Err(PortalRefusal::invalid(format!("overlap_s: must be at most {OVERLAP_S_MAX}")));
    }
    let (id, application, grant_id, grant) = call.grant().await?;
    let old = old_key(&call, &grant)?;
    if old.ends_unix_s != 0 {
        return Err(PortalRefusal::conflict("Another key has taken the place of this one"));
    }
    let ends = Portal::now() + overlap_s;
    let (key, made) = make(&call, &id, &application.name, &grant_id, &grant, Some((&old.id, ends))).await?;
    // The new key is in service, so nothing fails meanwhile.
    call.portal.door.change_key(old.listed_id.clone(), KeyChange::EndsAt(ends)).await?;
    Ok(PortalAnswer::made(json!({"key": made.key, "secret": shown_secret(&made), "id": key.id, "old_ends_unix_s": ends})))
}

/// Removes a key: the next request with it is refused.
pub(super) async fn remove(call: PortalCall) -> PortalResult {
    let (id, _, grant_id, grant) = call.grant().await?;
    let old = old_key(&call, &grant)?;
    call.portal.door.remove_key(old.listed_id.clone()).await?;
    let forget = |mut grant: AccessGrant| {
        grant.keys.retain(|key| key.id != old.id);
        Ok(grant)
    };
    call.portal.change_grant(&id, &grant_id, forget).await?;
    Ok(PortalAnswer::done())
}

/// The secret of a client; null for a key.
fn shown_secret(made: &MadeKey) -> Option<&str> {
    Some(made.secret.as_str()).filter(|secret| !secret.is_empty())
}

fn old_key(call: &PortalCall, grant: &AccessGrant) -> Result<GrantKey, PortalRefusal> {
    let id = call.part("key");
    grant.keys.iter().find(|key| key.id == id).cloned().ok_or_else(|| PortalRefusal::missing("key"))
}

/// Makes a key, and notes that it takes the place of another one from a time on.
async fn make(
    call: &PortalCall,
    id: &ApplicationId,
    application: &str,
    grant_id: &str,
    grant: &AccessGrant,
    replaced: Option<(&str, u64)>,
) -> Result<(GrantKey, MadeKey), PortalRefusal> {
    let portal = &call.portal;
    let now = Portal::now();
    check_room(grant, now)?;
    let made = format!("made-{grant_id}");
    portal.documents.count_within(&made, (now, DAY_S), MADE_PER_DAY_MAX, "Too many new keys on this day").await?;
    let product: ApiProduct = catalogue::one(&portal.documents, &grant.product).await?;
    let plan = product.plan(&grant.plan).ok_or_else(|| PortalRefusal::missing("plan"))?;
    let developer = call.developer()?;
    let meta_data = [
        ("portal_application", id.text()),
        ("portal_product", product.id.clone()),
        ("portal_plan", plan.id.clone()),
        ("portal_developer", developer.mail.clone()),
        // Keys come and go; what is left of the quota is that of the application.
        (QUOTA_OF, format!("portal-{}-{}", id.text(), product.id)),
    ];
    let meta_data = meta_data.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    let own_id = random_text().map_err(PortalRefusal::failed)?;
    let alias = format!("{application} ({})", product.name);
    let client_of = client_of(portal, &product);
    // Keys go by themselves when they have run out; clients stay until somebody removes them.
    for ended in grant.keys.iter().filter(|key| key.ends_unix_s != 0 && key.ends_unix_s <= now) {
        portal.door.remove_key(ended.listed_id.clone()).await?;
    }
    let made = portal.door.make_key(WantedKey { policy: plan.policy.clone(), alias, meta_data, client_of }).await?;
    let tail: String = made.key.chars().rev().take(TAIL_CHARS).collect::<Vec<_>>().into_iter().rev().collect();
    let key = GrantKey {
        id: own_id,
        listed_id: made.listed_id.clone(),
        tail,
        made_by: developer.id(),
        created_unix_s: now,
        ends_unix_s: 0,
    };
    let add = |mut grant: AccessGrant| {
        check_room(&grant, now)?;
        // Those that have run out need no place.
        grant.keys.retain(|key| key.ends_unix_s == 0 || key.ends_unix_s > now);
        if let Some((old, ends)) = replaced {
            grant.keys.iter_mut().filter(|key| key.id == old).for_each(|key| key.ends_unix_s = ends);
        }
        grant.keys.push(key.clone());
        Ok(grant)
    };
    let noted = portal.note_grant((id, application), (grant_id, grant), &product, Some((&key.id, &key.listed_id))).await;
    let added = match noted {
        Ok(()) => portal.change_grant(id, grant_id, add).await,
        Err(refusal) => Err(refusal),
    };
    // Whoever was suspended before the key was noted has no key; whoever is suspended after it has their noted keys stopped.
    let is_suspended = Developer::read(&portal.documents, &developer.id()).await?.is_none_or(|developer| developer.is_suspended);
    match added {
        Ok(_) if !is_suspended => Ok((key, made)),
        Ok(_) => {
            portal.door.remove_key(made.listed_id).await?;
            Err(PortalRefusal::new(401, "signed_out", "Not signed in"))
        }
        Err(refusal) => {
            portal.door.remove_key(made.listed_id).await?;
            Err(refusal)
        }
    }
}

/// The APIs of which an application of this product is a client. Where an API takes keys, a key is what fits all of them.
fn client_of(portal: &Portal, product: &ApiProduct) -> Vec<String> {
    let apis: Vec<PublishedApi> = product.apis.iter().filter_map(|id| portal.door.api(id)).collect();
    let are_all = apis.iter().all(|api| !api.token_path.is_empty());
    if are_all { apis.into_iter().map(|api| api.id).collect() } else { Vec::new() }
}

fn check_room(grant: &AccessGrant, now: u64) -> Result<(), PortalRefusal> {
    match grant.state {
        GrantState::Approved if grant.live_keys(now) >= KEYS_MAX => Err(PortalRefusal::full(KEYS_MAX, "keys")),
        GrantState::Approved => Ok(()),
        GrantState::Requested => Err(PortalRefusal::conflict("An operator has not decided yet")),
        GrantState::Rejected => Err(PortalRefusal::conflict("An operator has rejected this")),
        GrantState::Suspended => Err(PortalRefusal::conflict("An operator has suspended this")),
    }
}
