//! What operators decide through the control API: requests, invitations. What they publish is in `publishing`, what they see of applications in
//! `overview`, what ends in `offboarding`.

use crate::application::{AccessGrant, ApplicationId, GrantState, PortalApplication};
use crate::catalogue::{self, ApiProduct};
use crate::developer::{Developer, mail_address, plain_name};
use crate::door::{KeyChange, PortalNotice};
use crate::one_use::{INVITATION_S, OneUse};
use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Developers or applications of a list. More are a sign of a portal that outgrew lists.
pub(crate) const LISTED_MAX: usize = 10_000;
/// Characters of what an operator writes to a developer.
const ANSWER_CHARS_MAX: usize = 1_000;

/// A developer as operators see them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownDeveloper {
    /// Their id.
    pub id: String,
    /// Their mail address.
    pub mail: String,
    /// What they call themselves.
    pub name: String,
    /// Whether they are suspended.
    pub is_suspended: bool,
    /// Ids of their teams.
    pub teams: Vec<String>,
    /// When the account was made, in seconds since 1970.
    pub created_unix_s: u64,
}

/// A plan of an application as operators see it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownRequest {
    /// Id of the application.
    pub application: String,
    /// What its team calls it.
    pub application_name: String,
    /// Id of the grant.
    pub grant: String,
    /// Id of the product.
    pub product: String,
    /// Id of the plan.
    pub plan: String,
    /// How far it is.
    pub state: GrantState,
    /// Id of who asked.
    pub developer: String,
    /// What they wrote.
    pub reason: String,
    /// When, in seconds since 1970.
    pub asked_unix_s: u64,
    /// When somebody decided, in seconds since 1970; 0 before.
    pub decided_unix_s: u64,
    /// How the gateway lists its keys.
    pub keys: Vec<String>,
}

/// A grant in a path.
#[derive(Clone, Copy, Debug)]
pub struct GrantPlace<'p> {
    /// Id of the application.
    pub application: &'p str,
    /// Id of the grant.
    pub grant: &'p str,
}

/// What an operator decides about a grant.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantDecision {
    /// What it becomes: `approved`, `rejected` or `suspended`; unchanged if left out.
    pub state: Option<GrantState>,
    /// Another plan of the same product; unchanged if left out.
    pub plan: Option<String>,
    /// What the developer reads.
    #[serde(default)]
    pub answer: String,
}

/// What an operator changes of a developer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeveloperChange {
    /// Whether they are suspended.
    pub suspended: bool,
}

/// Whom an operator invites.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InvitationRequest {
    /// Mail address.
    pub mail: String,
    /// What they are called, until they say otherwise.
    pub name: String,
}

/// An invitation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Invitation {
    /// The link, which works once and for seven days.
    pub link: String,
    /// Whether a mail with it is on its way.
    pub is_mailed: bool,
}

