//! The commands that ask a running gateway, as people and scripts type them.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, Setup, Upstream, api};
use crate::keys::{call, keyed};

/// What a command came to.
pub(crate) struct Outcome {
    code: i32,
    out: String,
    err: String,
}

impl Outcome {
    fn of(output: Output) -> Outcome {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        let outcome = Outcome { code: output.status.code().expect("an exit"), out: text(output.stdout), err: text(output.stderr) };
        assert!(!outcome.err.contains("panicked"), "{}", outcome.err);
        outcome
    }

    /// What was printed by a command that went well.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    #[track_caller]
    pub(crate) fn json(self) -> Value {
        let out = self.ok();
        serde_json::from_str(&out).unwrap_or_else(|fault| panic!("{fault}: {out}"))
    }

    pub(crate) fn code(&self) -> i32 {
        self.code
    }

    /// What was printed, however it went.
    pub(crate) fn out(&self) -> &str {
        &self.out
    }

    /// What was told on standard error.
    pub(crate) fn errors(&self) -> &str {
        &self.err
    }

    /// Checks exit code and a part of the message of one that failed.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, part: &str) {
        assert!(
            self.code == code && self.err.contains(part),
            "{} instead of {code} {part:?}:\n{}{}",
            self.code,
            self.out,
            self.err
        );
        assert!(self.out.is_empty(), "{}", self.out);
    }
}

/// A command in an empty directory, with an environment that says nothing.
fn bare() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TYK_") || name.starts_with("TOLLGATE_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

/// A command line for a gateway that is named by the environment.
pub(crate) fn tollgate(gateway: &Gateway, line: &str) -> Outcome {
    let mut command = bare();
    command
        .current_dir(gateway.dir())
        .env("TOLLGATE_URL", format!("http://127.0.0.1:{}", gateway.port))
        .env("TOLLGATE_SECRET", SECRET);
    // The directory has the gateway's configuration, which is not to be found here.
    command.current_dir(gateway.apps());
    Outcome::of(command.args(line.split_whitespace()).output().expect("it runs"))
}

fn tollgate_with_input(gateway: &Gateway, line: &str, input: &str) -> Outcome {
    let mut command = bare();
    command.current_dir(gateway.apps()).env("TOLLGATE_URL", format!("127.0.0.1:{}", gateway.port)).env("TOLLGATE_SECRET", SECRET);
    command.args(line.split_whitespace()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it runs");
    child.stdin.take().unwrap().write_all(input.as_bytes()).expect("it reads");
    Outcome::of(child.wait_with_output().expect("it ends"))
}

fn started(conf: Value) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(conf, [keyed("a", &upstream), keyed("b", &upstream)]);
    (upstream, gateway)
}

/// The line of a table that begins so, cut at runs of spaces.
fn row(table: &str, first: &str) -> Vec<String> {
    let line =
        table.lines().find(|line| line.split("  ").next() == Some(first)).unwrap_or_else(|| panic!("no {first} in\n{table}"));
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
}

#[test]
fn an_api_and_a_key_for_it_are_made_in_two_lines() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    let added = tollgate(&gateway, &format!("apis add --listen-path /hello/ --target {}", upstream.url())).ok();
    assert_eq!(added, "hello: added\n");
    let key = tollgate(&gateway, "keys create --api hello --rate 2 --per 1h --quota 1000 --expires 30d --quiet").ok();
    let key = key.trim_end();
    let statuses = [0; 3].map(|_| call(&gateway, "/hello/x", key).status);
    assert_eq!(statuses, [200, 200, 429]);
    assert_eq!(upstream.last().target, "/x");

    let session = tollgate(&gateway, &format!("keys show {key} --json")).json();
    assert_eq!((&session["rate"], &session["per"]), (&json!(2), &json!(3600)));
    assert_eq!((&session["quota_max"], &session["quota_renewal_rate"]), (&json!(1000), &json!(30 * 86_400)));
    assert_eq!(session["quota_remaining"], 998);
    assert_eq!(session["access_rights"]["hello"]["versions"], json!(["Default"]));
    let in_days = session["expires"].as_i64().unwrap() - unix_s();
    assert!((29 * 86_400..=30 * 86_400).contains(&in_days), "{session}");
}

fn unix_s() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

