//! One gateway's part of a quota that several gateways use up: what the store has given it in advance. Exact: never more than the quota is
//! given, what is not used is given back, and when little is left each request asks. Pure, as `lease` is.

/// With less than this left for each gateway, every request asks.
const ASKED_SINGLY_BELOW: i64 = 100;
/// Most that is given in advance.
const LEASE_MAX: i64 = 1_000;
/// Of what is left, all gateways together have at most this part in advance.
const PARTS: i64 = 10;
/// What nobody has used for this long is given back.
const IDLE_US: u64 = 1_000_000;
/// For which a refusal holds without asking: another gateway may give something back, and an operator may reset the quota.
const REFUSED_FOR_US: u64 = 100_000;
/// After which a question counts as lost.
const LOST_AFTER_US: u64 = 1_000_000;

/// A quota as all gateways know it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuotaTerms {
    pub max: i64,
    pub renewal_s: i64,
    pub gateways: u64,
}

/// What is asked of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QuotaAsk {
    pub want: i64,
    /// How many of those have passed already, without the store.
    pub told: i64,
    /// What was given before and will not be used.
    pub unused: i64,
    /// The period in which it was given, as [`QuotaAnswer::ends_ms`].
    pub ends_ms: i64,
}

/// What the store answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QuotaAnswer {
    pub granted: i64,
    /// For everybody.
    pub left: i64,
    /// Until it renews; negative for never.
    pub renews_ms: i64,
    /// The same on the store's clock, milliseconds since 1970: what the period is known by. -1 for never.
    pub ends_ms: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuotaTake {
    Taken,
    Refused,
    /// The store has to say. The first of those who wait asks.
    Wait {
        asks: bool,
    },
}

/// What is to be done about a quota that may not be in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settlement {
    Nothing,
    /// Some of it is leased and in use.
    Later,
    Tell(QuotaAsk),
}

/// The state. Times are microseconds of any clock of this gateway that does not go back.
#[derive(Debug, Default)]
pub(crate) struct QuotaLease {
    own: i64,
    used_at_us: u64,
    /// Of all gateways, when it was last heard of; `None` before.
    left: Option<i64>,
    /// When it renews; `None` for never.
    renews_at_us: Option<u64>,
    ends_ms: i64,
    refused_until_us: u64,
    asked_at_us: Option<u64>,
    waiting: i64,
    since_ask: i64,
    /// Let pass while the store did not answer.
    alone: i64,
    /// To be given back with the next question.
    unused: i64,
}

impl QuotaLease {
    pub(crate) fn take(&mut self, now_us: u64) -> QuotaTake {
        self.since_ask += 1;
        self.used_at_us = now_us;
        if self.has_renewed(now_us) {
            // What was given counts for nothing any longer.
            *self =
                QuotaLease { asked_at_us: self.asked_at_us, waiting: self.waiting, used_at_us: now_us, ..QuotaLease::default() };
        }
        if self.own > 0 {
            self.own -= 1;
            return QuotaTake::Taken;
        }
        if now_us < self.refused_until_us {
            return QuotaTake::Refused;
        }
        self.waiting += 1;
        let asks = self.asked_at_us.is_none_or(|asked| now_us >= asked.saturating_add(LOST_AFTER_US));
        if asks {
            self.asked_at_us = Some(now_us);
        }
        QuotaTake::Wait { asks }
    }

    /// What to ask; only for who was told to.
    pub(crate) fn ask(&mut self, terms: &QuotaTerms) -> QuotaAsk {
        let gateways = i64::try_from(terms.gateways.max(1)).unwrap_or(i64::MAX);
        let waiting = self.waiting.max(1);
        let has_plenty = self.left.is_some_and(|left| left >= ASKED_SINGLY_BELOW.saturating_mul(gateways));
        // As many as were needed since the last time, and some more: a quota in use is asked for ever less often.
        let ahead = self.since_ask.saturating_mul(2).min(LEASE_MAX).min(self.left.unwrap_or(0) / PARTS.saturating_mul(gateways));
        self.since_ask = 0;
        let want = if has_plenty { waiting.max(ahead) } else { waiting };
        self.tell(want)
    }

