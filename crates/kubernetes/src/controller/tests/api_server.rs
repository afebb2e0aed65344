//! An API server in memory: lists, watches, writes of statuses, one lease.

use crate::compile::tests::BASE;
use crate::objects::ResourceKind;
use bytes::Bytes;
use futures_util::stream;
use http::{Method, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const ROUTE: &str = r#"
kind: HTTPRoute
metadata: {name: r, namespace: default}
spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{name: echo, port: 8080}]}]}
"#;

/// Groups with their versions.
const GROUPS: [(&str, &str); 3] = [("gateway.networking.k8s.io", "v1"), ("discovery.k8s.io", "v1"), ("tollgate.dev", "v1alpha1")];

#[derive(Default)]
pub(super) struct ApiServer {
    state: Mutex<ServerState>,
}

#[derive(Default)]
struct ServerState {
    /// By their paths.
    objects: BTreeMap<String, Value>,
    /// By the end of their paths: the plural.
    watchers: Vec<(String, UnboundedSender<Value>)>,
    undefined: BTreeSet<String>,
    lease: Option<Value>,
    version: u64,
    requests: Vec<String>,
    refuses_statuses: bool,
}

type ServerBody = UnsyncBoxBody<Bytes, Infallible>;

impl ApiServer {
    /// One with a class, a gateway, a service with endpoints, and a route.
    pub(super) fn with_route() -> Arc<Self> {
        let server = ApiServer::default();
        for manifest in BASE.split("\n---\n").chain(Some(ROUTE)) {
            let mut object: Value = tollgate_text::yaml::read(manifest).unwrap();
            object["metadata"]["generation"] = json!(1);
            let kind = ResourceKind::ALL.iter().copied().find(|kind| object["kind"] == kind.name()).unwrap();
            server.put(&path_of(kind, &object), object);
        }
        Arc::new(server)
    }

    pub(super) fn client(self: &Arc<Self>) -> Client {
        let server = self.clone();
        Client::new(tower::service_fn(move |request| answer(server.clone(), request)), "default")
    }

    pub(super) fn object(&self, path: &str) -> Option<Value> {
        self.state.lock().unwrap().objects.get(path).cloned()
    }

    /// Changes an object, which those who watch hear.
    pub(super) fn change(&self, path: &str, change: impl FnOnce(&mut Value)) {
        let mut object = self.object(path).unwrap();
        change(&mut object);
        self.put(path, object);
    }

    /// Puts an object in the place of another one, or where none was. Those who watch hear it.
    pub(super) fn put(&self, path: &str, mut object: Value) {
        let mut state = self.state.lock().unwrap();
        state.version += 1;
        object["metadata"]["resourceVersion"] = json!(state.version.to_string());
        state.objects.insert(path.to_owned(), object.clone());
        let plural = plural_of(path).to_owned();
        let event = json!({"type": "MODIFIED", "object": object});
        state.watchers.retain(|(watched, sender)| *watched != plural || sender.send(event.clone()).is_ok());
    }

    pub(super) fn lease_of(&self, holder: &str) {
        let lease = json!({"metadata": {"name": "lease", "resourceVersion": "1"}, "spec": {"holderIdentity": holder}});
        self.state.lock().unwrap().lease = Some(lease);
    }

    pub(super) fn refuse_statuses(&self, refuses: bool) {
        self.state.lock().unwrap().refuses_statuses = refuses;
    }

    /// Whether the definitions of a kind are installed.
    pub(super) fn define(&self, plural: &str, is_defined: bool) {
        let undefined = &mut self.state.lock().unwrap().undefined;
        if is_defined {
            undefined.remove(plural)
        } else {
            undefined.insert(plural.to_owned())
        };
    }

    pub(super) fn requests(&self) -> Vec<String> {
        self.state.lock().unwrap().requests.clone()
    }

    pub(super) fn statuses_written(&self) -> usize {
        self.requests().iter().filter(|request| request.starts_with("PATCH ") && request.ends_with("/status")).count()
    }

