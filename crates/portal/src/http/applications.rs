//! Applications, and the plans that they ask for.

use super::{PortalAnswer, PortalCall, PortalResult};
use crate::application::{APPLICATIONS_MAX, AccessGrant, ApplicationId, GRANTS_MAX, GrantState, PortalApplication};
use crate::catalogue::{self, ApiProduct, PlanApproval};
use crate::developer::{TeamRole, is_id, plain_name};
use crate::door::PortalNotice;
use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use serde::Deserialize;
use serde_json::{Value, json};
use tollgate_access::secret::random_text;

/// Characters of what somebody writes to whoever decides.
const REASON_CHARS_MAX: usize = 1_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewApplication {
    team: String,
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApplicationBody {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantBody {
    product: String,
    plan: String,
    #[serde(default)]
    reason: String,
}

pub(super) async fn list(call: PortalCall) -> PortalResult {
    let mut applications = Vec::new();
    for team in call.developer()?.teams.keys() {
        let found = call.portal.documents.list::<PortalApplication>(&ApplicationId::of_team(team), APPLICATIONS_MAX).await?;
        for (id, application) in &found {
            let Some(id) = ApplicationId::of_document(id) else { continue };
            applications.push(described(&id, application));
        }
    }
    Ok(PortalAnswer::of(json!({ "applications": applications })))
}

pub(super) async fn create(call: PortalCall) -> PortalResult {
    let NewApplication { team, name } = call.body()?;
    let name = plain_name("name", &name)?;
    call.team(&team, TeamRole::Member)?;
    let documents = &call.portal.documents;
    if documents.list::<Value>(&ApplicationId::of_team(&team), APPLICATIONS_MAX).await?.len() >= APPLICATIONS_MAX {
        return Err(PortalRefusal::full(APPLICATIONS_MAX, "applications"));
    }
    let id = ApplicationId { team, own: random_text().map_err(PortalRefusal::failed)? };
    let application = PortalApplication { name, created_unix_s: Portal::now(), grants: Default::default() };
    documents.write(&id.document(), &application, None).await?;
    Ok(PortalAnswer::made(described(&id, &application)))
}

pub(super) async fn show(call: PortalCall) -> PortalResult {
    let (id, application) = call.application().await?;
    Ok(PortalAnswer::of(described(&id, &application)))
}

pub(super) async fn rename(call: PortalCall) -> PortalResult {
    let ApplicationBody { name } = call.body()?;
    let name = plain_name("name", &name)?;
    let (id, _) = call.application().await?;
    let application = call.portal.change_application(&id, |old| Ok(PortalApplication { name: name.clone(), ..old })).await?;
    Ok(PortalAnswer::of(described(&id, &application)))
}

/// Removes an application; its keys are refused from the next request on.
pub(super) async fn remove(call: PortalCall) -> PortalResult {
    let (id, application) = call.application().await?;
    if application.grants.values().any(|grant| grant.state == GrantState::Suspended) {
        return Err(PortalRefusal::conflict("An operator has suspended a plan of this application"));
    }
    // Without the document, no key can be added meanwhile; one that is being added is removed again.
    call.portal.documents.remove(&id.document()).await?;
    for grant in application.grants.values() {
        call.portal.remove_keys(grant).await?;
    }
    Ok(PortalAnswer::done())
}

/// Asks for a plan.
pub(super) async fn ask(call: PortalCall) -> PortalResult {
    let GrantBody { product, plan, reason } = call.body()?;
    if reason.chars().count() > REASON_CHARS_MAX {
        return Err(PortalRefusal::invalid(format!("reason: is longer than {REASON_CHARS_MAX} characters")));
    }
    let (id, _) = call.application().await?;
    let developer = call.developer()?;
    let product: ApiProduct = catalogue::one(&call.portal.documents, &product).await?;
    if product.is_draft {
        return Err(PortalRefusal::missing("product"));
    }
    let plan = product.plan(&plan).filter(|plan| call.portal.door.has_policy(&plan.policy));
    let plan = plan.ok_or_else(|| PortalRefusal::missing("plan"))?;
    let grant_id = random_text().map_err(PortalRefusal::failed)?;
    let now = Portal::now();
    let is_automatic = plan.approval == PlanApproval::Automatic;
    let grant = AccessGrant {
        product: product.id.clone(),
        plan: plan.id.clone(),
        state: if is_automatic { GrantState::Approved } else { GrantState::Requested },
        asked_by: developer.id(),
        asked_unix_s: now,
        reason,
        decided_unix_s: if is_automatic { now } else { 0 },
        answer: String::new(),
        keys: Vec::new(),
    };
    let add = |mut old: PortalApplication| {
        let is_same = |other: &AccessGrant| other.product == grant.product && other.state != GrantState::Rejected;
        if old.grants.values().any(is_same) {
            return Err(PortalRefusal::conflict("This application has a plan of this product, or has asked for one"));
        }
        if old.grants.len() >= GRANTS_MAX {
            return Err(PortalRefusal::full(GRANTS_MAX, "plans"));
        }
        old.grants.insert(grant_id.clone(), grant.clone());
        Ok(old)
    };
    let application = call.portal.change_application(&id, add).await?;
    call.portal.tell(PortalNotice {
        what: if is_automatic { "request_approved" } else { "request_made" },
        application: id.text(),
        grant: grant_id.clone(),
        product: grant.product.clone(),
        plan: grant.plan.clone(),
        developer: developer.mail.clone(),
    });
    Ok(PortalAnswer::made(json!({"grant": grant_id, "application": described(&id, &application)})))
}

/// Gives up a plan, or a request for it; its keys are refused from the next request on.
pub(super) async fn give_up(call: PortalCall) -> PortalResult {
    let (id, application) = call.application().await?;
    let grant_id = call.part("grant");
    let grant = application.grants.get(grant_id).ok_or_else(|| PortalRefusal::missing("plan"))?;
    if grant.state == GrantState::Suspended {
        // Whoever asked again would get around the suspension.
        return Err(PortalRefusal::conflict("An operator has suspended this"));
    }
    let remove = |mut old: PortalApplication| {
        old.grants.remove(grant_id);
        Ok(old)
    };
    call.portal.change_application(&id, remove).await?;
    call.portal.remove_keys(grant).await?;
    Ok(PortalAnswer::done())
}

impl PortalCall {
    /// The application of the path, if it is of one of the caller's teams.
    pub(super) async fn application(&self) -> Result<(ApplicationId, PortalApplication), PortalRefusal> {
        let missing = || PortalRefusal::missing("application");
        let id = ApplicationId::parse(self.part("application")).ok_or_else(missing)?;
        if !self.developer()?.teams.contains_key(&id.team) {
            return Err(missing());
        }
        let application = self.portal.documents.read(&id.document()).await?.ok_or_else(missing)?;
        Ok((id, application))
    }

    /// The grant of the path.
    pub(super) async fn grant(&self) -> Result<(ApplicationId, PortalApplication, String, AccessGrant), PortalRefusal> {
        let (id, application) = self.application().await?;
        let grant_id = self.part("grant");
        let grant = application.grants.get(grant_id).filter(|_| is_id(grant_id)).cloned();
        let grant = grant.ok_or_else(|| PortalRefusal::missing("plan"))?;
        Ok((id, application, grant_id.to_owned(), grant))
    }
}

impl Portal {
    pub(crate) async fn change_application(
        &self,
        id: &ApplicationId,
        change: impl Fn(PortalApplication) -> Result<PortalApplication, PortalRefusal>,
    ) -> Result<PortalApplication, PortalRefusal> {
        let change = |old: Option<PortalApplication>| old.map_or_else(|| Err(PortalRefusal::missing("application")), &change);
        self.documents.change(&id.document(), None, change).await
    }

    /// Changes a grant that exists.
    pub(crate) async fn change_grant(
        &self,
        id: &ApplicationId,
        grant_id: &str,
        change: impl Fn(AccessGrant) -> Result<AccessGrant, PortalRefusal>,
    ) -> Result<AccessGrant, PortalRefusal> {
        let in_application = |mut old: PortalApplication| {
            let grant = old.grants.get(grant_id).cloned().ok_or_else(|| PortalRefusal::missing("plan"))?;
            old.grants.insert(grant_id.to_owned(), change(grant)?);
            Ok(old)
        };
        let application = self.change_application(id, in_application).await?;
        application.grants.get(grant_id).cloned().ok_or_else(|| PortalRefusal::missing("plan"))
    }

    pub(crate) async fn remove_keys(&self, grant: &AccessGrant) -> Result<(), PortalRefusal> {
        for key in &grant.keys {
            self.door.remove_key(key.listed_id.clone()).await?;
        }
        Ok(())
    }
}

/// An application as its team sees it. How the gateway finds keys is nobody's business.
pub(super) fn described(id: &ApplicationId, application: &PortalApplication) -> Value {
    let key = |key: &crate::application::GrantKey| {
        json!({
            "id": key.id,
            "tail": key.tail,
            "made_by": key.made_by,
            "created_unix_s": key.created_unix_s,
            "ends_unix_s": key.ends_unix_s,
        })
    };
    let grant = |(grant_id, grant): (&String, &AccessGrant)| {
        json!({
            "id": grant_id,
            "product": grant.product,
            "plan": grant.plan,
            "state": grant.state,
            "asked_unix_s": grant.asked_unix_s,
            "reason": grant.reason,
            "decided_unix_s": grant.decided_unix_s,
            "answer": grant.answer,
            "keys": grant.keys.iter().map(key).collect::<Vec<_>>(),
        })
    };
    json!({
        "id": id.text(),
        "team": id.team,
        "name": application.name,
        "created_unix_s": application.created_unix_s,
        "grants": application.grants.iter().map(grant).collect::<Vec<_>>(),
    })
}
