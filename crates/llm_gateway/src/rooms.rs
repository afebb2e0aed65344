//! What one key of a provider may still ask of each model, as the provider's answers tell it, so that a request without room goes elsewhere before it is
//! refused. The clock is the caller's.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tollgate_llm::{RateLimits, Window};

/// Most models with limits of their own: clients write the names of those that a pattern admits.
const MODELS_MAX: usize = 1_000;
/// The longest time for which a provider's own word is taken: a wrong one must not shut a key out for a day.
const WAIT_MS_MAX: u64 = 600_000;
/// For how long a key rests whose provider says "too many" and nothing else.
const SILENT_WAIT_MS: u64 = 1_000;
/// When a limit is whole again whose provider does not tell it: nearly all are for a minute.
const USUAL_RESET_MS: u64 = 60_000;

/// What a request takes of limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Need {
    /// Tokens of its prompt, rather too few: a request that would have fitted must not be held back.
    pub tokens: u64,
}

/// What a request has taken, which tells its answer apart from what was sent after it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ticket {
    requests: u64,
    tokens: u64,
}

/// The limits of one key, by models.
#[derive(Debug, Default)]
pub(crate) struct Rooms(Mutex<HashMap<String, Room>>);

/// The limits of one model.
#[derive(Clone, Copy, Debug, Default)]
struct Room {
    /// Until when the provider wants no requests at all.
    until_ms: u64,
    requests: Level,
    tokens: Level,
    /// Of prompts alone.
    input_tokens: Level,
    /// Requests and tokens that were sent, since this is known.
    sent: Ticket,
}

/// One limit: what is left, which grows back evenly, as providers document it.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    is_known: bool,
    limit: Option<u64>,
    left: i64,
    at_ms: u64,
    whole_at_ms: u64,
}

impl Rooms {
    /// Milliseconds until there is room for a request.
    pub(crate) fn wait_ms(&self, model: &str, need: Need, now_ms: u64) -> u64 {
        self.rooms().get(model).map_or(0, |room| room.wait_ms(need, now_ms))
    }

    /// Notes that a request is sent.
    pub(crate) fn send(&self, model: &str, need: Need, now_ms: u64) -> Ticket {
        let mut rooms = self.rooms();
        let Some(room) = rooms.get_mut(model) else { return Ticket::default() };
        room.sent.requests += 1;
        room.sent.tokens += need.tokens;
        room.requests.take(1, now_ms);
        room.tokens.take(need.tokens, now_ms);
        room.input_tokens.take(need.tokens, now_ms);
        room.sent
    }

    /// Notes what the answer to a request says of limits. Returns for how many milliseconds the model rests from now on, if that is new.
    pub(crate) fn learn(&self, model: &str, ticket: Ticket, limits: &RateLimits, is_refused: bool, now_ms: u64) -> Option<u64> {
        let windows = [limits.requests, limits.tokens, limits.input_tokens];
        let tells = windows.iter().any(|window| window.remaining.is_some());
        if !tells && !is_refused {
            return None;
        }
        let mut rooms = self.rooms();
        make_room(&mut rooms, model, now_ms);
        let room = rooms.entry(model.to_owned()).or_default();
        // Whatever was sent after this request may not be in what its answer tells.
        let later = (room.sent.requests.saturating_sub(ticket.requests), room.sent.tokens.saturating_sub(ticket.tokens));
        room.requests.learn(limits.requests, later.0, now_ms);
        room.tokens.learn(limits.tokens, later.1, now_ms);
        room.input_tokens.learn(limits.input_tokens, later.1, now_ms);
        if !is_refused {
            return None;
        }
        // One that is refused for its own size leaves room for others, which the provider tells.
        let wait_ms = limits.retry_after_ms.unwrap_or(if tells { 0 } else { SILENT_WAIT_MS }).min(WAIT_MS_MAX);
        let is_new = room.until_ms <= now_ms;
        room.until_ms = room.until_ms.max(now_ms + wait_ms);
        is_new.then_some(wait_ms)
    }

