//! What a team's applications had and called in a month: plans with their prices, and calls by key and day. It outlives keys, applications and
//! prices, so that invoices stay as they were.

use crate::catalogue::{ApiProduct, ProductPlan};
use crate::price::PlanPrice;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Keys of a team in a month that invoices know.
pub(crate) const MONTH_KEYS_MAX: usize = 5_000;

/// A month of a team. What gateways find out at the same time is merged, in any order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct TeamMonth {
    /// Until when calls were counted last, in seconds since 1970.
    pub counted_unix_s: u64,
    /// Plans of applications, by id of the grant.
    pub grants: BTreeMap<String, MonthGrant>,
    /// Keys, by their id at the portal.
    pub keys: BTreeMap<String, MonthKey>,
}

/// A plan of an application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MonthGrant {
    /// Id of the application.
    pub application: String,
    /// What the application is called.
    pub name: String,
    /// What the product is called.
    pub product: String,
    /// Its plans in this month, in order of time.
    pub terms: Vec<MonthTerm>,
}

/// A plan from a day on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MonthTerm {
    /// The first day; all calls of a day count for the plan at its end.
    pub from_day: u8,
    /// Id of the plan.
    pub plan: String,
    /// What it is called.
    pub name: String,
    /// What it costs, as it was said last in this month.
    pub price: Option<PlanPrice>,
}

/// A key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MonthKey {
    /// Id of its grant.
    pub grant: String,
    /// How usage names it.
    pub usage_id: String,
    /// Calls with a status below 400 by day; days without any are missing.
    pub days: BTreeMap<u8, u64>,
}

impl TeamMonth {
    pub(crate) fn document(team: &str, month: &str) -> String {
        format!("month-{team}-{month}")
    }

    /// Whether a plan is on invoices: it has a price, or the application had one in this month.
    pub(crate) fn counts(&self, grant: &str, plan: &ProductPlan) -> bool {
        plan.price.is_some() || self.grants.contains_key(grant)
    }

    /// Notes which plan an application has on a day.
    pub(crate) fn note(
        &mut self,
        grant: &str,
        (application, name): (&str, &str),
        product: &ApiProduct,
        plan: &ProductPlan,
        day: u8,
    ) {
        let (application, name) = (application.to_owned(), name.to_owned());
        let term = |from_day| MonthTerm { from_day, plan: plan.id.clone(), name: plan.name.clone(), price: plan.price.clone() };
        let noted = MonthGrant { application, name, product: product.name.clone(), terms: Vec::new() };
        let old = self.grants.entry(grant.to_owned()).or_insert_with(|| noted.clone());
        let mut terms = std::mem::take(&mut old.terms);
        match terms.last_mut() {
            // What was used before the first look at it was used under it, too.
            None => terms.push(term(1)),
            Some(last) if last.plan == plan.id || last.from_day >= day => *last = term(last.from_day),
            Some(_) => terms.push(term(day)),
        }
        *old = MonthGrant { terms, ..noted };
    }

    /// Notes a key.
    pub(crate) fn note_key(&mut self, id: &str, grant: &str, usage_id: String) {
        let key = MonthKey { grant: grant.to_owned(), usage_id, days: BTreeMap::new() };
        self.keys.entry(id.to_owned()).or_insert(key);
    }

    /// Notes how many calls a key made on a day. Gateways that don't answer make the count smaller, so the largest one counts.
    pub(crate) fn note_calls(&mut self, key: &str, day: u8, calls: u64) {
        if let Some(key) = self.keys.get_mut(key).filter(|_| calls > 0) {
            let count = key.days.entry(day).or_default();
            *count = calls.max(*count);
        }
    }

    /// With what somebody else has found out. Of plans, the list with the later change counts.
    pub(crate) fn merged(mut self, other: TeamMonth) -> TeamMonth {
        self.counted_unix_s = self.counted_unix_s.max(other.counted_unix_s);
        for (id, grant) in other.grants {
            let is_newer = self.grants.get(&id).is_none_or(|old| old.terms.len() <= grant.terms.len());
            if is_newer {
                self.grants.insert(id, grant);
            }
        }
        for (id, key) in other.keys {
            self.note_key(&id, &key.grant, key.usage_id);
            key.days.into_iter().for_each(|(day, calls)| self.note_calls(&id, day, calls));
        }
        self
    }
}
