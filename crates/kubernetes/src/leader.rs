//! Which of several controllers writes statuses: the holder of a Lease. A holder that does not renew it in time loses it, by the clock of whoever
//! waits for it: clocks of several machines are not compared.

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::PostParams;
use kube::core::ObjectMeta;
use kube::{Api, Client};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long a lease is one's own after it was renewed.
const HELD: Duration = Duration::from_secs(15);
/// The holder stops to write before others may begin.
const TRUSTED: Duration = Duration::from_secs(10);
const RENEW_EVERY: Duration = Duration::from_secs(3);

/// One of those who want to lead.
pub(crate) struct Candidate {
    leases: Api<Lease>,
    name: String,
    identity: String,
    /// The holder's version of the lease, and since when it has been seen.
    seen: Option<(String, Instant)>,
}

impl Candidate {
    pub(crate) fn new(client: Client, namespace: &str, name: &str, identity: &str) -> Self {
        Candidate { leases: Api::namespaced(client, namespace), name: name.to_owned(), identity: identity.to_owned(), seen: None }
    }

    /// Says whether this one leads, for as long as anybody listens.
    pub(crate) async fn run(mut self, leads: watch::Sender<bool>) {
        let mut renewed: Option<Instant> = None;
        let mut said = String::new();
        while !leads.is_closed() {
            let began = Instant::now();
            match self.hold().await {
                Ok(true) => renewed = Some(began),
                Ok(false) => renewed = None,
                Err(error) => {
                    let error = error.to_string();
                    if said != error {
                        tracing::warn!(error, lease = self.name, "the lease can't be renewed; retrying");
                        said = error;
                    }
                }
            }
            let is_leading = renewed.is_some_and(|renewed| renewed.elapsed() < TRUSTED);
            let has_changed = leads.send_if_modified(|leads| std::mem::replace(leads, is_leading) != is_leading);
            if has_changed && is_leading {
                tracing::info!(lease = self.name, identity = self.identity, "this controller writes statuses");
            } else if has_changed {
                tracing::warn!(lease = self.name, "this controller writes no statuses any more");
            }
            tokio::select! {
                () = tokio::time::sleep(RENEW_EVERY) => {}
                () = leads.closed() => {}
            }
        }
        self.let_go().await;
    }

    /// Takes the lease, or renews it. `false`: somebody else has it.
    async fn hold(&mut self) -> Result<bool, kube::Error> {
        let Some(lease) = self.leases.get_opt(&self.name).await? else {
            let lease = Lease { metadata: self.metadata(None), spec: Some(self.spec(0)) };
            return won(self.leases.create(&PostParams::default(), &lease).await);
        };
        let spec = lease.spec.unwrap_or_default();
        let version = lease.metadata.resource_version.clone().unwrap_or_default();
        let holder = spec.holder_identity.unwrap_or_default();
        let mut transitions = spec.lease_transitions.unwrap_or_default();
        if holder != self.identity && !holder.is_empty() {
            let since = match &self.seen {
                Some((seen, since)) if *seen == version => *since,
                _ => {
                    self.seen = Some((version, Instant::now()));
                    return Ok(false);
                }
            };
            if since.elapsed() < HELD {
                return Ok(false);
            }
        }
        if holder != self.identity {
            transitions += 1;
        }
        let lease = Lease { metadata: self.metadata(lease.metadata.resource_version), spec: Some(self.spec(transitions)) };
        won(self.leases.replace(&self.name, &PostParams::default(), &lease).await)
    }

    /// Gives the lease to whoever wants it.
    async fn let_go(&self) {
        let Ok(Some(lease)) = self.leases.get_opt(&self.name).await else { return };
        if lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_ref()) != Some(&self.identity) {
            return;
        }
        let spec = LeaseSpec { holder_identity: None, ..lease.spec.unwrap_or_default() };
        let lease = Lease { metadata: self.metadata(lease.metadata.resource_version), spec: Some(spec) };
        // Others wait a little longer if it fails.
        let _ = self.leases.replace(&self.name, &PostParams::default(), &lease).await;
    }

    fn metadata(&self, resource_version: Option<String>) -> ObjectMeta {
        ObjectMeta { name: Some(self.name.clone()), resource_version, ..ObjectMeta::default() }
    }

    fn spec(&self, transitions: i32) -> LeaseSpec {
        let now = MicroTime(k8s_openapi::jiff::Timestamp::now());
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(HELD.as_secs()).ok(),
            lease_transitions: Some(transitions),
            acquire_time: Some(now.clone()),
            renew_time: Some(now),
            ..LeaseSpec::default()
        }
    }
}

/// Whether a write was the first one.
fn won(written: Result<Lease, kube::Error>) -> Result<bool, kube::Error> {
    match written {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
        Err(error) => Err(error),
    }
}
