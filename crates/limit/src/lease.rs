//! One gateway's part of a limit that several gateways share: the places that the store has given it in advance, and when to ask for more.
//! Pure: time is passed in, and whoever has the connection carries questions and answers.
//!
//! A small limit is asked for with each request and is exact. A large one is leased: while most of it is free in portions that last for
//! half a window, and when it gets scarce in portions that are used up at once, asked for at a bounded pace. The store files each place
//! both under the moment it was given and under the last moment it may be used (`window.lua`): the first sum bounds what is given in any
//! window by the limit, the second what is used in any window by 1.05 times the limit, whatever the delays.
//!
//! While the store is silent a gateway takes a share: what it used in the last window and its part of what was free when it last heard.
//! The shares of all gateways are the limit. What was taken like this is told to the store when it is back.

mod own;

use own::{LocalCount, StoreReport};

/// Below this many places for each gateway and window, every request asks.
const ASKED_SINGLY_BELOW: u64 = 100;
/// Parts of a window that the store counts in.
pub(crate) const BUCKETS: u64 = 100;
/// Parts of a window for which a scarce place may be used; up to five times that while a tenth of the limit is free.
const SCARCE_LIFE: (u64, u64) = (5, 100);
/// Of what is expected to be used in that time, how much is asked for: what expires unused is lost.
const SCARCE_SHARE: (u64, u64) = (17, 20);
/// Gateways keep this part of the limit in advance, all together, while most of it is free.
const PLENTY_PARTS: u64 = 5;
/// The load is measured over this long at least, and over a bucket if that is shorter.
const MEASURE_US_MIN: u64 = 10_000;
/// While places are scarce a gateway asks once for so many requests of its own.
const REQUESTS_PER_ASK: u64 = 25;
/// For which a gateway keeps to its share when the store is back: the others may need as long to notice, and then tell what they used.
const SETTLE_US: u64 = 1_200_000;
/// A place of a limit that is asked for singly may be used for a hundredth of a window, or while answers take longer twice that and so on,
/// at most this long.
const SINGLE_US_MAX: u64 = 100_000;

/// A limit as all gateways know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Places in a window.
    pub limit: u64,
    pub window_us: u64,
    /// Gateways that share it.
    pub gateways: u64,
    /// The number of this one among them, from 0: who gets what can't be divided.
    pub rank: u64,
    /// Every request asks, whatever the size.
    pub singly: bool,
}

/// What is asked of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    /// Each request asks: the limit is exact.
    pub singly: bool,
    /// Places when they are scarce.
    pub scarce: u64,
    /// Places while there are plenty.
    pub plenty: u64,
    /// How long a scarce place lasts.
    pub scarce_us: u64,
    pub plenty_us: u64,
    /// What the store called its memory of this limit; 0 when nothing depends on it.
    pub memory: u64,
    /// What this gateway has let pass in the last window without the store.
    pub told: Vec<StoreReport>,
    /// What became of the last lease.
    pub back: Option<Back>,
}

/// A lease that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Back {
    /// Where it is filed.
    pub filed: Filed,
    pub places: u64,
    /// How many of them were not used and never will be.
    pub unused: u64,
}

/// Under what the store files a lease: buckets of its own clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filed {
    /// In which it was given.
    pub given: u64,
    /// In which it ends.
    pub until: u64,
}

/// What the store answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeaseGrant {
    pub places: u64,
    /// For how long, counted from the question.
    pub life_us: u64,
    pub filed: Filed,
    /// When there may be more, if these were fewer than asked for.
    pub again_us: u64,
    /// Places that are free for others.
    pub free: u64,
    /// What it calls its memory of this limit.
    pub memory: u64,
    /// That is not what the question says: the store knows nothing of what happened before, and has given nothing.
    pub forgot: bool,
}

/// Whether a request may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Take {
    Taken,
    /// There is no place for so many microseconds.
    Refused(u64),
    /// The store has to say. The first of those who wait asks.
    Wait {
        asks: bool,
    },
}

/// The state. Times are microseconds of any clock of this gateway that does not go back.
#[derive(Debug, Default)]
pub(crate) struct Lease {
    window_us: u64,
    places: u64,
    expires_us: u64,
    /// Where the places are filed, and how many they were.
    filed: Option<(Filed, u64)>,
    refused_until_us: u64,
    /// Places are scarce: no question before this, or before enough requests have come.
    paused_until_us: u64,
    since_ask: u64,
    asked_at_us: Option<u64>,
    waiting: u64,
    /// Places that were free, and when the store last said so.
    free: u64,
    heard_at_us: Option<u64>,
    memory: u64,
    /// How long a place lasts that was asked for singly; 0 at first. Grows while answers come too late.
    single_us: u64,
    demand: Demand,
    own: LocalCount,
    share: Option<Share>,
}

/// What a gateway may take without the store.
#[derive(Clone, Copy, Debug)]
struct Share {
    since_us: u64,
    places: u64,
    /// The store is back, and until then it only gives within the share.
    settles_at_us: Option<u64>,
}

/// How many requests come, measured between questions.
#[derive(Debug, Default)]
struct Demand {
    requests: u64,
    since_us: u64,
    per_window: u64,
}

impl Terms {
    pub(crate) fn asks_singly(&self) -> bool {
        self.singly || self.limit < ASKED_SINGLY_BELOW * self.gateways.max(1)
    }

