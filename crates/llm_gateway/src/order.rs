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
        let equals = ranked.iter().take_while(|(_, rank)| rank.cmp(&first).is_eq()).enumerate();
        let weighted = equals.filter(|(_, (way, _))| way.weight > 0);
        let score = |way: &Way| weighted_score(mix(conversation ^ self.hash_of(way)), way.weight);
        let highest = weighted.max_by(|(_, (one, _)), (_, (other, _))| score(one).total_cmp(&score(other))).map(|(index, _)| index);
        if let Some(part) = highest.and_then(|index| ranked.get_mut(..=index)) {
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
