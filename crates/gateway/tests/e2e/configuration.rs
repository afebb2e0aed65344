//! `/tyk/configuration`: the configuration as one document, and changes of several parts that are made together or not at all, whatever
//! happens in between.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::gateway::SECRET;
use crate::harness::{Connection, Gateway, Response, Setup, Upstream, api, request};
use crate::servers::free_port;

/// Folders of definitions and policies that outlive a gateway.
pub(crate) struct Folders(TempDir);

impl Folders {
    pub(crate) fn new() -> Folders {
        let folders = Folders(tempfile::tempdir().expect("a folder"));
        for path in [folders.apps(), folders.policies()] {
            fs::create_dir(path).expect("a folder");
        }
        folders
    }

    pub(crate) fn apps(&self) -> PathBuf {
        self.0.path().join("apps")
    }

    pub(crate) fn policies(&self) -> PathBuf {
        self.0.path().join("policies")
    }

    pub(crate) fn start(&self) -> Gateway {
        Setup::new(json!({
            "app_path": self.apps(),
            "policies": {"policy_source": "file", "policy_path": self.policies()},
            "tollgate": {"data_dir": self.0.path().join("data")}
        }))
        .start()
    }
}

pub(crate) fn configuration(gateway: &Gateway) -> Value {
    let answer = gateway.control("GET", "/tyk/configuration", "");
    assert_eq!(answer.status, 200, "{answer}");
    answer.json()
}

fn digest(gateway: &Gateway) -> String {
    configuration(gateway)["digest"].as_str().expect("a digest").to_owned()
}

fn post(gateway: &Gateway, digest: &str, changes: Value) -> Response {
    gateway.control("POST", "/tyk/configuration", &json!({"digest": digest, "changes": changes}).to_string())
}

fn put(kind: &str, document: Value) -> Value {
    json!({"kind": kind, "action": "put", "document": document})
}

fn policy(id: &str, api: &str, rate: u64) -> Value {
    json!({"id": id, "org_id": "default", "rate": rate, "per": 60, "access_rights": {api: {"api_id": api, "versions": ["Default"]}}})
}

fn actions(answer: &Response) -> Vec<String> {
    assert_eq!(answer.status, 200, "{answer}");
    let row = |row: &Value| {
        format!("{} {} {}", row["action"].as_str().unwrap(), row["kind"].as_str().unwrap(), row["id"].as_str().unwrap())
    };
    answer.json()["plan"].as_array().unwrap().iter().map(row).collect()
}

/// The texts of all files, also hidden ones but for the lock.
fn texts(folder: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.unwrap().path());
    let named = files.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap()));
    named.filter(|(name, _)| name != ".tollgate-change.lock").collect()
}

