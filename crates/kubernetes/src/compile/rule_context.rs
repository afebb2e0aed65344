//! What rules of routes are compiled with: it finds their backends, and notes which they use and which lead nowhere.

use super::backends::{Backends, OwnCertificate, Traffic, UsedBackends};
use super::grants::Referrer;
use super::policies::Policies;
use crate::conditions::Fault;
use crate::objects::ObjectRef;
use serde_json::{Map, Value};

pub(super) struct RuleContext<'r, 'c> {
    backends: &'r Backends<'c>,
    policies: &'r Policies<'c>,
    from: Referrer<'r>,
    traffic: Traffic,
    certificate: Option<OwnCertificate<'r>>,
    /// What a policy adds to the backends of a rule, and to their names.
    backend_members: Option<(String, &'r Map<String, Value>)>,
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
        RuleContext {
            backends,
            policies,
            from,
            traffic,
            certificate,
            backend_members: None,
            used: UsedBackends::default(),
            fault: None,
        }
    }

    /// The next rule's backends have these members, and names that end so. Connections are of no policy of backends.
    pub(super) fn begin_rule(&mut self, backend_members: Option<(String, &'r Map<String, Value>)>) {
        self.backend_members = backend_members.filter(|_| self.traffic < Traffic::Terminated);
    }

    /// The name of a backend, and whether it is one.
    pub(super) fn backend(&mut self, to: &ObjectRef, port: Option<u16>) -> (String, bool) {
        let resolved = self.backends.resolve(self.policies, self.from, to, port, self.traffic, self.certificate);
        let is_valid = resolved.fault.is_none();
        if let Some(fault) = resolved.fault {
            self.note(fault);
        }
        self.used.services.extend(resolved.service);
        let mut name = resolved.name;
        if let Some(mut document) = resolved.document {
            if let (Some((suffix, added)), Value::Object(members)) = (&self.backend_members, &mut document) {
                name.push_str(suffix);
                members.extend(added.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
            self.used.documents.insert(name.clone(), document);
        }
        (name, is_valid)
    }

    /// Notes that a reference leads nowhere.
    pub(super) fn note(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }
}
