//! One gateway's share of a limit that several gateways count together: the places that the store has granted in advance, and when to ask
//! for more. Pure logic: time is passed in, and the caller transports questions and answers.
//!
//! A small limit is asked for with each request and is exact. A large one is leased: while most of it is free, in portions that last for
//! half a window; when it becomes scarce, in portions that are used at once, asked for at a bounded rate. The store counts each place
//! twice, at the time when it was granted and at the last time when it may be used (`window.lua`). The first sum bounds the places granted
//! in any window by the limit, the second the places used in any window by 1.05 times the limit, whatever the delays.
//!
//! While the store does not answer, a gateway takes a share: its use in the last window, and its part of the places that were free when it
//! last got an answer. The shares of all gateways add up to the limit. The store is told of these places when it is back.

mod own;

use own::{LocalCount, StoreReport};

/// With fewer places than this per gateway and window, every request asks the store.
const ASKED_SINGLY_BELOW: u64 = 100;
/// Buckets per window in which the store counts.
pub(crate) const BUCKETS: u64 = 100;
/// Lifetime of a scarce place, as a fraction of the window; up to five times as long while a tenth of the limit is free.
const SCARCE_LIFE: (u64, u64) = (5, 100);
/// Fraction of the expected use in that time that is asked for: places that expire unused are lost.
const SCARCE_SHARE: (u64, u64) = (17, 20);
/// While most of the limit is free, all gateways together hold one in this many places in advance.
const PLENTY_PARTS: u64 = 5;
/// Shortest period over which the load is measured, in microseconds; a bucket if that is shorter.
const MEASURE_US_MIN: u64 = 10_000;
/// While places are scarce, a gateway asks once per this many of its own requests.
const REQUESTS_PER_ASK: u64 = 25;
/// How long a gateway keeps to its share after the store is back: the others may need as long to notice, and then report their use.
const SETTLE_US: u64 = 1_200_000;
/// Longest lifetime of a place when every request asks. The lifetime starts at a hundredth of a window, and doubles as often as answers
/// take longer.
const SINGLE_US_MAX: u64 = 100_000;

/// A limit as all gateways know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LimitParams {
    /// Places per window.
    pub limit: u64,
    pub window_us: u64,
    /// Number of gateways that share the limit.
    pub gateways: u64,
    /// Rank of this gateway among them, from 0: it decides who gets the remainder of a division.
    pub rank: u64,
    /// Whether every request asks the store, whatever the size.
    pub singly: bool,
}

/// A question to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    /// Whether every request asks: the limit is exact then.
    pub singly: bool,
    /// Places to grant when they are scarce.
    pub scarce: u64,
    /// Places to grant while most of the limit is free.
    pub plenty: u64,
    /// Lifetime of a scarce place.
    pub scarce_us: u64,
    pub plenty_us: u64,
    /// Id of the store's data on this limit; 0 when nothing depends on it.
    pub memory: u64,
    /// Use of the last window that the store does not know of yet.
    pub told: Vec<StoreReport>,
    /// Result of the last lease.
    pub back: Option<ReturnedSlots>,
}

/// A lease that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReturnedSlots {
    /// Buckets of the lease.
    pub filed: Filed,
    pub places: u64,
    /// How many of them were not used and never will be.
    pub unused: u64,
}

/// Buckets of the store's clock in which it counts a lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filed {
    /// Bucket in which the lease was granted.
    pub given: u64,
    /// Bucket in which it ends.
    pub until: u64,
}

/// The store's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeaseGrant {
    pub places: u64,
    /// Lifetime of the places, counted from the question.
    pub life_us: u64,
    pub filed: Filed,
    /// When there may be more places, if fewer were granted than asked for.
    pub again_us: u64,
    /// Places that are free for others.
    pub free: u64,
    /// Id of the store's data on this limit.
    pub memory: u64,
    /// Whether the id differs from the question's: the store has lost its data, and has granted nothing.
    pub forgot: bool,
}

/// Whether a request may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Take {
    Taken,
    /// No place is free for this many microseconds.
    Refused(u64),
    /// The store must answer. The first of the waiting requests asks.
    Wait {
        asks: bool,
    },
}

