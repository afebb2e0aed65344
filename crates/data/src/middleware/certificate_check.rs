//! Access by client certificate. Reads `use_mutual_tls_auth` and `client_certificates`, and the gateway's `security.certificates.apis`. The
//! client sees 403: `TLS not enabled`, `Client TLS certificate is required`, `Certificate has expired` or `Certificate with SHA256 … not
//! allowed`. Does not use the store: the certificates are in memory.

use super::{Middleware, MiddlewareSource};
use crate::client_tls::AllowList;
use crate::exchange::{Exchange, Step};

pub(super) struct CertificateCheck(AllowList);

impl CertificateCheck {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        if !definition.use_mutual_tls_auth {
            return None;
        }
        let names = definition.client_certificates.iter().chain(&source.context.settings.callers.client_certificates);
        Some(Box::new(CertificateCheck(AllowList::new(names, &source.context.registry.certificates))))
    }
}

impl Middleware for CertificateCheck {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.decisions.ignored {
            return Step::Next;
        }
        match self.0.check(exchange.arrival.tls, tollgate_clock::unix_s()) {
            Ok(()) => Step::Next,
            Err(disallowed) => Step::Refuse(disallowed.into()),
        }
    }
}
