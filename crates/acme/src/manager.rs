//! Keeps certificates: serves those that there are, and works on those that are wanted or end.

use crate::documents::{AcmeDocuments, CertificatePlan, PlannedCertificate};
use crate::on_demand::HostDesk;
use crate::schedule::{NextStep, next_step, note_failure};
use crate::show;
use rustls::ServerConfig;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tollgate_access::certificates::Certificates;
use tollgate_clock::unix_s;
use tollgate_model::config::{AcmeChallenge, AcmeSettings};
use tollgate_outbound::ProxyChooser;
use tollgate_store::StoreFault;

mod orders;
mod status;

/// How often it looks what others have changed.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Certificates that are worked on at a time.
const AT_WORK_MAX: usize = 4;
/// Who serves certificates. Its methods may block for a short time.
pub trait CertificateSink: Send + Sync {
    /// Serves the stored certificates with these ids, and no others of the last call; and shows how it is with all of the plan.
    fn serve(&self, ids: &[String], staples: &Staples, plan: &CertificatePlan);
    /// Answers the TLS connections of issuers with these settings.
    fn answer(&self, settings: Option<Arc<ServerConfig>>);
}

/// What handshakes hand out with certificates, by id: that the issuer has not revoked them.
pub type Staples = HashMap<String, Arc<[u8]>>;

/// What keeps certificates.
pub struct Acme {
    /// The configuration.
    pub settings: AcmeSettings,
    /// What gateways share.
    pub documents: AcmeDocuments,
    /// Where certificates are stored.
    pub certificates: Arc<Certificates>,
    /// Who serves them.
    pub sink: Arc<dyn CertificateSink>,
    /// Hosts that clients ask for.
    pub desk: Arc<HostDesk>,
    /// This gateway's name.
    pub node: String,
    /// Whether other gateways have the same store.
    pub is_shared: bool,
    /// Proxies on the way to issuers.
    pub proxies: Option<ProxyChooser>,
}

/// A certificate that is wanted.
#[derive(Clone, Debug, PartialEq)]
struct WantedCertificate {
    names: Vec<String>,
    challenge: AcmeChallenge,
    is_on_demand: bool,
}

impl Acme {
    /// Runs for ever.
    pub async fn run(self) {
        let acme = Arc::new(self);
        let configured = acme.configured();
        let (mut stamp, mut plan, mut staples) = (None, CertificatePlan::new(), Staples::new());
        let (mut at_work, mut works) = (HashSet::new(), JoinSet::new());
        let mut asked: BTreeMap<String, WantedCertificate> = BTreeMap::new();
        let mut is_silent = false;
        loop {
            match acme.look(&mut stamp, &mut plan, &mut staples).await {
                Ok(()) => is_silent = false,
                Err(fault) if !is_silent => {
                    is_silent = true;
                    tracing::warn!(%fault, "the store does not answer: issued certificates stay as they are");
                }
                Err(_) => {}
            }
            for host in acme.desk.take_new() {
                let wanted =
                    WantedCertificate { names: vec![host.clone()], challenge: acme.settings.challenge, is_on_demand: true };
                asked.insert(host, wanted);
            }
            asked.retain(|host, _| {
                let is_there = plan.get(host).is_some_and(|planned| !planned.id.is_empty());
                if is_there {
                    acme.desk.answer(host, true);
                }
                !is_there
            });
            if stamp.is_some() || !is_silent {
                let renewed = acme.on_demand(&plan);
                for (name, wanted) in configured.iter().chain(&asked).chain(&renewed) {
                    let planned = plan.get(name).cloned().unwrap_or_default();
                    let is_asked = asked.contains_key(name);
                    let step = next_step(&planned, unix_s());
                    if is_asked && step == NextStep::Wait {
                        acme.desk.answer(name, false);
                    }
                    if step == NextStep::Wait || at_work.len() >= AT_WORK_MAX || !at_work.insert(name.clone()) {
                        continue;
                    }
                    works.spawn(acme.clone().work(name.clone(), wanted.clone()));
                }
                asked.retain(|name, _| {
                    at_work.contains(name) || next_step(&plan.get(name).cloned().unwrap_or_default(), unix_s()) != NextStep::Wait
                });
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = acme.desk.asked() => {}
                Some(done) = works.join_next(), if !works.is_empty() => {
                    if let Ok((name, is_there)) = done {
                        at_work.remove(&name);
                        if asked.contains_key(&name) && !is_there {
                            asked.remove(&name);
                            acme.desk.answer(&name, false);
                        }
                    }
                }
            }
        }
    }

    /// What the configuration wants, by name.
    fn configured(&self) -> BTreeMap<String, WantedCertificate> {
        let wanted = self.settings.certificates.iter().map(|written| {
            let challenge = self.settings.challenge_of(written);
            (written.name(), WantedCertificate { names: written.hosts(), challenge, is_on_demand: false })
        });
        wanted.collect()
    }

