//! Hosts that get a certificate when a client first names them: who asks, and who waits for the answer. Data threads ask; nothing here blocks.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tollgate_clock::MonoTime;
use tollgate_model::config::AcmeSettings;

/// Hosts that are asked for at a time.
const ASKED_MAX: usize = 1_000;
/// Hosts that are remembered because they get none.
const REFUSED_MAX: usize = 10_000;
/// For how long.
const REFUSED_TIME: Duration = Duration::from_secs(600);

/// Ends when a host has a certificate, or will not have one.
pub type HostAnswer = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Takes hosts from those who serve clients to those who order certificates.
pub struct HostDesk {
    settings: AcmeSettings,
    state: Mutex<DeskState>,
    asked: Notify,
}

#[derive(Default)]
struct DeskState {
    /// Hosts that somebody waits for. The sender's end is the answer.
    waited_for: HashMap<String, watch::Sender<()>>,
    /// Those that nobody works on yet.
    new: Vec<String>,
    refused: HashMap<String, MonoTime>,
}

impl HostDesk {
    /// A desk for the hosts that the settings allow.
    pub fn new(settings: AcmeSettings) -> Self {
        HostDesk { settings, state: Mutex::default(), asked: Notify::new() }
    }

    /// What a client of a host waits for; `None` if the host gets no certificate.
    pub fn wait_for(&self, host: &str) -> Option<HostAnswer> {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        if !self.settings.is_on_demand(&host) {
            return None;
        }
        let mut state = self.lock();
        let now = MonoTime::now();
        if state.refused.get(&host).is_some_and(|until| now < *until) {
            return None;
        }
        let mut answer = match state.waited_for.get(&host) {
            Some(sender) => sender.subscribe(),
            None if state.waited_for.len() >= ASKED_MAX => return None,
            None => {
                let (sender, answer) = watch::channel(());
                state.new.push(host.clone());
                state.waited_for.insert(host, sender);
                self.asked.notify_one();
                answer
            }
        };
        Some(Box::pin(async move {
            // The end of the sender is an error, and the answer.
            while answer.changed().await.is_ok() {}
        }))
    }

    /// Waits until a host is asked for.
    pub(crate) async fn asked(&self) {
        self.asked.notified().await;
    }

    /// The hosts that are new.
    pub(crate) fn take_new(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().new)
    }

    /// Whoever waits for a host goes on: with a certificate, or without one for a while.
    pub(crate) fn answer(&self, host: &str, has_certificate: bool) {
        let mut state = self.lock();
        state.waited_for.remove(host);
        if has_certificate {
            state.refused.remove(host);
            return;
        }
        let now = MonoTime::now();
        if state.refused.len() >= REFUSED_MAX {
            state.refused.retain(|_, until| now < *until);
        }
        if state.refused.len() < REFUSED_MAX {
            state.refused.insert(host.to_owned(), now + REFUSED_TIME);
        }
    }

    fn lock(&self) -> MutexGuard<'_, DeskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_model::config::AcmeOnDemand;

    fn desk() -> HostDesk {
        let names = vec!["*.shops.example.com".to_owned(), "one.example.com".to_owned()];
        HostDesk::new(AcmeSettings { on_demand: AcmeOnDemand { names, ..AcmeOnDemand::default() }, ..AcmeSettings::default() })
    }

    #[tokio::test]
    async fn clients_of_one_host_wait_for_one_answer() {
        let desk = desk();
        let (first, second) = (desk.wait_for("a.Shops.example.com.").unwrap(), desk.wait_for("A.shops.example.com").unwrap());
        assert_eq!(desk.take_new(), ["a.shops.example.com"]);
        assert!(desk.take_new().is_empty());
        desk.answer("a.shops.example.com", true);
        first.await;
        second.await;
        // It may have been removed since: then it is ordered again.
        assert!(desk.wait_for("a.shops.example.com").is_some());
    }

    #[test]
    fn only_names_that_are_allowed_get_one_and_those_that_failed_rest() {
        let desk = desk();
        for host in ["a.b.shops.example.com", "shops.example.com", "one.example.com.evil.test", "", ".shops.example.com"] {
            assert!(desk.wait_for(host).is_none(), "{host}");
        }
        assert!(desk.wait_for("one.example.com").is_some());
        desk.answer("one.example.com", false);
        assert!(desk.wait_for("one.example.com").is_none());
    }

    #[test]
    fn many_hosts_at_a_time_are_bounded() {
        let desk = desk();
        let taken = (0..ASKED_MAX + 50).filter(|number| desk.wait_for(&format!("h{number}.shops.example.com")).is_some()).count();
        assert_eq!(taken, ASKED_MAX);
    }
}
