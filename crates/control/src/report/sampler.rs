//! What happened between two looks at the counters: the figures of all APIs together, and of each that was called.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tollgate_data::gateway_state::GatewayState;
use tollgate_observe::Meter;
use tollgate_statistics::Figures;

/// Remembers the counters as they were at the last look.
#[derive(Clone)]
pub struct Sampler {
    /// By API; only those that were ever called.
    last: HashMap<String, Figures>,
    at: Instant,
}

/// What happened between two looks.
pub struct FiguresSample {
    pub time: Duration,
    pub totals: Figures,
    /// APIs to which something happened.
    pub apis: Vec<(String, Figures)>,
    /// The meters of these APIs.
    pub meters: HashMap<String, Arc<Meter>>,
}

impl Default for Sampler {
    fn default() -> Self {
        Sampler::new()
    }
}

impl Sampler {
    /// Counts from the start of the process.
    pub fn new() -> Self {
        Sampler { last: HashMap::new(), at: Instant::now() }
    }

    /// What happened since the last look.
    pub fn sample(&mut self, shared: &GatewayState) -> FiguresSample {
        let time = self.at.elapsed();
        self.at = Instant::now();
        let mut sample = FiguresSample { time, totals: Figures::default(), apis: Vec::new(), meters: HashMap::new() };
        let mut seen = HashMap::with_capacity(self.last.len());
        for meter in shared.registry.meters.all() {
            let Some(now) = meter.figures() else { continue };
            let since = self.last.get(&meter.api).map_or_else(|| now.clone(), |last| now.since(last));
            sample.totals.add(&since);
            if !since.is_idle() {
                sample.apis.push((meter.api.clone(), since));
                sample.meters.insert(meter.api.clone(), meter.clone());
            }
            seen.insert(meter.api.clone(), now);
        }
        // An API that is gone is forgotten; if it comes back, its counters start again.
        self.last = seen;
        sample
    }
}

/// Name of an API.
pub fn api_name(shared: &GatewayState, api: &str) -> String {
    let snapshot = shared.current.load();
    snapshot.api_by_id(api).and_then(|index| snapshot.apis.get(index)).map(|api| api.name.clone()).unwrap_or_default()
}
