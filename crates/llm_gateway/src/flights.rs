//! Requests for the same answer: the first one asks, the others wait for what it keeps.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// Longest wait for another request: one that takes longer may never end.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Requests in flight, by their keys.
#[derive(Default)]
pub(crate) struct Flights(Mutex<HashMap<String, watch::Receiver<()>>>);

/// The request that asks for all. Dropped, the others go on.
pub(crate) struct FlightLead {
    flights: Arc<Flights>,
    key: String,
    _ends: watch::Sender<()>,
}

impl Flights {
    /// Asks for all with this key, or waits for whoever does; then there is no lead.
    pub(crate) async fn join(self: &Arc<Self>, key: &str) -> Option<FlightLead> {
        let mut other = {
            let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match flights.get(key) {
                Some(other) => other.clone(),
                None => {
                    let (ends, flight) = watch::channel(());
                    flights.insert(key.to_owned(), flight);
                    return Some(FlightLead { flights: self.clone(), key: key.to_owned(), _ends: ends });
                }
            }
        };
        // Nothing is ever sent: it ends when its sender is dropped.
        let _ = timeout(WAIT_MAX, other.changed()).await;
        None
    }
}

impl Drop for FlightLead {
    fn drop(&mut self) {
        self.flights.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

#[cfg(test)]
mod tests;
