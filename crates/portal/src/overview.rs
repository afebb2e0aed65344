//! What operators see of those who use the portal: teams with their members, applications with their plans and keys, and what keys are used for.

use crate::application::{AccessGrant, ApplicationId, GrantKey, GrantState, PortalApplication};
use crate::developer::{Developer, DeveloperTeam, TeamRole};
use crate::door::{KeyUsage, PortalKeyState};
use crate::operators::LISTED_MAX;
use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use serde::Serialize;
use std::collections::BTreeMap;

/// How far back usage goes.
pub(crate) const PERIOD_S: u64 = 30 * 24 * 3600;
/// Width of a row of usage.
pub(crate) const STEP_S: u64 = 24 * 3600;
/// Keys of an application that are asked about; each is a question to all gateways.
pub(crate) const KEYS_SHOWN_MAX: usize = 20;

/// A team as operators see it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TeamOverview {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// Who is in it.
    pub members: Vec<MemberOverview>,
}

/// A member of a team.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemberOverview {
    /// Id of the developer.
    pub id: String,
    /// Their mail address.
    pub mail: String,
    /// What they may do.
    pub role: TeamRole,
}

/// An application as operators see it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ApplicationOverview {
    /// Its id.
    pub id: String,
    /// What its team calls it.
    pub name: String,
    /// Id of its team.
    pub team: String,
    /// What the team is called.
    pub team_name: String,
    /// When it was made, in seconds since 1970.
    pub created_unix_s: u64,
    /// What it may use, or has asked for.
    pub grants: Vec<GrantOverview>,
}

/// A plan of an application.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GrantOverview {
    /// Its id.
    pub id: String,
    /// Id of the product.
    pub product: String,
    /// Id of the plan.
    pub plan: String,
    /// How far it is.
    pub state: GrantState,
    /// Mail address of who asked; empty if they are gone.
    pub developer: String,
    /// What they wrote.
    pub reason: String,
    /// When they asked, in seconds since 1970.
    pub asked_unix_s: u64,
    /// When somebody decided, in seconds since 1970; 0 before.
    pub decided_unix_s: u64,
    /// What the operator wrote.
    pub answer: String,
    /// Its keys.
    pub keys: Vec<KeyOverview>,
}

/// A key of a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyOverview {
    /// How the gateway lists it.
    pub id: String,
    /// Its last characters.
    pub tail: String,
    /// Mail address of who made it; empty if they are gone.
    pub made_by: String,
    /// When, in seconds since 1970.
    pub created_unix_s: u64,
    /// When it ends because another one has taken its place, in seconds since 1970; 0 if nobody has said so.
    pub ends_unix_s: u64,
}

/// What an application's keys were used for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ApplicationUsage {
    /// When the period begins, in seconds since 1970.
    pub from_unix_s: u64,
    /// The first keys, with their use.
    pub keys: Vec<KeyUse>,
    /// How many keys there are besides.
    pub more: usize,
}

/// What a key was used for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyUse {
    /// How the gateway lists it.
    pub id: String,
    /// Requests of the period.
    pub requests: u64,
    /// Those with a status below 400.
    pub good: u64,
    /// When it was used last, in seconds since 1970; `None` if it was not, or nobody records it.
    pub last_used_unix_s: Option<u64>,
    /// Its limits; `None` if the gateway has no such key.
    pub state: Option<PortalKeyState>,
}

