//! Teams: who is in them, and invitations.

use super::{PortalAnswer, PortalCall, PortalResult};
use crate::developer::{Developer, DeveloperTeam, MEMBERS_MAX, TEAMS_MAX, TeamRole, is_id, mail_address, plain_name};
use crate::one_use::{INVITATION_S, OneUse};
use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TeamBody {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InvitationBody {
    mail: String,
    role: TeamRole,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AcceptBody {
    token: String,
}

pub(super) async fn list(call: PortalCall) -> PortalResult {
    let developer = call.developer()?;
    let mut teams = Vec::new();
    for (id, role) in &developer.teams {
        teams.push(described(&call.portal, id, *role).await?);
    }
    Ok(PortalAnswer::of(json!({ "teams": teams })))
}

pub(super) async fn create(call: PortalCall) -> PortalResult {
    let TeamBody { name } = call.body()?;
    let name = plain_name("name", &name)?;
    let developer = call.developer()?;
    if developer.teams.len() >= TEAMS_MAX {
        return Err(PortalRefusal::full(TEAMS_MAX, "teams"));
    }
    let id = call.portal.make_team(&name, &developer.id()).await?;
    let enter = |mut old: Developer| {
        if old.teams.len() >= TEAMS_MAX {
            return Err(PortalRefusal::full(TEAMS_MAX, "teams"));
        }
        old.teams.insert(id.clone(), TeamRole::Owner);
        Ok(old)
    };
    call.portal.change_developer(&developer.id(), enter).await?;
    Ok(PortalAnswer::made(described(&call.portal, &id, TeamRole::Owner).await?))
}

pub(super) async fn rename(call: PortalCall) -> PortalResult {
    let TeamBody { name } = call.body()?;
    let name = plain_name("name", &name)?;
    let (team, _) = call.team(call.part("team"), TeamRole::Owner)?;
    let change = |old: Option<DeveloperTeam>| {
        let old = old.ok_or_else(|| PortalRefusal::missing("team"))?;
        Ok(DeveloperTeam { name: name.clone(), ..old })
    };
    call.portal.documents.change(&DeveloperTeam::document(team), None, change).await?;
    Ok(PortalAnswer::of(described(&call.portal, team, TeamRole::Owner).await?))
}

pub(super) async fn invite(call: PortalCall) -> PortalResult {
    let InvitationBody { mail, role } = call.body()?;
    let mail = mail_address(&mail)?;
    let (team, _) = call.team(call.part("team"), TeamRole::Owner)?;
    let documents = &call.portal.documents;
    let found = documents.read::<DeveloperTeam>(&DeveloperTeam::document(team)).await?;
    let found = found.ok_or_else(|| PortalRefusal::missing("team"))?;
    let now = Portal::now();
    call.portal.sign_ups().admit(call.address, now).map_err(|wait_s| PortalRefusal::wait(wait_s, "Too many invitations"))?;
    let named = mail.split('@').next().unwrap_or_default().to_owned();
    let team = Some((team.to_owned(), role));
    // Who may have an account is for the operator to say, not for whoever invites. The answer is the same for addresses that have one.
    let makes_account = call.portal.may_be_invited(&mail).is_ok();
    let token = OneUse { mail: mail.clone(), name: named, makes_account, changes_password: false, team };
    let token = token.store(documents, now + INVITATION_S).await?;
    call.portal.send(call.portal.letterhead.invitation(&mail, Some(&found.name), &token));
    Ok(PortalAnswer::made(json!({"status": "ok"})))
}

/// Removes somebody from a team: an owner removes anybody, and each member themselves.
pub(super) async fn remove_member(call: PortalCall) -> PortalResult {
    let developer = call.developer()?;
    let member = call.part("member");
    let least = if member == developer.id() { TeamRole::Member } else { TeamRole::Owner };
    let (team, _) = call.team(call.part("team"), least)?;
    let found = Developer::read(&call.portal.documents, member).await?;
    if !found.is_some_and(|found| found.teams.contains_key(team)) {
        return Err(PortalRefusal::missing("member"));
    }
    if !call.portal.has_other_owner(team, member).await? {
        return Err(PortalRefusal::conflict("A team keeps an owner: make somebody else one first"));
    }
    call.portal.leave(team, member).await?;
    Ok(PortalAnswer::done())
}

/// Accepts an invitation with an account that exists.
pub(super) async fn accept(call: PortalCall) -> PortalResult {
    let AcceptBody { token } = call.body()?;
    call.portal.accept(call.developer()?, &token).await?;
    Ok(PortalAnswer::done())
}

impl PortalCall {
    /// A team in which the caller has at least a role. Whoever is not in it learns nothing of it.
    pub(super) fn team<'t>(&self, id: &'t str, least: TeamRole) -> Result<(&'t str, TeamRole), PortalRefusal> {
        match self.developer()?.teams.get(id).filter(|_| is_id(id)) {
            None => Err(PortalRefusal::missing("team")),
            Some(TeamRole::Member) if least == TeamRole::Owner => {
                Err(PortalRefusal::new(403, "role", "Only an owner of the team may do this"))
            }
            Some(role) => Ok((id, *role)),
        }
    }
}

impl Portal {
    /// Notes that somebody may be in a team.
    pub(crate) async fn join(&self, team: &str, developer: &str) -> Result<(), PortalRefusal> {
        let add = |old: Option<DeveloperTeam>| {
            let mut team = old.ok_or_else(|| PortalRefusal::missing("team"))?;
            if team.members.len() >= MEMBERS_MAX && !team.members.contains(developer) {
                return Err(PortalRefusal::full(MEMBERS_MAX, "members"));
            }
            team.members.insert(developer.to_owned());
            Ok(team)
        };
        self.documents.change(&DeveloperTeam::document(team), None, add).await.map(drop)
    }

    /// Takes somebody out of a team.
    async fn leave(&self, team: &str, developer: &str) -> Result<(), PortalRefusal> {
        let leave = |mut old: Developer| {
            old.teams.remove(team);
            Ok(old)
        };
        self.change_developer(developer, leave).await?;
        let forget = |old: Option<DeveloperTeam>| {
            let mut team = old.ok_or_else(|| PortalRefusal::missing("team"))?;
            team.members.remove(developer);
            Ok(team)
        };
        self.documents.change(&DeveloperTeam::document(team), None, forget).await.map(drop)
    }

    async fn has_other_owner(&self, team: &str, developer: &str) -> Result<bool, PortalRefusal> {
        let members = self.members(team).await?;
        Ok(members.iter().any(|member| member.id() != developer && member.teams.get(team) == Some(&TeamRole::Owner)))
    }

    /// Who is in a team.
    pub(crate) async fn members(&self, team: &str) -> Result<Vec<Developer>, PortalRefusal> {
        let found = self.documents.read::<DeveloperTeam>(&DeveloperTeam::document(team)).await?;
        let mut members = Vec::new();
        for id in found.iter().flat_map(|team| &team.members) {
            members.extend(Developer::read(&self.documents, id).await?.filter(|member| member.teams.contains_key(team)));
        }
        Ok(members)
    }
}

async fn described(portal: &Portal, id: &str, role: TeamRole) -> Result<Value, PortalRefusal> {
    let team = portal.documents.read::<DeveloperTeam>(&DeveloperTeam::document(id)).await?;
    let members = portal.members(id).await?;
    let shown =
        |member: &Developer| json!({"id": member.id(), "mail": member.mail, "name": member.name, "role": member.teams.get(id)});
    Ok(json!({
        "id": id,
        "name": team.map(|team| team.name),
        "role": role,
        "members": members.iter().map(shown).collect::<Vec<_>>(),
    }))
}
