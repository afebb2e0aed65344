//! What the portal looks at once an hour. Mails before a key ends, or its quota is used up: one of the gateways on a store looks at all keys. Each
//! thing is told once.

use crate::application::{AccessGrant, ApplicationId, GrantKey, GrantState};
use crate::developer::{Developer, TeamRole};
use crate::door::PortalKeyState;
use crate::letters::Letter;
use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use std::sync::Arc;
use std::time::Duration;

/// How often keys are looked at.
const LOOK_S: u64 = 3600;
/// How long after the start they are first looked at: a gateway that is started often tells too.
const FIRST_LOOK_S: u64 = 60;
/// How long before its end a key is told of.
const AHEAD_S: u64 = 7 * 24 * 3600;
/// Share of a quota that is told of, in percent.
const QUOTA_PERCENT: i64 = 80;
/// How long it is remembered that a quota was told of which has no end of its own.
const TOLD_S: u64 = 30 * 24 * 3600;

impl Portal {
    /// Sends mails about keys that end, and counts calls for invoices. Runs for ever.
    pub async fn look_every_hour(self: Arc<Self>) {
        let mut pause = FIRST_LOOK_S;
        loop {
            tokio::time::sleep(Duration::from_secs(std::mem::replace(&mut pause, LOOK_S))).await;
            if let Err(refusal) = self.count_calls(Portal::now()).await {
                tracing::warn!(why = refusal.message, "the portal can't count calls for invoices; it tries again in an hour");
            }
            if !self.mail.is_there() {
                continue;
            }
            if let Err(refusal) = self.look_at_keys(Portal::now()).await {
                tracing::warn!(why = refusal.message, "the portal can't look which keys end");
            }
        }
    }

    /// Tells of all keys that end soon. Nothing if another gateway has done so in this hour.
    pub(crate) async fn look_at_keys(&self, now: u64) -> Result<(), PortalRefusal> {
        let hour = now / LOOK_S;
        if !self.documents.add(&format!("reminded-{hour}"), &true, Some((hour + 2) * LOOK_S)).await? {
            return Ok(());
        }
        for (id, application) in self.applications().await? {
            for grant in application.grants.values() {
                if grant.state != GrantState::Approved {
                    continue;
                }
                for key in &grant.keys {
                    self.look_at_key((&id, &application.name), grant, key, now).await?;
                }
            }
        }
        Ok(())
    }

    async fn look_at_key(
        &self,
        (id, application): (&ApplicationId, &str),
        grant: &AccessGrant,
        key: &GrantKey,
        now: u64,
    ) -> Result<(), PortalRefusal> {
        let Some(state) = self.door.key_state(key.listed_id.clone()).await? else { return Ok(()) };
        let team = id.team.as_str();
        let ends = u64::try_from(state.ends_unix_s).unwrap_or_default();
        if ends > now && ends <= now + AHEAD_S && self.is_first(&key.id, "end", ends, ends).await? {
            let days = (ends - now).div_ceil(24 * 3600);
            let within = if days == 1 { "within a day".to_owned() } else { format!("within {days} days") };
            self.remind_of(
                team,
                key,
                "A key ends soon",
                &format!("The key of {application} for {} that ends with {} ends {within}.", grant.product, key.tail),
            )
            .await?;
        }
        if let Some(percent) = used_percent(&state) {
            let renews = u64::try_from(state.quota_renews_unix_s).unwrap_or_default();
            // All keys of an application use one quota.
            let of = format!("{}-{}", id.text(), grant.product);
            if self.is_first(&of, "quota", renews, renews.max(now + TOLD_S)).await? {
                let max = state.quota_max;
                let text = format!("{application} has used {percent} % of its quota of {max} requests for {}.", grant.product);
                self.remind_of(team, key, "A quota is nearly used up", &text).await?;
            }
        }
        Ok(())
    }

    /// Tells whoever made a key, or the owners of its team if they have left it.
    async fn remind_of(&self, team: &str, key: &GrantKey, subject: &str, text: &str) -> Result<(), PortalRefusal> {
        let members = self.members(team).await?;
        let maker = members.iter().filter(|member| member.id() == key.made_by);
        let mut told: Vec<&Developer> = maker.collect();
        if told.is_empty() {
            told = members.iter().filter(|member| member.teams.get(team) == Some(&TeamRole::Owner)).collect();
        }
        told.into_iter().for_each(|member| self.send(self.letterhead.reminder(&member.mail, subject, text)));
        Ok(())
    }

    /// Whether something of a key or an application, in a period with this end, has not been told before.
    async fn is_first(&self, of: &str, what: &str, period: u64, expires_unix_s: u64) -> Result<bool, PortalRefusal> {
        Ok(self.documents.add(&format!("told-{of}-{what}-{period}"), &true, Some(expires_unix_s)).await?)
    }
}

/// How much of a quota is used, if it is to be told.
fn used_percent(state: &PortalKeyState) -> Option<i64> {
    if state.quota_max <= 0 {
        return None;
    }
    let used = state.quota_max.saturating_sub(state.quota_remaining.max(0));
    Some(used.saturating_mul(100) / state.quota_max).filter(|percent| *percent >= QUOTA_PERCENT)
}

impl crate::letters::Letterhead {
    fn reminder(&self, to: &str, subject: &str, text: &str) -> Letter {
        self.letter(to, subject, &format!("{text}\n\n{}/#/applications", self.url))
    }
}
