//! Invoices: what a team's applications called in a month, and what it costs. Prices are in several currencies, so there is a sum for each.

use crate::price::Amount;
use crate::team_month::{MonthGrant, TeamMonth};
use serde::Serialize;
use std::collections::BTreeMap;
use tollgate_text::csv::cell;

/// What a month costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Invoice {
    /// Such as `2026-11`, in UTC.
    pub month: String,
    /// Until when calls were counted, in seconds since 1970; 0 if they never were.
    pub counted_unix_s: u64,
    /// Plans of applications.
    pub lines: Vec<InvoiceLine>,
    /// What all of it costs, by currency.
    pub sums: BTreeMap<String, String>,
}

/// A plan of an application. Amounts are decimals.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct InvoiceLine {
    /// What the application is called.
    pub application: String,
    /// Id of the application.
    pub application_id: String,
    /// What the product is called.
    pub product: String,
    /// What the plan is called.
    pub plan: String,
    /// Calls with a status below 400.
    pub calls: u64,
    /// How many of them cost nothing.
    pub free_calls: u64,
    /// Price of each of the others.
    pub per_call: String,
    /// Price of the month; nothing if another plan has taken the place of this one.
    pub per_month: String,
    /// What it costs.
    pub sum: String,
    /// Three letters.
    pub currency: String,
}

impl Invoice {
    pub(crate) fn of(month: String, found: &TeamMonth) -> Invoice {
        let mut calls = BTreeMap::<&str, BTreeMap<u8, u64>>::new();
        for key in found.keys.values() {
            let of_grant = calls.entry(&key.grant).or_default();
            key.days.iter().for_each(|(day, count)| *of_grant.entry(*day).or_default() += count);
        }
        let (mut lines, mut sums) = (Vec::new(), BTreeMap::<String, Amount>::new());
        for (id, grant) in &found.grants {
            for (line, amount) in lines_of(grant, calls.get(id.as_str()).unwrap_or(&BTreeMap::new())) {
                let sum = sums.entry(line.currency.clone()).or_default();
                *sum = sum.plus(amount);
                lines.push(line);
            }
        }
        lines.sort();
        let sums = sums.into_iter().map(|(currency, sum)| (currency, sum.to_string())).collect();
        Invoice { month, counted_unix_s: found.counted_unix_s, lines, sums }
    }

    /// As CSV, with a line of names.
    pub fn csv(&self) -> String {
        let mut text = "month,application,product,plan,calls,free_calls,price_per_call,price_per_month,sum,currency\r\n".to_owned();
        for line in &self.lines {
            let names = [&self.month, &line.application, &line.product, &line.plan].map(|name| cell(name)).join(",");
            let InvoiceLine { calls, free_calls, per_call, per_month, sum, currency, .. } = line;
            text.push_str(&format!("{names},{calls},{free_calls},{per_call},{per_month},{sum},{currency}\r\n"));
        }
        text
    }
}

/// One for each plan with a price that a grant had.
fn lines_of(grant: &MonthGrant, calls: &BTreeMap<u8, u64>) -> Vec<(InvoiceLine, Amount)> {
    let mut counts = BTreeMap::<&str, u64>::new();
    for (index, term) in grant.terms.iter().enumerate() {
        let end = grant.terms.get(index + 1).map_or(u8::MAX, |next| next.from_day.max(term.from_day));
        *counts.entry(&term.plan).or_default() += calls.range(term.from_day..end).map(|(_, count)| count).sum::<u64>();
    }
    let is_last = |index: usize| index + 1 == grant.terms.len();
    // A plan that came back is there once, as it was the last time.
    let latest = |index: usize, plan: &str| grant.terms.iter().skip(index + 1).all(|later| later.plan != plan);
    let terms = grant.terms.iter().enumerate().filter(|(index, term)| latest(*index, &term.plan));
    let lines = terms.filter_map(|(index, term)| {
        let price = term.price.as_ref()?;
        let count = counts.get(term.plan.as_str()).copied().unwrap_or_default();
        let month = if is_last(index) { price.of_month() } else { Amount::default() };
        let sum = month.plus(price.of_calls(count));
        let line = InvoiceLine {
            application: grant.name.clone(),
            application_id: grant.application.clone(),
            product: grant.product.clone(),
            plan: term.name.clone(),
            calls: count,
            free_calls: price.free_calls.min(count),
            per_call: Amount::parse(&price.per_call).unwrap_or_default().to_string(),
            per_month: month.to_string(),
            sum: sum.to_string(),
            currency: price.currency.clone(),
        };
        Some((line, sum))
    });
    lines.collect()
}

#[cfg(test)]
mod tests;
