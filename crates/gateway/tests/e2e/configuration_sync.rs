//! `tollgate dump`, `diff`, `sync` and `apis import` with real gateways.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use crate::commands::tollgate;
use crate::configuration::{Folders, configuration};
use crate::harness::gateway::SECRET;
use crate::harness::{Connection, Gateway, Upstream, api, eventually, reply, request};

/// A gateway with one object of each kind, and its folders.
fn furnished(upstream: &Upstream) -> (Folders, Gateway) {
    let folders = Folders::new();
    let gateway = folders.start();
    let put = |kind: &str, document: Value| json!({"kind": kind, "action": "put", "document": document});
    let accounts = api("accounts", "/accounts/", &upstream.url())
        .with_keys()
        .set("use_oauth2", true)
        .set("tags", json!(["team"]))
        .set("oauth_meta/allowed_access_types", json!(["client_credentials"]))
        .set("upstream_auth", json!({"enabled": true, "basic_auth": {"enabled": true, "username": "me", "password": "hidden-1"}}));
    let pets = json!({
        "openapi": "3.0.3", "info": {"title": "Pets", "version": "1"},
        "paths": {"/pets": {"get": {"operationId": "pets", "responses": {"200": {"description": "All."}}}}},
        "x-tyk-api-gateway": {
            "info": {"id": "pets", "name": "Pets", "orgId": "default", "state": {"active": true}},
            "upstream": {"url": upstream.url()}, "server": {"listenPath": {"value": "/oas/", "strip": true}}
        }
    });
    let changes = json!([
        put("api", accounts.0),
        put("api", pets),
        put("api", api("open", "/open/", &upstream.url()).0),
        put("policy", json!({"id": "gold", "org_id": "default", "rate": 10, "per": 60, "access_rights": {"accounts": {"api_id": "accounts", "versions": ["Default"]}}})),
        put("client", json!({"api_id": "accounts", "client_id": "shop", "policy_id": "gold", "secret": "hidden-2"})),
        {"kind": "key_template", "action": "put", "id": "partner", "document": {"org_id": "default", "apply_policies": ["gold"]}},
    ]);
    let answer = gateway.control("POST", "/tyk/configuration", &json!({"digest": "*", "changes": changes}).to_string());
    assert_eq!(answer.status, 200, "{answer}");
    (folders, gateway)
}

fn replace(file: &Path, old: &str, new: &str) {
    let text = fs::read_to_string(file).expect("a file");
    assert!(text.contains(old), "{old} is not in {text}");
    fs::write(file, text.replace(old, new)).expect("a file");
}

fn all_texts(folder: &Path) -> String {
    let mut texts = String::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.unwrap().path();
        texts += &if path.is_dir() { all_texts(&path) } else { fs::read_to_string(path).unwrap() };
    }
    texts
}

