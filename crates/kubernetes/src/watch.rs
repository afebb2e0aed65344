//! Watches: one for each kind of objects, or for each kind and namespace. They go on whatever the API server does, and say once what is wrong.

use crate::compile::InstalledDefinitions;
use crate::objects::{Key, Metadata, ResourceKind};
use crate::picture::Picture;
use futures_util::TryStreamExt;
use kube::api::{ApiResource, DynamicObject};
use kube::core::{GroupVersionKind, ObjectMeta};
use kube::runtime::WatchStreamExt;
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long an API server that does not answer, or has no definitions, is left alone.
const LOOK_AGAIN: Duration = Duration::from_secs(3);
/// How often definitions are looked for that were missing, and need not be there.
const LOOK_FOR_MISSING: Duration = Duration::from_secs(15);
/// Between two tries of a watch that fails.
const PAUSE_LEAST: Duration = Duration::from_millis(500);
const PAUSE_MOST: Duration = Duration::from_secs(4);

/// The API server's name of each kind that it has.
type Resources = BTreeMap<ResourceKind, ApiResource>;

/// The same for those who write, as kinds come to be defined.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownResources(Arc<Mutex<Resources>>);

impl KnownResources {
    pub(crate) fn get(&self, kind: ResourceKind) -> Option<ApiResource> {
        self.lock().get(&kind).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Resources> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins all watches, once the API server answers and has what is needed.
pub(crate) async fn start(
    client: Client,
    namespaces: Vec<String>,
    picture: Arc<Picture>,
) -> (KnownResources, InstalledDefinitions) {
    let mut said = String::new();
    let (resources, installed) = loop {
        let trouble = match found(&client).await {
            Ok((resources, installed)) => {
                let missing: Vec<&str> = missing(&resources).filter(|kind| kind.is_needed()).map(ResourceKind::name).collect();
                if missing.is_empty() {
                    break (resources, installed);
                }
                format!("the definitions of {} are missing: install the Gateway API, standard channel", missing.join(", "))
            }
            Err(error) => error.to_string(),
        };
        if said != trouble {
            tracing::warn!(trouble, retry_s = LOOK_AGAIN.as_secs(), "waiting for the API server");
            said = trouble;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    };
    let missing: Vec<ResourceKind> = missing(&resources).collect();
    // Few clusters have Tyk's.
    let noted: Vec<&str> = missing.iter().filter(|kind| !kind.is_tyk()).map(|kind| kind.name()).collect();
    if !noted.is_empty() {
        let kinds = noted.join(", ");
        tracing::warn!(kinds, "definitions are missing: objects of these kinds are not served until they are installed");
    }
    for (kind, resource) in &resources {
        watch(&client, *kind, resource, &namespaces, &picture);
    }
    picture.start();
    let known = KnownResources(Arc::new(Mutex::new(resources)));
    if !missing.is_empty() {
        tokio::spawn(watch_missing(client, missing, namespaces, (known.clone(), picture)));
    }
    (known, installed)
}

/// Watches kinds that were not defined at the start as soon as they are.
async fn watch_missing(
    client: Client,
    mut missing: Vec<ResourceKind>,
    namespaces: Vec<String>,
    (known, picture): (KnownResources, Arc<Picture>),
) {
    while !missing.is_empty() {
        tokio::time::sleep(LOOK_FOR_MISSING).await;
        let Ok((resources, _)) = found(&client).await else { continue };
        for kind in missing.extract_if(.., |kind| resources.contains_key(kind)) {
            tracing::info!(%kind, "its definition is there now");
            if let Some(resource) = resources.get(&kind) {
                known.lock().insert(kind, resource.clone());
                watch(&client, kind, resource, &namespaces, &picture);
            }
        }
    }
}

fn missing(resources: &Resources) -> impl Iterator<Item = ResourceKind> + '_ {
    ResourceKind::ALL.iter().copied().filter(|kind| !resources.contains_key(kind))
}

/// The kinds that the API server has, and the version of the Gateway API.
async fn found(client: &Client) -> Result<(Resources, InstalledDefinitions), kube::Error> {
    let groups = client.list_api_groups().await?;
    let mut plurals: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    let own: BTreeSet<&str> = ResourceKind::ALL.iter().copied().map(|kind| kind.place().group).collect();
    for group in groups.groups.iter().filter(|group| own.contains(group.name.as_str())) {
        for version in &group.versions {
            let listed = client.list_api_group_resources(&version.group_version).await?;
            let names = listed.resources.into_iter().map(|resource| resource.name).collect();
            plurals.insert((group.name.clone(), version.version.clone()), names);
        }
    }
    let is_there = |group: &str, version: &str, plural: &str| {
        group.is_empty() || plurals.get(&(group.to_owned(), version.to_owned())).is_some_and(|names| names.contains(plural))
    };
    let mut resources = Resources::new();
    for &kind in ResourceKind::ALL {
        let place = kind.place();
        let version = place.versions.iter().find(|version| is_there(place.group, version, place.plural));
        if let Some(version) = version {
            let name = GroupVersionKind::gvk(place.group, version, place.kind);
            resources.insert(kind, ApiResource::from_gvk_with_plural(&name, place.plural));
        }
    }
    Ok((resources, installed(client).await.unwrap_or_default()))
}

/// What the definitions say of themselves, if they can be read: the permission for that may be missing.
async fn installed(client: &Client) -> Option<InstalledDefinitions> {
    let name = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let resource = ApiResource::from_gvk_with_plural(&name, "customresourcedefinitions");
    let definitions: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let definition = definitions.get_metadata("httproutes.gateway.networking.k8s.io").await.ok()?;
    let said = definition.metadata.annotations?;
    Some(InstalledDefinitions {
        version: said.get("gateway.networking.k8s.io/bundle-version").cloned(),
        are_experimental: said.get("gateway.networking.k8s.io/channel").is_some_and(|channel| channel == "experimental"),
    })
}

fn watch(client: &Client, kind: ResourceKind, resource: &ApiResource, namespaces: &[String], picture: &Arc<Picture>) {
    let is_split = kind.place().is_namespaced && !namespaces.is_empty();
    let scopes: Vec<Option<String>> = if is_split { namespaces.iter().cloned().map(Some).collect() } else { vec![None] };
    for scope in scopes {
        let objects = match &scope {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, resource),
            None => Api::all_with(client.clone(), resource),
        };
        picture.expect(kind, scope.as_deref());
        tokio::spawn(follow(objects, kind, scope, picture.clone()));
    }
}

/// How long a watch waits after it has failed: twice as long each time, so that an API server that is back is watched again soon.
#[derive(Default)]
struct WatchPause(Option<Duration>);

impl Iterator for WatchPause {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let pause = self.0.map_or(PAUSE_LEAST, |last| (last * 2).min(PAUSE_MOST));
        self.0 = Some(pause);
        self.0
    }
}

