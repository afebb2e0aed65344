//! Connections of APIs whose bytes nothing inspects: chooses their upstreams, and counts them.

use super::CoreService;
use crate::balanced::{BalancedUpstreams, HashedValue, nanos};
use crate::snapshot::{CompiledApi, Upstreams};
use crate::stream_rules::StreamMeter;
use crate::target_list::TargetList;
use crate::target_pool::TargetPool;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tollgate_balance::{Choice, Nanos, TargetHealth, TryResult, hash_bytes, mix};
use tollgate_clock::MonoTime;
use tollgate_engine::{ClientInfo, Fault, StreamHandler, Target};

/// Most upstreams that are tried for one connection.
const TRIES_MAX: usize = 3;

/// One connection.
struct StreamExchange {
    api: Arc<CompiledApi>,
    meter: Arc<StreamMeter>,
    start: MonoTime,
    client: IpAddr,
    random: u64,
    tries: usize,
    /// Index of the first upstream in a list without rules.
    first: usize,
    /// The target of an upstream with rules.
    taken: Option<TakenTarget>,
    is_open: bool,
}

/// A connection at a target of a pool. The target counts it until this is dropped.
struct TakenTarget {
    pool: Arc<TargetPool>,
    list: Arc<TargetList>,
    index: usize,
    tried: Vec<u16>,
    began: Nanos,
}

impl CoreService {
    /// The handler of a new connection; `None` if nobody answers it.
    pub(super) fn stream_handler(&self, client: &ClientInfo) -> Option<Box<dyn StreamHandler>> {
        let snapshot = self.snapshot();
        let host = client.tls.as_ref().and_then(|tls| tls.server_name.as_deref());
        let found = snapshot.port(client.listener).and_then(|port| match &port.listeners {
            None => port.stream(host),
            Some(listeners) => listeners.stream(host),
        });
        let Some(api) = found.and_then(|api| snapshot.apis.get(api)) else {
            tracing::debug!(client = %client.address, port = client.listener, host, "no API answers this connection");
            return None;
        };
        let rules = api.stream.as_ref()?;
        if let Some(why) = rules.rejects(client) {
            tracing::debug!(client = %client.address, api = api.id, why, "connection rejected");
            return None;
        }
        let first = api.versions.all().first().map_or(0, |version| version.upstreams.next());
        Some(Box::new(StreamExchange {
            api: api.clone(),
            meter: rules.meter.clone(),
            start: self.shared.start,
            client: client.address.ip().to_canonical(),
            random: self.next_id().0 as u64,
            tries: 0,
            first,
            taken: None,
            is_open: false,
        }))
    }
}

impl StreamHandler for StreamExchange {
    fn next(&mut self, failed: Option<&Fault>, now: MonoTime) -> Option<Arc<Target>> {
        let now = nanos(now.since(self.start));
        if let (Some(taken), Some(_)) = (&self.taken, failed) {
            taken.record(TryResult::NotConnected, now);
        }
        let target = self.target(now);
        self.tries += 1;
        if target.is_none() {
            self.meter.failed.fetch_add(1, Relaxed);
            let error = failed.map_or_else(|| "all hosts are down".to_owned(), ToString::to_string);
            tracing::warn!(api = self.api.id, client = %self.client, error, "connection closed: no upstream can be reached");
        }
        target
    }

    fn gives_up(&mut self, waited: Duration, now: MonoTime) -> bool {
        let now = nanos(now.since(self.start));
        self.tries < TRIES_MAX
            && self.taken.as_ref().is_some_and(|taken| taken.pool.gives_up(&taken.list, taken.index, &taken.tried, waited, now))
    }

    fn on_connected(&mut self, now: MonoTime) {
        if let Some(taken) = &self.taken {
            taken.record(TryResult::Success, nanos(now.since(self.start)));
        }
        self.is_open = true;
        self.meter.connected.fetch_add(1, Relaxed);
        self.meter.open.fetch_add(1, Relaxed);
    }

    fn on_bytes(&mut self, from_client: u64, to_client: u64) {
        if from_client > 0 {
            self.meter.received_bytes.fetch_add(from_client, Relaxed);
        }
        if to_client > 0 {
            self.meter.sent_bytes.fetch_add(to_client, Relaxed);
        }
    }
}

impl StreamExchange {
    /// The next upstream. Nothing was sent to the one before.
    fn target(&mut self, now: Nanos) -> Option<Arc<Target>> {
        if self.tries >= TRIES_MAX {
            return None;
        }
        let api = self.api.clone();
        match &api.versions.all().first()?.upstreams {
            Upstreams::One(upstream) => (self.tries == 0).then(|| upstream.target.clone()),
            Upstreams::Many { list, .. } => {
                let index = (self.first + self.tries).checked_rem(list.len())?;
                list.get(index).filter(|_| self.tries < list.len()).map(|upstream| upstream.target.clone())
            }
            Upstreams::Balanced(rules) => self.balanced(rules, now),
            Upstreams::Loop(_) | Upstreams::Control | Upstreams::Nowhere => None,
        }
    }

    fn balanced(&mut self, rules: &BalancedUpstreams, now: Nanos) -> Option<Arc<Target>> {
        let (pool, list, mut tried) = match self.taken.take() {
            Some(mut taken) => {
                let (mut list, mut tried) = (taken.list.clone(), std::mem::take(&mut taken.tried));
                taken.pool.renew(&mut list, &mut tried);
                (taken.pool.clone(), list, tried)
            }
            None => {
                let pool = rules.pool_at(self.random).clone();
                let list = pool.targets.load_full();
                (pool, list, Vec::new())
            }
        };
        let key = matches!(rules.hashed, HashedValue::Address).then(|| match self.client {
            IpAddr::V4(address) => hash_bytes(&address.octets()),
            IpAddr::V6(address) => hash_bytes(&address.octets()),
        });
        self.random = mix(self.random);
        let index = match list.candidates.pick(key, &tried, self.random, now) {
            Choice::Target(index) | Choice::LastResort(index) => index,
            Choice::AllDown => return None,
        };
        let number = u16::try_from(index).unwrap_or(u16::MAX);
        if tried.contains(&number) {
            return None;
        }
        tried.push(number);
        let target = list.targets.get(index)?.upstream.target.clone();
        let taken = TakenTarget { pool, list, index, tried, began: now };
        taken.with_health(|health| health.begin(self.tries > 0));
        self.taken = Some(taken);
        Some(target)
    }
}

impl TakenTarget {
    fn record(&self, result: TryResult, now: Nanos) {
        self.pool.record(&self.list, self.index, result, self.began, now);
    }

    fn with_health(&self, f: impl FnOnce(&TargetHealth)) {
        if let Some(candidate) = self.list.candidates.list().get(self.index) {
            f(&candidate.health);
        }
    }
}

impl Drop for TakenTarget {
    fn drop(&mut self) {
        self.with_health(TargetHealth::end);
    }
}

impl Drop for StreamExchange {
    fn drop(&mut self) {
        if self.is_open {
            self.meter.open.fetch_sub(1, Relaxed);
        }
    }
}
