//! The controller for a Kubernetes cluster beside the gateway: a thread of its own, which hands what it compiles to the store of definitions.

use crate::cli::KubernetesOptions;
use crate::manifest_findings::{ManifestFindings, ManifestLine};
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;
use tollgate_access::keys::{Keys, RingKey};
use tollgate_control::definitions::{DefinitionStore, ExternalDocuments};
use tollgate_kubernetes::{AddressPool, ControllerOptions, DocumentSink, Documents, IngressOptions, ReportOutcome, ServeReport};
use tollgate_model::Problem;
use tollgate_observe::logs;

/// The name of its documents in the store.
const SOURCE: &str = "kubernetes";

/// How long a process that takes over waits for the API server.
const FIRST_TIME_MAX: Duration = Duration::from_secs(30);

/// A controller that is not running yet.
pub(crate) struct Controller(ControllerOptions);

/// A controller that runs.
pub(crate) struct RunningController {
    stop: watch::Sender<bool>,
    /// Hears when the cluster is served for the first time.
    served: mpsc::Receiver<()>,
    thread: JoinHandle<()>,
}

impl Controller {
    /// # Errors
    /// Only where this part is missing.
    pub(crate) fn of(options: &KubernetesOptions) -> Result<Self, Box<dyn Error>> {
        Ok(Controller(ControllerOptions {
            kubeconfig: options.kubeconfig.clone(),
            controller_name: options.controller_name.clone(),
            ingress: IngressOptions {
                controller_name: options.ingress.ingress_controller.clone(),
                classes: options.ingress.ingress_classes.clone(),
                serves_without_class: options.ingress.ingress_without_class,
                address: options.ingress.ingress_address,
                http_port: options.ingress.ingress_http_port,
                https_port: options.ingress.ingress_https_port,
                default_certificate: options.ingress.ingress_default_certificate.clone(),
                default_backend: options.ingress.ingress_default_backend.clone(),
                serves_external_names: options.ingress.ingress_external_names,
            },
            addresses: AddressPool(options.addresses.clone()),
            namespaces: options.namespaces.clone(),
            lease_namespace: options.lease_namespace.clone(),
            identity: identity(),
            writes_statuses: !options.data_plane_only,
        }))
    }

    /// Starts it.
    ///
    /// # Errors
    /// There is no way to an API server. One that does not answer is no error.
    pub(crate) fn start(self, definitions: Arc<DefinitionStore>, keys: Arc<Keys>) -> Result<RunningController, Box<dyn Error>> {
        definitions.await_external(SOURCE);
        let (stop, stopped) = watch::channel(false);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (first, served) = mpsc::sync_channel(1);
        let controller = runtime.block_on(tollgate_kubernetes::Controller::new(self.0))?;
        let run = move || {
            let sink = Arc::new(StoreSink { definitions, keys, first, told: Mutex::default() });
            if let Err(error) = runtime.block_on(controller.run(sink, stopped)) {
                tracing::error!(%error, "the controller for Kubernetes has ended");
            }
        };
        let thread = std::thread::Builder::new().name("kubernetes".to_owned()).spawn(run)?;
        Ok(RunningController { stop, served, thread })
    }
}

impl RunningController {
    /// Waits until the gateway serves what is in the cluster: clients must not notice that another process takes over.
    ///
    /// # Errors
    /// It takes too long.
    pub(crate) fn wait_until_served(&self) -> Result<(), Box<dyn Error>> {
        self.served.recv_timeout(FIRST_TIME_MAX).map_err(|_| "the cluster is not known: its API server does not answer".into())
    }

    /// Ends it. What it has compiled stays in service.
    pub(crate) fn stop(self) {
        let _ = self.stop.send(true);
        // It has logged what is wrong.
        let _ = self.thread.join();
    }
}