    /// A question for so many, and for what passed without the store.
    fn tell(&mut self, want: i64) -> QuotaAsk {
        let (told, unused) = (std::mem::take(&mut self.alone), std::mem::take(&mut self.unused));
        QuotaAsk { want: want.saturating_add(told), told, unused, ends_ms: self.ends_ms }
    }

    pub(crate) fn answered(&mut self, ask: &QuotaAsk, answer: &QuotaAnswer, now_us: u64) {
        self.asked_at_us = None;
        self.waiting = 0;
        self.settled(ask, answer, now_us);
        self.refused_until_us = if self.own == 0 { now_us.saturating_add(REFUSED_FOR_US) } else { 0 };
    }

    /// The same when nobody waits for the answer.
    pub(crate) fn settled(&mut self, ask: &QuotaAsk, answer: &QuotaAnswer, now_us: u64) {
        self.own += (answer.granted - ask.told).max(0);
        self.left = Some(answer.left);
        self.renews_at_us = u64::try_from(answer.renews_ms).ok().map(|ms| now_us.saturating_add(ms.saturating_mul(1_000)));
        self.ends_ms = answer.ends_ms;
    }

    /// An answer to a question that seemed lost.
    pub(crate) fn answered_late(&mut self, ask: &QuotaAsk, answer: &QuotaAnswer, now_us: u64) {
        self.alone = (self.alone - ask.told).max(0);
        self.settled(ask, answer, now_us);
    }

    /// The question got no answer. It may have been heard: what passed without the store is told again, and what was given back is not,
    /// as too little of a quota is better than too much.
    pub(crate) fn unanswered(&mut self, ask: Option<&QuotaAsk>) {
        self.asked_at_us = None;
        self.waiting = 0;
        self.alone += ask.map_or(0, |ask| ask.told);
    }

    /// Without the store a gateway takes half its share of what was left when it was last heard of, as others have used some since; of an
    /// unknown quota, of all of it.
    pub(crate) fn take_alone(&mut self, terms: &QuotaTerms) -> bool {
        let gateways = i64::try_from(terms.gateways.max(1)).unwrap_or(i64::MAX);
        let passes = self.alone < self.left.unwrap_or(terms.max) / gateways.saturating_mul(2);
        self.alone += i64::from(passes);
        passes
    }

    /// A request that took one is refused for another reason. What was taken without the store, or of a period that is over, was never the
    /// store's to have back.
    pub(crate) fn give_back(&mut self, now_us: u64, is_silent: bool) {
        if self.alone > 0 {
            self.alone -= 1;
        } else if !is_silent && !self.has_renewed(now_us) {
            self.own += 1;
            self.refused_until_us = 0;
        }
    }

    /// The session has changed, and the quota may have been reset: what was given of it is offered back, and asked for anew.
    pub(crate) fn revise(&mut self) {
        self.unused += std::mem::take(&mut self.own);
        self.refused_until_us = 0;
    }

    /// What nobody has used lately, or everything, is to be given back, and what passed without the store to be told.
    pub(crate) fn settle(&mut self, now_us: u64, everything: bool) -> Settlement {
        if self.has_renewed(now_us) {
            return Settlement::Nothing;
        }
        if everything || now_us >= self.used_at_us.saturating_add(IDLE_US) {
            self.unused += std::mem::take(&mut self.own);
        }
        if self.unused > 0 || self.alone > 0 {
            return Settlement::Tell(self.tell(0));
        }
        if self.own > 0 { Settlement::Later } else { Settlement::Nothing }
    }

    /// Whether something is leased or has to be told.
    pub(crate) fn is_open(&self) -> bool {
        self.own > 0 || self.alone > 0 || self.unused > 0
    }

    fn has_renewed(&self, now_us: u64) -> bool {
        self.renews_at_us.is_some_and(|renews| now_us >= renews)
    }

    /// What is left for everybody as far as is known, and the seconds until it renews.
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
mod tests;