#[test]
fn keys_are_listed_shown_changed_and_deleted() {
    let (_upstream, gateway) = started(json!({}));
    let made =
        tollgate(&gateway, "keys create --api a --api b --rate 5 --name mine --alias first --tag x --tag y --meta team=blue").ok();
    assert_eq!(row(&made, "key"), ["key", "defaultmine"]);
    tollgate(&gateway, "keys create --api b --name other --quota 10 --quota-renews 1h").ok();

    let list = tollgate(&gateway, "keys list").ok();
    assert_eq!(row(&list, "KEY"), ["KEY", "ALIAS", "APIS", "RATE", "QUOTA", "POLICIES", "EXPIRES"]);
    assert_eq!(row(&list, "defaultmine"), ["defaultmine", "first", "a, b", "5 in 60 s", "-", "never"]);
    assert_eq!(row(&list, "defaultother"), ["defaultother", "b", "-", "10 in 1 h", "never"]);
    assert_eq!(tollgate(&gateway, "keys list --quiet").ok(), "defaultmine\ndefaultother\n");
    assert_eq!(tollgate(&gateway, "keys list --quiet --api a").ok(), "defaultmine\n");
    assert_eq!(tollgate(&gateway, "keys list --quiet --prefix defaulto").ok(), "defaultother\n");
    assert_eq!(tollgate(&gateway, "keys list --json").json(), json!({"keys": ["defaultmine", "defaultother"]}));

    let shown = tollgate(&gateway, "keys show mine --of-org default").ok();
    assert_eq!(row(&shown, "rate"), ["rate", "5 in 60 s"]);
    assert_eq!(row(&shown, "tags"), ["tags", "x, y"]);
    assert_eq!(row(&shown, "a"), ["a", "a", "Default", "-", "-"]);

    assert_eq!(call(&gateway, "/a/", "mine").status, 200);
    tollgate(&gateway, "keys update defaultmine --rate 7 --inactive").ok();
    assert_eq!(call(&gateway, "/a/", "mine").status, 403);
    let session = tollgate(&gateway, "keys show defaultmine --json").json();
    assert_eq!(
        (&session["rate"], &session["alias"], &session["meta_data"]),
        (&json!(7), &json!("first"), &json!({"team": "blue"}))
    );
    tollgate(&gateway, "keys update defaultmine --active --expires never").ok();
    assert_eq!(call(&gateway, "/a/", "mine").status, 200);

    assert_eq!(tollgate(&gateway, "keys delete defaultmine defaultother").ok(), "defaultmine: deleted\ndefaultother: deleted\n");
    assert_eq!(call(&gateway, "/a/", "mine").status, 403);
    tollgate(&gateway, "keys show defaultmine").fails(1, "Key not found");
    tollgate(&gateway, "keys delete defaultmine").fails(1, "defaultmine: There is no such key found");
    tollgate(&gateway, "keys update defaultmine --rate 1").fails(1, "Key not found");
}

#[test]
fn an_update_keeps_what_was_counted_unless_it_is_to_begin_anew() {
    let (_upstream, gateway) = started(json!({}));
    tollgate(&gateway, "keys create --api a --name mine --quota 10").ok();
    let left = || call(&gateway, "/a/", "mine").header("x-ratelimit-remaining").map(str::to_owned);
    assert_eq!(left().as_deref(), Some("9"));
    tollgate(&gateway, "keys update defaultmine --alias x").ok();
    assert_eq!(left().as_deref(), Some("8"));
    tollgate(&gateway, "keys update defaultmine --reset").ok();
    assert_eq!(left().as_deref(), Some("9"));
}

#[test]
fn hashed_keys_are_shown_once_and_found_by_their_hash() {
    let (_upstream, gateway) = started(json!({"hash_keys": true, "enable_hashed_keys_listing": true}));
    let made = tollgate(&gateway, "keys create --api a --json").json();
    let (key, hash) = (made["key"].as_str().unwrap(), made["key_hash"].as_str().unwrap());
    assert_eq!(tollgate(&gateway, "keys list --quiet").ok(), format!("{hash}\n"));
    assert_eq!(row(&tollgate(&gateway, "keys list").ok(), hash)[1], "a");
    assert_eq!(row(&tollgate(&gateway, &format!("keys show {hash} --hash")).ok(), "key"), ["key", hash]);
    tollgate(&gateway, &format!("keys update {hash} --hash --inactive")).ok();
    assert_eq!(call(&gateway, "/a/", key).status, 403);
    tollgate(&gateway, &format!("keys delete {hash} --hash")).ok();
    tollgate(&gateway, &format!("keys show {key}")).fails(1, "Key not found");

    let (_upstream, gateway) = started(json!({"hash_keys": true}));
    tollgate(&gateway, "keys list").fails(1, "enable_hashed_keys_listing");
}

