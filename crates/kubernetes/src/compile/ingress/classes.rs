//! Which Ingresses are served: those of classes that name the controller, of classes that it takes over by name, and those without a class if there
//! is a default one.

use super::IngressOptions;
use crate::cluster::Cluster;
use crate::objects::{Ingress, Key, Object};

/// Names the class where `spec.ingressClassName` does not.
const OLD_CLASS: &str = "kubernetes.io/ingress.class";
const DEFAULT_CLASS: &str = "ingressclass.kubernetes.io/is-default-class";

/// The Ingresses that are served, the oldest first.
pub(super) fn served<'c>(cluster: &'c Cluster, options: &IngressOptions) -> Vec<&'c Object<Ingress>> {
    let mut served: Vec<_> = cluster.ingresses.values().filter(|ingress| is_served(cluster, options, ingress)).collect();
    served.sort_by(|a, b| a.metadata.age().cmp(&b.metadata.age()));
    served
}

fn is_served(cluster: &Cluster, options: &IngressOptions, ingress: &Object<Ingress>) -> bool {
    let old = ingress.metadata.annotations.get(OLD_CLASS);
    let name = old.or(ingress.spec.ingress_class_name.as_ref()).filter(|name| !name.is_empty());
    match name {
        Some(name) => is_own(cluster, options, name),
        None => options.serves_without_class || has_own_default(cluster, options),
    }
}

fn is_own(cluster: &Cluster, options: &IngressOptions, name: &str) -> bool {
    let class = cluster.ingress_classes.get(&Key::new("", name));
    options.classes.iter().any(|taken| taken == name) || class.is_some_and(|class| class.spec.controller == options.controller_name)
}

fn has_own_default(cluster: &Cluster, options: &IngressOptions) -> bool {
    let is_default = |name: &&Key| {
        let class = cluster.ingress_classes.get(*name);
        class.and_then(|class| class.metadata.annotations.get(DEFAULT_CLASS)).is_some_and(|value| value == "true")
    };
    cluster.ingress_classes.keys().filter(is_default).any(|key| is_own(cluster, options, &key.name))
}
