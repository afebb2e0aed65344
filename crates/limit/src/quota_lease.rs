//! One gateway's share of a quota that several gateways use together: the requests that the store has granted in advance. Exact: the store
//! never grants more than the quota, unused requests are returned, and when little is left each request asks. Pure logic, like `lease`.
//!
//! A budget is a quota of units other than requests, such as tokens. What a request costs is known only at its end: it takes what it may cost,
//! gives back the rest, or is charged more.

/// With less than this left per gateway, every request asks.
const ASKED_SINGLY_BELOW: i64 = 100;
/// Most requests granted in advance.
pub(crate) const LEASE_MAX: i64 = 1_000;
/// All gateways together hold at most one in this many remaining requests in advance.
const PARTS: i64 = 10;
/// Leased requests are returned after this idle time.
pub(crate) const IDLE_US: u64 = 1_000_000;
/// How long a refusal holds without asking: another gateway may return something, and an operator may reset the quota.
const REFUSED_FOR_US: u64 = 100_000;
/// Time after which a question counts as lost.
const LOST_AFTER_US: u64 = 1_000_000;
/// The store tells how long a period still takes, in milliseconds, so two answers name its end with this difference at most.
const SAME_END_MS: i64 = 1_000;

/// A quota as all gateways know it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuotaTerms {
    pub max: i64,
    /// Length of a period that begins now; 0 or less for one without end.
    pub renewal_ms: i64,
    pub gateways: u64,
    /// Most units granted in advance.
    pub lease_max: i64,
    /// Idle time after which leased units are returned.
    pub idle_us: u64,
}

/// A question to the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuotaAsk {
    pub want: i64,
    /// How many of `want` have passed already, without the store.
    pub told: i64,
    /// Requests that were granted before and will not be used.
    pub unused: i64,
    /// The period of that grant.
    pub period: QuotaPeriod,
}

/// A period of a quota, as the store knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuotaPeriod {
    /// The renewal time on the store's clock, in Unix milliseconds. -1 for never.
    pub ends_ms: i64,
    /// When the counter began: a reset within a period begins another one. 0 where nobody knows, as of counters that an earlier version made.
    pub generation: i64,
}

/// The store's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QuotaAnswer {
    pub granted: i64,
    /// Remainder for all gateways; negative if more was used than there was.
    pub left: i64,
    /// Time until the quota renews; negative for never.
    pub renews_ms: i64,
    /// The present period.
    pub period: QuotaPeriod,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuotaTake {
    /// So many units.
    Taken(i64),
    Refused,
    /// The store must answer. The first of the waiting requests asks.
    Wait {
        asks: bool,
    },
}

/// What to do about a quota that may not be in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settlement {
    Nothing,
    /// Some of it is leased and in use.
    Later,
    Tell(QuotaAsk),
}

/// State of a quota lease. Times are microseconds of any monotonic clock of this gateway.
#[derive(Debug, Default)]
pub(crate) struct QuotaLease {
    own: i64,
    used_at_us: u64,
    /// Remainder for all gateways when the store last answered; `None` before the first answer.
    left: Option<i64>,
    /// When the quota renews; `None` for never.
    renews_at_us: Option<u64>,
    period: QuotaPeriod,
    /// The generation that was reset last: what the store has granted of it is void, also if its answer comes later.
    void: Option<i64>,
    refused_until_us: u64,
    asked_at_us: Option<u64>,
    waiting: i64,
    since_ask: i64,
    /// Requests that passed while the store did not answer.
    alone: i64,
    /// Requests to return with the next question.
    unused: i64,
}

/// How long a counter of a budget lasts that begins now, in milliseconds, by a clock that may differ from others by two seconds: one that begins so
/// shortly before its period's end lasts to the end of the next one. A gateway whose clock is late would begin the same period twice otherwise.
pub(crate) fn renewal_ms(ends_ms: i64, next_ends_ms: i64, now_ms: i64) -> i64 {
    const SKEW_MS: i64 = 2_000;
    let left_ms = ends_ms.saturating_sub(now_ms);
    if left_ms > SKEW_MS { left_ms } else { next_ends_ms.saturating_sub(now_ms).max(1) }
}