#[test]
fn a_whole_session_comes_from_a_file_or_from_standard_input() {
    let (_upstream, gateway) = started(json!({}));
    let session =
        json!({"org_id": "default", "rate": 3, "per": 9, "access_rights": {"a": {"api_id": "a", "versions": ["Default"]}}});
    let key = tollgate_with_input(&gateway, "keys create --file - --alias over --quiet", &session.to_string()).ok();
    let shown = tollgate(&gateway, &format!("keys show {key} --json")).json();
    assert_eq!((&shown["rate"], &shown["alias"]), (&json!(3), &json!("over")));

    std::fs::write(
        gateway.dir().join("session.json"),
        json!({"alias": "new", "access_rights": {"b": {"api_id": "b"}}}).to_string(),
    )
    .unwrap();
    tollgate(&gateway, &format!("keys update {} --file ../session.json", key.trim())).ok();
    let shown = tollgate(&gateway, &format!("keys show {key} --json")).json();
    assert_eq!((shown.get("rate"), &shown["alias"]), (None, &json!("new")));

    tollgate_with_input(&gateway, "keys create --file -", "{\"rate\": 1,").fails(1, "standard input is not valid JSON: EOF");
    tollgate_with_input(&gateway, "keys create --file -", "[]").fails(1, "standard input must be a JSON object");
    tollgate(&gateway, "keys create --file none.json").fails(1, "none.json cannot be read");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_made() {
    let (_upstream, gateway) = started(json!({}));
    for (line, part) in [
        ("keys create", "--api, --policy or --file"),
        ("keys create --api a --rate 0", "must be a number above 0"),
        ("keys create --api a --rate fast", "must be a number above 0"),
        ("keys create --api a --per 60", "--rate"),
        ("keys create --api a --rate 1 --per soon", "a number with a unit"),
        ("keys create --api a --quota 0", "--quota"),
        ("keys create --api a --quota 1 --quota-renews 0.5", "whole seconds"),
        ("keys create --api a --expires tomorrow", "a date such as"),
        ("keys create --api a --meta x", "NAME=VALUE"),
        ("keys update x --active --inactive", "cannot be used with"),
        ("keys delete", "KEY"),
        ("policies create", "--api or --file"),
        ("apis add", "FILE"),
        ("apis add --listen-path /x/", "--target"),
        ("keys list --url ftp://x", "neither http nor https"),
        ("keys", "Usage"),
    ] {
        tollgate(&gateway, line).fails(2, part);
    }
    for (line, part) in [
        ("keys create --api c", "there is no API with the id c (there are: a, b)"),
        ("keys create --policy p", "there is no policy with the id p"),
        ("policies show p", "Policy not found"),
        ("policies delete p", "there is no policy with the id p"),
        ("apis show c", "API not found"),
        ("apis delete c", "c: API not found"),
        ("certs show c", "not found"),
        ("certs delete c", "there is no certificate with the id c"),
        ("policies create --api a", "policies.policy_path is not configured"),
    ] {
        tollgate(&gateway, line).fails(1, part);
    }
    assert_eq!(tollgate(&gateway, "keys list --quiet").ok(), "");
}

#[test]
fn a_name_that_is_taken_is_not_taken_again() {
    let (_upstream, gateway) = started(json!({}));
    tollgate(&gateway, "keys create --api a --name mine --alias first").ok();
    tollgate(&gateway, "keys create --api a --name mine").fails(1, "the key mine exists already");
    assert_eq!(tollgate(&gateway, "keys show defaultmine --json").json()["alias"], "first");
}

#[test]
fn policies_are_made_and_given_to_keys() {
    let folder = tempfile::tempdir().unwrap();
    let (_upstream, gateway) = started(json!({"policies": {"policy_source": "file", "policy_path": folder.path()}}));
    assert_eq!(
        tollgate(&gateway, "policies create --id gold --name Gold --api a --rate 2 --per 1h --keys-expire-in 30d").ok(),
        "gold\n"
    );
    assert!(folder.path().join("gold.json").exists());
    let list = tollgate(&gateway, "policies list").ok();
    assert_eq!(row(&list, "gold"), ["gold", "Gold", "default", "a", "2 in 3600 s", "-"]);
    assert_eq!(tollgate(&gateway, "policies show gold").json()["key_expires_in"], 30 * 86_400);

    let key = tollgate(&gateway, "keys create --policy gold -q").ok();
    assert_eq!([0; 3].map(|_| call(&gateway, "/a/", key.trim()).status), [200, 200, 429]);
    assert_eq!(call(&gateway, "/b/", key.trim()).status, 403);
    let list = tollgate(&gateway, "keys list").ok();
    assert!(row(&list, key.trim()).contains(&"gold".to_owned()), "{list}");

    assert_eq!(tollgate(&gateway, "policies delete gold").ok(), "gold: deleted\n");
    assert_eq!(tollgate(&gateway, "policies list --json").json(), json!([]));
}

#[test]
fn definitions_are_added_listed_and_deleted() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    std::fs::write(gateway.dir().join("one.json"), api("one", "/one/", &upstream.url()).0.to_string()).unwrap();
    assert_eq!(tollgate(&gateway, "apis add ../one.json").ok(), "one: added\n");
    let two = keyed("two", &upstream).0.to_string();
    assert_eq!(tollgate_with_input(&gateway, "apis add -", &two).ok(), "two: added\n");
    let list = tollgate(&gateway, "apis list").ok();
    assert_eq!(row(&list, "one"), ["one", "one", "/one/", &upstream.url(), "open"]);
    assert_eq!(row(&list, "two")[4], "key");
    assert_eq!(tollgate(&gateway, "apis show two").json()["api_id"], "two");
    let broken = api("bad", "/bad/", &upstream.url()).set("allowed_ips", json!(["nowhere"])).0.to_string();
    tollgate_with_input(&gateway, "apis add -", &broken).fails(1, "$.allowed_ips");
    assert_eq!(tollgate(&gateway, "apis delete one two").ok(), "one: deleted\ntwo: deleted\n");
    assert_eq!(tollgate(&gateway, "apis list --json").json(), json!([]));
}

