//! Counts what applications call, for invoices: once an hour by one of the gateways on a store, and when somebody looks. Nothing if no plan has a
//! price.

use crate::application::{AccessGrant, ApplicationId, GrantState, PortalApplication};
use crate::catalogue::{self, ApiProduct};
use crate::developer::{DeveloperTeam, is_id};
use crate::door::CALLS_KEYS_MAX;
use crate::invoice::Invoice;
use crate::invoice_month::{DAY_S, InvoiceMonth};
use crate::operators::LISTED_MAX;
use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use crate::team_month::{MONTH_KEYS_MAX, TeamMonth};
use std::collections::{BTreeMap, HashMap};

/// How often calls are counted.
const LOOK_S: u64 = 3600;
/// How long after its end a month is counted once more: gateways write what they count within seconds.
const SETTLED_S: u64 = 600;
/// How long a month is kept after its end.
const KEPT_S: u64 = 730 * DAY_S;
/// Months of a team that are listed: all that are kept.
const MONTHS_MAX: usize = 30;

type TeamApplications = Vec<(ApplicationId, PortalApplication)>;

/// A month that is counted.
struct OpenMonth {
    team: String,
    month: InvoiceMonth,
    found: TeamMonth,
}

impl Portal {
    /// Months of which a team has an invoice, the latest first.
    ///
    /// # Errors
    /// There is no such team, or a store does not answer.
    pub async fn invoice_months(&self, team: &str) -> Result<Vec<String>, PortalRefusal> {
        self.count_team(team).await?;
        let all = TeamMonth::document(team, "");
        let found = self.documents.list::<TeamMonth>(&all, MONTHS_MAX).await?;
        Ok(found.iter().rev().filter_map(|(id, _)| id.strip_prefix(&all).map(str::to_owned)).collect())
    }

    /// What a month costs a team. The present month is counted until now.
    ///
    /// # Errors
    /// There is no such team, the month is none, or a store does not answer.
    pub async fn invoice(&self, team: &str, month: &str) -> Result<Invoice, PortalRefusal> {
        let month = InvoiceMonth::parse(month).ok_or_else(|| PortalRefusal::invalid("month: must be such as 2026-11"))?;
        self.count_team(team).await?;
        let found = self.month(team, month).await?.unwrap_or_default();
        Ok(Invoice::of(month.to_string(), &found))
    }

    async fn count_team(&self, team: &str) -> Result<(), PortalRefusal> {
        let is_there = is_id(team) && self.documents.read::<DeveloperTeam>(&DeveloperTeam::document(team)).await?.is_some();
        if !is_there {
            return Err(PortalRefusal::missing("team"));
        }
        let products = catalogue::all::<ApiProduct>(&self.documents).await?;
        let applications = self.listed(&ApplicationId::of_team(team), LISTED_MAX).await?;
        self.count(BTreeMap::from([(team.to_owned(), applications)]), &products, Portal::now()).await
    }

    /// Counts the calls of all teams, if a plan has a price. Nothing if another gateway has done so in this hour.
    pub(crate) async fn count_calls(&self, now: u64) -> Result<(), PortalRefusal> {
        let products = catalogue::all::<ApiProduct>(&self.documents).await?;
        let have_price = products.iter().any(|product| product.plans.iter().any(|plan| plan.price.is_some()));
        let hour = now / LOOK_S;
        if !have_price || !self.documents.add(&format!("counted-{hour}"), &true, Some((hour + 2) * LOOK_S)).await? {
            return Ok(());
        }
        let mut teams = BTreeMap::<String, TeamApplications>::new();
        for (id, application) in self.listed(ApplicationId::ALL, usize::MAX).await? {
            teams.entry(id.team.clone()).or_default().push((id, application));
        }
        self.count(teams, &products, now).await
    }

    /// Counts this month, and the one before until it is settled.
    async fn count(
        &self,
        teams: BTreeMap<String, TeamApplications>,
        products: &[ApiProduct],
        now: u64,
    ) -> Result<(), PortalRefusal> {
        let month = InvoiceMonth::of(now);
        let mut open = Vec::new();
        for (team, applications) in teams {
            let before = self.month(&team, month.before()).await?;
            let mut found = self.month(&team, month).await?.unwrap_or_default();
            for (id, application) in &applications {
                self.note_application(&mut found, before.as_ref(), (id, application), products, month.day_of(now)).await?;
            }
            if let Some(found) = before.filter(|before| before.counted_unix_s < month.start_unix_s() + SETTLED_S) {
                open.push(OpenMonth { team: team.clone(), month: month.before(), found });
            }
            if !found.grants.is_empty() {
                open.push(OpenMonth { team, month, found });
            }
        }
        self.count_days(&mut open, now).await?;
        for OpenMonth { team, month, mut found } in open {
            found.counted_unix_s = now;
            self.change_month(&team, month, |old| Ok(old.merged(found.clone()))).await?;
        }
        Ok(())
    }