impl QuotaLease {
    /// Takes `want` units. If the store has no more, it takes what is left, but no less than `least`.
    pub(crate) fn take(&mut self, least: i64, want: i64, now_us: u64) -> QuotaTake {
        self.since_ask = self.since_ask.saturating_add(want);
        self.begin(now_us);
        if self.own >= want {
            self.own -= want;
            return QuotaTake::Taken(want);
        }
        if now_us < self.refused_until_us {
            return match self.own {
                own if own >= least => QuotaTake::Taken(std::mem::take(&mut self.own)),
                _ => QuotaTake::Refused,
            };
        }
        self.waiting = self.waiting.saturating_add(want);
        let asks = self.asked_at_us.is_none_or(|asked| now_us >= asked.saturating_add(LOST_AFTER_US));
        if asks {
            self.asked_at_us = Some(now_us);
        }
        QuotaTake::Wait { asks }
    }

    /// Notes a use, in a new period if the last one is over: its grants are void.
    fn begin(&mut self, now_us: u64) {
        self.used_at_us = now_us;
        if self.has_renewed(now_us) {
            *self = QuotaLease {
                asked_at_us: self.asked_at_us,
                waiting: self.waiting,
                used_at_us: now_us,
                void: self.void,
                ..QuotaLease::default()
            };
        }
    }

    /// Makes a question; only for the caller that was told to ask.
    pub(crate) fn ask(&mut self, terms: &QuotaTerms) -> QuotaAsk {
        let gateways = i64::try_from(terms.gateways.max(1)).unwrap_or(i64::MAX);
        // What is here already need not be asked for.
        let waiting = self.waiting.saturating_sub(self.own).max(1);
        let has_plenty = self.left.is_some_and(|left| left >= ASKED_SINGLY_BELOW.saturating_mul(gateways));
        // As many as were needed since the last question, and more: questions about an active quota become ever rarer.
        let ahead =
            self.since_ask.saturating_mul(2).min(terms.lease_max).min(self.left.unwrap_or(0) / PARTS.saturating_mul(gateways));
        self.since_ask = 0;
        let want = if has_plenty { waiting.max(ahead) } else { waiting };
        self.tell(want)
    }

    /// Makes a question for `want` requests that also reports requests that passed without the store.
    fn tell(&mut self, want: i64) -> QuotaAsk {
        let (told, unused) = (std::mem::take(&mut self.alone), std::mem::take(&mut self.unused));
        QuotaAsk { want: want.saturating_add(told), told, unused, period: self.period }
    }

    pub(crate) fn answered(&mut self, ask: &QuotaAsk, answer: &QuotaAnswer, now_us: u64) {
        self.asked_at_us = None;
        self.waiting = 0;
        if self.is_void(answer) {
            // The question was there before the reset. Those who wait ask anew.
            return;
        }
        self.settled(ask, answer, now_us);
        let is_short = answer.granted < ask.want;
        self.refused_until_us = if is_short { now_us.saturating_add(REFUSED_FOR_US) } else { 0 };
    }

    /// Applies an answer for which nobody waits.
    pub(crate) fn settled(&mut self, ask: &QuotaAsk, answer: &QuotaAnswer, now_us: u64) {
        if self.is_void(answer) {
            return;
        }
        if answer.period.generation != self.period.generation {
            // Somebody has reset the counter: what it had granted counts for nothing.
            (self.own, self.unused) = (0, 0);
        }
        self.own += (answer.granted - ask.told).max(0);
        self.left = Some(answer.left);
        // The store rounds down: in the last millisecond the period is not over yet.
        self.renews_at_us = u64::try_from(answer.renews_ms).ok().map(|ms| now_us.saturating_add(ms.max(1).saturating_mul(1_000)));
        self.period = answer.period;
    }

    /// Applies an answer to a question that nobody asked for units.
    pub(crate) fn heard(&mut self, answer: &QuotaAnswer, now_us: u64) {
        self.settled(&QuotaAsk::default(), &QuotaAnswer { granted: 0, ..*answer }, now_us);
        self.refused_until_us = 0;
    }

    /// Applies an answer to a question that seemed lost.
    pub(crate) fn answered_late(&mut self, ask: &QuotaAsk, answer: &QuotaAnswer, now_us: u64) {
        self.alone = (self.alone - ask.told).max(0);
        self.settled(ask, answer, now_us);
    }

    /// Handles a question without an answer. The store may have received it: requests that passed without the store are reported again, and
    /// returned ones are not, because too little of a quota is better than too much.
    pub(crate) fn unanswered(&mut self, ask: Option<&QuotaAsk>) {
        self.asked_at_us = None;
        self.waiting = 0;
        self.alone += ask.map_or(0, |ask| ask.told);
    }

