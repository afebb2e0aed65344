//! What waits for a store that does not answer: it is stored in its order, and tried again for a while. What is given up leaves a gap that is
//! stored in its place, so that nobody takes the rest for all.

use super::next;
use crate::api::Control;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tollgate_store::{StoreFault, StoreFaultKind};

const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How long one is tried. A gap is tried until the process ends.
const TIME_MAX: Duration = Duration::from_secs(600);
/// How long it is tried when the process ends.
const STOP_TIME_MAX: Duration = Duration::from_secs(5);

/// What is put into the store, one after the other.
pub(in crate::api) trait Storable: Sized {
    /// Puts it into the store. Called again after a fault; then it goes on where it was.
    async fn store(&mut self, control: &Control) -> Result<(), StoreFault>;

    /// Its share of what may wait.
    fn weight(&self) -> usize;

    /// What it is, for the log.
    fn described(&self) -> String;

    /// What is stored in its place if it is given up.
    fn into_gap(self) -> Self;

    /// Adds another one that is given up to this gap.
    fn widen(&mut self, other: Self);
}

/// What waits, the oldest first.
struct Backlog<T> {
    waiting: VecDeque<T>,
    weight_max: usize,
    /// Whether the oldest is a gap.
    has_gap: bool,
    /// Since when the oldest can't be stored.
    since: Option<Instant>,
}

/// Stores what comes out of a queue, until it ends.
pub(in crate::api) async fn store_all<I, T: Storable>(
    control: &Control,
    mut queue: mpsc::Receiver<I>,
    mut stopped: watch::Receiver<bool>,
    weight_max: usize,
    mut accept: impl FnMut(I) -> Option<T>,
) {
    let mut backlog = Backlog { waiting: VecDeque::new(), weight_max, has_gap: false, since: None };
    let mut end = None;
    loop {
        while let Ok(item) = queue.try_recv() {
            accept(item).into_iter().for_each(|item| backlog.push(item));
        }
        let Some(oldest) = backlog.waiting.front_mut() else {
            let Some(item) = next(&mut queue, &mut stopped).await else { return };
            accept(item).into_iter().for_each(|item| backlog.push(item));
            continue;
        };
        match oldest.store(control).await {
            Ok(()) => backlog.take_oldest(),
            Err(fault) => {
                backlog.note(&fault, Instant::now());
                if *stopped.borrow() && *end.get_or_insert_with(|| Instant::now() + STOP_TIME_MAX) <= Instant::now() {
                    return backlog.lose(&fault);
                }
                tokio::time::sleep(RETRY_AFTER).await;
            }
        }
    }
}

impl<T: Storable> Backlog<T> {
    fn push(&mut self, item: T) {
        self.waiting.push_back(item);
        let mut weight: usize = self.waiting.iter().map(T::weight).sum();
        while weight > self.weight_max && self.waiting.len() > 1 + usize::from(self.has_gap) {
            self.give_up_oldest("too many wait for the store");
            weight = self.waiting.iter().map(T::weight).sum();
        }
    }

    fn take_oldest(&mut self) {
        self.waiting.pop_front();
        (self.has_gap, self.since) = (false, None);
    }

    /// The oldest can't be stored now.
    fn note(&mut self, fault: &StoreFault, now: Instant) {
        let first = self.since.is_none();
        let since = *self.since.get_or_insert(now);
        let is_hopeless = fault.kind == StoreFaultKind::TooLarge || now.duration_since(since) >= TIME_MAX;
        if !self.has_gap && is_hopeless {
            self.give_up_oldest(&fault.to_string());
        } else if first {
            tracing::warn!(%fault, waiting = self.waiting.len(), "changes can't be logged in the store; it is tried again");
        }
    }

    /// The oldest becomes a gap, or a part of the gap before it.
    fn give_up_oldest(&mut self, why: &str) {
        let gap = if self.has_gap { self.waiting.pop_front() } else { None };
        let Some(lost) = self.waiting.pop_front() else {
            self.waiting.extend(gap);
            return;
        };
        tracing::error!(why, lost = lost.described(), "a change can't be logged in the store");
        let gap = match gap {
            Some(mut gap) => {
                gap.widen(lost);
                gap
            }
            None => lost.into_gap(),
        };
        self.waiting.push_front(gap);
        (self.has_gap, self.since) = (true, None);
    }

    /// The process ends without a store.
    fn lose(self, fault: &StoreFault) {
        for lost in self.waiting {
            tracing::error!(%fault, lost = lost.described(), "a change is lost that can't be logged in the store");
        }
    }
}

#[cfg(test)]
mod tests;
