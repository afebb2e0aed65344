//! The controller: whenever the cluster changes, it compiles it, hands the documents over, and writes the statuses that changed.

use crate::compile::{
    AddressPool, Documents, IngressOptions, KeyFromSecret, ReportLine, ReportOutcome, ServeReport, Settings, compile,
};
use crate::leader::Candidate;
use crate::objects::Key;
use crate::picture::Picture;
use crate::watch;
use crate::writer::{ObjectPatch, WantedWrites, Writer};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch::{Receiver, Sender};

/// Changes that come within this time are one.
const GATHERED: Duration = Duration::from_millis(50);
/// How long it takes until a listener that could not be bound is tried again.
const BIND_AGAIN: Duration = Duration::from_secs(5);
/// How long it may take to give the lease away.
const LET_GO_TIME_MAX: Duration = Duration::from_secs(2);
/// Who leads is written here.
const LEASE: &str = "tollgate-gateway-controller";

/// What the controller is told by whoever starts it.
#[derive(Clone, Debug)]
pub struct ControllerOptions {
    /// How the API server is reached; `None`: as a pod of the cluster, or as the environment says.
    pub kubeconfig: Option<PathBuf>,
    pub controller_name: String,
    /// What is served of Ingresses.
    pub ingress: IngressOptions,
    /// The addresses that gateways get.
    pub addresses: AddressPool,
    /// Where objects are looked for; empty: everywhere.
    pub namespaces: Vec<String>,
    /// Where the lease is.
    pub lease_namespace: Option<String>,
    /// Among several controllers, this one.
    pub identity: String,
    /// Whether it wants to be the one that writes statuses. Otherwise it needs no rights to write.
    pub writes_statuses: bool,
}

/// The gateway, which serves what the controller compiles. Its methods may block.
pub trait DocumentSink: Send + Sync {
    /// Serves definitions and listeners, and says where the listeners are bound, and which definitions are not served as they are.
    fn serve(&self, documents: &Documents) -> ServeReport;
    /// Replaces the keys of all rings. Definitions refer to them by name.
    fn serve_keys(&self, rings: &BTreeMap<String, Vec<KeyFromSecret>>);
    /// Serves backends by their names. Cheap: endpoints change often.
    fn serve_backends(&self, backends: &BTreeMap<String, serde_json::Value>);
}

/// A controller that knows the way to its API server.
pub struct Controller {
    options: ControllerOptions,
    config: Config,
}

impl Controller {
    /// Finds the way to the API server, without going it.
    ///
    /// # Errors
    /// There is none, or it can't be read.
    pub async fn new(options: ControllerOptions) -> Result<Self, Box<dyn Error>> {
        let config = config(&options).await?;
        Ok(Controller { options, config })
    }

    /// Runs until `stop` says so, or nobody can say so any more.
    ///
    /// # Errors
    /// What the API server is shown can't be used.
    pub async fn run(self, sink: Arc<dyn DocumentSink>, mut stop: Receiver<bool>) -> Result<(), Box<dyn Error>> {
        let Controller { options, config } = self;
        let lease_namespace = options.lease_namespace.clone().unwrap_or_else(|| config.default_namespace.clone());
        tracing::info!(server = %config.cluster_url, controller = options.controller_name, "watching the API server");
        let client = Client::try_from(config)?;
        let (leads_sender, leads) = tokio::sync::watch::channel(false);
        let candidate = options.writes_statuses.then(|| Candidate::new(client.clone(), &lease_namespace, LEASE, &options.identity));
        let candidate = tokio::spawn(elect(candidate, leads_sender));
        let stopped = async {
            // An error means that nobody can say so any more.
            let _ = stop.wait_for(|stop| *stop).await;
        };
        tokio::select! {
            () = control(client, options, sink, leads) => {}
            () = stopped => {}
        }
        // With the last listener gone, the lease is let go.
        let _ = tokio::time::timeout(LET_GO_TIME_MAX, candidate).await;
        Ok(())
    }
}

/// Says whether this process writes statuses. Without a candidate it never does, and asks nobody.
async fn elect(candidate: Option<Candidate>, leads: Sender<bool>) {
    match candidate {
        Some(candidate) => candidate.run(leads).await,
        None => leads.closed().await,
    }
}

async fn config(options: &ControllerOptions) -> Result<Config, Box<dyn Error>> {
    let Some(file) = &options.kubeconfig else {
        return Config::infer()
            .await
            .map_err(|error| format!("there is no way to an API server: pass --kubeconfig ({error})").into());
    };
    let unusable = |error: &dyn Error| format!("{}: {error}", file.display());
    let kubeconfig = Kubeconfig::read_from(file).map_err(|error| unusable(&error))?;
    Ok(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.map_err(|error| unusable(&error))?)
}

