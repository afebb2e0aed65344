//! Operators who sign in at a provider of OpenID Connect, oidc-provider on loopback: in the console, with commands, and until the provider says
//! that they are gone.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::{Gateway, Response, api, eventually};
use crate::openid_provider::AskedProvider;
use crate::operator_tokens::call;
use crate::servers::{Server, free_port};
use crate::shared_keys::on;

/// What browsers see: a proxy with TLS.
pub(crate) const PUBLIC: &str = "https://gateway.example.com";

/// Starts a provider that sends browsers back to `public`, and tells this gateway of sessions that have ended.
pub(crate) fn operator_provider(gateway: &Gateway, port: u16, public: &str) -> Option<AskedProvider> {
    operator_provider_with(gateway, port, public, &[])
}

fn operator_provider_with(gateway: &Gateway, port: u16, public: &str, options: &[&str]) -> Option<AskedProvider> {
    let logout = format!("http://127.0.0.1:{}/tyk/console/login/test/back-channel", gateway.port);
    let arguments = [&port.to_string(), &logout, &format!("{public}/tyk/console/login/test/callback")];
    let arguments: Vec<&str> = arguments.map(String::as_str).into_iter().chain(options.iter().copied()).collect();
    AskedProvider::start("operator_provider.mjs", &arguments)
}

/// Settings with this issuer, whose groups are roles.
pub(crate) fn operators(issuer: &str, public: &str) -> Value {
    json!({
        "public_url": public,
        "providers": [{
            "name": "test", "title": "Test provider", "issuer": issuer, "client_id": "console", "client_secret": "the secret: of a client",
            "cli_client_id": "commands", "scopes": ["offline_access"],
            "rules": [
                {"claim": "groups", "value": "ops", "role": "admin"},
                {"claim": "groups", "value": "team-a", "role": "editor", "tags": ["team-a"]},
            ],
        }],
    })
}

/// A gateway with these operators, with an API of team A and one of nobody.
pub(crate) fn start_with(mut conf: Value, operators: Value) -> Gateway {
    crate::harness::definition::merge(&mut conf, &json!({"tollgate": {"operators": operators}}));
    let own = api("own", "/own/", "http://127.0.0.1:9/").set("tags", json!(["team-a"]));
    Gateway::start(conf, [own, api("other", "/other/", "http://127.0.0.1:9/")])
}

/// A request of a browser on this machine.
pub(crate) fn browse(gateway: &Gateway, target: &str, cookie: &str) -> Response {
    let lines = [&format!("Cookie: {cookie}")[..], "X-Tollgate-Console: 1", "Connection: close"];
    let request = crate::harness::request("GET", target, &lines, "");
    gateway.send(request.replacen("Host: gateway.test", "Host: 127.0.0.1:8080", 1))
}

/// A cookie that an answer sets, as it is sent back.
pub(crate) fn cookie_of(answer: &Response, name: &str) -> Option<String> {
    let lines = answer.head.all("set-cookie");
    let mut pairs = lines.iter().filter_map(|line| line.split(';').next());
    pairs.find(|pair| pair.strip_prefix(name).is_some_and(|rest| rest.len() > 1)).map(|pair| (*pair).to_owned())
}

/// Begins a sign-in: where the browser is sent, and its cookie.
pub(crate) fn begun(gateway: &Gateway, provider: &str) -> (String, String) {
    let answer = browse(gateway, &format!("/tyk/console/login/{provider}"), "");
    assert_eq!(answer.status, 303, "{answer}");
    (answer.header("location").expect("a place").to_owned(), cookie_of(&answer, "tollgate_sign_in").expect("a cookie"))
}

/// Goes through a sign-in and returns the answer to the browser that came back, its target and the cookie of the sign-in.
fn through(gateway: &Gateway, provider: &mut AskedProvider, user: &str) -> (Response, String, String) {
    let (url, cookie) = begun(gateway, "test");
    let end = provider.ask(&json!({"sign_in": url, "user": user}))["end"].as_str().unwrap().to_owned();
    let target = end.strip_prefix(PUBLIC).unwrap_or_else(|| panic!("{end}")).to_owned();
    (browse(gateway, &target, &cookie), target, cookie)
}

pub(crate) fn session(gateway: &Gateway, cookie: &str) -> Response {
    browse(gateway, "/tyk/console/api/session", cookie)
}