impl Portal {
    /// All developers.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn developers(&self) -> Result<Vec<ShownDeveloper>, PortalRefusal> {
        Ok(self.accounts().await?.iter().map(shown).collect())
    }

    /// All plans that applications have or have asked for; with a state, those alone.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn requests(&self, state: Option<GrantState>) -> Result<Vec<ShownRequest>, PortalRefusal> {
        let mut requests = Vec::new();
        for (id, application) in self.applications().await? {
            for (grant_id, grant) in &application.grants {
                if state.is_none_or(|state| state == grant.state) {
                    requests.push(shown_request(&id, &application, grant_id, grant));
                }
            }
        }
        requests.sort_by_key(|request| std::cmp::Reverse(request.asked_unix_s));
        Ok(requests)
    }

    /// Decides about a plan of an application. Suspended keys are refused from the next request on; with another plan, they have its policy.
    ///
    /// # Errors
    /// There is no such grant, the decision does not fit, or a key can't be changed.
    pub async fn decide(&self, place: GrantPlace<'_>, decision: &GrantDecision) -> Result<ShownRequest, PortalRefusal> {
        if decision.answer.chars().count() > ANSWER_CHARS_MAX {
            return Err(PortalRefusal::invalid(format!("answer: is longer than {ANSWER_CHARS_MAX} characters")));
        }
        let id = ApplicationId::parse(place.application).ok_or_else(|| PortalRefusal::missing("application"))?;
        let application = self.documents.read::<PortalApplication>(&id.document()).await?;
        let application = application.ok_or_else(|| PortalRefusal::missing("application"))?;
        let before = application.grants.get(place.grant).ok_or_else(|| PortalRefusal::missing("grant"))?;
        let product = catalogue::one::<ApiProduct>(&self.documents, &before.product).await;
        let policy = match &decision.plan {
            None => None,
            Some(plan) => {
                let product = product.as_ref().map_err(Clone::clone)?;
                let plan = product.plan(plan).ok_or_else(|| PortalRefusal::invalid(format!("plan: there is no plan {plan:?}")))?;
                Some(plan.policy.clone())
            }
        };
        if decision.state == Some(GrantState::Requested) {
            return Err(PortalRefusal::invalid("state: must be approved, rejected or suspended"));
        }
        let now = Portal::now();
        let change = |old: AccessGrant| {
            let state = decision.state.unwrap_or(old.state);
            let plan = decision.plan.clone().unwrap_or(old.plan);
            Ok(AccessGrant { state, plan, decided_unix_s: now, answer: decision.answer.clone(), ..old })
        };
        let grant = self.change_grant(&id, place.grant, change).await?;
        if let (GrantState::Approved, Ok(product)) = (grant.state, &product) {
            self.note_grant((&id, &application.name), (place.grant, &grant), product, None).await?;
        }
        for key in &grant.keys {
            if let Some(policy) = &policy {
                self.door.change_key(key.listed_id.clone(), KeyChange::Policy(policy.clone())).await?;
            }
            if decision.state.is_some() {
                // An approval does not let go on whoever is suspended themselves.
                let maker = Developer::read(&self.documents, &key.made_by).await?;
                let is_stopped = grant.state != GrantState::Approved || maker.is_none_or(|maker| maker.is_suspended);
                self.door.change_key(key.listed_id.clone(), KeyChange::Suspended(is_stopped)).await?;
            }
        }
        let developer = Developer::read(&self.documents, &grant.asked_by).await?;
        let mail = developer.map(|developer| developer.mail).unwrap_or_default();
        let what = match grant.state {
            GrantState::Rejected => "request_rejected",
            GrantState::Suspended => "access_suspended",
            GrantState::Requested | GrantState::Approved => "request_approved",
        };
        if before.state == GrantState::Requested && grant.state != GrantState::Requested && !mail.is_empty() {
            let name = product.map_or(grant.product.clone(), |product| product.name);
            let is_approved = grant.state == GrantState::Approved;
            self.send(self.letterhead.decided(&mail, &name, is_approved, &decision.answer));
        }
        self.tell(PortalNotice {
            what,
            application: id.text(),
            grant: place.grant.to_owned(),
            product: grant.product.clone(),
            plan: grant.plan.clone(),
            developer: mail,
        });
        let application = PortalApplication { grants: BTreeMap::new(), ..application };
        Ok(shown_request(&id, &application, place.grant, &grant))
    }

    /// Invites somebody who may make an account, whatever the rule for sign-ups is.
    ///
    /// # Errors
    /// The address or the name is none.
    pub async fn invite(&self, request: &InvitationRequest) -> Result<Invitation, PortalRefusal> {
        let mail = mail_address(&request.mail)?;
        let name = plain_name("name", &request.name)?;
        let token = OneUse { mail: mail.clone(), name, makes_account: true, changes_password: false, team: None };
        let token = token.store(&self.documents, Portal::now() + INVITATION_S).await?;
        self.send(self.letterhead.invitation(&mail, None, &token));
        Ok(Invitation { link: format!("{}/#/welcome/{token}", self.settings.url), is_mailed: self.mail.is_there() })
    }
}

pub(crate) fn shown(developer: &Developer) -> ShownDeveloper {
    ShownDeveloper {
        id: developer.id(),
        mail: developer.mail.clone(),
        name: developer.name.clone(),
        is_suspended: developer.is_suspended,
        teams: developer.teams.keys().cloned().collect(),
        created_unix_s: developer.created_unix_s,
    }
}

fn shown_request(id: &ApplicationId, application: &PortalApplication, grant_id: &str, grant: &AccessGrant) -> ShownRequest {
    ShownRequest {
        application: id.text(),
        application_name: application.name.clone(),
        grant: grant_id.to_owned(),
        product: grant.product.clone(),
        plan: grant.plan.clone(),
        state: grant.state,
        developer: grant.asked_by.clone(),
        reason: grant.reason.clone(),
        asked_unix_s: grant.asked_unix_s,
        decided_unix_s: grant.decided_unix_s,
        keys: grant.keys.iter().map(|key| key.listed_id.clone()).collect(),
    }
}
