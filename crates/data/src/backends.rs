//! The tables of listeners and backends as they are now. A backend is a list of targets that several APIs share by name, and that changes without
//! their definitions.

use crate::client_tls::{ListenerTlsTerms, TlsOptions};
use crate::target_list::{EmptyList, TargetList};
use crate::target_pool::TargetPool;
use arc_swap::ArcSwap;
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tollgate_model::routing::{RouteListener, RoutedBackend};
use tollgate_tls::Library;

/// The targets of a backend, as they are now.
pub type SharedTargets = Arc<ArcSwap<TargetList>>;

/// Both tables.
#[derive(Default)]
pub struct RoutingState {
    pub backends: BackendTable,
    /// By source.
    listeners: Mutex<BTreeMap<String, BTreeMap<String, RouteListener>>>,
    /// Names of the sockets of listeners, the same after each reload.
    socket_names: Mutex<HashMap<(SocketAddr, bool), u32>>,
    /// TLS of listeners by name: what is unchanged keeps its session tickets.
    tls: Mutex<HashMap<String, (RouteListener, ListenerTlsTerms)>>,
}

impl RoutingState {
    /// Replaces all listeners of a source.
    pub fn set_listeners(&self, source: &str, mut listeners: BTreeMap<String, RouteListener>) {
        // Port 0 would be any.
        listeners.retain(|_, listener| listener.port != 0);
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).insert(source.to_owned(), listeners);
    }

    /// All listeners; of two with one name, that of the later source.
    pub fn listeners(&self) -> BTreeMap<String, RouteListener> {
        let sources = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        sources.values().flatten().map(|(name, listener)| (name.clone(), listener.clone())).collect()
    }

    /// TLS of a listener. `Err` says why its clients cannot be served.
    pub fn listener_tls(
        &self,
        name: &str,
        listener: &RouteListener,
        options: &TlsOptions,
        library: &Library,
    ) -> Result<ListenerTlsTerms, String> {
        let mut known = self.tls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, terms)) =
            known.get(name).filter(|(known, _)| (&known.tls, known.protocol) == (&listener.tls, listener.protocol))
        {
            return Ok(terms.clone());
        }
        let terms = ListenerTlsTerms::new(listener, options, library)?;
        known.insert(name.to_owned(), (listener.clone(), terms.clone()));
        Ok(terms)
    }

    /// Forgets the TLS of listeners that are gone.
    pub fn keep_tls(&self, is_there: impl Fn(&str) -> bool) {
        self.tls.lock().unwrap_or_else(PoisonError::into_inner).retain(|name, _| is_there(name));
    }

    /// The name that connections of a listener's socket have. Those of other ports are their numbers.
    /// Those for datagrams are others than those for connections.
    pub fn socket_name(&self, address: SocketAddr, is_for_datagrams: bool) -> u32 {
        let mut names = self.socket_names.lock().unwrap_or_else(PoisonError::into_inner);
        let next = u32::try_from(names.len()).unwrap_or(u32::MAX).saturating_add(1 << 16);
        *names.entry((address, is_for_datagrams)).or_insert(next)
    }
}

/// Backends by name.
#[derive(Default)]
pub struct BackendTable {
    entries: Mutex<HashMap<String, TableEntry>>,
    /// Grows when other backends are checked, or are checked otherwise.
    checks_revision: AtomicU64,
}

struct TableEntry {
    targets: SharedTargets,
    /// With the rules of its checks, if it is checked. It stays while they do, so that the checks know what they found before.
    checked: Option<Arc<TargetPool>>,
    /// What they are made of and who has said so; `None` for a name that only definitions know.
    said: Option<(String, RoutedBackend)>,
}

impl BackendTable {
    /// The targets of a backend, which may come, change and go.
    pub fn get(&self, name: &str) -> SharedTargets {
        let mut entries = self.lock();
        if let Some(entry) = entries.get(name) {
            return entry.targets.clone();
        }
        let targets: SharedTargets = Arc::new(ArcSwap::from_pointee(TargetList::empty(EmptyList::Unknown)));
        entries.insert(name.to_owned(), TableEntry { targets: targets.clone(), checked: None, said: None });
        targets
    }

    /// The pools of backends that are checked.
    pub fn checked(&self) -> Vec<Arc<TargetPool>> {
        self.lock().values().filter_map(|entry| entry.checked.clone()).collect()
    }

    /// Another number than before if those are others.
    pub fn checks_revision(&self) -> u64 {
        self.checks_revision.load(Ordering::Acquire)
    }

    /// Replaces all backends of a source. `make` makes the targets of those that are new or changed, `check` the pools of those whose checks are.
    pub fn replace(
        &self,
        source: &str,
        backends: BTreeMap<String, RoutedBackend>,
        mut make: impl FnMut(&str, &RoutedBackend) -> TargetList,
        check: impl Fn(&str, &RoutedBackend, SharedTargets) -> Option<Arc<TargetPool>>,
    ) {
        let mut entries = self.lock();
        for (name, entry) in entries.iter_mut() {
            if entry.said.as_ref().is_some_and(|(said_by, _)| said_by == source) && !backends.contains_key(name) {
                entry.said = None;
                entry.checked = None;
                entry.targets.store(Arc::new(TargetList::empty(EmptyList::Unknown)));
            }
        }
        for (name, backend) in backends {
            let known = entries.get(&name).and_then(|entry| entry.said.as_ref());
            if known.is_some_and(|(_, known)| *known == backend) {
                continue;
            }
            let list = Arc::new(make(&name, &backend));
            let entry = entries.entry(name.clone()).or_insert_with(|| TableEntry {
                targets: Arc::new(ArcSwap::new(list.clone())),
                checked: None,
                said: None,
            });
            entry.targets.store(list);
            let is_checked_as_before = entry.said.as_ref().is_some_and(|(_, known)| are_checked_alike(known, &backend));
            if !is_checked_as_before {
                let before = std::mem::replace(&mut entry.checked, check(&name, &backend, entry.targets.clone()));
                if before.is_some() || entry.checked.is_some() {
                    self.checks_revision.fetch_add(1, Ordering::Release);
                }
            }
            entry.said = Some((source.to_owned(), backend));
        }
    }

    /// Drops the names that nobody uses.
    pub(crate) fn purge(&self) {
        self.lock().retain(|_, entry| entry.said.is_some() || Arc::strong_count(&entry.targets) > 1);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, TableEntry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether only endpoints differ, as far as checks know.
fn are_checked_alike(known: &RoutedBackend, other: &RoutedBackend) -> bool {
    (&known.checks, &known.tls, known.protocol) == (&other.checks, &other.tls, other.protocol)
}