#[test]
fn apis_policies_certificates_clients_and_templates_change_together() {
    let upstream = Upstream::ok();
    let folders = Folders::new();
    let gateway = folders.start();
    let pem = rcgen::generate_simple_self_signed(["shop.example".to_owned()]).unwrap().cert.pem();
    let accounts = api("accounts", "/accounts/", &upstream.url())
        .with_keys()
        .set("use_oauth2", true)
        .set("oauth_meta/allowed_access_types", json!(["client_credentials"]));
    let changes = json!([
        {"kind": "client", "action": "put", "document": {"api_id": "accounts", "client_id": "shop", "policy_id": "gold", "redirect_uri": "https://shop.example/"}},
        {"kind": "key_template", "action": "put", "id": "partner", "document": {"org_id": "default", "apply_policies": ["gold"]}},
        put("policy", policy("gold", "accounts", 10)),
        put("api", accounts.0.clone()),
        put("api", api("open", "/open/", &upstream.url()).0),
        {"kind": "certificate", "action": "put", "pem": pem},
    ]);
    let before = digest(&gateway);
    let answer = post(&gateway, &before, changes.clone());
    let certificate = answer.json()["plan"][0]["id"].as_str().expect("an id").to_owned();
    let expected = [
        &format!("create certificate {certificate}"),
        "create api accounts",
        "create api open",
        "create policy gold",
        "create client accounts/shop",
        "create key_template partner",
    ];
    assert_eq!(actions(&answer), expected);
    assert_eq!(gateway.get("/open/").status, 200);
    assert_eq!(gateway.get("/accounts/").status, 400, "a token is missing");

    let now = configuration(&gateway);
    assert_eq!(now["digest"], answer.json()["digest"]);
    let ids =
        |part: &str| now[part].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(ids("apis"), ["accounts", "open"]);
    assert_eq!(ids("policies"), ["gold"]);
    assert_eq!(ids("certificates"), [certificate.as_str()]);
    assert_eq!(ids("clients"), ["accounts/shop"]);
    assert_eq!(ids("key_templates"), ["partner"]);
    assert_eq!(now["clients"][0]["document"].get("secret"), None, "a secret leaves the gateway: {now}");

    let again = post(&gateway, now["digest"].as_str().unwrap(), changes);
    assert_eq!((actions(&again), again.json()["unchanged"].as_u64()), (Vec::new(), Some(6)));
    assert_eq!(digest(&gateway), now["digest"].as_str().unwrap());

    let deletes = json!([
        {"kind": "api", "action": "delete", "id": "open"},
        {"kind": "client", "action": "delete", "id": "accounts/shop"},
        {"kind": "certificate", "action": "delete", "id": certificate},
        {"kind": "key_template", "action": "delete", "id": "partner"},
        {"kind": "policy", "action": "delete", "id": "never"},
    ]);
    assert_eq!(actions(&post(&gateway, "*", deletes)).len(), 4);
    assert_eq!(gateway.get("/open/").status, 404);
    assert_eq!(texts(&folders.apps()).into_keys().collect::<Vec<_>>(), ["accounts.json"]);
    let log = gateway.control("GET", "/tyk/list/changes", "").text();
    assert!(log.contains("\"action\":\"delete\",\"kind\":\"api\",\"target\":\"open\""), "{log}");
}

#[test]
fn a_broken_object_changes_nothing_and_is_named() {
    let upstream = Upstream::ok();
    let folders = Folders::new();
    let gateway = folders.start();
    let good = api("good", "/good/", &upstream.url());
    assert_eq!(actions(&post(&gateway, "*", json!([put("api", good.0.clone())]))), ["create api good"]);
    let (before, files) = (digest(&gateway), texts(&folders.apps()));
    let new = put("api", api("new", "/new/", &upstream.url()).0);
    for (change, source, path) in [
        (
            json!({"kind": "api", "action": "put", "source": "apis/bad.json", "document": api("bad", "/b/", "http://a/").set("proxy/listen_path", 7).0}),
            "apis/bad.json",
            "$.proxy.listen_path",
        ),
        (
            json!({"kind": "api", "action": "put", "source": "apis/bad.json", "document": api("bad", "/b/", "http://a/").list("black_list", json!([{"path": "/x("}])).0}),
            "apis/bad.json",
            "$.version_data.versions.Default.extended_paths.black_list[0].path",
        ),
        (json!({"kind": "api", "action": "put", "source": "x.json", "document": {"name": "no id"}}), "x.json", "$.api_id"),
        (
            json!({"kind": "policy", "action": "put", "source": "p.json", "document": {"id": "p", "rate": "many"}}),
            "p.json",
            "$.rate",
        ),
        (
            json!({"kind": "client", "action": "put", "source": "c.json", "document": {"api_id": "good", "client_id": "c"}}),
            "c.json",
            "$.api_id",
        ),
        (json!({"kind": "client", "action": "put", "document": {"api_id": "nowhere", "client_id": "c"}}), "changes[1]", "$.api_id"),
        (json!({"kind": "certificate", "action": "put", "source": "c.pem", "pem": "nothing"}), "c.pem", "$.pem"),
        (
            json!({"kind": "key_template", "action": "put", "id": "t", "source": "t.json", "document": {"rate": []}}),
            "t.json",
            "$.rate",
        ),
        (json!({"kind": "api", "action": "delete", "source": "twice", "id": "new"}), "twice", "$"),
    ] {
        let answer = post(&gateway, &before, json!([new.clone(), change]));
        assert_eq!((answer.status, answer.json()["cause"].as_str().unwrap()), (400, "problems"), "{answer}");
        let problem = &answer.json()["problems"][0];
        assert_eq!((problem["source"].as_str(), problem["path"].as_str()), (Some(source), Some(path)), "{answer}");
        assert_eq!((digest(&gateway), texts(&folders.apps())), (before.clone(), files.clone()), "{answer}");
    }
    assert_eq!(gateway.get("/new/").status, 404);
    for body in ["", "[]", "{\"digest\": 7}", "{\"digest\": \"*\", \"changes\": [{\"kind\": \"pony\", \"action\": \"put\"}]}"] {
        assert_eq!(gateway.control("POST", "/tyk/configuration", body).status, 400, "{body}");
    }
}