#[test]
fn groups_of_a_real_provider_are_roles_and_its_logout_ends_sessions() {
    let port = free_port();
    let gateway = start_with(json!({}), operators(&format!("http://127.0.0.1:{port}"), PUBLIC));
    let Some(mut provider) = operator_provider(&gateway, port, PUBLIC) else { return };
    let (url, _) = begun(&gateway, "test");
    for part in ["code_challenge_method=S256", "&nonce=", "&state=", "response_type=code"] {
        assert!(url.contains(part), "{part}: {url}");
    }
    let (answer, target, sign_in) = through(&gateway, &mut provider, "ann.ops");
    assert_eq!(answer.status, 200, "{answer}");
    let ann = cookie_of(&answer, "tollgate_console").expect("a session");
    let who = session(&gateway, &ann).json();
    assert_eq!((&who["user"], &who["role"], &who["by_secret"]), (&json!("test:ann.ops"), &json!("admin"), &json!(false)), "{who}");
    // Neither the code nor the state is good a second time, and never in another browser.
    for cookie in [sign_in.as_str(), "", "tollgate_sign_in=test.b.c.d"] {
        let again = browse(&gateway, &target, cookie);
        assert!(again.status == 403 && cookie_of(&again, "tollgate_console").is_none(), "{cookie}: {again}");
    }

    let (answer, ..) = through(&gateway, &mut provider, "eve.team-a");
    let eve = cookie_of(&answer, "tollgate_console").expect("a session");
    assert_eq!(session(&gateway, &eve).json()["scope"]["tags"], json!(["team-a"]));
    let apis = browse(&gateway, "/tyk/console/api/apis", &eve).json();
    assert_eq!(apis.as_array().unwrap().iter().map(|api| &api["api_id"]).collect::<Vec<_>>(), [&json!("own")]);

    let (answer, ..) = through(&gateway, &mut provider, "joe.nobody");
    assert!(answer.status == 403 && cookie_of(&answer, "tollgate_console").is_none(), "{answer}");
    eventually("the log says why", || {
        let changes = gateway.control("GET", "/tyk/list/changes?q=sign_in_failed", "").json();
        changes["rows"].to_string().contains("no rule lets")
    });

    // The provider ends all sessions of one person; the other's goes on.
    assert_eq!(provider.ask(&json!({"end": {"user": "ann.ops"}}))["done"], true);
    assert_eq!((session(&gateway, &ann).status, session(&gateway, &eve).status), (401, 200));
    // Who signs in at the console has the control secret left, whatever the provider does.
    drop(provider);
    assert_eq!(gateway.control("GET", "/tyk/apis", "").status, 200);
}

#[test]
fn groups_that_are_in_no_identity_token_come_from_userinfo() {
    let port = free_port();
    let gateway = start_with(json!({}), operators(&format!("http://127.0.0.1:{port}"), PUBLIC));
    let Some(mut provider) = operator_provider_with(&gateway, port, PUBLIC, &["--userinfo"]) else { return };
    for (user, role) in [("ann.ops", "admin"), ("eve.team-a", "editor")] {
        let (answer, ..) = through(&gateway, &mut provider, user);
        let cookie = cookie_of(&answer, "tollgate_console").unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(session(&gateway, &cookie).json()["role"], role);
    }
    let (answer, ..) = through(&gateway, &mut provider, "joe.nobody");
    assert!(answer.status == 403 && cookie_of(&answer, "tollgate_console").is_none(), "{answer}");
}

#[test]
fn a_session_on_one_gateway_ends_when_the_provider_tells_another() {
    let (server, port) = (Server::start(&[]), free_port());
    let settings = || operators(&format!("http://127.0.0.1:{port}"), PUBLIC);
    let (first, second) = (start_with(on(&server), settings()), start_with(on(&server), settings()));
    let Some(mut provider) = operator_provider(&first, port, PUBLIC) else { return };
    // One gateway begins, the other ends: they share an address.
    let (url, cookie) = begun(&first, "test");
    let end = provider.ask(&json!({"sign_in": url, "user": "ann.ops"}))["end"].as_str().unwrap().to_owned();
    let target = end.strip_prefix(PUBLIC).expect("back").to_owned();
    let ann = cookie_of(&browse(&second, &target, &cookie), "tollgate_console").expect("a session");
    assert_eq!(session(&second, &ann).status, 200);
    // The same answer is good on no other gateway.
    assert_eq!(browse(&first, &target, &cookie).status, 403);
    assert_eq!(provider.ask(&json!({"end": {"user": "ann.ops"}}))["done"], true);
    assert_eq!(session(&second, &ann).status, 401);
}

/// A command of a person with a home of their own.
struct Person<'g> {
    gateway: &'g Gateway,
    home: &'g Path,
}