impl Portal {
    /// All teams that have members.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn teams(&self) -> Result<Vec<TeamOverview>, PortalRefusal> {
        let names = self.team_names().await?;
        let mut members = BTreeMap::<String, Vec<MemberOverview>>::new();
        for developer in self.accounts().await? {
            for (team, role) in &developer.teams {
                let member = MemberOverview { id: developer.id(), mail: developer.mail.clone(), role: *role };
                members.entry(team.clone()).or_default().push(member);
            }
        }
        let named = members.into_iter().filter_map(|(id, members)| {
            let name = names.get(&id)?.clone();
            Some(TeamOverview { id, name, members })
        });
        let mut teams: Vec<TeamOverview> = named.collect();
        teams.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(teams)
    }

    /// All applications, by team and name.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn application_overviews(&self) -> Result<Vec<ApplicationOverview>, PortalRefusal> {
        let names = self.team_names().await?;
        let mails: BTreeMap<String, String> =
            self.accounts().await?.into_iter().map(|developer| (developer.id(), developer.mail)).collect();
        let found = self.applications().await?;
        let mut all: Vec<ApplicationOverview> =
            found.iter().map(|(id, application)| overview(id, application, &names, &mails)).collect();
        all.sort_by(|one, other| (&one.team_name, &one.name).cmp(&(&other.team_name, &other.name)));
        Ok(all)
    }

    /// What an application's keys were used for in the last 30 days.
    ///
    /// # Errors
    /// There is no such application, or a store does not answer.
    pub async fn application_usage(&self, id: &str) -> Result<ApplicationUsage, PortalRefusal> {
        let missing = || PortalRefusal::missing("application");
        let id = ApplicationId::parse(id).ok_or_else(missing)?;
        let application: PortalApplication = self.documents.read(&id.document()).await?.ok_or_else(missing)?;
        let from_unix_s = Portal::now().saturating_sub(PERIOD_S);
        let mut keys = Vec::new();
        for (_, key) in keys_of(&application).take(KEYS_SHOWN_MAX) {
            let id = || key.listed_id.clone();
            let (usage, state, last) =
                tokio::join!(self.door.usage(id(), from_unix_s, STEP_S), self.door.key_state(id()), self.door.last_used(id()));
            let usage: Vec<KeyUsage> = usage?;
            keys.push(KeyUse {
                id: id(),
                requests: usage.iter().map(|row| row.requests).sum(),
                good: usage.iter().map(|row| row.good).sum(),
                last_used_unix_s: last?,
                state: state?,
            });
        }
        let more = keys_of(&application).count() - keys.len();
        Ok(ApplicationUsage { from_unix_s, keys, more })
    }

    async fn team_names(&self) -> Result<BTreeMap<String, String>, PortalRefusal> {
        let all = DeveloperTeam::document("");
        let found = self.documents.list::<DeveloperTeam>(&all, LISTED_MAX).await?;
        Ok(found.into_iter().filter_map(|(id, team)| Some((id.strip_prefix(&all)?.to_owned(), team.name))).collect())
    }

    /// All developers.
    pub(crate) async fn accounts(&self) -> Result<Vec<Developer>, PortalRefusal> {
        let found = self.documents.list::<Developer>(&Developer::document(""), LISTED_MAX).await?;
        Ok(found.into_iter().map(|(_, developer)| developer).collect())
    }
}

/// The keys of an application with their grants.
pub(crate) fn keys_of(application: &PortalApplication) -> impl Iterator<Item = (&AccessGrant, &GrantKey)> {
    application.grants.values().flat_map(|grant| grant.keys.iter().map(move |key| (grant, key)))
}

fn overview(
    id: &ApplicationId,
    application: &PortalApplication,
    teams: &BTreeMap<String, String>,
    mails: &BTreeMap<String, String>,
) -> ApplicationOverview {
    let mail = |id: &str| mails.get(id).cloned().unwrap_or_default();
    let key = |key: &GrantKey| KeyOverview {
        id: key.listed_id.clone(),
        tail: key.tail.clone(),
        made_by: mail(&key.made_by),
        created_unix_s: key.created_unix_s,
        ends_unix_s: key.ends_unix_s,
    };
    let grant = |(id, grant): (&String, &AccessGrant)| GrantOverview {
        id: id.clone(),
        product: grant.product.clone(),
        plan: grant.plan.clone(),
        state: grant.state,
        developer: mail(&grant.asked_by),
        reason: grant.reason.clone(),
        asked_unix_s: grant.asked_unix_s,
        decided_unix_s: grant.decided_unix_s,
        answer: grant.answer.clone(),
        keys: grant.keys.iter().map(key).collect(),
    };
    ApplicationOverview {
        id: id.text(),
        name: application.name.clone(),
        team: id.team.clone(),
        team_name: teams.get(&id.team).cloned().unwrap_or_default(),
        created_unix_s: application.created_unix_s,
        grants: application.grants.iter().map(grant).collect(),
    }
}
