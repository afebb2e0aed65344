//! In which order a request asks the targets of its model.

use crate::llm_server::LlmServer;
use crate::routes::Way;
use crate::terms::Preference;
use crate::tries::Trip;
use tollgate_balance::{hash_bytes, mix, weighted_score};
use tollgate_llm::Usage;

/// Tokens of an answer, where costs of targets are compared.
const OUTPUT_TOKENS: u64 = 500;

impl LlmServer {
    /// The targets in the order in which a request asks them.
    pub(crate) fn in_order<'w>(&self, ways: Vec<&'w Way>, preference: Preference, trip: &Trip<'_>) -> Vec<&'w Way> {
        let now_ms = self.now_ms();
        let mut ranked: Vec<(&Way, Rank)> = ways
            .into_iter()
            .map(|way| {
                let health = || self.healths.get(way.provider).and_then(|healths| healths.of(trip.model(way)));
                let is_slow = self.terms.slow.is_some() && health().is_some_and(|health| health.is_passed_over(now_ms));
                let value = match preference {
                    Preference::Order => 0.0,
                    Preference::Cost => self.cost(trip, way),
                    Preference::Latency => health().map_or(0.0, |health| health.latency(trip.asked.streams(), now_ms)),
                };
                (way, Rank { is_slow, priority: way.priority, value })
            })
            .collect();
        ranked.sort_by(|(_, one), (_, other)| one.cmp(other));
        if preference == Preference::Order {
            self.draw(&mut ranked, trip.conversation);
        }
        ranked.into_iter().map(|(way, _)| way).collect()
    }

    /// Puts one by weight before the others that are as good.
    fn draw(&self, ranked: &mut [(&Way, Rank)], conversation: u64) {
        let Some(first) = ranked.first().map(|(_, rank)| *rank) else { return };
        let equals = ranked.iter().take_while(|(_, rank)| rank.cmp(&first).is_eq());
        let weighted = equals.map(|(way, _)| (self.hash_of(way), way.weight));
        if let Some(part) = drawn(weighted, conversation).and_then(|index| ranked.get_mut(..=index)) {
            part.rotate_right(1);
        }
    }

    /// A number of a target that is the same at all gateways.
    fn hash_of(&self, way: &Way) -> u64 {
        let provider = self.terms.providers.get(way.provider).map_or("", |provider| provider.name.as_str());
        hash_bytes(format!("{provider}/{}", way.model.as_deref().unwrap_or_default()).as_bytes())
    }

    /// What a request may cost at a target, by its price. Without a price, nobody knows.
    fn cost(&self, trip: &Trip<'_>, way: &Way) -> f64 {
        let usage = Usage { input: trip.need.tokens, output: OUTPUT_TOKENS, ..Usage::default() };
        self.prices.of(trip.model(way)).map_or(f64::MAX, |price| price.cost(&usage) as f64)
    }
}

/// Which of some targets, with a hash and a weight each, a conversation goes to; none without weights.
fn drawn(targets: impl Iterator<Item = (u64, u32)>, conversation: u64) -> Option<usize> {
    let weighted = targets.enumerate().filter(|(_, (_, weight))| *weight > 0);
    let scored = weighted.map(|(index, (hash, weight))| (index, weighted_score(mix(conversation ^ hash), weight)));
    scored.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(index, _)| index)
}

/// What decides who comes first, the most important first.
#[derive(Clone, Copy, Debug)]
struct Rank {
    is_slow: bool,
    priority: u32,
    value: f64,
}

impl Rank {
    fn cmp(&self, other: &Rank) -> std::cmp::Ordering {
        (self.is_slow, self.priority).cmp(&(other.is_slow, other.priority)).then(self.value.total_cmp(&other.value))
    }
}

#[cfg(test)]
mod tests {
    use super::{drawn, mix};

    #[test]
    fn targets_get_their_shares_and_a_conversation_moves_only_with_its_own() {
        let targets = [(mix(1), 1), (mix(2), 3), (mix(3), 0), (mix(4), 4)];
        let of = |targets: &[(u64, u32)], number: u64| drawn(targets.iter().copied(), mix(number));
        let mut counts = [0; 4];
        for number in 0..8_000 {
            let index = of(&targets, number).expect("one has a weight");
            counts[index] += 1;
            let fewer: Vec<(u64, u32)> = targets.iter().copied().take(3).collect();
            assert!(index == 3 || of(&fewer, number) == Some(index));
        }
        assert!((850..1_150).contains(&counts[0]) && (2_800..3_200).contains(&counts[1]) && counts[2] == 0, "{counts:?}");
        assert_eq!(drawn([(1, 0), (2, 0)].into_iter(), 7), None);
    }
}