#[test]
fn certificates_are_added_with_their_keys_listed_and_deleted() {
    let gateway = Gateway::start(json!({}), []);
    let (certificate, key) = crate::certs::made("gateway.test", 2090);
    std::fs::write(gateway.dir().join("cert.pem"), certificate).unwrap();
    std::fs::write(gateway.dir().join("key.pem"), key).unwrap();
    let id = tollgate(&gateway, "certs add ../cert.pem ../key.pem --org default").ok();
    let id = id.trim();
    assert!(id.starts_with("default") && id.len() == 71, "{id}");
    let list = tollgate(&gateway, "certs list").ok();
    assert_eq!(row(&list, id), [id, "gateway.test", "gateway.test", "gateway.test", "2090-12-31T00:00:00Z", "yes"]);
    assert_eq!(tollgate(&gateway, "certs list --org other").ok().lines().count(), 1, "the header alone");
    assert_eq!(tollgate(&gateway, &format!("certs show {id}")).json()["has_private"], true);
    tollgate(&gateway, "certs add ../cert.pem --org default").fails(1, "already exists");
    tollgate(&gateway, "certs add ../key.pem").fails(1, "Failed to decode certificate");
    assert_eq!(tollgate(&gateway, &format!("certs delete {id}")).ok(), format!("{id}: deleted\n"));
}

#[test]
fn a_reload_names_what_is_broken() {
    let (_upstream, gateway) = started(json!({}));
    assert_eq!(tollgate(&gateway, "reload").ok(), "reloaded\n");
    gateway.write_file("broken.json", "{\"proxy\": 7}");
    tollgate(&gateway, "reload").fails(1, "broken.json");
    gateway.remove_file("broken.json");
    assert_eq!(tollgate(&gateway, "reload --json").json()["status"], "ok");
}

#[test]
fn the_status_counts_what_is_served() {
    let (_upstream, gateway) = started(json!({}));
    tollgate(&gateway, "keys create --api a").ok();
    for name in ["status", "health"] {
        let shown = tollgate(&gateway, name).ok();
        assert_eq!(
            (row(&shown, "status"), row(&shown, "ready")),
            (vec!["status".into(), "pass".into()], vec!["ready".into(), "yes".into()])
        );
        assert_eq!((row(&shown, "apis")[1].as_str(), row(&shown, "keys")[1].as_str()), ("2", "1"), "{shown}");
    }
    let document = tollgate(&gateway, "status --json").json();
    assert_eq!((&document["ready"], &document["apis"], &document["policies"]), (&json!(true), &json!(2), &json!(0)));
}

