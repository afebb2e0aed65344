//! A service for each gateway, by whose name the cluster finds it: without a selector, with the gateway's addresses as endpoints. It belongs to the
//! gateway and goes with it.

use super::OwnObject;
use super::gateways::{CompiledGateway, Gateways};
use super::listeners::{CompiledListener, Protocol};
use crate::objects::{Key, ResourceKind};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// Names of services and values of labels are no longer.
const NAME_BYTES_MAX: usize = 63;

/// The objects that are to be there.
pub(super) fn objects(gateways: &Gateways<'_>) -> Vec<OwnObject> {
    gateways.by_key.values().flat_map(of_gateway).collect()
}

fn of_gateway(gateway: &CompiledGateway<'_>) -> Vec<OwnObject> {
    let (metadata, class) = (&gateway.object.metadata, &gateway.object.spec.gateway_class_name);
    let name = format!("{}-{class}", metadata.name);
    let ports: BTreeSet<(&str, u16)> = gateway
        .listeners
        .iter()
        .filter(|listener| listener.is_served())
        .map(|listener| (transport(listener), listener.written.port))
        .collect();
    let has_address = !gateway.addresses.bound.is_empty();
    if !gateway.is_accepted() || !has_address || ports.is_empty() || name.len() > NAME_BYTES_MAX || metadata.uid.is_empty() {
        return Vec::new();
    }
    let ports: Vec<Value> = ports
        .into_iter()
        .map(|(protocol, port)| json!({"name": format!("{}-{port}", protocol.to_ascii_lowercase()), "port": port, "protocol": protocol}))
        .collect();
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": head(gateway, &name, &[]),
        "spec": {"clusterIP": "None", "ports": ports},
    });
    let mut objects = vec![OwnObject { kind: ResourceKind::Service, key: Key::new(&metadata.namespace, &name), document: service }];
    for (family, is_of) in [("IPv4", IpAddr::is_ipv4 as fn(&IpAddr) -> bool), ("IPv6", IpAddr::is_ipv6)] {
        let addresses: Vec<String> =
            gateway.addresses.bound.iter().filter(|address| is_of(address)).map(IpAddr::to_string).collect();
        if addresses.is_empty() {
            continue;
        }
        let slice_name = format!("{name}-{}", family.to_ascii_lowercase());
        let labels = [
            ("kubernetes.io/service-name", name.as_str()),
            ("endpointslice.kubernetes.io/managed-by", "tollgate-gateway-controller"),
        ];
        let slice = json!({
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": head(gateway, &slice_name, &labels),
            "addressType": family,
            "endpoints": addresses.iter().map(|address| json!({"addresses": [address], "conditions": {"ready": true}})).collect::<Vec<_>>(),
            "ports": ports,
        });
        objects.push(OwnObject {
            kind: ResourceKind::EndpointSlice,
            key: Key::new(&metadata.namespace, &slice_name),
            document: slice,
        });
    }
    objects
}

fn transport(listener: &CompiledListener<'_>) -> &'static str {
    if listener.protocol == Some(Protocol::Udp) { "UDP" } else { "TCP" }
}

/// The metadata: the labels and annotations that the gateway wants, and whose the object is.
fn head(gateway: &CompiledGateway<'_>, name: &str, own: &[(&str, &str)]) -> Value {
    let (metadata, spec) = (&gateway.object.metadata, &gateway.object.spec);
    let mut labels: Map<String, Value> =
        spec.infrastructure.labels.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let of_gateway = [
        ("gateway.networking.k8s.io/gateway-name", metadata.name.as_str()),
        ("gateway.networking.k8s.io/gateway-class-name", &spec.gateway_class_name),
    ];
    labels.extend(of_gateway.iter().chain(own).map(|(name, value)| ((*name).to_owned(), json!(value))));
    json!({
        "name": name,
        "namespace": metadata.namespace,
        "labels": labels,
        "annotations": spec.infrastructure.annotations,
        "ownerReferences": [{
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "name": metadata.name,
            "uid": metadata.uid,
        }],
    })
}
