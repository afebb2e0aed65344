//! The addresses of gateways: those that they ask for, and others of a pool. A gateway keeps the address that it has.

use crate::conditions::Fault;
use crate::objects::{AddressType, Gateway, Object};
use ipnet::IpNet;
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// The addresses that gateways can have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressPool(pub Vec<IpNet>);

impl AddressPool {
    fn has(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }

    fn free(&self, taken: &BTreeSet<IpAddr>) -> Option<IpAddr> {
        self.0.iter().flat_map(IpNet::hosts).find(|address| !taken.contains(address))
    }
}

/// The addresses of one gateway.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Addresses {
    pub bound: Vec<IpAddr>,
    /// An address that it asks for is of a kind that there is not.
    pub unsupported: Option<Fault>,
    /// It does not have all that it asks for.
    pub missing: Option<Fault>,
}

/// The addresses of all gateways, in their order: the oldest first.
pub(super) fn assign<'c>(gateways: impl Iterator<Item = &'c Object<Gateway>> + Clone, pool: &AddressPool) -> Vec<Addresses> {
    let mut taken = BTreeSet::new();
    let mut assigned: Vec<Addresses> = gateways.clone().map(|gateway| asked(&gateway.spec, pool, &mut taken)).collect();
    let wants_any = |gateway: &Object<Gateway>, addresses: &Addresses| {
        addresses.unsupported.is_none() && gateway.spec.addresses.iter().all(|address| address.value.is_empty())
    };
    for (gateway, addresses) in gateways.clone().zip(&mut assigned).filter(|(gateway, addresses)| wants_any(gateway, addresses)) {
        addresses.bound.extend(written(&gateway.status).find(|address| pool.has(*address) && taken.insert(*address)));
    }
    for (gateway, addresses) in gateways.zip(&mut assigned) {
        if !wants_any(gateway, addresses) || !addresses.bound.is_empty() {
            continue;
        }
        match pool.free(&taken) {
            Some(address) => {
                taken.insert(address);
                addresses.bound.push(address);
            }
            None => addresses.missing = Some(Fault::new("AddressNotAssigned", "No address of the pool is free")),
        }
    }
    assigned
}

/// The address of all Ingresses: the one that is asked for, the one that their status has, a free one, or one that a gateway has too.
pub(super) fn of_ingresses(
    pool: &AddressPool,
    asked: Option<IpAddr>,
    written: impl Iterator<Item = IpAddr>,
    taken: &BTreeSet<IpAddr>,
) -> Option<IpAddr> {
    let mut written = written;
    asked
        .or_else(|| written.find(|address| pool.has(*address)))
        .or_else(|| pool.free(taken))
        .or_else(|| pool.free(&BTreeSet::new()))
}

/// Those that a gateway asks for by name.
fn asked(gateway: &Gateway, pool: &AddressPool, taken: &mut BTreeSet<IpAddr>) -> Addresses {
    let mut addresses = Addresses::default();
    for asked in &gateway.addresses {
        if let AddressType::Other(kind) = &asked.kind {
            let message = format!("Addresses of the type {kind} are not supported");
            return Addresses { unsupported: Some(Fault::new("UnsupportedAddress", message)), ..Addresses::default() };
        }
        match asked.value.parse::<IpAddr>() {
            _ if asked.value.is_empty() => {}
            Ok(address) if pool.has(address) && taken.insert(address) => addresses.bound.push(address),
            Ok(address) => {
                let why = if pool.has(address) { "another gateway has it" } else { "it is not of the pool" };
                addresses.missing = Some(Fault::new("AddressNotUsable", format!("{address} can't be used: {why}")));
            }
            Err(_) => {
                let message = format!("`{}` is no IP address", asked.value);
                return Addresses { unsupported: Some(Fault::new("UnsupportedAddress", message)), ..Addresses::default() };
            }
        }
    }
    addresses
}

/// Those of an Ingress's status.
pub(super) fn written_of_ingress(status: &Value) -> impl Iterator<Item = IpAddr> + '_ {
    let addresses = status.pointer("/loadBalancer/ingress").and_then(Value::as_array).into_iter().flatten();
    addresses.filter_map(|address| address.get("ip")?.as_str()?.parse().ok())
}

/// Those of a status.
fn written(status: &Value) -> impl Iterator<Item = IpAddr> + '_ {
    let addresses = status.get("addresses").and_then(Value::as_array).into_iter().flatten();
    addresses.filter_map(|address| address.get("value")?.as_str()?.parse().ok())
}