#[test]
fn of_two_changes_at_once_one_is_made() {
    let upstream = Upstream::ok();
    let folders = Folders::new();
    let gateway = folders.start();
    for round in 0..4 {
        let known = digest(&gateway);
        let change = |name: &str| {
            let all = (0..20).map(|number| {
                put("api", api(&format!("n{number}"), &format!("/n{number}/"), &format!("{}/{name}{round}/", upstream.url())).0)
            });
            Value::from(all.collect::<Vec<_>>())
        };
        let (first, second) = thread::scope(|scope| {
            let second = scope.spawn(|| post(&gateway, &known, change("b")));
            (post(&gateway, &known, change("a")), second.join().unwrap())
        });
        let (won, lost) = if first.status == 200 { (&first, &second) } else { (&second, &first) };
        assert_eq!((won.status, lost.status), (200, 412), "{first}\n{second}");
        assert_eq!(lost.json()["digest"], won.json()["digest"], "the answer tells the digest of the winner");
        let winner = if first.status == 200 { "a" } else { "b" };
        for number in 0..20 {
            gateway.get(&format!("/n{number}/x"));
            assert_eq!(upstream.last().target, format!("/{winner}{round}/x"));
        }
    }
}

#[test]
fn a_dry_run_says_what_would_change_and_changes_nothing() {
    let upstream = Upstream::ok();
    let folders = Folders::new();
    let gateway = folders.start();
    let changes = json!([put("api", api("a", "/a/", &upstream.url()).0), put("policy", policy("p", "a", 1))]);
    let known = digest(&gateway);
    let body = json!({"digest": known, "dry_run": true, "changes": changes});
    let answer = gateway.control("POST", "/tyk/configuration", &body.to_string());
    assert_eq!(actions(&answer), ["create api a", "create policy p"]);
    assert_eq!((digest(&gateway), gateway.get("/a/").status), (known, 404));
    assert!(texts(&folders.apps()).is_empty() && texts(&folders.policies()).is_empty());
}

#[test]
fn masks_keep_secrets_and_a_new_object_needs_its_own() {
    let folders = Folders::new();
    let gateway = folders.start();
    let secret = |text: &str| {
        api("a", "/a/", "http://127.0.0.1:1/")
            .set("enable_jwt", true)
            .set("use_keyless", false)
            .set("jwt_signing_method", "hmac")
            .set("jwt_source", text)
            .version("global_headers", json!({"X-Env": "blue", "Authorization": text}))
            .0
    };
    assert_eq!(actions(&post(&gateway, "*", json!([put("api", secret("c2VjcmV0"))]))), ["create api a"]);
    let shown = configuration(&gateway)["apis"][0]["document"].clone();
    assert_eq!(shown["jwt_source"], "********");
    assert_eq!(
        shown["version_data"]["versions"]["Default"]["global_headers"],
        json!({"X-Env": "blue", "Authorization": "********"})
    );
    let unchanged = post(&gateway, "*", json!([put("api", shown.clone())]));
    assert_eq!((actions(&unchanged).len(), unchanged.json()["unchanged"].as_u64()), (0, Some(1)));

    let mut renamed = shown.clone();
    renamed["name"] = "renamed".into();
    let answer = post(&gateway, "*", json!([put("api", renamed)]));
    assert_eq!(actions(&answer), ["update api a"]);
    assert_eq!(answer.json()["plan"][0]["diff"], json!([{"path": "$.name", "old": "a", "new": "renamed"}]));
    assert!(texts(&folders.apps())["a.json"].contains("c2VjcmV0"), "the secret is kept");

    let answer = post(&gateway, "*", json!([put("api", secret("bmV3"))]));
    assert!(!answer.text().contains("bmV3") && !answer.text().contains("c2VjcmV0"), "{answer}");
    assert_eq!(answer.json()["plan"][0]["diff"][1]["new"], "********");

    let mut other = shown;
    (other["api_id"], other["proxy"]["listen_path"]) = ("b".into(), "/b/".into());
    let answer = post(&gateway, "*", json!([put("api", other)]));
    assert_eq!((answer.status, answer.json()["problems"][1]["path"].as_str().unwrap()), (400, "$.jwt_source"), "{answer}");
}