impl Backoff for WatchPause {
    fn reset(&mut self) {
        self.0 = None;
    }
}

/// Takes over what happens to the objects of a kind, for ever.
async fn follow(objects: Api<DynamicObject>, kind: ResourceKind, scope: Option<String>, picture: Arc<Picture>) {
    let fields = kind.watched_fields();
    let config = if fields.is_empty() { watcher::Config::default() } else { watcher::Config::default().fields(fields) };
    let mut events = pin!(watcher(objects, config).backoff(WatchPause::default()));
    let mut listed = BTreeSet::new();
    let (mut is_known, mut is_in_trouble) = (false, false);
    loop {
        match events.try_next().await {
            Ok(Some(event)) => {
                if std::mem::take(&mut is_in_trouble) {
                    tracing::info!(%kind, "the API server is watched again");
                }
                is_known |= matches!(event, Event::InitDone);
                take_over(event, kind, scope.as_deref(), &mut listed, &picture);
            }
            Ok(None) => return,
            // What may be missing may be forbidden too: nothing waits for it.
            Err(error) if !is_known && !kind.is_needed() && is_forbidden(&error) => {
                is_known = true;
                is_in_trouble = true;
                tracing::warn!(%kind, %error, "objects of this kind are not served: they may not be read");
                picture.listed(kind, scope.as_deref(), &BTreeSet::new());
            }
            Err(error) => {
                if !std::mem::replace(&mut is_in_trouble, true) {
                    tracing::warn!(%kind, %error, "the API server can't be watched: what is known stays in service; retrying");
                }
            }
        }
    }
}

fn is_forbidden(error: &watcher::Error) -> bool {
    let status = match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::WatchFailed(kube::Error::Api(status)) => status,
        watcher::Error::WatchError(status) => status,
        _ => return false,
    };
    status.code == 403
}

fn take_over(event: Event<DynamicObject>, kind: ResourceKind, scope: Option<&str>, listed: &mut BTreeSet<Key>, picture: &Picture) {
    match event {
        Event::Init => listed.clear(),
        Event::InitApply(object) => {
            let metadata = metadata(object.metadata);
            listed.insert(metadata.key());
            picture.put(kind, metadata, object.data);
        }
        Event::InitDone => picture.listed(kind, scope, &std::mem::take(listed)),
        Event::Apply(object) => picture.put(kind, metadata(object.metadata), object.data),
        Event::Delete(object) => picture.remove(kind, &metadata(object.metadata).key()),
    }
}

fn metadata(written: ObjectMeta) -> Metadata {
    Metadata {
        name: written.name.unwrap_or_default(),
        namespace: written.namespace.unwrap_or_default(),
        generation: written.generation.unwrap_or_default(),
        creation_timestamp: written.creation_timestamp.map(|time| time.0.to_string()).unwrap_or_default(),
        resource_version: written.resource_version.unwrap_or_default(),
        uid: written.uid.unwrap_or_default(),
        labels: written.labels.unwrap_or_default(),
        annotations: written.annotations.unwrap_or_default(),
        finalizers: written.finalizers.unwrap_or_default(),
        deletion_timestamp: written.deletion_timestamp.map(|time| time.0.to_string()).unwrap_or_default(),
    }
}