    /// This gateway's part of some places; the parts of all of them are all the places.
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
    pub(crate) fn take(&mut self, terms: &Terms, now_us: u64) -> Take {
        if self.window_us != terms.window_us {
            // What was counted of another window says nothing of this one.
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
        // A question that was never answered does not block for longer than a window.
        let asks = self.asked_at_us.is_none_or(|asked| now_us >= asked.saturating_add(terms.window_us));
        if asks {
            self.asked_at_us = Some(now_us);
        }
        Take::Wait { asks }
    }

    /// How long a gateway is over its share, while it has to keep to it although the store is back.
    fn over_share(&mut self, terms: &Terms, now_us: u64) -> Option<u64> {
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
    pub(crate) fn take_alone(&mut self, terms: &Terms, now_us: u64) -> Take {
        let leaves_us = self.own.forget(terms.window_us, now_us);
        // Of a store that has been back for a moment nothing new is known.
        self.share.iter_mut().for_each(|share| share.settles_at_us = None);
        if self.own.sum() >= self.share_places(terms, now_us) {
            return Take::Refused(leaves_us.max(1));
        }
        self.own.add(terms.window_us, now_us, false);
        Take::Taken
    }

    /// How many this gateway may use in a window without the store. For a window as the load was, so that all gateways together keep to
    /// the limit; after two an equal share for each, as nobody knows where the load is by then. In between whoever has more than that
    /// already goes down to it, so that there is room when the others go up.
    fn share_places(&mut self, terms: &Terms, now_us: u64) -> u64 {
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

    /// A request that took a place is refused for another reason.
    pub(crate) fn give_back(&mut self) {
        self.demand.requests = self.demand.requests.saturating_sub(1);
        if self.own.take_back() {
            // Never more than the lease had: it may be another one by now.
            self.places = self.filed.map_or(0, |(_, places)| places.min(self.places + 1));
        }
    }

    /// What to ask; only for who was told to.
    pub(crate) fn ask(&mut self, terms: &Terms, now_us: u64) -> Ask {
        let waiting = self.waiting.max(1);
        self.since_ask = 0;
        self.own.forget(terms.window_us, now_us);
        let back = self.filed.take().map(|(filed, places)| Back { filed, places, unused: self.places.min(places) });
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
            // Long enough for a question to be worth its while.
            let worth_us = u128::from(REQUESTS_PER_ASK) * u128::from(terms.window_us) / u128::from(self.demand.per_window.max(1));
            u64::try_from(worth_us).unwrap_or(u64::MAX).min(terms.window_us / 4).max(least_us)
        } else {
            least_us
        };
        let expected = u128::from(self.demand.per_window) * u128::from(scarce_us) / u128::from(terms.window_us.max(1));
        let expected = u64::try_from(expected).unwrap_or(u64::MAX).min(terms.limit);
        // A gateway never has much more than others could use meanwhile.
        let most = REQUESTS_PER_ASK.max(terms.limit / BUCKETS);
        let scarce = (expected * SCARCE_SHARE.0 / SCARCE_SHARE.1).min(most).max(waiting).min(left);
        let plenty = scarce.max(terms.limit / (PLENTY_PARTS * terms.gateways.max(1))).min(left);
        Ask { singly: false, scarce, plenty, scarce_us, plenty_us: terms.window_us / 2, memory, told, back }
    }

    /// What to tell the store, of what passed without it; nobody waits for the answer.
    pub(crate) fn tell(&mut self, terms: &Terms, now_us: u64) -> Option<Ask> {
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

    /// The store's answer to what was asked.
    pub(crate) fn answered(&mut self, terms: &Terms, ask: &Ask, answer: &LeaseGrant, now_us: u64) {
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
        // What is left of an older lease keeps its own end, which is sooner: it is given up for the sake of one number.
        self.places = answer.places;
        self.expires_us = asked_at_us.saturating_add(answer.life_us.max(1));
        if now_us.saturating_sub(asked_at_us) < self.single_us / 4 {
            self.single_us /= 2;
        }
        self.refused_until_us = if answer.places == 0 { now_us.saturating_add(answer.again_us.max(1)) } else { 0 };
        // Fewer than asked for: when they are used, others have had theirs as well.
        let is_short = answer.places < ask.scarce && !terms.asks_singly();
        self.paused_until_us = if is_short { now_us.saturating_add(terms.window_us / 2) } else { 0 };
    }

    /// An answer for which nobody waited any longer. Its places are given back with the next question.
    pub(crate) fn answered_late(&mut self, terms: &Terms, ask: &Ask, answer: &LeaseGrant, now_us: u64) {
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

    /// The question got no answer.
    pub(crate) fn unanswered(&mut self) {
        self.asked_at_us = None;
        self.waiting = 0;
    }

    /// Whether the store knows of everything.
    pub(crate) fn has_told(&self) -> bool {
        self.own.has_told()
    }

    /// Refuses a request if the store has said lately that there is no place.
    pub(crate) fn refuses(&mut self, now_us: u64) -> Option<u64> {
        let refuses = now_us < self.refused_until_us && (self.places == 0 || now_us >= self.expires_us);
        self.demand.requests += u64::from(refuses);
        refuses.then(|| self.refused_until_us - now_us)
    }

    /// Places that this gateway knows of, its own and those that were free when it asked last.
    pub(crate) fn room(&self, now_us: u64) -> u64 {
        let own = if now_us < self.expires_us { self.places } else { 0 };
        own + if now_us < self.refused_until_us { 0 } else { self.free }
    }
}

impl Demand {
    /// What was measured now, or the mean of that and before: a load that comes counts at once, one that goes is forgotten soon.
    fn measure(&mut self, terms: &Terms, now_us: u64) {
        let past_us = now_us.saturating_sub(self.since_us).max(1);
        // Over a while at least, or one early request would look like a flood.
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