#[test]
fn a_broken_file_is_shown_and_mended() {
    let upstream = Upstream::ok();
    let folders = Folders::new();
    let good = api("a", "/a/", &upstream.url()).0;
    fs::write(folders.apps().join("first.json"), good.to_string()).unwrap();
    let gateway = folders.start();
    fs::write(folders.apps().join("first.json"), "{").unwrap();
    let stale = digest(&gateway);
    gateway.reload();
    let now = configuration(&gateway);
    assert_eq!(now["apis"][0]["broken"], true);
    assert!(now["problems"][0].as_str().unwrap().contains("first.json"), "{now}");
    assert_eq!(post(&gateway, &stale, json!([put("api", good.clone())])).status, 412, "the file was changed");
    let answer = post(&gateway, now["digest"].as_str().unwrap(), json!([put("api", good)]));
    assert_eq!(actions(&answer), ["update api a"]);
    assert_eq!(configuration(&gateway)["apis"][0]["broken"], false);
    assert_eq!(texts(&folders.apps()).into_keys().collect::<Vec<_>>(), ["first.json"]);
}

#[test]
fn an_api_changes_its_language_and_back() {
    let upstream = Upstream::ok();
    let folders = Folders::new();
    let gateway = folders.start();
    let classic = api("pets", "/classic/", &upstream.url()).0;
    let openapi = json!({
        "openapi": "3.0.3", "info": {"title": "Pets", "version": "1"},
        "paths": {"/pets": {"get": {"operationId": "pets", "responses": {"200": {"description": "All."}}}}},
        "x-tyk-api-gateway": {
            "info": {"id": "pets", "name": "Pets", "orgId": "default", "state": {"active": true}},
            "upstream": {"url": upstream.url()}, "server": {"listenPath": {"value": "/oas/", "strip": true}}
        }
    });
    let names = || texts(&folders.apps()).into_keys().collect::<Vec<_>>();
    post(&gateway, "*", json!([put("api", openapi.clone())]));
    assert_eq!((names(), gateway.get("/oas/pets").status), (vec!["pets-oas.json".to_owned(), "pets.json".to_owned()], 200));
    assert_eq!(configuration(&gateway)["apis"][0]["document"], openapi);
    assert_eq!(actions(&post(&gateway, "*", json!([put("api", openapi.clone())]))).len(), 0);
    post(&gateway, "*", json!([put("api", classic)]));
    assert_eq!(
        (names(), gateway.get("/oas/pets").status, gateway.get("/classic/").status),
        (vec!["pets.json".to_owned()], 404, 200)
    );
    post(&gateway, "*", json!([put("api", openapi)]));
    assert_eq!((gateway.get("/oas/pets").status, gateway.get("/classic/").status), (200, 404));
    gateway.reload();
    assert_eq!(gateway.get("/oas/pets").status, 200);
    post(&gateway, "*", json!([{"kind": "api", "action": "delete", "id": "pets"}]));
    assert!(names().is_empty());
}