impl Person<'_> {
    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
        command.args(line.split_whitespace()).env_clear().env("PATH", "/nowhere").env("XDG_CONFIG_HOME", self.home);
        command.env("TOLLGATE_URL", self.address()).current_dir(self.home);
        command
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.gateway.port)
    }

    /// The exit code of a command, and all that it says.
    fn output(&self, line: &str) -> (i32, String) {
        let output = self.command(line).output().expect("it runs");
        (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    }

    /// Signs in as a user, with what a browser would do.
    fn sign_in(&self, provider: &mut AskedProvider, line: &str, user: &str) -> String {
        let mut child = self.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        let mut told = BufReader::new(child.stderr.take().expect("its messages"));
        let mut text = String::new();
        let url = loop {
            assert!(told.read_line(&mut text).expect("a line") > 0, "{text}");
            if let Some(url) = text.split_whitespace().find(|word| word.starts_with("http://127.0.0.1")) {
                break url.to_owned();
            }
        };
        if line.contains("--device") {
            let code = text.split_whitespace().last().unwrap();
            let done = provider.ask(&json!({"device": format!("{url}?user_code={code}"), "user": user}));
            assert_eq!(done["done"], true, "{text}");
        } else {
            let end = provider.ask(&json!({"sign_in": url, "user": user}))["end"].as_str().unwrap().to_owned();
            let (host, target) = end.trim_start_matches("http://").split_once('/').unwrap();
            // A connection that a browser opens ahead, and an answer of another sign-in.
            let _ahead = std::net::TcpStream::connect(host).expect("the command listens");
            assert!(fetched(host, "/callback?code=x&state=y").starts_with("HTTP/1.1 404"));
            assert!(fetched(host, &format!("/{target}")).starts_with("HTTP/1.1 200"));
        }
        let _ = told.read_to_string(&mut text);
        assert!(child.wait().expect("it ends").success(), "{line}: {text}");
        text
    }
}

fn fetched(host: &str, target: &str) -> String {
    let mut stream = std::net::TcpStream::connect(host).expect("the command listens");
    write!(stream, "GET {target} HTTP/1.1\r\n\r\n").expect("sent");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

#[test]
fn commands_sign_in_with_a_browser_or_a_code_and_are_their_person() {
    let port = free_port();
    let mut settings = operators(&format!("http://127.0.0.1:{port}"), PUBLIC);
    settings["control_secret"] = json!("off");
    let gateway = start_with(json!({}), settings);
    let Some(mut provider) = operator_provider(&gateway, port, PUBLIC) else { return };
    let home = tempfile::tempdir().expect("a folder");
    let person = Person { gateway: &gateway, home: home.path() };
    assert_eq!(person.output("apis list").0, 4);
    // The control secret is good for nothing.
    assert_eq!(gateway.control("GET", "/tyk/apis", "").status, 403);
    let file = home.path().join("tollgate/logins.json");
    let kept = || -> Value { serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap() };

    for (line, user) in [("login", "ann.ops"), ("login --device", "eve.team-a")] {
        person.sign_in(&mut provider, line, user);
        let (code, apis) = person.output("apis list");
        assert!(code == 0 && apis.contains("own"), "{line}: {apis}");
        assert_eq!(apis.contains("other"), user == "ann.ops", "{apis}");
    }
    assert_eq!(std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    // A token that has ended is renewed.
    let mut logins = kept();
    let old = logins[person.address()]["id_token"].clone();
    logins[person.address()]["expires_unix_s"] = json!(1);
    std::fs::write(&file, logins.to_string()).unwrap();
    let (code, apis) = person.output("apis list");
    assert!(code == 0, "{apis}");
    assert_ne!(kept()[person.address()]["id_token"], old);
    // When the provider has ended it, the command says so.
    assert_eq!(provider.ask(&json!({"end": {"user": "eve.team-a"}}))["done"], true);
    let (code, text) = person.output("apis list");
    assert!(code == 4 && text.contains("has ended") && text.contains("tollgate login"), "{text}");
    let token = kept()[person.address()]["id_token"].as_str().unwrap().to_owned();
    assert_eq!(call(&gateway, &token, "GET", "/tyk/apis", "").status, 403);
    assert_eq!(person.output("logout").0, 0);
    assert_eq!(kept(), json!({}));
    let (code, text) = person.output("apis list");
    assert!(code == 4 && text.contains("tollgate login"), "{text}");
}

#[test]
fn a_person_who_is_not_let_in_is_told_so() {
    let port = free_port();
    let gateway = start_with(json!({}), operators(&format!("http://127.0.0.1:{port}"), PUBLIC));
    let home = tempfile::tempdir().expect("a folder");
    let person = Person { gateway: &gateway, home: home.path() };
    let (code, text) = person.output("login");
    assert!(code == 3 && text.contains(&port.to_string()), "the provider does not answer: {text}");
    let (code, text) = person.output("login --provider other");
    assert!(code == 1 && text.contains("test"), "{text}");
    let none = Gateway::start(json!({}), []);
    let (code, text) = Person { gateway: &none, home: home.path() }.output("login");
    assert!(code == 1 && text.contains("no such provider"), "{text}");
    assert_eq!(person.output("logout"), (0, format!("not signed in, for the gateway at {}\n", person.address())));
}
