//! What whoever starts the controller says of Ingresses.

use std::net::IpAddr;

/// What is served of Ingresses, and where.
#[derive(Clone, Debug)]
pub struct IngressOptions {
    /// The `controller` of the classes that are served.
    pub controller_name: String,
    /// Names of classes whose Ingresses are served, whatever their controller is.
    pub classes: Vec<String>,
    /// Whether Ingresses without a class are served.
    pub serves_without_class: bool,
    /// Their address; `None` for one of the pool.
    pub address: Option<IpAddr>,
    pub http_port: u16,
    pub https_port: u16,
    /// `namespace/name` of the Secret whose certificate hosts without one have.
    pub default_certificate: Option<String>,
    /// `namespace/name:port` of the service for requests that nothing else gets.
    pub default_backend: Option<String>,
    /// Whether services of type ExternalName are served.
    pub serves_external_names: bool,
}

impl Default for IngressOptions {
    fn default() -> Self {
        IngressOptions {
            controller_name: "tollgate.dev/ingress-controller".to_owned(),
            classes: Vec::new(),
            serves_without_class: false,
            address: None,
            http_port: 80,
            https_port: 443,
            default_certificate: None,
            default_backend: None,
            serves_external_names: false,
        }
    }
}