/// State of a lease. Times are microseconds of any monotonic clock of this gateway.
#[derive(Debug, Default)]
pub(crate) struct Lease {
    window_us: u64,
    places: u64,
    expires_us: u64,
    /// Buckets and number of the places.
    filed: Option<(Filed, u64)>,
    refused_until_us: u64,
    /// While places are scarce: no question before this time, or before enough requests have come.
    paused_until_us: u64,
    since_ask: u64,
    asked_at_us: Option<u64>,
    waiting: u64,
    /// Places that were free when the store last answered, and the time of that answer.
    free: u64,
    heard_at_us: Option<u64>,
    memory: u64,
    /// Lifetime of a place when every request asks; 0 at first. Grows while answers come too late.
    single_us: u64,
    demand: Demand,
    own: LocalCount,
    share: Option<Share>,
}

/// The places that a gateway may take without the store.
#[derive(Clone, Copy, Debug)]
struct Share {
    since_us: u64,
    places: u64,
    /// Set when the store is back: until then it is used only within the share.
    settles_at_us: Option<u64>,
}

/// The load, measured between questions.
#[derive(Debug, Default)]
struct Demand {
    requests: u64,
    since_us: u64,
    per_window: u64,
}

impl LimitParams {
    pub(crate) fn asks_singly(&self) -> bool {
        self.singly || self.limit < ASKED_SINGLY_BELOW * self.gateways.max(1)
    }

    /// This gateway's part of some places; the parts of all gateways add up to the places.
    fn part_of(&self, places: u64) -> u64 {
        let gateways = self.gateways.max(1);
        places / gateways + u64::from(self.rank % gateways < places % gateways)
    }

    fn bucket_us(&self) -> u64 {
        (self.window_us / BUCKETS).max(1)
    }
}

impl Lease {
    /// Takes a place for a request.
    pub(crate) fn take(&mut self, terms: &LimitParams, now_us: u64) -> Take {
        if self.window_us != terms.window_us {
            // Counts of another window length are meaningless for this one.
            *self = Lease { window_us: terms.window_us, ..Lease::default() };
        }
        self.demand.requests += 1;
        self.since_ask += 1;
        if let Some(wait_us) = self.over_share(terms, now_us) {
            return Take::Refused(wait_us);
        }
        if self.places > 0 && now_us < self.expires_us {
            self.places -= 1;
            self.own.add(terms.window_us, now_us, true);
            return Take::Taken;
        }
        if now_us < self.refused_until_us {
            return Take::Refused(self.refused_until_us - now_us);
        }
        if now_us < self.paused_until_us && self.since_ask < REQUESTS_PER_ASK {
            return Take::Refused(self.paused_until_us - now_us);
        }
        self.waiting += 1;
        // An unanswered question blocks for at most one window.
        let asks = self.asked_at_us.is_none_or(|asked| now_us >= asked.saturating_add(terms.window_us));
        if asks {
            self.asked_at_us = Some(now_us);
        }
        Take::Wait { asks }
    }

    /// How long this gateway is over its share, while it must keep to it although the store is back.
    fn over_share(&mut self, terms: &LimitParams, now_us: u64) -> Option<u64> {
        let settles_at_us = self.share?.settles_at_us?;
        if now_us >= settles_at_us {
            self.share = None;
            return None;
        }
        let leaves_us = self.own.forget(terms.window_us, now_us);
        let is_over = self.own.sum() >= self.share_places(terms, now_us);
        is_over.then(|| leaves_us.min(settles_at_us - now_us).max(1))
    }

    /// Takes a place while the store does not answer.
    pub(crate) fn take_alone(&mut self, terms: &LimitParams, now_us: u64) -> Take {
        let leaves_us = self.own.forget(terms.window_us, now_us);
        // If the store was back only briefly, nothing new is known of it.
        self.share.iter_mut().for_each(|share| share.settles_at_us = None);
        if self.own.sum() >= self.share_places(terms, now_us) {
            return Take::Refused(leaves_us.max(1));
        }
        self.own.add(terms.window_us, now_us, false);
        Take::Taken
    }

