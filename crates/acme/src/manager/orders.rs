//! Orders and renewals: which issuer is asked for what, and whether at all.

use super::{Acme, LOOK_EVERY, WantedCertificate};
use crate::documents::{CertificatePlan, PlannedCertificate};
use crate::issuer::account;
use crate::operators_client::operators_client;
use crate::order::{WantedOrder, order};
use crate::schedule::{renewal, within};
use instant_acme::CertificateIdentifier;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::time::Duration;
use tollgate_access::certificates::CertificateRejection;
use tollgate_clock::unix_s;
use tollgate_model::config::AcmeIssuer;
use tollgate_tls::Facts;

/// How long it takes until all gateways have seen a change.
const SPREAD: Duration = Duration::from_secs(6);
/// An issuer is not asked more often when a certificate is to be renewed, and not less often.
const ASK_S_LEAST: u64 = 3600;
const ASK_S_MOST: u64 = 24 * 3600;
/// Between a certificate and its renewal, whatever an issuer suggests.
const RENEWAL_S_LEAST: u64 = 3600;
/// How often an order is begun whose issuer refuses the nonces that it has given out.
const NONCE_TRIES: usize = 5;
const ASK_TIME_MAX: Duration = Duration::from_secs(10);
const ASK_BYTES_MAX: usize = 4096;

impl Acme {
    /// Asks one issuer after the other. Returns what there is, and who has issued it.
    pub(super) async fn order(
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
    pub(super) async fn suggested(&self, name: &str, planned: &PlannedCertificate) -> (Option<u64>, u64) {
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

    /// Whether a host that a client asked for may have a certificate.
    pub(super) async fn may_have_one(&self, name: &str, wanted: &WantedCertificate, plan: &CertificatePlan) -> Result<(), String> {
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