#[test]
fn a_dump_is_synced_back_and_into_another_gateway() {
    let upstream = Upstream::ok();
    let (_folders, gateway) = furnished(&upstream);
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("conf");
    let line = |verb: &str, more: &str| format!("{verb} {} {more}", dir.display());
    let said = tollgate(&gateway, &line("dump", "")).ok();
    assert!(said.contains("6 files written") && said.contains("masks"), "{said}");
    for file in [
        "apis/accounts.json",
        "apis/pets.oas.json",
        "apis/open.json",
        "policies/gold.json",
        "clients/accounts/shop.json",
        "keys/partner.json",
    ] {
        assert!(dir.join(file).is_file(), "{file}");
    }
    let texts = all_texts(&dir);
    assert!(!texts.contains("hidden") && texts.contains("********"), "{texts}");
    assert!(tollgate(&gateway, &line("dump", "")).ok().contains("0 files written, 6 unchanged"));
    assert!(tollgate(&gateway, &line("diff", "--prune")).ok().contains("nothing differs; 6 unchanged"));

    replace(&dir.join("apis/open.json"), "\"/open/\"", "\"/opened/\"");
    fs::remove_file(dir.join("apis/pets.oas.json")).unwrap();
    fs::write(dir.join("policies/new.yaml"), "id: silver\norg_id: default\nrate: 1\nper: 60\n").unwrap();
    let differs = tollgate(&gateway, &line("diff", ""));
    assert_eq!(differs.code(), 5);
    let plan = differs.out();
    for expected in [
        "~ api open (apis/open.json)\n    $.proxy.listen_path\n      - \"/open/\"\n      + \"/opened/\"\n",
        "+ policy silver (policies/new.yaml)",
        "not in the directory, kept: api pets",
        "1 to add, 1 to change, 0 to delete; 4 unchanged",
    ] {
        assert!(plan.contains(expected), "{expected}\nis not in\n{plan}");
    }
    assert_eq!(gateway.get("/opened/").status, 404, "a diff changes nothing");
    let done = tollgate(&gateway, &line("sync", "")).ok();
    assert!(done.contains("1 added, 1 changed, 0 deleted"), "{done}");
    assert_eq!(
        (gateway.get("/opened/").status, gateway.get("/open/").status, gateway.get("/oas/pets").status),
        (200, 200, 200),
        "/open/ is the id"
    );
    let again = tollgate(&gateway, &format!("{} --json", line("sync", ""))).json();
    assert_eq!((again["plan"].as_array().unwrap().len(), again["unchanged"].as_u64()), (0, Some(6)));
    let before = configuration(&gateway)["digest"].clone();
    tollgate(&gateway, &line("sync", "")).ok();
    assert_eq!(configuration(&gateway)["digest"], before, "the second sync changes nothing");
    assert!(tollgate(&gateway, &line("sync", "--prune")).ok().contains("- api pets"));
    let history = tollgate(&gateway, "history --diff -n 3").ok();
    for expected in
        ["delete  api  pets", "update  api  open", "    $.proxy.listen_path\n      - \"/open/\"\n      + \"/opened/\"", "127.0.0.1"]
    {
        assert!(history.contains(expected), "{expected}\nis not in\n{history}");
    }
    assert_eq!(tollgate(&gateway, "history delete api --json").json().as_array().map(Vec::len), Some(1));
    assert_eq!(tollgate(&gateway, "history nothing like this").ok(), "no changes\n");
    assert_eq!(gateway.get("/oas/pets").status, 404);
    let secrets =
        gateway.control("GET", "/tyk/apis/accounts", "").text() + &gateway.control("GET", "/tyk/oauth/clients/accounts", "").text();
    assert!(secrets.contains("hidden-1") && secrets.contains("hidden-2"), "secrets outlive a sync: {secrets}");

    let other_folders = Folders::new();
    let other = other_folders.start();
    tollgate(&other, &line("sync", ""))
        .fails(1, "apis/accounts.json: $.upstream_auth.basic_auth.password: there is no stored secret for this mask");
    assert_eq!(other.get("/opened/").status, 404, "nothing of a refused sync is made");
    replace(&dir.join("apis/accounts.json"), "********", "hidden-3");
    assert!(tollgate(&other, &line("sync", "")).ok().contains("6 added"));
    assert_eq!(other.get("/opened/").status, 200);
    assert!(tollgate(&other, &line("diff", "")).ok().contains("nothing differs"), "a secret in a file is compared by the gateway");
}

#[test]
fn an_empty_directory_deletes_nothing_and_broken_ones_are_refused() {
    let upstream = Upstream::ok();
    let (_folders, gateway) = furnished(&upstream);
    let dir = tempfile::tempdir().unwrap();
    let line = |verb: &str| format!("{verb} {} --prune", dir.path().display());
    let said = tollgate(&gateway, &line("sync")).ok();
    assert!(said.contains("the directory has no apis") && said.contains("nothing differs"), "{said}");
    assert_eq!(gateway.get("/open/").status, 200);
    let before = configuration(&gateway)["digest"].clone();
    fs::create_dir(dir.path().join("apis")).unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join("apis").join(name), text).unwrap();
    write("good.json", &api("good", "/good/", &upstream.url()).0.to_string());
    write("bad.json", "{");
    tollgate(&gateway, &line("sync")).fails(1, "apis/bad.json: not valid JSON");
    write("bad.json", &api("bad", "/bad/", &upstream.url()).set("proxy/listen_path", 7).0.to_string());
    tollgate(&gateway, &line("sync")).fails(1, "apis/bad.json: $.proxy.listen_path: must be a");
    tollgate(&gateway, &line("diff")).fails(1, "apis/bad.json: $.proxy.listen_path: must be a");
    assert_eq!(configuration(&gateway)["digest"], before);
    tollgate(&gateway, "sync /no/such/directory").fails(1, "is no directory");
    tollgate(&gateway, "sync").fails(2, "DIR");
}

