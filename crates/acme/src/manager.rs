//! Keeps certificates: serves those that there are, and works on those that are wanted or end.

use crate::documents::{AcmeDocuments, CertificatePlan, PlannedCertificate};
use crate::issuer::account;
use crate::on_demand::HostDesk;
use crate::operators_client::operators_client;
use crate::order::{WantedOrder, order};
use crate::schedule::{NextStep, next_step, note_failure, renewal, within};
use crate::show;
use crate::staple::{ASK_S_MOST as STATUS_S_MOST, NoAnswer, StatusQuestion};
use instant_acme::CertificateIdentifier;
use rustls::ServerConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tollgate_access::certificates::{CertificateRejection, Certificates};
use tollgate_clock::unix_s;
use tollgate_model::config::{AcmeChallenge, AcmeIssuer, AcmeSettings};
use tollgate_outbound::ProxyChooser;
use tollgate_store::StoreFault;
use tollgate_tls::Facts;

/// How often it looks what others have changed.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How long it takes until all gateways have seen a change.
const SPREAD: Duration = Duration::from_secs(6);
/// Certificates that are worked on at a time.
const AT_WORK_MAX: usize = 4;
/// An issuer is not asked more often when a certificate is to be renewed, and not less often.
const ASK_S_LEAST: u64 = 3600;
const ASK_S_MOST: u64 = 24 * 3600;
/// Between a certificate and its renewal, whatever an issuer suggests.
const RENEWAL_S_LEAST: u64 = 3600;
/// How often an order is begun whose issuer refuses the nonces that it has given out.
const NONCE_TRIES: usize = 5;
const ASK_TIME_MAX: Duration = Duration::from_secs(10);
const ASK_BYTES_MAX: usize = 4096;

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

    /// What handshakes hand out now. Only what is new is read.
    async fn staples(
        &self,
        old: &CertificatePlan,
        plan: &CertificatePlan,
        known: &Staples,
        now: u64,
    ) -> Result<Staples, StoreFault> {
        let mut staples = Staples::new();
        for (name, planned) in plan.iter().filter(|(_, planned)| planned.staple_ends_unix_s > now) {
            let is_known = old.get(name).is_some_and(|old| (&old.id, &old.staple) == (&planned.id, &planned.staple));
            let response = match known.get(&planned.id).filter(|_| is_known) {
                Some(response) => Some(response.clone()),
                None => self.documents.staple(&planned.id).await?.map(Arc::from),
            };
            staples.extend(response.map(|response| (planned.id.clone(), response)));
        }
        Ok(staples)
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

    /// Asks one issuer after the other. Returns what there is, and who has issued it.
    async fn order(
        &self,
        wanted: &WantedCertificate,
        planned: &PlannedCertificate,
    ) -> Result<(PlannedCertificate, String), String> {
        let mut failures = Vec::new();
        for issuer in &self.settings.issuers {
            let mut result = self.order_at(issuer, wanted, planned).await;
            for _ in 1..NONCE_TRIES {
                if !result.as_ref().is_err_and(|why| why.contains("badNonce")) {
                    break;
                }
                result = self.order_at(issuer, wanted, planned).await;
            }
            match result {
                Ok(new) => return Ok((new, issuer.directory.clone())),
                Err(why) => failures.push(format!("{}: {why}", issuer.directory)),
            }
        }
        Err(failures.join("; "))
    }

    async fn order_at(
        &self,
        issuer: &AcmeIssuer,
        wanted: &WantedCertificate,
        planned: &PlannedCertificate,
    ) -> Result<PlannedCertificate, String> {
        let account = account(issuer, &self.documents, self.proxies.as_ref()).await?;
        let order_terms = WantedOrder {
            names: &wanted.names,
            challenge: wanted.challenge,
            key: self.settings.key,
            profile: &issuer.profile,
            dns: &self.settings.dns,
            replaces: self.identifier(planned).filter(|_| planned.issuer == issuer.directory),
            spread: if self.is_shared { SPREAD } else { LOOK_EVERY * 2 },
        };
        let text = match order(&account, &self.documents, &order_terms).await {
            Ok(text) => text,
            Err(why) => {
                if why.contains("accountDoesNotExist") {
                    // The issuer has forgotten it: the next try makes another one.
                    let _ = self.documents.remove_account(&issuer.directory).await;
                }
                return Err(why);
            }
        };
        let now = unix_s();
        let leaf = CertificateDer::from_pem_slice(text.as_bytes()).map_err(|error| error.to_string())?;
        let ends = u64::try_from(Facts::new(&leaf)?.not_after_unix_s).unwrap_or_default();
        if ends <= now {
            return Err("the new certificate has ended already: the gateway's clock is wrong, or the issuer's".to_owned());
        }
        let id = self.certificates.add("", text.as_bytes(), now).await.map_err(|rejection| match rejection {
            CertificateRejection::Bad(why) => format!("it can't be used: {why}"),
            CertificateRejection::Store(fault) => fault.to_string(),
        })?;
        Ok(PlannedCertificate {
            id,
            issuer: issuer.directory.clone(),
            since_unix_s: now,
            ends_unix_s: ends,
            renew_unix_s: renewal(now, ends),
            ask_unix_s: now + ASK_S_LEAST,
            // An issuer that suggests to renew at once does not get an endless row of orders.
            again_unix_s: now + RENEWAL_S_LEAST.min(ends.saturating_sub(now) / 4),
            ..PlannedCertificate::default()
        })
    }

    /// What the issuer calls a certificate.
    fn identifier(&self, planned: &PlannedCertificate) -> Option<CertificateIdentifier<'static>> {
        let text = self.certificates.get(&planned.id)?.to_pem();
        let leaf = CertificateDer::from_pem_slice(text.as_bytes()).ok()?;
        CertificateIdentifier::try_from(&leaf).ok().map(CertificateIdentifier::into_owned)
    }

    /// When a certificate is renewed, if its issuer says so, and when it is asked again.
    async fn suggested(&self, name: &str, planned: &PlannedCertificate) -> (Option<u64>, u64) {
        let now = unix_s();
        let (Some(issuer), Some(identifier)) =
            (self.settings.issuers.iter().find(|issuer| issuer.directory == planned.issuer), self.identifier(planned))
        else {
            return (None, now + ASK_S_MOST);
        };
        let told = match account(issuer, &self.documents, self.proxies.as_ref()).await {
            Ok(account) => account.renewal_info(&identifier).await.map_err(|error| error.to_string()),
            Err(why) => Err(why),
        };
        match told {
            Ok((told, again)) => {
                let unix = |time: i64| u64::try_from(time).unwrap_or_default();
                let window = (unix(told.suggested_window.start.unix_timestamp()), unix(told.suggested_window.end.unix_timestamp()));
                let renew = within(window, share_of(name), now);
                (Some(renew), now + again.as_secs().clamp(ASK_S_LEAST, ASK_S_MOST))
            }
            // Most issuers do not say anything.
            Err(why) => {
                tracing::debug!(certificate = name, why, "the issuer does not say when a certificate is to be renewed");
                (None, now + ASK_S_MOST)
            }
        }
    }

    /// Asks the issuer whether it has revoked a certificate. One that it has revoked is ordered anew.
    async fn ask_status(&self, name: &str, planned: &PlannedCertificate) -> Result<(), StoreFault> {
        let now = unix_s();
        let text = self.certificates.get(&planned.id).map(|stored| stored.to_pem()).unwrap_or_default();
        let chain: Vec<_> = CertificateDer::pem_slice_iter(text.as_bytes()).filter_map(Result::ok).collect();
        let answer = match StatusQuestion::new(&chain) {
            Ok(Some(question)) => question.ask(self.proxies.as_ref(), now).await,
            // Nobody is asked about it.
            Ok(None) => {
                let change = |planned: &mut PlannedCertificate| planned.status_unix_s = planned.ends_unix_s;
                return self.change(name, &planned.id, change).await;
            }
            Err(why) => Err(NoAnswer::Failed(why)),
        };
        match answer {
            Ok(good) => {
                let staple = tollgate_tls::hex_sha256(&good.response);
                self.documents.write_staple(&planned.id, good.response, good.ends_unix_s).await?;
                let change = |planned: &mut PlannedCertificate| {
                    planned.status_unix_s = good.again_unix_s;
                    planned.staple_ends_unix_s = good.ends_unix_s;
                    planned.staple.clone_from(&staple);
                    planned.status_error.clear();
                };
                self.change(name, &planned.id, change).await
            }
            Err(NoAnswer::Revoked) => {
                tracing::warn!(certificate = name, "the issuer has revoked it: another one is ordered");
                let change = |planned: &mut PlannedCertificate| {
                    planned.status_unix_s = now + STATUS_S_MOST;
                    planned.staple_ends_unix_s = 0;
                    planned.renew_unix_s = 0;
                };
                self.change(name, &planned.id, change).await
            }
            // The last answer is handed out until its end.
            Err(NoAnswer::Failed(why)) => {
                tracing::warn!(certificate = name, why, "the issuer does not say whether it is revoked");
                let change = |planned: &mut PlannedCertificate| {
                    planned.status_unix_s = now + ASK_S_LEAST;
                    planned.status_error.clone_from(&why);
                };
                self.change(name, &planned.id, change).await
            }
        }
    }

    /// Changes what is planned for a certificate, unless there is another one now.
    async fn change(&self, name: &str, id: &str, change: impl Fn(&mut PlannedCertificate)) -> Result<(), StoreFault> {
        self.documents.change_plan(|plan| plan.get_mut(name).filter(|planned| planned.id == id).into_iter().for_each(&change)).await
    }

    /// Whether a host that a client asked for may have a certificate.
    async fn may_have_one(&self, name: &str, wanted: &WantedCertificate, plan: &CertificatePlan) -> Result<(), String> {
        if !wanted.is_on_demand {
            return Ok(());
        }
        let rules = &self.settings.on_demand;
        let is_new = plan.get(name).is_none_or(|planned| planned.id.is_empty());
        let now = unix_s();
        let on_demand = || plan.values().filter(|planned| planned.is_on_demand && !planned.id.is_empty());
        if is_new && on_demand().count() >= rules.certificates_max {
            return Err("there are as many certificates on demand as there may be".to_owned());
        }
        let lately = on_demand().filter(|planned| planned.old_id.is_empty() && planned.since_unix_s + 3600 > now).count();
        if is_new && lately >= usize::try_from(rules.per_hour_max).unwrap_or(usize::MAX) {
            return Err("there were as many new certificates in this hour as there may be".to_owned());
        }
        if rules.ask.is_empty() {
            return Ok(());
        }
        let separator = if rules.ask.contains('?') { '&' } else { '?' };
        // A host that clients name has passed as a label of letters, digits and hyphens; others do not get here.
        let request = http::Request::get(format!("{}{separator}domain={name}", rules.ask)).body(Default::default());
        let request = request.map_err(|error| error.to_string())?;
        let client = operators_client()?;
        let answer = client.send(request, ASK_BYTES_MAX);
        let answer = tokio::time::timeout(ASK_TIME_MAX, answer).await.map_err(|_| "nobody answers whether it may".to_owned())?;
        let status = answer.map_err(|fault| fault.to_string())?.status;
        if status == 200 { Ok(()) } else { Err(format!("it may not: the answer was {status}")) }
    }
}

/// Spreads certificates over a window, each always at the same place.
fn share_of(name: &str) -> f64 {
    let digest = tollgate_tls::hex_sha256(name.as_bytes());
    let number = digest.get(..8).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or_default();
    f64::from(number) / f64::from(u32::MAX)
}