    /// The certificates that clients have asked for, and that may still be renewed.
    fn on_demand(&self, plan: &CertificatePlan) -> BTreeMap<String, WantedCertificate> {
        let is_renewed = |(name, planned): &(&String, &PlannedCertificate)| {
            planned.is_on_demand && !planned.id.is_empty() && self.settings.is_on_demand(name)
        };
        let wanted = |(name, _): (&String, &PlannedCertificate)| {
            (name.clone(), WantedCertificate { names: vec![name.clone()], challenge: self.settings.challenge, is_on_demand: true })
        };
        plan.iter().filter(is_renewed).map(wanted).collect()
    }

    /// Takes over what this gateway or another one has changed.
    async fn look(&self, stamp: &mut Option<Vec<u8>>, plan: &mut CertificatePlan, staples: &mut Staples) -> Result<(), StoreFault> {
        let newest = self.documents.stamp().await?;
        let now = unix_s();
        let is_stale = |planned: &PlannedCertificate| planned.staple_ends_unix_s <= now && staples.contains_key(&planned.id);
        if newest == *stamp && !plan.values().any(is_stale) {
            return Ok(());
        }
        let old = std::mem::replace(plan, self.documents.plan().await?);
        *staples = self.staples(&old, plan, staples, now).await?;
        let mut ids = Vec::with_capacity(plan.len());
        for planned in plan.values().filter(|planned| !planned.id.is_empty() && planned.ends_unix_s > now) {
            if self.certificates.get(&planned.id).is_none() {
                self.certificates.look_at(&planned.id).await?;
            }
            ids.push(planned.id.clone());
        }
        self.sink.serve(&ids, staples, plan);
        self.sink.answer(show::settings(&self.documents.shown().await?));
        *stamp = newest;
        Ok(())
    }

    /// Does what is next for a certificate, unless another gateway does. Tells whether there is one afterwards.
    async fn work(self: Arc<Self>, name: String, wanted: WantedCertificate) -> (String, bool) {
        let is_there = match self.work_alone(&name, &wanted).await {
            Ok(is_there) => is_there,
            Err(fault) => {
                tracing::warn!(certificate = name, %fault, "the store does not answer: a certificate is not worked on");
                false
            }
        };
        (name, is_there)
    }

    async fn work_alone(&self, name: &str, wanted: &WantedCertificate) -> Result<bool, StoreFault> {
        if !self.documents.begin(name, &self.node, unix_s()).await? {
            // Somebody else is at it: whoever waits hears of it by the plan.
            tokio::time::sleep(LOOK_EVERY).await;
            return Ok(true);
        }
        let done = self.next(name, wanted).await;
        self.documents.end(name).await?;
        done
    }

    async fn next(&self, name: &str, wanted: &WantedCertificate) -> Result<bool, StoreFault> {
        let plan = self.documents.plan().await?;
        let planned = plan.get(name).cloned().unwrap_or_default();
        match next_step(&planned, unix_s()) {
            NextStep::Wait => return Ok(!planned.id.is_empty()),
            NextStep::AskIssuer => {
                let (renew, ask) = self.suggested(name, &planned).await;
                self.documents
                    .change_plan(|plan| {
                        if let Some(planned) = plan.get_mut(name) {
                            planned.renew_unix_s = renew.unwrap_or(planned.renew_unix_s);
                            planned.ask_unix_s = ask;
                        }
                    })
                    .await?;
                return Ok(true);
            }
            NextStep::AskStatus => {
                self.ask_status(name, &planned).await?;
                return Ok(true);
            }
            NextStep::Order => {}
        }
        let result = match self.may_have_one(name, wanted, &plan).await {
            Ok(()) => self.order(wanted, &planned).await,
            Err(why) => Err(why),
        };
        let now = unix_s();
        match result {
            Ok((new, issuer)) => {
                tracing::info!(certificate = name, issuer, ends_unix_s = new.ends_unix_s, "a certificate was issued");
                let new = PlannedCertificate { old_id: planned.id.clone(), is_on_demand: wanted.is_on_demand, ..new };
                self.documents.change_plan(|plan| drop(plan.insert(name.to_owned(), new.clone()))).await?;
                if !planned.old_id.is_empty() {
                    self.certificates.remove(&planned.old_id).await?;
                }
                Ok(true)
            }
            Err(why) => {
                let mut failed = planned.clone();
                failed.is_on_demand = wanted.is_on_demand;
                note_failure(&mut failed, why.clone(), now);
                let again_s = failed.again_unix_s.saturating_sub(now);
                tracing::warn!(certificate = name, why, again_s, "a certificate was not issued");
                // What nobody may have is no reason for an entry.
                let is_kept = !wanted.is_on_demand || !failed.id.is_empty();
                self.documents
                    .change_plan(|plan| {
                        if is_kept {
                            plan.insert(name.to_owned(), failed.clone());
                        }
                    })
                    .await?;
                Ok(!planned.id.is_empty())
            }
        }
    }
}