#[test]
fn tags_and_parts_restrict_a_sync() {
    let upstream = Upstream::ok();
    let (_folders, gateway) = furnished(&upstream);
    let dir = tempfile::tempdir().unwrap();
    let line = |verb: &str, more: &str| format!("{verb} {} {more}", dir.path().display());
    tollgate(&gateway, &line("dump", "--tag team")).ok();
    let mut names: Vec<_> = walk(dir.path());
    names.sort();
    assert_eq!(names, ["accounts.json", "shop.json"]);
    let said = tollgate(&gateway, &line("diff", "--tag team --prune")).ok();
    assert!(said.contains("nothing differs; 2 unchanged"), "others' objects are not in the way: {said}");
    fs::write(dir.path().join("apis/open.json"), api("open", "/mine/", &upstream.url()).set("tags", json!(["team"])).0.to_string())
        .unwrap();
    tollgate(&gateway, &line("sync", "--tag team")).fails(1, "api open does not have the tag team: it belongs to others");
    let said = tollgate(&gateway, &line("diff", "--only policies,keys")).ok();
    assert!(said.contains("nothing differs; 0 unchanged"), "{said}");
}

fn walk(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path.file_name().unwrap().to_str().unwrap().to_owned()] })
        .collect()
}

#[test]
fn of_two_syncs_at_once_one_is_made_whole() {
    let upstream = Upstream::ok();
    let folders = Folders::new();
    let gateway = folders.start();
    let home = tempfile::tempdir().unwrap();
    for side in ["a", "b"] {
        fs::create_dir_all(home.path().join(side).join("apis")).unwrap();
        for number in 0..60 {
            let definition = api(&format!("n{number}"), &format!("/n{number}/"), &format!("{}/{side}", upstream.url()));
            fs::write(home.path().join(side).join(format!("apis/{number}.json")), definition.0.to_string()).unwrap();
        }
    }
    for _ in 0..6 {
        let run = |side: &str| tollgate(&gateway, &format!("sync {}", home.path().join(side).display())).code();
        let codes = thread::scope(|scope| {
            let other = scope.spawn(|| run("b"));
            (run("a"), other.join().unwrap())
        });
        assert!(matches!(codes, (0, 0) | (0, 6) | (6, 0)), "{codes:?}");
        let now = configuration(&gateway);
        let targets: std::collections::BTreeSet<&str> =
            now["apis"].as_array().unwrap().iter().map(|one| one["document"]["proxy"]["target_url"].as_str().unwrap()).collect();
        assert_eq!((now["apis"].as_array().unwrap().len(), targets.len()), (60, 1), "{targets:?}");
    }
}

/// A gateway without `/tyk/configuration` gets request by request: this one hides it.
#[test]
fn a_gateway_without_the_endpoint_is_synced_one_by_one() {
    let upstream = Upstream::ok();
    let (_source_folders, source) = furnished(&upstream);
    let folders = Folders::new();
    let gateway = folders.start();
    let port = gateway.port;
    let tyk = Upstream::start(move |seen| {
        if seen.target.starts_with("/tyk/configuration") {
            return reply("404 Not Found", &[], "");
        }
        let secret = format!("x-tyk-authorization: {SECRET}");
        let bytes = request(&seen.method, &seen.target, &[&secret, "Connection: close"], &String::from_utf8_lossy(&seen.body));
        let answer = Connection::open(port).ask(bytes);
        reply(&format!("{} Told", answer.status), &["Content-Type: application/json"], &answer.text())
    });
    let dir = tempfile::tempdir().unwrap();
    tollgate(&source, &format!("dump {}", dir.path().display())).ok();
    fs::remove_dir_all(dir.path().join("keys")).unwrap();
    replace(&dir.path().join("apis/accounts.json"), "********", "hidden-3");
    let line = |verb: &str, more: &str| format!("{verb} {} --url {} {more}", dir.path().display(), tyk.url());
    let plan = tollgate(&gateway, &line("sync", "--dry-run"));
    assert_eq!(plan.code(), 5);
    assert!(plan.out().contains("changes are made one by one") && plan.out().contains("5 to add"), "{}", plan.out());
    assert!(tollgate(&gateway, &line("sync", "")).ok().contains("5 added"));
    assert_eq!((gateway.get("/open/").status, gateway.get("/oas/pets").status), (200, 200));
    assert!(tollgate(&gateway, &line("diff", "--prune")).ok().contains("nothing differs; 5 unchanged"));
    replace(&dir.path().join("apis/open.json"), "\"/open/\"", "\"/opened/\"");
    fs::remove_file(dir.path().join("apis/pets.oas.json")).unwrap();
    let done = tollgate(&gateway, &line("sync", "--prune")).ok();
    assert!(done.contains("- api pets") && done.contains("0 added, 1 changed, 1 deleted; 3 unchanged"), "{done}");
    assert_eq!((gateway.get("/opened/").status, gateway.get("/oas/pets").status), (200, 404));
    let copy = tempfile::tempdir().unwrap();
    let said = tollgate(&gateway, &format!("dump {} --url {}", copy.path().display(), tyk.url())).ok();
    assert!(said.contains("4 files written"), "{said}");
}