/// What a crash between the renames leaves: the journal, one new file in place, the other still beside.
#[test]
fn a_change_that_a_crash_interrupted_is_completed_at_the_start() {
    let upstream = Upstream::ok();
    let folders = Folders::new();
    let (apps, file) = (folders.apps(), |name: &str| folders.apps().join(name));
    let text = |id: &str, way: &str| api(id, &format!("/{id}/"), &format!("{}/{way}/", upstream.url())).0.to_string();
    let journal = json!({"files": [
        {"path": file("a.json"), "written": true, "existed": true},
        {"path": file("b.json"), "written": true, "existed": true},
        {"path": file("c.json"), "written": false, "existed": true},
    ]});
    for (phase, expected) in [("committed", ["/new/x", "/new/x", ""]), ("undoing", ["/old/x", "/old/x", "/old/x"])] {
        for (name, content) in [
            ("a.json", text("a", "new")),
            (".a.json.tollgate-old", text("a", "old")),
            ("b.json", text("b", "old")),
            (".b.json.tollgate-old", text("b", "old")),
            (".b.json.tollgate-new", text("b", "new")),
            ("c.json", text("c", "old")),
            (".c.json.tollgate-old", text("c", "old")),
        ] {
            fs::write(file(name), content).unwrap();
        }
        fs::write(file(&format!(".tollgate-change.{phase}")), journal.to_string()).unwrap();
        let gateway = folders.start();
        for (id, target) in ["a", "b", "c"].iter().zip(expected) {
            let status = gateway.get(&format!("/{id}/x")).status;
            assert_eq!(status, if target.is_empty() { 404 } else { 200 }, "{phase} {id}");
            assert!(target.is_empty() || upstream.last().target == target, "{phase} {id}");
        }
        assert!(texts(&apps).into_keys().all(|name| !name.starts_with('.')), "{:?}", texts(&apps).keys());
        assert!(gateway.log().contains("a change of several files was interrupted"), "{}", gateway.log());
    }
}

/// Kills the gateway somewhere in a change, and starts another one: its files are all old or all new.
#[test]
fn a_gateway_that_is_killed_during_a_change_has_all_of_it_or_none() {
    const APIS: usize = 150;
    let folders = Folders::new();
    let wanted = |round: usize| {
        let all = (0..APIS).map(|number| {
            put("api", api(&format!("n{number}"), &format!("/n{number}/"), &format!("http://127.0.0.1:1/{round}/")).0)
        });
        Value::from(all.collect::<Vec<_>>())
    };
    let first = folders.start();
    assert_eq!(actions(&post(&first, "*", wanted(0))).len(), APIS);
    drop(first);
    let (mut old, mut new) = (0, 0);
    for round in 1..8 {
        let gateway = folders.start();
        let before = configuration(&gateway)["apis"][0]["document"]["proxy"]["target_url"].clone();
        thread::scope(|scope| {
            let body = json!({"digest": "*", "changes": wanted(round)}).to_string();
            let mut client = gateway.connect();
            client.send(crate::harness::request(
                "POST",
                "/tyk/configuration",
                &[&format!("x-tyk-authorization: {}", crate::harness::gateway::SECRET)],
                &body,
            ));
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(20 << round));
                gateway.signal("KILL");
            });
            let _ = client.rest();
        });
        drop(gateway);
        let gateway = folders.start();
        let now = configuration(&gateway);
        let apis = now["apis"].as_array().unwrap();
        let targets: std::collections::BTreeSet<&str> =
            apis.iter().map(|one| one["document"]["proxy"]["target_url"].as_str().unwrap()).collect();
        assert_eq!((apis.len(), targets.len()), (APIS, 1), "round {round}: {targets:?}");
        if targets.first().copied() == before.as_str() {
            old += 1
        } else {
            new += 1
        }
        assert!(texts(&folders.apps()).into_keys().all(|name| !name.starts_with('.')), "round {round}");
    }
    println!("killed in a change of {APIS} files: {old} times all old, {new} times all new");
}

#[test]
fn on_its_own_port_a_body_that_is_too_long_is_answered_however_much_of_it_follows() {
    let port = free_port();
    let gateway = Gateway::start(json!({"control_api_port": port}), []);
    let secret = format!("x-tyk-authorization: {SECRET}");
    let body = "x".repeat(160 << 20);
    for _ in 0..3 {
        let mut client = Connection::open(port);
        client.send(request("POST", "/tyk/configuration", &[&secret], &body));
        let answer = client.response("POST");
        assert!(answer.status == 413 && answer.text().contains("larger than"), "{answer}");
    }
    drop(gateway);
}