    async fn note_application(
        &self,
        found: &mut TeamMonth,
        before: Option<&TeamMonth>,
        (id, application): (&ApplicationId, &PortalApplication),
        products: &[ApiProduct],
        day: u8,
    ) -> Result<(), PortalRefusal> {
        for (grant_id, grant) in application.grants.iter().filter(|(_, grant)| grant.state == GrantState::Approved) {
            let product = products.iter().find(|product| product.id == grant.product);
            let Some((product, plan)) = product.and_then(|product| Some((product, product.plan(&grant.plan)?))) else { continue };
            if !found.counts(grant_id, plan) {
                continue;
            }
            found.note(grant_id, (&id.text(), &application.name), product, plan, day);
            for key in &grant.keys {
                if found.keys.contains_key(&key.id) {
                    continue;
                }
                let usage_id = match before.and_then(|before| before.keys.get(&key.id)) {
                    Some(known) => Some(known.usage_id.clone()),
                    None => self.door.usage_id(key.listed_id.clone()).await?,
                };
                if let Some(usage_id) = usage_id {
                    found.note_key(&key.id, grant_id, usage_id);
                }
            }
        }
        Ok(())
    }

    /// Asks for the calls of each day since the day before that of the last count: what is written late is counted, too.
    async fn count_days(&self, open: &mut [OpenMonth], now: u64) -> Result<(), PortalRefusal> {
        let first = open.iter().map(OpenMonth::first_day).min().unwrap_or(now);
        for day_unix_s in (first..=now).step_by(usize::try_from(DAY_S).unwrap_or(usize::MAX)) {
            let mut keys = HashMap::new();
            for (index, one) in open.iter().enumerate().filter(|(_, one)| one.has(day_unix_s)) {
                keys.extend(one.found.keys.iter().map(|(key, noted)| (noted.usage_id.clone(), (index, key.clone()))));
            }
            let ids: Vec<String> = keys.keys().cloned().collect();
            for ids in ids.chunks(CALLS_KEYS_MAX) {
                for (usage_id, calls) in self.door.calls(ids.to_vec(), day_unix_s).await? {
                    if let Some((one, key)) = keys.get(&usage_id).and_then(|(index, key)| Some((open.get_mut(*index)?, key))) {
                        one.found.note_calls(key, one.month.day_of(day_unix_s), calls);
                    }
                }
            }
        }
        Ok(())
    }

    /// Notes that an application has a plan, and a new key of it, so that its calls count however short it lives.
    pub(crate) async fn note_grant(
        &self,
        (id, application): (&ApplicationId, &str),
        (grant_id, grant): (&str, &AccessGrant),
        product: &ApiProduct,
        key: Option<(&str, &str)>,
    ) -> Result<(), PortalRefusal> {
        let Some(plan) = product.plan(&grant.plan) else { return Ok(()) };
        let now = Portal::now();
        let month = InvoiceMonth::of(now);
        let found = self.month(&id.team, month).await?.unwrap_or_default();
        if !found.counts(grant_id, plan) {
            return Ok(());
        }
        let usage_id = match key {
            Some((_, listed_id)) => self.door.usage_id(listed_id.to_owned()).await?,
            None => None,
        };
        let note = |mut found: TeamMonth| {
            found.note(grant_id, (&id.text(), application), product, plan, month.day_of(now));
            if let (Some((key, _)), Some(usage_id)) = (key, &usage_id) {
                if found.keys.len() >= MONTH_KEYS_MAX {
                    return Err(PortalRefusal::full(MONTH_KEYS_MAX, "keys of this team in this month"));
                }
                found.note_key(key, grant_id, usage_id.clone());
            }
            Ok(found)
        };
        self.change_month(&id.team, month, note).await
    }

    pub(crate) async fn month(&self, team: &str, month: InvoiceMonth) -> Result<Option<TeamMonth>, PortalRefusal> {
        Ok(self.documents.read(&TeamMonth::document(team, &month.to_string())).await?)
    }

    async fn change_month(
        &self,
        team: &str,
        month: InvoiceMonth,
        change: impl Fn(TeamMonth) -> Result<TeamMonth, PortalRefusal>,
    ) -> Result<(), PortalRefusal> {
        let document = TeamMonth::document(team, &month.to_string());
        let expires = month.after().start_unix_s() + KEPT_S;
        self.documents.change(&document, Some(expires), |old: Option<TeamMonth>| change(old.unwrap_or_default())).await.map(drop)
    }
}

impl OpenMonth {
    /// Where the first day begins whose calls are not certain.
    fn first_day(&self) -> u64 {
        let sure = self.found.counted_unix_s / DAY_S * DAY_S;
        sure.saturating_sub(DAY_S).max(self.month.start_unix_s())
    }

    /// Whether a day is to be counted.
    fn has(&self, day_unix_s: u64) -> bool {
        day_unix_s >= self.first_day() && day_unix_s < self.month.after().start_unix_s()
    }
}