#[test]
fn documents_are_imported_from_files_and_addresses() {
    let upstream = Upstream::ok();
    let folders = Folders::new();
    let gateway = folders.start();
    let document = json!({
        "openapi": "3.0.3", "info": {"title": "Pets", "version": "1"}, "servers": [{"url": upstream.url()}],
        "paths": {"/pets": {"get": {"operationId": "pets", "parameters": [{"name": "n", "in": "query", "required": true, "schema": {"type": "integer"}}], "responses": {"200": {"description": "All."}}}}}
    });
    let text = document.to_string();
    let shelf = Upstream::start(move |seen| match seen.target.as_str() {
        "/old" => reply("302 Found", &["Location: /pets.json"], ""),
        "/pets.json" => reply("200 OK", &[], &text),
        "/loop" => reply("302 Found", &["Location: /loop"], ""),
        _ => reply("404 Not Found", &[], ""),
    });
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        fs::write(dir.path().join(name), text).unwrap();
        dir.path().join(name).display().to_string()
    };
    let yaml = file(
        "pets.yaml",
        "openapi: 3.0.3\ninfo: {title: Pets, version: '2'}\nservers: [{url: 'http://127.0.0.1:1/'}]\npaths:\n  /pets:\n    get:\n      responses: {'200': {description: All.}}\n",
    );
    let said = tollgate(&gateway, &format!("apis import {}/old --id pets --listen-path /shop/ --validate", shelf.url())).ok();
    assert!(said.contains("pets: imported"), "{said}");
    assert_eq!((gateway.get("/shop/pets?n=1").status, gateway.get("/shop/pets?n=x").status), (200, 422));
    let said = tollgate(&gateway, &format!("apis import {yaml} --update pets --upstream {}", upstream.url())).ok();
    assert!(said.contains("pets: updated"), "{said}");
    assert_eq!(gateway.control("GET", "/tyk/apis/oas/pets", "").json()["info"]["version"], "2");
    assert_eq!(gateway.get("/shop/pets").status, 200);
    for (arguments, part) in [
        (format!("{}/loop", shelf.url()), "more than 5 redirects"),
        (format!("{}/nothing", shelf.url()), "answers with status 404"),
        ("http://127.0.0.1:1/x".to_owned(), "http://127.0.0.1:1/x: "),
        ("/no/such/file.yaml".to_owned(), "cannot be read"),
        (file("a.json", "{\"name\": 1}"), "is no OpenAPI document"),
        (file("b.yaml", "a: [\n"), "not valid YAML"),
        (file("c.json", "{\"openapi\": \"3.0.3\", \"x-tyk-api-gateway\": {}}"), "tollgate sync"),
        (format!("{yaml} --update never"), "API not found"),
    ] {
        tollgate(&gateway, &format!("apis import {arguments}")).fails(1, part);
    }
}

