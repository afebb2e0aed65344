//! Entries of the log of changes on their way to the store: each is there once, and those that are given up are named in an entry about the gap.

use super::{ChangeEntry, DAY_S, DAYS, ENTRIES_PER_DAY_MAX, document, end, id};
use crate::api::Control;
use crate::api::store_queues::Storable;
use std::sync::{Arc, Mutex, PoisonError};
use tollgate_store::{DocumentSpace, Store, StoreFault};

/// Changes that an entry about a gap names.
const NAMED_MAX: usize = 20;

/// An entry that is not in the store yet.
pub(super) struct WaitingEntry {
    pub entry: ChangeEntry,
    pub place: Arc<Mutex<(u64, u64)>>,
    /// Where it may be, if the store did not say so.
    pub may_be_at: Option<(u64, u64)>,
    /// If it is about a gap: which changes are missing.
    pub lost: Vec<String>,
}

impl Storable for WaitingEntry {
    async fn store(&mut self, control: &Control) -> Result<(), StoreFault> {
        let mut place = *self.place.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = put(control.shared.keys.store(), &self.entry, &mut place, &mut self.may_be_at).await;
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = place;
        outcome
    }

    fn weight(&self) -> usize {
        1
    }

    fn described(&self) -> String {
        let ChangeEntry { user, action, kind, target, .. } = &self.entry;
        format!("{user}: {action} {kind} {target}")
    }

    fn into_gap(self) -> Self {
        let lost = vec![self.described()];
        let entry = ChangeEntry {
            user: String::new(),
            role: None,
            subject: None,
            address: None,
            action: "lost".to_owned(),
            kind: "changes".to_owned(),
            target: told(&lost),
            status: 500,
            diff: Vec::new(),
            diff_more: 0,
            etag: None,
            ..self.entry
        };
        WaitingEntry { entry, place: self.place, may_be_at: None, lost }
    }

    fn widen(&mut self, other: Self) {
        self.lost.push(other.described());
        self.entry.target = told(&self.lost);
        // What may be in the store says less.
        self.may_be_at = None;
    }
}

/// Which changes are missing.
fn told(lost: &[String]) -> String {
    let more = lost.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let named = lost.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join("; ");
    format!("{} missing, as the store did not answer: {named}{more}", lost.len())
}

async fn put(
    store: &dyn Store,
    entry: &ChangeEntry,
    place: &mut (u64, u64),
    may_be_at: &mut Option<(u64, u64)>,
) -> Result<(), StoreFault> {
    let day = entry.time / DAY_S;
    if place.0 != day {
        *place = (day, end(store, day).await?);
    }
    let value = serde_json::to_vec(entry).unwrap_or_default();
    if let Some((day, number)) = *may_be_at
        && document(store, day, number).await?.is_some_and(|stored| stored == value)
    {
        return Ok(());
    }
    while place.1 < ENTRIES_PER_DAY_MAX {
        *may_be_at = Some(*place);
        let ends = Some((day + DAYS) * DAY_S);
        let existed = store.write_over(DocumentSpace::Console, id(day, place.1), None, value.clone(), ends).await?;
        place.1 += 1;
        // Another gateway may have taken the number.
        if !existed {
            return Ok(());
        }
    }
    tracing::warn!(user = entry.user, target = entry.target, "a change is not logged in the store: too many on one day");
    Ok(())
}