async fn control(client: Client, options: ControllerOptions, sink: Arc<dyn DocumentSink>, mut leads: Receiver<bool>) {
    let picture = Arc::new(Picture::default());
    let (resources, definitions) = watch::start(client.clone(), options.namespaces.clone(), picture.clone()).await;
    let settings = Arc::new(Settings {
        controller_name: options.controller_name,
        pool: options.addresses,
        definitions,
        ingress: options.ingress,
    });
    let mut served =
        Served { sink, documents: Documents::default(), report: ServeReport::default(), is_first: true, reports: BTreeMap::new() };
    let mut noted: BTreeSet<String> = BTreeSet::new();
    let (writes, applied) = Writer::start(client, resources, picture.clone());
    // In a large cluster that changes all the time, at most half a thread works.
    let mut work_took = Duration::ZERO;
    loop {
        let has_failed = served.has_failed();
        let again = async {
            match has_failed {
                true => tokio::time::sleep(BIND_AGAIN).await,
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            () = picture.changed() => tokio::time::sleep(GATHERED.max(work_took)).await,
            changed = leads.changed() => if changed.is_err() { return },
            () = again => {}
        }
        let Some(cluster) = picture.cluster() else { continue };
        let is_leading = *leads.borrow_and_update();
        let (settings, applied) = (settings.clone(), applied.clone());
        let began = Instant::now();
        let work = tokio::task::spawn_blocking(move || {
            let mut compiled = compile(&cluster, &settings);
            served.serve(std::mem::take(&mut compiled.documents));
            served.tell(compiled.ingress_reports());
            let mut wanted = WantedWrites::default();
            if is_leading {
                wanted.patches = compiled.status_changes(&served.report, &now()).into_iter().map(ObjectPatch::from).collect();
                wanted.patches.extend(compiled.finalizer_changes().into_iter().map(ObjectPatch::from));
                wanted.objects = compiled.own_objects();
                wanted.objects.retain(|object| !applied.has(object, &cluster));
            }
            (served, wanted, compiled.notes())
        });
        let (wanted, notes);
        (served, wanted, notes) = match work.await {
            Ok(done) => done,
            Err(error) => {
                tracing::error!(%error, "the controller has failed");
                return;
            }
        };
        work_took = began.elapsed();
        // Each is said once, for as long as it holds.
        notes.iter().filter(|note| !noted.contains(*note)).for_each(|note| tracing::warn!("{note}"));
        noted = notes.into_iter().collect();
        // An error means that the writer is gone, and with it the process.
        let _ = writes.send(wanted);
    }
}

/// The time as statuses have it.
fn now() -> String {
    k8s_openapi::jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// What the gateway serves of the cluster.
struct Served {
    sink: Arc<dyn DocumentSink>,
    documents: Documents,
    report: ServeReport,
    is_first: bool,
    /// What was said of Ingresses.
    reports: BTreeMap<Key, Vec<ReportLine>>,
}

impl Served {
    /// Whether a listener could not be bound.
    fn has_failed(&self) -> bool {
        self.report.listeners.values().any(Result::is_err)
    }

    /// Logs what is not carried over of Ingresses: once for each of their changes.
    fn tell(&mut self, reports: &BTreeMap<Key, Vec<ReportLine>>) {
        let is_new = |(ingress, report): &(&Key, &Vec<ReportLine>)| self.reports.get(*ingress) != Some(*report);
        for (ingress, report) in reports.iter().filter(is_new) {
            for line in report {
                let (what, why) = (&line.subject, &line.reason);
                match line.outcome {
                    ReportOutcome::Carried | ReportOutcome::Approximated => {}
                    ReportOutcome::NotCarried => tracing::warn!(%ingress, what, why, "a part of an Ingress has no effect"),
                    ReportOutcome::Closed => {
                        tracing::error!(%ingress, what, why, "paths of an Ingress answer 503: what protects them has no effect")
                    }
                }
            }
        }
        self.reports.clone_from(reports);
    }

    /// Serves what has changed. Backends and keys are there before what refers to them, and backends go after it.
    fn serve(&mut self, mut documents: Documents) {
        let is_first = std::mem::take(&mut self.is_first);
        documents.keep(&self.documents);
        let before = std::mem::replace(&mut self.documents, documents);
        let now = &self.documents;
        if is_first || before.key_rings != now.key_rings {
            self.sink.serve_keys(&now.key_rings);
        }
        let is_served_anew = is_first || self.has_failed() || !before.is_same_but_backends(now);
        if !is_served_anew {
            if before.backends != now.backends {
                self.sink.serve_backends(&now.backends);
            }
            return;
        }
        let mut both = before.backends;
        both.extend(now.backends.iter().map(|(name, backend)| (name.clone(), backend.clone())));
        self.sink.serve_backends(&both);
        self.report = self.serve_guarded();
        if both != self.documents.backends {
            self.sink.serve_backends(&self.documents.backends);
        }
    }

    /// Serves definitions. One that the gateway does not take would leave its predecessor in service, which may be open: if policies are to protect
    /// it, requests are refused instead, and if even that is not taken, nothing is served.
    fn serve_guarded(&self) -> ServeReport {
        let mut report = self.sink.serve(&self.documents);
        let unserved = |report: &ServeReport| -> Vec<String> {
            report.rejected.keys().filter(|id| self.documents.refusing.contains_key(*id)).cloned().collect()
        };
        let ids = unserved(&report);
        if ids.is_empty() {
            return report;
        }
        let mut documents = self.documents.clone();
        for id in ids {
            documents.definitions.extend(self.documents.refusing.get(&id).map(|refusing| (id, refusing.clone())));
        }
        let second = self.sink.serve(&documents);
        for id in unserved(&second) {
            documents.definitions.remove(&id);
        }
        report.listeners = match second.rejected.keys().any(|id| self.documents.refusing.contains_key(id)) {
            true => self.sink.serve(&documents).listeners,
            false => second.listeners,
        };
        report
    }
}

#[cfg(test)]
mod tests;