    /// Places that this gateway may use per window without the store. For the first window it follows the last known load, so that all
    /// gateways together keep to the limit. From the third window on, each gateway has an equal share, because nobody knows the load any
    /// more. In between, a gateway with more than an equal share goes down to it, to make room for the others.
    fn share_places(&mut self, terms: &LimitParams, now_us: u64) -> u64 {
        let even = terms.part_of(terms.limit);
        let knows = self.heard_at_us.is_some_and(|heard| now_us.saturating_sub(heard) < terms.window_us);
        let first = if knows { self.own.sum() + terms.part_of(self.free) } else { even };
        let share = self.share.get_or_insert(Share { since_us: now_us, places: first, settles_at_us: None });
        let places = match now_us.saturating_sub(share.since_us) / terms.window_us.max(1) {
            0 => share.places,
            1 => share.places.min(even),
            _ => even,
        };
        places.min(terms.limit)
    }

    /// Takes back the place of a request that is refused for another reason.
    pub(crate) fn give_back(&mut self) {
        self.demand.requests = self.demand.requests.saturating_sub(1);
        if self.own.take_back() {
            // Never more than the lease had: it may be another one by now.
            self.places = self.filed.map_or(0, |(_, places)| places.min(self.places + 1));
        }
    }

    /// Makes a question; only for the caller that was told to ask.
    pub(crate) fn ask(&mut self, terms: &LimitParams, now_us: u64) -> Ask {
        let waiting = self.waiting.max(1);
        self.since_ask = 0;
        self.own.forget(terms.window_us, now_us);
        let back = self.filed.take().map(|(filed, places)| ReturnedSlots { filed, places, unused: self.places.min(places) });
        self.places = 0;
        let memory = if self.own.sum() > 0 { self.memory } else { 0 };
        let told = self.own.untold(terms.window_us, now_us);
        let left = if self.share.is_none() { u64::MAX } else { self.share_places(terms, now_us).saturating_sub(self.own.sum()) };
        if terms.asks_singly() {
            let is_late = back.is_some_and(|back| back.unused > 0);
            self.single_us = (self.single_us << u32::from(is_late)).max(terms.bucket_us()).min(SINGLE_US_MAX);
            let scarce_us = self.single_us;
            let scarce = waiting.min(left);
            return Ask { singly: true, scarce, plenty: scarce, scarce_us, plenty_us: scarce_us, memory, told, back };
        }
        self.demand.measure(terms, now_us);
        let least_us = terms.window_us * SCARCE_LIFE.0 / SCARCE_LIFE.1;
        let scarce_us = if self.free > terms.limit / 10 {
            // Long enough to make a question worthwhile.
            let worth_us = u128::from(REQUESTS_PER_ASK) * u128::from(terms.window_us) / u128::from(self.demand.per_window.max(1));
            u64::try_from(worth_us).unwrap_or(u64::MAX).min(terms.window_us / 4).max(least_us)
        } else {
            least_us
        };
        let expected = u128::from(self.demand.per_window) * u128::from(scarce_us) / u128::from(terms.window_us.max(1));
        let expected = u64::try_from(expected).unwrap_or(u64::MAX).min(terms.limit);
        // A gateway never holds much more than others could use meanwhile.
        let most = REQUESTS_PER_ASK.max(terms.limit / BUCKETS);
        let scarce = (expected * SCARCE_SHARE.0 / SCARCE_SHARE.1).min(most).max(waiting).min(left);
        let plenty = scarce.max(terms.limit / (PLENTY_PARTS * terms.gateways.max(1))).min(left);
        Ask { singly: false, scarce, plenty, scarce_us, plenty_us: terms.window_us / 2, memory, told, back }
    }

    /// Makes a report of use that the store does not know of; nobody waits for the answer.
    pub(crate) fn tell(&mut self, terms: &LimitParams, now_us: u64) -> Option<Ask> {
        self.own.forget(terms.window_us, now_us);
        let told = self.own.untold(terms.window_us, now_us);
        if told.is_empty() || self.asked_at_us.is_some() {
            return None;
        }
        self.asked_at_us = Some(now_us);
        let singly = terms.asks_singly();
        let (scarce, plenty, scarce_us, plenty_us) = (0, 0, terms.bucket_us(), terms.bucket_us());
        Some(Ask { singly, scarce, plenty, scarce_us, plenty_us, memory: self.memory, told, back: None })
    }

