//! What records need to know of an API. It is compiled with the API and outlives it until the last record of it was seen.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tollgate_model::api::ApiDefinition;

/// Says after how many seconds an organisation wants its records forgotten, by its id; not more than 0 leaves it to the API.
pub type DataAges = Box<dyn Fn(&str) -> i64 + Send + Sync>;

/// One version of one API's facts.
#[derive(Clone, Debug, Default)]
pub struct ApiFacts {
    pub serial: u64,
    pub id: String,
    pub name: String,
    pub org_id: String,
    pub listen_path: String,
    /// Seconds after which records of it may be forgotten; 0 for never.
    pub expire_after_s: i64,
    /// Lower case.
    pub tag_headers: Vec<String>,
    /// Whole requests and responses are recorded.
    pub detailed: bool,
    /// Traces have a span for each middleware.
    pub detailed_tracing: bool,
    /// Nothing is recorded.
    pub do_not_track: bool,
    /// Header, query parameter and cookie that carry keys.
    pub secrets: Secrets,
}

/// Where an API's requests carry secrets, all lower case.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    pub headers: Vec<String>,
    pub parameters: Vec<String>,
}

/// All facts, by serial.
#[derive(Default)]
pub struct Directory {
    facts: Mutex<HashMap<u64, Arc<ApiFacts>>>,
    next: AtomicU64,
    data_ages: OnceLock<DataAges>,
}

impl Directory {
    /// The facts of a definition.
    pub fn add(&self, definition: &ApiDefinition, listen_path: &str) -> Arc<ApiFacts> {
        let serial = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let places = || std::iter::once(&definition.auth).chain(definition.auth_configs.values());
        let always = ["authorization", "cookie", "proxy-authorization"].into_iter();
        let headers = always.chain(places().filter_map(|place| place.header()));
        let facts = Arc::new(ApiFacts {
            serial,
            id: definition.api_id.clone(),
            name: definition.name.clone(),
            org_id: definition.org_id.clone(),
            listen_path: listen_path.to_owned(),
            expire_after_s: definition.expire_analytics_after,
            tag_headers: definition.tag_headers.iter().map(|name| name.to_ascii_lowercase()).collect(),
            detailed: definition.enable_detailed_recording,
            detailed_tracing: definition.detailed_tracing,
            do_not_track: definition.do_not_track,
            secrets: Secrets {
                headers: headers.map(str::to_ascii_lowercase).collect(),
                parameters: places().filter_map(|place| place.param()).map(str::to_ascii_lowercase).collect(),
            },
        });
        self.facts.lock().unwrap_or_else(PoisonError::into_inner).insert(serial, facts.clone());
        facts
    }

    /// The facts as they are now; whoever keeps them asks again from time to time.
    pub fn get(&self, serial: u64) -> Option<Arc<ApiFacts>> {
        let facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner).get(&serial).cloned()?;
        let data_age_s = self.data_ages.get().map_or(0, |ages| ages(&facts.org_id));
        Some(if data_age_s > 0 { Arc::new(ApiFacts { expire_after_s: data_age_s, ..(*facts).clone() }) } else { facts })
    }

    /// From now on records expire as their organisations want it.
    pub fn enforce_data_ages(&self, data_ages: DataAges) {
        let _ = self.data_ages.set(data_ages);
    }

    /// Forgets what nobody else holds and was in `idle` already; the answer is what to ask with next time. In between all records
    /// that knew it were seen.
    pub fn purge(&self, idle: &[u64]) -> Vec<u64> {
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        let unused: Vec<u64> = facts.values().filter(|own| Arc::strong_count(own) == 1).map(|own| own.serial).collect();
        let (gone, new): (Vec<u64>, Vec<u64>) = unused.into_iter().partition(|serial| idle.contains(serial));
        gone.iter().for_each(|serial| drop(facts.remove(serial)));
        new
    }
}