/// Checks objects of manifests.
///
/// # Errors
/// Only where this part is missing.
pub(crate) fn check_objects(objects: Vec<Value>) -> Result<ManifestFindings, String> {
    let checked = tollgate_kubernetes::check_manifests(objects);
    let line = |level, object: String, subject: &str, reason: String| ManifestLine {
        number: None,
        level,
        object,
        subject: subject.to_owned(),
        reason,
    };
    let unreadable = checked.unreadable.into_iter().map(|(object, why)| line("error", object, "object", why));
    let conditions = checked.conditions.into_iter().map(|(object, why)| line("error", object, "status", why));
    let ingresses = checked.ingresses.into_iter().map(|(key, found)| {
        let level = match found.outcome {
            ReportOutcome::Carried => "carried",
            ReportOutcome::Approximated => "approximated",
            ReportOutcome::NotCarried => "no effect",
            ReportOutcome::Closed => "error",
        };
        line(level, format!("Ingress {key}"), &found.subject, found.reason)
    });
    let lines = unreadable.chain(conditions).chain(ingresses).collect();
    Ok(ManifestFindings { lines, definitions: checked.documents.definitions })
}

/// Among several controllers, this process. Its number alone is the same in many containers.
fn identity() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{}-{}", host.trim(), std::process::id())
}

/// The store of definitions as the place for documents.
struct StoreSink {
    definitions: Arc<DefinitionStore>,
    keys: Arc<Keys>,
    first: mpsc::SyncSender<()>,
    /// The problems of backends that there are.
    told: Mutex<Vec<Problem>>,
}

impl DocumentSink for StoreSink {
    fn serve(&self, documents: &Documents) -> ServeReport {
        let listeners = documents
            .listeners
            .iter()
            .filter_map(|(name, listener)| Some((name.clone(), read(name, serde_json::from_value(listener.clone()))?)))
            .collect();
        let texts = |documents: &BTreeMap<String, Value>| {
            documents.iter().map(|(id, document)| (id.clone(), document.to_string().into_bytes())).collect()
        };
        let documents = ExternalDocuments {
            definitions: texts(&documents.definitions),
            policies: texts(&documents.policies),
            certificates: documents.certificates.clone(),
            listeners,
        };
        // The store logs what is wrong with them.
        let report = self.definitions.set_external(SOURCE, documents);
        // Somebody hears it the first time.
        let _ = self.first.try_send(());
        ServeReport { listeners: self.definitions.listener_states(), rejected: report.rejected, warned: report.warned }
    }

    fn serve_keys(&self, rings: &BTreeMap<String, Vec<tollgate_kubernetes::KeyFromSecret>>) {
        let key = |key: &tollgate_kubernetes::KeyFromSecret| RingKey {
            digest: RingKey::digest_of(key.text.reveal()),
            shown: format!("{SOURCE}/{}", key.name),
            alias: key.alias.clone(),
            tags: key.tags.clone(),
            quota_max: key.quota.map_or(0, |quota| quota.requests),
            quota_renewal_s: key.quota.map_or(0, |quota| quota.renewal_s),
        };
        self.keys.set_rings(rings.iter().map(|(name, keys)| (name.clone(), keys.iter().map(key).collect())).collect());
    }

    fn serve_backends(&self, backends: &BTreeMap<String, Value>) {
        let backends = backends
            .iter()
            .filter_map(|(name, backend)| Some((name.clone(), read(name, serde_json::from_value(backend.clone()))?)))
            .collect();
        let problems = self.definitions.set_external_backends(SOURCE, backends);
        // Endpoints change often: what was told is not told again.
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<Problem> = problems.iter().filter(|problem| !told.contains(problem)).cloned().collect();
        logs::problems(&new);
        *told = problems;
    }
}

/// A listener or backend. They were compiled by this program: one that can't be read is a fault of it.
fn read<T>(name: &str, read: Result<T, serde_json::Error>) -> Option<T> {
    read.inspect_err(|error| tracing::error!(name, %error, "a listener or backend can't be read")).ok()
}
