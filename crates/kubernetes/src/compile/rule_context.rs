//! What rules of routes are compiled with: it finds their backends, and notes which they use and which lead nowhere.

use super::backends::{Backends, OwnCertificate, Traffic, UsedBackends};
use super::grants::Referrer;
use super::policies::Policies;
use crate::conditions::Fault;
use crate::objects::ObjectRef;

pub(super) struct RuleContext<'r, 'c> {
    backends: &'r Backends<'c>,
    policies: &'r Policies<'c>,
    from: Referrer<'r>,
    traffic: Traffic,
    certificate: Option<OwnCertificate<'r>>,
    pub used: UsedBackends,
    /// The first reference that leads nowhere.
    pub fault: Option<Fault>,
}

impl<'r, 'c> RuleContext<'r, 'c> {
    pub(super) fn new(
        backends: &'r Backends<'c>,
        policies: &'r Policies<'c>,
        from: Referrer<'r>,
        traffic: Traffic,
        certificate: Option<OwnCertificate<'r>>,
    ) -> Self {
        RuleContext { backends, policies, from, traffic, certificate, used: UsedBackends::default(), fault: None }
    }

    /// The name of a backend, and whether it is one.
    pub(super) fn backend(&mut self, to: &ObjectRef, port: Option<u16>) -> (String, bool) {
        let resolved = self.backends.resolve(self.policies, self.from, to, port, self.traffic, self.certificate);
        let is_valid = resolved.fault.is_none();
        if let Some(fault) = resolved.fault {
            self.note(fault);
        }
        self.used.services.extend(resolved.service);
        self.used.documents.extend(resolved.document.map(|document| (resolved.name.clone(), document)));
        (resolved.name, is_valid)
    }

    /// Notes that a reference leads nowhere.
    pub(super) fn note(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }
}
