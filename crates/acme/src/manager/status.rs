//! Whether certificates are revoked: when issuers are asked, and what of their answers handshakes hand out.

use super::{Acme, Staples};
use crate::documents::{CertificatePlan, PlannedCertificate};
use crate::staple::{ASK_S_MOST, NoAnswer, StatusQuestion};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::sync::Arc;
use tollgate_clock::unix_s;
use tollgate_store::StoreFault;

/// Between an answer that could not be had and the next question.
const AGAIN_S: u64 = 3600;

impl Acme {
    /// What handshakes hand out now. Only what is new is read.
    pub(super) async fn staples(
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

    /// Asks the issuer whether it has revoked a certificate. One that it has revoked is ordered anew.
    pub(super) async fn ask_status(&self, name: &str, planned: &PlannedCertificate) -> Result<(), StoreFault> {
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
                    planned.status_unix_s = now + ASK_S_MOST;
                    planned.staple_ends_unix_s = 0;
                    planned.renew_unix_s = 0;
                };
                self.change(name, &planned.id, change).await
            }
            // The last answer is handed out until its end.
            Err(NoAnswer::Failed(why)) => {
                tracing::warn!(certificate = name, why, "the issuer does not say whether it is revoked");
                let change = |planned: &mut PlannedCertificate| {
                    planned.status_unix_s = now + AGAIN_S;
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
}