/// Many APIs are dumped, compared and synced; the figures are printed.
#[test]
fn thousands_of_apis_are_dumped_compared_and_synced() {
    const APIS: usize = 2_000;
    let folders = Folders::new();
    for number in 0..APIS {
        let definition = api(&format!("n{number}"), &format!("/n{number}/"), "http://127.0.0.1:1/");
        fs::write(folders.apps().join(format!("n{number}.json")), definition.0.to_string()).unwrap();
    }
    let gateway = folders.start();
    let dir = tempfile::tempdir().unwrap();
    let timed = |what: &str, gateway: &Gateway, arguments: &str, code: i32| {
        let start = Instant::now();
        let outcome = tollgate(gateway, &format!("{} {} --timeout 300", arguments, dir.path().display()));
        println!("{what}: {:.2} s", start.elapsed().as_secs_f64());
        assert_eq!(outcome.code(), code, "{}", outcome.out().lines().last().unwrap_or_default());
    };
    timed("dump", &gateway, "dump", 0);
    timed("diff without differences", &gateway, "diff", 0);
    for number in 0..APIS {
        replace(&dir.path().join(format!("apis/n{number}.json")), "http://127.0.0.1:1/", "http://127.0.0.1:2/");
    }
    timed("diff of all", &gateway, "diff", 5);
    timed("sync of all", &gateway, "sync", 0);
    timed("sync again", &gateway, "sync", 0);
    let empty = Folders::new();
    let other = empty.start();
    timed("first sync", &other, "sync", 0);
    assert_eq!(configuration(&other)["apis"].as_array().unwrap().len(), APIS);
}

#[test]
fn a_rollback_restores_what_later_changes_replaced() {
    let upstream = Upstream::ok();
    let (folders, gateway) = furnished(&upstream);
    let revisions = |count: usize| {
        eventually("the revisions are kept", || {
            let list = gateway.control("GET", "/tyk/configuration/revisions", "").json();
            list["revisions"].as_array().is_some_and(|list| list.len() == count)
        });
        tollgate(&gateway, "rollback").ok()
    };
    let first = revisions(1);
    assert!(first.contains("create api accounts, create api open, create api pets and 1 more"), "{first}");
    let dir = tempfile::tempdir().unwrap();
    tollgate(&gateway, &format!("dump {}", dir.path().display())).ok();
    replace(&dir.path().join("apis/open.json"), "\"/open/\"", "\"/opened/\"");
    tollgate(&gateway, &format!("sync {}", dir.path().display())).ok();
    revisions(2);
    // Others change files by hand.
    fs::remove_file(folders.policies().join("gold.json")).unwrap();
    gateway.reload();
    let listed = revisions(3);
    assert!(listed.contains("delete policy gold") && listed.contains("update api open"), "{listed}");

    let would = tollgate(&gateway, "rollback 1 --dry-run").ok();
    assert!(would.contains("~ api open (revision 1)") && would.contains("+ policy gold (revision 1)"), "{would}");
    assert_eq!(gateway.get("/opened/").status, 200, "a dry run changes nothing");
    let done = tollgate(&gateway, "rollback 1").ok();
    assert!(done.contains("1 added, 1 changed, 0 deleted"), "{done}");
    assert_eq!((gateway.get("/open/x").status, gateway.get("/opened/").status), (200, 404));
    assert_eq!(gateway.control("GET", "/tyk/policies/gold", "").status, 200);
    let secret = gateway.control("GET", "/tyk/apis/accounts", "").text();
    assert!(secret.contains("hidden-1"), "secrets come back too: {secret}");
    revisions(4);
    tollgate(&gateway, "rollback 3").ok();
    assert_eq!(
        (gateway.get("/opened/").status, gateway.control("GET", "/tyk/policies/gold", "").status),
        (200, 404),
        "a rollback can be taken back"
    );
    revisions(5);
    tollgate(&gateway, "rollback 0").ok();
    assert_eq!(gateway.get("/opened/").status, 404);
    tollgate(&gateway, "rollback 99").fails(1, "There is no revision 99");
    gateway.expect_no_panic();
}