#[test]
fn nobody_there_and_a_wrong_secret_have_exit_codes_of_their_own() {
    let (_upstream, gateway) = started(json!({}));
    let port = crate::servers::free_port();
    let nowhere = format!("keys list --url http://127.0.0.1:{port}");
    tollgate(&gateway, &nowhere).fails(3, "cannot reach a gateway at");
    tollgate(&gateway, "keys list --url http://no-such-host.invalid:1").fails(3, "cannot reach a gateway at");
    std::fs::write(gateway.dir().join("wrong"), "wrong\n").unwrap();
    std::fs::write(gateway.dir().join("empty"), "\n").unwrap();
    std::fs::write(gateway.dir().join("right"), format!("{SECRET}\n")).unwrap();
    for command in ["keys list", "status", "reload", "apis list", "policies list", "certs list"] {
        tollgate(&gateway, &format!("{command} --secret-file ../wrong")).fails(4, "does not accept this secret");
        tollgate(&gateway, &format!("{command} --secret-file ../right")).ok();
    }
    tollgate(&gateway, "keys list --secret-file ../empty").fails(4, "empty");
    tollgate(&gateway, "keys list --secret-file ../none").fails(1, "none cannot be read");
    let url = format!("http://127.0.0.1:{}", gateway.port);
    let without =
        bare().current_dir(gateway.apps()).env("HOME", gateway.apps()).args(["keys", "list", "--url", &url]).output().unwrap();
    Outcome::of(without).fails(4, "wants its secret");
}

#[test]
fn address_and_secret_are_taken_from_the_configuration_and_the_data_directory() {
    let upstream = Upstream::ok();
    let gateway = Setup::new(json!({"secret": ""})).api(keyed("a", &upstream)).start();
    // The tests' gateways take any free port, which no configuration can name.
    let conf = gateway.dir().join("tyk.conf");
    let mut document: Value = serde_json::from_slice(&std::fs::read(&conf).unwrap()).unwrap();
    document["listen_port"] = gateway.port.into();
    std::fs::write(&conf, document.to_string()).unwrap();
    let listed = bare().current_dir(gateway.apps()).args(["apis", "list", "--json", "--conf", "../tyk.conf"]).output().unwrap();
    assert_eq!(Outcome::of(listed).json()[0]["api_id"], "a");
    let listed = bare().current_dir(gateway.dir()).args(["apis", "list", "--json"]).output().unwrap();
    assert_eq!(Outcome::of(listed).json()[0]["api_id"], "a", "the configuration here is found by itself");
    let wrong = bare().current_dir(gateway.dir()).env("TYK_GW_SECRET", "other").args(["apis", "list"]).output().unwrap();
    Outcome::of(wrong).fails(4, "does not accept");
    std::fs::write(&conf, "{\"listen_port\": \"x\"}").unwrap();
    let broken = bare().current_dir(gateway.dir()).args(["apis", "list"]).output().unwrap();
    Outcome::of(broken).fails(1, "the configuration is not usable");
}

#[test]
fn clients_are_made_listed_rotated_and_deleted() {
    let crate::oauth_clients::Stage { gateway, .. } = crate::oauth_clients::stage(json!({}), |api| api);
    let made = tollgate(&gateway, "clients create --api a --policy gold --id shop --redirect-uri https://app.test/cb").ok();
    assert_eq!(row(&made, "policy"), ["policy", "gold"]);
    let secret = row(&made, "secret")[1].clone();
    assert_eq!(row(&tollgate(&gateway, "clients list a").ok(), "shop")[1], "gold");
    assert_eq!(tollgate(&gateway, "clients show a shop --json").json()["secret"], secret);
    assert_ne!(tollgate(&gateway, "clients rotate a shop --json").json()["secret"], secret);
    assert_eq!(tollgate(&gateway, "clients tokens a shop").ok().lines().count(), 1, "the header alone");
    assert_eq!(tollgate(&gateway, "clients revoke a shop").ok(), "shop: all tokens revoked\n");
    assert_eq!(tollgate(&gateway, "clients delete a shop").ok(), "shop: deleted\n");
    let made = tollgate(&gateway, "clients create --api a --policy gold --id app --public --json").json();
    assert_eq!((&made["public"], &made["secret"]), (&json!(true), &Value::Null));
    assert_eq!(row(&tollgate(&gateway, "clients show a app").ok(), "secret")[1], "none: a public client");
    tollgate(&gateway, "clients rotate a app").fails(1, "a public client can have no secret");
    tollgate(&gateway, "clients delete a shop").fails(1, "the API a has no client with the id shop");
    tollgate(&gateway, "clients show a shop").fails(1, "OAuth Client ID not found");
    tollgate(&gateway, "clients create --api plain").fails(1, "API is not OAuth2");
    tollgate(&gateway, "clients create").fails(2, "--api");
}
