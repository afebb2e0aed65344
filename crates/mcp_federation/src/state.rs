//! The servers of a federation as they are now, and what they offer together.

use crate::answer::StreamMessage;
use crate::backend::Backend;
use crate::catalogue::{Catalogue, WithheldEntry};
use crate::link::Link;
use crate::memory::{shares_of_messages, shares_of_streams};
use crate::message::method;
use crate::outside::Outside;
use crate::terms::FederationTerms;
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tollgate_outbound::Shares;

/// When a server that was not there is asked again.
const RETRY: Duration = Duration::from_secs(5);
/// How long the first clients wait for servers that have not told what they offer. What comes later is told to clients that listen.
const FIRST_MAX: Duration = Duration::from_secs(3);
/// Least time between two readings of a server's lists because it says that they have changed.
const CHANGE_PAUSE: Duration = Duration::from_secs(1);

/// Most withheld entries that are logged one by one when lists have been read.
const WITHHELD_TOLD_MAX: usize = 100;

/// All servers, and what they offer together.
pub(crate) struct FederationState {
    pub terms: FederationTerms,
    pub backends: Vec<Backend>,
    pub outside: Outside,
    pub messages: Arc<Shares>,
    pub streams: Arc<Shares>,
    catalogue: Mutex<Arc<Catalogue>>,
    building: tokio::sync::Mutex<()>,
    /// Counts how often a server's lists were read.
    readings: watch::Sender<u64>,
    /// Tells subscribers that lists have changed.
    pub changes: watch::Sender<u64>,
}

impl FederationState {
    pub(crate) fn new(terms: FederationTerms, outside: Outside) -> Self {
        let backends = terms.servers.iter().map(|server| Backend::new(server, &outside)).collect();
        let (catalogue, building) = (Mutex::default(), tokio::sync::Mutex::default());
        FederationState {
            terms,
            backends,
            outside,
            messages: shares_of_messages(),
            streams: shares_of_streams(),
            catalogue,
            building,
            readings: watch::Sender::new(0),
            changes: watch::Sender::new(0),
        }
    }

    /// What all servers offer. What is known is given at once, and read anew behind the answer if it is old.
    pub(crate) async fn catalogue(self: &Arc<Self>) -> Arc<Catalogue> {
        self.read_if(|backend| {
            let life = self.terms.lists_time;
            backend.is_older(if backend.health().fault.is_some() { RETRY.min(life) } else { life })
        });
        if !self.backends.iter().all(Backend::was_read) {
            // A server that hangs makes nobody wait for long.
            let _ = timeout(FIRST_MAX, self.until(Backend::was_read)).await;
        }
        self.known_catalogue()
    }

    /// Asks all servers now what they offer.
    pub(crate) async fn refresh(self: &Arc<Self>) {
        let begun = Instant::now();
        self.read_if(|_| true);
        self.until(|backend| !backend.is_older(begun.elapsed())).await;
    }

    /// A server says that its lists have changed: they are read soon.
    pub(crate) fn note_change(self: &Arc<Self>, at: usize) {
        let Some(backend) = self.backends.get(at) else { return };
        if backend.is_changed.swap(true, Ordering::AcqRel) {
            return;
        }
        let state = self.clone();
        self.outside.client.spawn(async move {
            let Some(backend) = state.backends.get(at) else { return };
            while !backend.is_older(CHANGE_PAUSE) || backend.is_reading.load(Ordering::Acquire) {
                sleep(CHANGE_PAUSE / 10).await;
            }
            backend.is_changed.store(false, Ordering::Release);
            state.read_at(at);
        });
    }

    /// Waits until something holds of all servers.
    async fn until(&self, holds: impl Fn(&Backend) -> bool) {
        let mut readings = self.readings.subscribe();
        while !self.backends.iter().all(&holds) && readings.changed().await.is_ok() {}
    }

    /// Begins to read the lists of servers, one task for each.
    fn read_if(self: &Arc<Self>, is_due: impl Fn(&Backend) -> bool) {
        for (at, backend) in self.backends.iter().enumerate() {
            if !backend.is_reading.load(Ordering::Acquire) && is_due(backend) {
                self.read_at(at);
            }
        }
    }

