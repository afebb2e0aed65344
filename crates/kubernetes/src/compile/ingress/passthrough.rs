//! Hosts whose TLS ends at a backend: connections that nothing inspects go there by the host of their handshake.

use super::draft::IngressDraft;
use super::report::ReportOutcome;
use super::rules::{RuleMaker, named_backend, service_port};
use super::{definition, hosts, sockets};
use crate::compile::backends::Traffic;
use crate::objects::{IngressBackend, Key};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Connections whose TLS ends at a backend, by the ids of their definitions. Of several Ingresses with one host, the oldest one has them.
pub(super) fn streams(maker: &mut RuleMaker<'_, '_>, drafts: &mut [IngressDraft<'_>]) -> BTreeMap<String, Value> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut found = BTreeMap::new();
    for draft in drafts.iter_mut().filter(|draft| draft.settings.passes_tls && draft.settings.closed.is_none()) {
        let object = draft.object;
        let mut number = 0;
        for rule in object.spec.rules.iter().filter(|rule| !rule.host.is_empty() && hosts::is_host(&rule.host)) {
            let host = rule.host.to_ascii_lowercase();
            let root = rule.http.paths.iter().find(|path| matches!(path.path.as_str(), "" | "/"));
            let Some(path) = root.or(rule.http.paths.first()) else { continue };
            if !taken.insert(host.clone()) {
                let why = format!("another Ingress has the connections of {host}");
                draft.settings.note("ssl-passthrough", ReportOutcome::NotCarried, &why);
                continue;
            }
            match stream_backend(maker, &object.metadata.namespace, &path.backend) {
                Ok(backend) => {
                    let (id, definition) = definition::of_stream(&object.metadata, number, &sockets::own_tls(&host), &backend);
                    found.insert(id, definition);
                    number += 1;
                }
                Err(why) => draft.settings.note("ssl-passthrough", ReportOutcome::NotCarried, &why),
            }
        }
    }
    found
}

/// # Errors
/// It leads nowhere.
fn stream_backend(maker: &mut RuleMaker<'_, '_>, namespace: &str, backend: &IngressBackend) -> Result<String, String> {
    let service = backend.service.as_ref().ok_or("only services are supported as backends")?;
    let port = service_port(maker.cluster, &Key::new(namespace, &service.name), &service.port)?;
    named_backend(maker, namespace, &service.name, port, Traffic::Bytes)
}