#[test]
fn swagger_2_is_imported_by_conversion() {
    let upstream = Upstream::ok();
    let gateway = Folders::new();
    let gateway = gateway.start();
    let file = gateway.dir().join("pets.yaml");
    let text = "swagger: '2.0'\ninfo: {title: Pets, version: '1'}\nhost: pets.example\nbasePath: /v2\nproduces: [application/json]\npaths:\n  /pets/{id}:\n    get:\n      operationId: pet\n      parameters:\n        - {name: id, in: path, required: true, type: integer}\n        - {name: tags, in: query, type: array, items: {type: string}, collectionFormat: tsv}\n      responses:\n        '200': {description: A pet., examples: {application/json: {name: Tom}}}\n";
    fs::write(&file, text).unwrap();
    let line =
        format!("apis import {} --id pets --listen-path /pets-api/ --upstream {} --validate", file.display(), upstream.url());
    let told = tollgate(&gateway, &line);
    assert_eq!(told.code(), 0, "{}", told.out());
    assert_eq!(gateway.get("/pets-api/pets/7").status, 200);
    assert_eq!(gateway.get("/pets-api/pets/seven").status, 422);
    let stored = gateway.control("GET", "/tyk/apis/oas/pets", "").json();
    assert_eq!(stored["openapi"], "3.0.3");
}

#[test]
fn a_definition_is_converted_to_the_other_language() {
    let upstream = Upstream::ok();
    let classic = api("shop", "/shop/", &upstream.url())
        .set("do_not_track", false)
        .list("transform_headers", json!([{"path": "/things", "method": "GET", "add_headers": {"X-Added": "one"}}]))
        .list("white_list", json!([{"path": "/(a|things)", "method": "GET"}]))
        .list(
            "url_rewrites",
            json!([{
                "path": "/things", "method": "GET", "match_pattern": "/things", "rewrite_to": "/all",
                "triggers": [{"on": "any", "rewrite_to": "/some", "options": {"query_val_matches": {"q": {"match_rx": "some"}}}}],
            }]),
        );
    let gateway = Gateway::start(json!({}), []);
    let file = gateway.dir().join("classic.json");
    fs::write(&file, classic.0.to_string()).unwrap();
    let converted = tollgate(&gateway, &format!("apis convert {}", file.display()));
    assert_eq!(converted.code(), 0);
    let document: Value = serde_json::from_str(converted.out()).unwrap();
    assert_eq!(document["openapi"], "3.0.3");
    gateway.write_file("shop.json", document.to_string());
    gateway.reload();
    // The list with a pattern still closes everything else.
    assert_eq!(gateway.get("/shop/secret").status, 403, "{document:#}\n{}", gateway.log());
    assert_eq!(gateway.get("/shop/things").status, 200, "{}", gateway.log());
    assert_eq!((upstream.last().header("X-Added"), upstream.last().target.as_str()), (Some("one"), "/all"));
    assert_eq!(gateway.get("/shop/things?q=some").status, 200);
    assert_eq!(upstream.last().target, "/some");
    fs::write(&file, document.to_string()).unwrap();
    let back = tollgate(&gateway, &format!("apis convert {}", file.display())).json();
    assert_eq!((&back["proxy"]["listen_path"], &back["use_keyless"]), (&json!("/shop/"), &json!(true)));
    gateway.write_file("shop.json", back.to_string());
    gateway.reload();
    assert_eq!((gateway.get("/shop/secret").status, gateway.get("/shop/a").status), (403, 200));
    tollgate(&gateway, "apis convert nothing.json").fails(1, "cannot be read");
}

#[test]
fn what_would_make_an_api_more_open_is_not_converted_unless_forced() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    let file = gateway.dir().join("classic.json");
    let classic = api("shop", "/shop/", &upstream.url()).set("new_protection", json!({"enabled": true}));
    fs::write(&file, classic.0.to_string()).unwrap();
    let line = format!("apis convert {}", file.display());
    tollgate(&gateway, &line).fails(1, "$.new_protection: has no counterpart");
    tollgate(&gateway, &line)
        .fails(1, "1 parts have no counterpart, and without them the API may be more open: --force leaves them out");
    let forced = tollgate(&gateway, &format!("{line} --force"));
    assert_eq!((forced.code(), forced.out().contains("new_protection")), (0, false));
    // A document that validates, as a classic definition that can't.
    let mut document: Value = serde_json::from_str(forced.out()).unwrap();
    document["paths"]["/things"]["get"] = json!({"operationId": "things", "responses": {"200": {"description": "All."}}});
    document["x-tyk-api-gateway"]["middleware"]["operations"]["things"] = json!({"validateRequest": {"enabled": true}});
    fs::write(&file, document.to_string()).unwrap();
    tollgate(&gateway, &line).fails(1, "validateRequest of 1 operations has no counterpart");
    assert_eq!(tollgate(&gateway, &format!("{line} --force")).code(), 0);
}