    /// Takes units without the store, as [`QuotaLease::take`]; `None` if there are too few. A gateway may take half its share of the last known
    /// remainder, because others have used some since; for an unknown quota, half its share of the whole quota.
    pub(crate) fn take_alone(&mut self, terms: &QuotaTerms, least: i64, want: i64) -> Option<i64> {
        let gateways = i64::try_from(terms.gateways.max(1)).unwrap_or(i64::MAX);
        let left = self.left.unwrap_or(terms.max) / gateways.saturating_mul(2) - self.alone;
        let taken = want.min(left);
        if taken < least.max(1) {
            return None;
        }
        self.alone += taken;
        Some(taken)
    }

    /// Takes back units that a request does not use. If they were taken without the store, or in a previous period, the store has nothing to get
    /// back.
    pub(crate) fn give_back(&mut self, units: i64, now_us: u64, is_silent: bool) {
        let alone = units.min(self.alone);
        self.alone -= alone;
        if !is_silent && !self.has_renewed(now_us) && units > alone {
            self.own += units - alone;
            self.refused_until_us = 0;
        }
    }

    /// Takes back units that were taken in that period.
    pub(crate) fn give_back_of(&mut self, period: QuotaPeriod, units: i64, now_us: u64) {
        if self.is_period(period) {
            self.give_back(units, now_us, false);
        }
    }

    /// The counter was reset: what the store has granted, and may still answer of before, is void, and what was not told yet counts for nothing.
    pub(crate) fn reset(&mut self) {
        if self.period.generation != 0 {
            self.void = Some(self.period.generation);
        }
        (self.own, self.unused, self.alone, self.left, self.refused_until_us) = (0, 0, 0, None, 0);
    }

    fn is_void(&self, answer: &QuotaAnswer) -> bool {
        self.void == Some(answer.period.generation)
    }

    /// Charges units that were used although nobody had taken them.
    pub(crate) fn charge(&mut self, units: i64, now_us: u64) {
        self.begin(now_us);
        self.since_ask = self.since_ask.saturating_add(units);
        let own = units.min(self.own);
        self.own -= own;
        self.alone = self.alone.saturating_add(units - own);
    }

    /// The present period.
    pub(crate) fn period(&self) -> QuotaPeriod {
        self.period
    }

    fn is_period(&self, period: QuotaPeriod) -> bool {
        let apart_ms = self.period.ends_ms.saturating_sub(period.ends_ms).saturating_abs();
        self.left.is_some() && apart_ms < SAME_END_MS && self.period.generation == period.generation
    }

    /// Handles a changed session, which may have reset the quota: grants are returned and requested again.
    pub(crate) fn revise(&mut self) {
        self.unused += std::mem::take(&mut self.own);
        self.refused_until_us = 0;
    }

    /// Handles a quota that has become larger by so much: what was granted or refused before is asked anew.
    pub(crate) fn resize(&mut self, more: i64) {
        self.revise();
        self.left = self.left.map(|left| left.saturating_add(more));
    }

    /// Decides what to return and to report: grants that nobody has used recently, or everything, and requests that passed without the
    /// store.
    pub(crate) fn settle(&mut self, terms: &QuotaTerms, now_us: u64, everything: bool) -> Settlement {
        if self.has_renewed(now_us) {
            return Settlement::Nothing;
        }
        if everything || now_us >= self.used_at_us.saturating_add(terms.idle_us) {
            self.unused += std::mem::take(&mut self.own);
        }
        if self.unused > 0 || self.alone > 0 {
            return Settlement::Tell(self.tell(0));
        }
        if self.own > 0 { Settlement::Later } else { Settlement::Nothing }
    }

    /// Whether something is leased or must be reported.
    pub(crate) fn is_open(&self) -> bool {
        self.own > 0 || self.alone > 0 || self.unused > 0
    }

    fn has_renewed(&self, now_us: u64) -> bool {
        self.renews_at_us.is_some_and(|renews| now_us >= renews)
    }

    /// Known remainder for all gateways, and the seconds until it renews.
    pub(crate) fn view(&self, now_us: u64) -> Option<(i64, Option<u64>)> {
        let left = self.left?;
        let renews_s = match self.renews_at_us {
            Some(renews) if now_us >= renews => return None,
            Some(renews) => Some((renews - now_us).div_ceil(1_000_000)),
            None => None,
        };
        Some((left + self.own + self.unused - self.alone, renews_s))
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