    fn read_at(self: &Arc<Self>, at: usize) {
        let Some(backend) = self.backends.get(at) else { return };
        if backend.is_reading.swap(true, Ordering::AcqRel) {
            return;
        }
        let state = self.clone();
        self.outside.client.spawn(async move {
            let (Some(backend), Some(terms)) = (state.backends.get(at), state.terms.servers.get(at)) else { return };
            if backend.read(&terms.name, &state.terms.api).await {
                state.clone().rebuild().await;
            }
            backend.note_read();
            backend.is_reading.store(false, Ordering::Release);
            state.watch(at);
            state.readings.send_modify(|count| *count += 1);
        });
    }

    /// Listens to what a server tells of its changes. It is begun again when lists are read after it has ended.
    fn watch(self: &Arc<Self>, at: usize) {
        let Some(backend) = self.backends.get(at) else { return };
        if backend.last_lists().is_none() || backend.is_watched.swap(true, Ordering::AcqRel) {
            return;
        }
        let (state, mut ends) = (Arc::downgrade(self), self.changes.subscribe());
        let process = match &backend.link {
            Link::Command(server) => Some(server.changed.clone()),
            Link::Http(_) | Link::Operations(_) => None,
        };
        self.outside.client.spawn(async move {
            let told = async {
                if let Some(process) = process {
                    loop {
                        process.notified().await;
                        state.upgrade()?.note_change(at);
                    }
                }
                let opened = state.upgrade()?;
                let mut stream = opened.backends.get(at)?.changes().await?;
                drop(opened);
                while let Some(StreamMessage { message, .. }) = stream.recv().await {
                    if method(&message).ends_with("/list_changed") {
                        state.upgrade()?.note_change(at);
                    }
                    // Nothing else is expected, and nobody waits for it.
                    sleep(CHANGE_PAUSE / 10).await;
                }
                Some(())
            };
            let over = async { while ends.changed().await.is_ok() {} };
            tokio::select! {
                _ = told => {}
                // The federation is gone.
                () = over => {}
            }
            if let Some(state) = state.upgrade() {
                state.backends.get(at).inspect(|backend| backend.is_watched.store(false, Ordering::Release));
            }
        });
    }

    /// Puts together what is known of all servers, on a thread where work may take its time.
    async fn rebuild(self: Arc<Self>) {
        let _one = self.building.lock().await;
        let state = self.clone();
        let built = tokio::task::spawn_blocking(move || {
            let lists: Vec<_> = state.backends.iter().map(Backend::last_lists).collect();
            let known = state.known_catalogue();
            let made = Catalogue::build(&state.terms, &lists, &known);
            let has_changed = known.is_built && !known.shows_as(&made);
            state.tell_withheld(&known, &made);
            (Arc::new(made), has_changed)
        });
        let Ok((made, has_changed)) = built.await else { return };
        *self.catalogue.lock().unwrap_or_else(PoisonError::into_inner) = made;
        if has_changed {
            self.changes.send_modify(|count| *count += 1);
        }
    }

    /// Logs what clients do not see, once.
    fn tell_withheld(&self, known: &Catalogue, made: &Catalogue) {
        fn which(one: &WithheldEntry) -> (usize, &str, &str) {
            (one.server, one.kind, &one.name)
        }
        let mut told: HashSet<_> = known.withheld.iter().map(which).collect();
        let news = made.withheld.iter().filter(|one| told.insert(which(one)));
        let mut left = 0;
        for (count, WithheldEntry { server, kind, name, why, .. }) in news.enumerate() {
            left = (count + 1).saturating_sub(WITHHELD_TOLD_MAX);
            if left == 0 {
                let server = self.terms.servers.get(*server).map_or("", |server| server.name.as_str());
                tracing::warn!(api = self.terms.api, server, kind, name, why, "an entry of an MCP server is withheld");
            }
        }
        if left > 0 {
            tracing::warn!(api = self.terms.api, entries = left, "further entries of MCP servers are withheld");
        }
    }

    /// What is known of all servers; nothing before somebody has asked.
    pub(crate) fn known_catalogue(&self) -> Arc<Catalogue> {
        self.catalogue.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