    /// Another gateway was refused.
    pub(crate) fn rest(&self, model: &str, wait_ms: u64, now_ms: u64) {
        let mut rooms = self.rooms();
        make_room(&mut rooms, model, now_ms);
        let room = rooms.entry(model.to_owned()).or_default();
        room.until_ms = room.until_ms.max(now_ms + wait_ms.min(WAIT_MS_MAX));
    }

    fn rooms(&self) -> MutexGuard<'_, HashMap<String, Room>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes place for one more model: what is whole again is forgotten, else what is so first.
fn make_room(rooms: &mut HashMap<String, Room>, model: &str, now_ms: u64) {
    if rooms.len() < MODELS_MAX || rooms.contains_key(model) {
        return;
    }
    rooms.retain(|_, room| room.whole_at_ms() > now_ms);
    if rooms.len() >= MODELS_MAX
        && let Some(first) = rooms.iter().min_by_key(|(_, room)| room.whole_at_ms()).map(|(name, _)| name.clone())
    {
        rooms.remove(&first);
    }
}

impl Room {
    fn wait_ms(&self, need: Need, now_ms: u64) -> u64 {
        let levels = [(self.requests, 1), (self.tokens, need.tokens), (self.input_tokens, need.tokens)];
        let wait_ms = levels.iter().map(|(level, need)| level.wait_ms(*need, now_ms)).max().unwrap_or(0);
        wait_ms.max(self.until_ms.saturating_sub(now_ms))
    }

    fn whole_at_ms(&self) -> u64 {
        self.until_ms.max(self.requests.whole_at_ms).max(self.tokens.whole_at_ms).max(self.input_tokens.whole_at_ms)
    }
}

impl Level {
    fn learn(&mut self, window: Window, sent_later: u64, now_ms: u64) {
        let Some(remaining) = window.remaining else { return };
        let reset_ms = window.reset_ms.unwrap_or(USUAL_RESET_MS).min(WAIT_MS_MAX);
        *self = Level {
            is_known: true,
            limit: window.limit.or(self.limit),
            left: signed(remaining).saturating_sub(signed(sent_later)),
            at_ms: now_ms,
            whole_at_ms: now_ms + reset_ms,
        };
    }

    fn take(&mut self, amount: u64, now_ms: u64) {
        if self.is_known && now_ms < self.whole_at_ms {
            self.left = self.left.saturating_sub(signed(amount));
        }
    }

    /// What has grown back since the last word.
    fn grown(&self, now_ms: u64) -> i64 {
        let missing = self.missing();
        let time_ms = self.whole_at_ms.saturating_sub(self.at_ms).max(1);
        let passed_ms = now_ms.saturating_sub(self.at_ms).min(time_ms);
        i64::try_from(i128::from(missing) * i128::from(passed_ms) / i128::from(time_ms)).unwrap_or(i64::MAX)
    }

    /// What is missing of the whole.
    fn missing(&self) -> i64 {
        self.limit.map_or(0, |limit| signed(limit).saturating_sub(self.left).max(0))
    }

    fn wait_ms(&self, need: u64, now_ms: u64) -> u64 {
        if !self.is_known || now_ms >= self.whole_at_ms {
            return 0;
        }
        // What is larger than the whole is the provider's to refuse.
        let need = signed(self.limit.map_or(need, |limit| need.min(limit)));
        let short = need.saturating_sub(self.left).saturating_sub(self.grown(now_ms));
        if short <= 0 {
            return 0;
        }
        let missing = self.missing();
        let time_ms = self.whole_at_ms.saturating_sub(self.at_ms);
        if missing == 0 {
            return self.whole_at_ms - now_ms;
        }
        // Rounded up, so that nobody comes too early.
        let short = i128::from(need.saturating_sub(self.left));
        let at = (short * i128::from(time_ms)).div_euclid(i128::from(missing)) + 1;
        (self.at_ms + u64::try_from(at).unwrap_or(time_ms).min(time_ms)).saturating_sub(now_ms).max(1)
    }
}

fn signed(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