    fn json(&self, method: &Method, path: &str, body: &[u8]) -> (u16, Value) {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        self.state.lock().unwrap().requests.push(format!("{method} {path}"));
        if path.contains("/leases") {
            return self.lease(method, body);
        }
        match (method, path) {
            (&Method::GET, "/apis") => (200, groups()),
            (&Method::GET, path) if GROUPS.iter().any(|(group, version)| path == format!("/apis/{group}/{version}")) => {
                (200, self.resources(path))
            }
            (&Method::GET, path) if path.contains("customresourcedefinitions") => (404, status(404)),
            (&Method::GET, path) => (200, self.list(path)),
            (&Method::PATCH, path) if path.ends_with("/status") => {
                if self.state.lock().unwrap().refuses_statuses {
                    return (500, status(500));
                }
                let path = path.trim_end_matches("/status");
                let Some(mut object) = self.object(path) else { return (404, status(404)) };
                if object["metadata"]["resourceVersion"] != body["metadata"]["resourceVersion"] {
                    return (409, status(409));
                }
                object["status"] = body["status"].clone();
                self.put(path, object.clone());
                (200, object)
            }
            (&Method::PATCH, _) => (200, body),
            _ => (405, status(405)),
        }
    }

    fn lease(&self, method: &Method, mut body: Value) -> (u16, Value) {
        let mut state = self.state.lock().unwrap();
        if method == Method::GET {
            return state.lease.clone().map_or((404, status(404)), |lease| (200, lease));
        }
        state.version += 1;
        body["metadata"]["resourceVersion"] = json!(state.version.to_string());
        state.lease = Some(body.clone());
        (200, body)
    }

    fn resources(&self, group_version: &str) -> Value {
        let state = self.state.lock().unwrap();
        let places = ResourceKind::ALL.iter().copied().map(ResourceKind::place);
        let of_group = places.filter(|place| group_version.starts_with(&format!("/apis/{}/", place.group)));
        let resources: Vec<Value> = of_group
            .filter(|place| !state.undefined.contains(place.plural))
            .map(|place| json!({"name": place.plural, "singularName": "", "namespaced": true, "kind": place.kind, "verbs": []}))
            .collect();
        json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version.trim_start_matches("/apis/"), "resources": resources})
    }

    fn list(&self, path: &str) -> Value {
        let state = self.state.lock().unwrap();
        let plural = path.rsplit('/').next().unwrap_or_default();
        let items: Vec<&Value> =
            state.objects.iter().filter(|(path, _)| plural_of(path) == plural).map(|(_, object)| object).collect();
        json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": state.version.to_string()}, "items": items})
    }

    fn watch(&self, path: &str) -> ServerBody {
        let (sender, receiver) = unbounded_channel();
        let plural = path.rsplit('/').next().unwrap_or_default().to_owned();
        self.state.lock().unwrap().watchers.push((plural, sender));
        let next = |mut receiver: UnboundedReceiver<Value>| async move {
            let event = receiver.recv().await?;
            Some((Ok(Frame::data(Bytes::from(format!("{event}\n")))), receiver))
        };
        StreamBody::new(stream::unfold(receiver, next)).boxed_unsync()
    }
}

async fn answer(server: Arc<ApiServer>, request: Request<Body>) -> Result<Response<ServerBody>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let path = head.uri.path().to_owned();
    if head.uri.query().is_some_and(|query| query.contains("watch=true")) {
        return Ok(Response::new(server.watch(&path)));
    }
    let (status, answer) = server.json(&head.method, &path, &body);
    let body = Full::new(Bytes::from(answer.to_string())).boxed_unsync();
    Ok(Response::builder().status(status).body(body).unwrap())
}

fn path_of(kind: ResourceKind, object: &Value) -> String {
    let place = kind.place();
    let group = if place.group.is_empty() { "/api/v1".to_owned() } else { format!("/apis/{}/v1", place.group) };
    let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default().to_owned();
    let namespace = if place.is_namespaced { format!("/namespaces/{}", text("namespace")) } else { String::new() };
    format!("{group}{namespace}/{}/{}", place.plural, text("name"))
}

/// The plural of the kind of an object.
fn plural_of(path: &str) -> &str {
    path.rsplit('/').nth(1).unwrap_or_default()
}

fn groups() -> Value {
    let group = |(name, version): &(&str, &str)| {
        let version = json!({"groupVersion": format!("{name}/{version}"), "version": version});
        json!({"name": name, "versions": [version], "preferredVersion": version})
    };
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": GROUPS.iter().map(group).collect::<Vec<_>>()})
}

fn status(code: u16) -> Value {
    let reason = if code == 404 { "NotFound" } else { "" };
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "refused", "reason": reason, "code": code})
}