    /// Applies the store's answer.
    pub(crate) fn answered(&mut self, terms: &LimitParams, ask: &Ask, answer: &LeaseGrant, now_us: u64) {
        let asked_at_us = self.asked_at_us.take().unwrap_or(now_us);
        self.waiting = 0;
        if self.window_us != terms.window_us {
            return;
        }
        self.hear(ask, answer, now_us);
        if answer.forgot {
            return;
        }
        if let Some(share) = &mut self.share {
            share.settles_at_us.get_or_insert(now_us.saturating_add(SETTLE_US));
        }
        if ask.scarce == 0 && ask.plenty == 0 {
            return;
        }
        // Places left from an older lease expire sooner; they are given up so that all places have one expiry.
        self.places = answer.places;
        self.expires_us = asked_at_us.saturating_add(answer.life_us.max(1));
        if now_us.saturating_sub(asked_at_us) < self.single_us / 4 {
            self.single_us /= 2;
        }
        self.refused_until_us = if answer.places == 0 { now_us.saturating_add(answer.again_us.max(1)) } else { 0 };
        // Fewer than asked for: by the time they are used, the others have used theirs as well.
        let is_short = answer.places < ask.scarce && !terms.asks_singly();
        self.paused_until_us = if is_short { now_us.saturating_add(terms.window_us / 2) } else { 0 };
    }

    /// Applies an answer for which nobody waits any more. Its places are returned with the next question.
    pub(crate) fn answered_late(&mut self, terms: &LimitParams, ask: &Ask, answer: &LeaseGrant, now_us: u64) {
        if self.window_us != terms.window_us {
            return;
        }
        if self.filed.is_none() {
            (self.places, self.expires_us) = (answer.places, 0);
        }
        self.hear(ask, answer, now_us);
    }

    fn hear(&mut self, ask: &Ask, answer: &LeaseGrant, now_us: u64) {
        self.memory = answer.memory;
        if answer.forgot {
            self.own.untell();
            return;
        }
        self.own.tell(&ask.told);
        self.free = answer.free;
        self.heard_at_us = Some(now_us);
        if self.filed.is_none() && answer.places > 0 {
            self.filed = Some((answer.filed, answer.places));
        }
    }

    /// Handles a question without an answer.
    pub(crate) fn unanswered(&mut self) {
        self.asked_at_us = None;
        self.waiting = 0;
    }

    /// Whether the store knows of all use.
    pub(crate) fn has_told(&self) -> bool {
        self.own.has_told()
    }

    /// Refuses a request if the store has recently said that no place is free.
    pub(crate) fn refuses(&mut self, now_us: u64) -> Option<u64> {
        let refuses = now_us < self.refused_until_us && (self.places == 0 || now_us >= self.expires_us);
        self.demand.requests += u64::from(refuses);
        refuses.then(|| self.refused_until_us - now_us)
    }

    /// Places that this gateway knows of: its own, and those that were free at its last question.
    pub(crate) fn room(&self, now_us: u64) -> u64 {
        let own = if now_us < self.expires_us { self.places } else { 0 };
        own + if now_us < self.refused_until_us { 0 } else { self.free }
    }
}

impl Demand {
    /// Takes the measured load, or the mean with the previous one if that is higher: a rising load counts at once, a falling one fades
    /// soon.
    fn measure(&mut self, terms: &LimitParams, now_us: u64) {
        let past_us = now_us.saturating_sub(self.since_us).max(1);
        // Measures over a minimum period, or one early request would look like a flood.
        if past_us < (terms.window_us / BUCKETS).min(MEASURE_US_MIN) {
            return;
        }
        let per_window =
            u64::try_from(u128::from(self.requests) * u128::from(terms.window_us) / u128::from(past_us)).unwrap_or(u64::MAX);
        self.per_window = per_window.max((self.per_window + per_window) / 2);
        self.per_window = self.per_window.min(terms.limit.saturating_mul(10));
        (self.requests, self.since_us) = (0, now_us);
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
