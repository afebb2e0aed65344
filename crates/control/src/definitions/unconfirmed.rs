//! Changes of what gateways share that Redis was asked to make and has not confirmed. If one of them is in a set that is loaded later, it is logged
//! as the change of whoever made it.

use super::author::ChangeAuthor;
use super::class::DocumentClass;
use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

/// Changes that are remembered; a gateway that has so many can't reach Redis anyway.
const CHANGES_MAX: usize = 64;
/// How long one is remembered.
const TIME_MAX: Duration = Duration::from_secs(600);

/// A change that may have been made.
pub(super) struct UnconfirmedChange {
    stamp: String,
    pub author: ChangeAuthor,
    pub documents: HashSet<(DocumentClass, String)>,
    asked: Instant,
}

/// Changes that may have been made, and what is known of those that were.
#[derive(Default)]
pub(super) struct UnconfirmedChanges {
    waiting: VecDeque<UnconfirmedChange>,
    made: Vec<UnconfirmedChange>,
    /// Stamps of the last changes of the set that was loaded last.
    stamps: Vec<String>,
}

impl UnconfirmedChange {
    pub(super) fn new(stamp: String, author: ChangeAuthor, documents: HashSet<(DocumentClass, String)>) -> Self {
        UnconfirmedChange { stamp, author, documents, asked: Instant::now() }
    }
}

impl UnconfirmedChanges {
    pub(super) fn add(&mut self, change: UnconfirmedChange) {
        self.waiting.retain(|waiting| waiting.asked.elapsed() < TIME_MAX);
        if self.waiting.len() == CHANGES_MAX {
            self.waiting.pop_front();
        }
        self.waiting.push_back(change);
    }

    /// A set was loaded that has changes with these stamps.
    pub(super) fn note(&mut self, stamps: &[String]) {
        let (made, waiting): (VecDeque<_>, _) =
            std::mem::take(&mut self.waiting).into_iter().partition(|change| stamps.contains(&change.stamp));
        self.waiting = waiting;
        self.made.extend(made);
        self.stamps = stamps.to_vec();
    }

    /// Whether the set that was loaded last has the change with this stamp.
    pub(super) fn is_known(&self, stamp: &str) -> bool {
        self.stamps.iter().any(|known| known == stamp)
    }

    /// Changes that were made, as has turned out since the last question.
    pub(super) fn take_made(&mut self) -> Vec<UnconfirmedChange> {
        std::mem::take(&mut self.made)
    }
}
