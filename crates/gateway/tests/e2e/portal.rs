//! The developer portal as people use it: a real browser, a real SMTP server, keys at a real gateway.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::browser::{Browser, Tab};
use crate::harness::oauth::with_policies;
use crate::harness::{Connection, Definition, Gateway, PATIENCE, Response, Setup, Upstream, eventually, request};
use crate::keys::{call, keyed};
use crate::real_clients::python;
use crate::servers::{Server, free_port};
use crate::shared_keys::on;

pub(crate) const PASSWORD: &str = "correct horse battery";
/// From the first page to the first successful call, with the link in the mail.
const CLICKS_MAX: usize = 8;

const SMTP: &str = r#"
import asyncio, json, sys
from aiosmtpd.controller import UnthreadedController
class Keep:
    async def handle_DATA(self, server, session, envelope):
        print(json.dumps({"from": envelope.mail_from, "to": envelope.rcpt_tos, "text": envelope.content.decode()}), flush=True)
        return "250 OK"
loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
controller = UnthreadedController(Keep(), hostname="127.0.0.1", port=int(sys.argv[1]), loop=loop)
controller.begin()
print(json.dumps("ready"), flush=True)
loop.run_forever()
"#;

/// An SMTP server that keeps what it gets.
pub(crate) struct Smtp {
    child: Child,
    port: u16,
    lines: Receiver<Value>,
}

impl Smtp {
    /// `None` where its packages could not be installed, which is said.
    fn start() -> Option<Smtp> {
        let port = free_port();
        let mut command = Command::new(python()?);
        command.args(["-c", SMTP, &port.to_string()]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("python runs");
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().expect("its output"));
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).expect("JSON"));
            }
        });
        let smtp = Smtp { child, port, lines };
        assert_eq!(smtp.next(), "ready");
        Some(smtp)
    }

    /// The next mail.
    fn next(&self) -> Value {
        self.lines.recv_timeout(PATIENCE).expect("a mail")
    }

    /// The link in the next mail.
    fn link(&self, to: &str) -> String {
        let mail = self.next();
        assert_eq!(mail["to"], json!([to]));
        let text = mail["text"].as_str().expect("text").replace("=\r\n", "").replace("=3D", "=");
        let line = text.lines().find(|line| line.contains("/#/")).unwrap_or_else(|| panic!("no link in {text}"));
        line.trim().to_owned()
    }
}

impl Drop for Smtp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A gateway with a portal, one product and two plans.
pub(crate) struct Stage {
    pub gateway: Gateway,
    pub portal: u16,
    _upstream: Upstream,
    _policies: TempDir,
}

/// A portal on a port of this machine, of a gateway on another one.
pub(crate) fn portal_conf(portal: u16, gateway: u16) -> Value {
    json!({
        "listen": format!("127.0.0.1:{portal}"), "url": format!("http://127.0.0.1:{portal}"),
        "gateway_url": format!("http://127.0.0.1:{gateway}"), "name": "Example APIs", "try_it": true,
    })
}

pub(crate) fn stage(smtp: Option<&Smtp>, more: Value) -> Stage {
    stage_of(smtp, more, |upstream| keyed("shop", upstream).set("do_not_track", false))
}

/// The same with another definition of the API `shop`.
pub(crate) fn stage_of(smtp: Option<&Smtp>, more: Value, shop: impl Fn(&Upstream) -> Definition) -> Stage {
    let upstream = Upstream::ok();
    let portal = free_port();
    let api_port = free_port();
    let right = json!({"shop": {"api_id": "shop", "api_name": "shop", "versions": ["Default"]}});
    let policy = |id: &str, rate: i64| json!({"id": id, "name": id, "org_id": "default", "active": true, "rate": rate, "per": 60, "quota_max": 1000, "quota_renewal_rate": 3600, "access_rights": right});
    let mut conf = json!({"tollgate": {"portal": portal_conf(portal, api_port)}});
    if let Some(smtp) = smtp {
        let mail = json!({"host": "127.0.0.1", "port": smtp.port, "tls": "none", "from": "Example <apis@example.com>"});
        conf["tollgate"]["portal"]["mail"] = mail;
        conf["tollgate"]["portal"]["sign_up"] = json!({"by": "open"});
    }
    crate::harness::definition::merge(&mut conf, &more);
    let (conf, policies) = with_policies(conf, &[policy("gold", 1000), policy("silver", 2)]);
    let gateway = Setup::new(conf).port(api_port).api(shop(&upstream)).start();
    let stage = Stage { gateway, portal, _upstream: upstream, _policies: policies };
    let product = json!({
        "name": "Shop", "summary": "Orders and articles", "apis": ["shop"], "is_public": true,
        "description": "# Orders\n\nSee [the page](#/pages/start). <script>alert(1)</script> [bad](javascript:alert(1))",
        "plans": [
            {
                "id": "free", "name": "Free", "summary": "1,000 requests a minute", "policy": "gold", "approval": "automatic",
                "price": {"currency": "EUR", "per_call": "0.002", "free_calls": 5},
            },
            {
                "id": "large", "name": "Large", "policy": "silver", "approval": "manual",
                "price": {"currency": "EUR", "per_month": "49"},
            },
        ],
    });
    stage.control("PUT", "/tyk/portal/products/shop", &product);
    stage.control(
        "PUT",
        "/tyk/portal/pages/start",
        &json!({"title": "Getting started", "text": "## Hello\n\n- one\n- two", "is_public": true}),
    );
    stage
}

impl Stage {
    /// A call of the control API that succeeds.
    #[track_caller]
    pub(crate) fn control(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.gateway.control(method, path, &body.to_string());
        assert_eq!(answer.status, 200, "{answer}");
        answer.json()
    }

    pub(crate) fn page(&self, view: &str) -> String {
        format!("http://127.0.0.1:{}/{view}", self.portal)
    }

    pub(crate) fn invited(&self, mail: &str) -> Caller {
        Caller::invited(&self.gateway, self.portal, mail)
    }
}

/// A program that calls the portal as its pages do.
pub(crate) struct Caller {
    port: u16,
    host: String,
    pub cookie: String,
}

impl Caller {
    /// A stranger.
    pub(crate) fn at(port: u16, host: &str) -> Caller {
        Caller { port, host: host.to_owned(), cookie: String::new() }
    }

    /// Somebody whom an operator has invited.
    pub(crate) fn invited(gateway: &Gateway, portal: u16, mail: &str) -> Caller {
        let invitation = gateway.control("POST", "/tyk/portal/invitations", &json!({"mail": mail, "name": "Ada"}).to_string());
        let link = invitation.json()["link"].as_str().expect("a link").to_owned();
        let token = link.rsplit('/').next().expect("a token");
        let mut caller = Caller::at(portal, &format!("127.0.0.1:{portal}"));
        let answer = caller.call("POST", "/api/password", &json!({"token": token, "password": PASSWORD}));
        assert_eq!(answer.status, 200, "{answer}");
        caller
    }

    pub(crate) fn call(&mut self, method: &str, path: &str, body: &Value) -> Response {
        let headers =
            ["X-Tollgate-Portal: 1".to_owned(), "Content-Type: application/json".to_owned(), format!("Cookie: {}", self.cookie)];
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        let answer = Connection::open(self.port).ask(request(method, path, &headers, &body.to_string()).replacen(
            "gateway.test",
            &self.host,
            1,
        ));
        if let Some(line) = answer.header("set-cookie") {
            self.cookie = line.split(';').next().expect("a cookie").to_owned();
        }
        answer
    }

    #[track_caller]
    fn made(&mut self, path: &str, body: &Value) -> Value {
        let answer = self.call("POST", path, body);
        assert_eq!(answer.status, 201, "{answer}");
        answer.json()
    }

    /// Makes an application, and asks for a plan. Returns the path of the grant.
    pub(crate) fn granted(&mut self, plan: &str) -> String {
        let session = self.call("GET", "/api/session", &json!({})).json();
        let application = self.made("/api/applications", &json!({"team": session["developer"]["teams"][0], "name": "App"}));
        let path = format!("/api/applications/{}/grants", application["id"].as_str().expect("an id"));
        let asked = self.made(&path, &json!({"product": "shop", "plan": plan}));
        format!("{path}/{}", asked["grant"].as_str().expect("an id"))
    }

    pub(crate) fn key(&mut self, grant: &str) -> (String, String) {
        let made = self.made(&format!("{grant}/keys"), &json!({}));
        (made["key"].as_str().expect("a key").to_owned(), made["id"].as_str().expect("an id").to_owned())
    }
}

#[track_caller]
pub(crate) fn expect_accessible(tab: &mut Tab) {
    let found = tab.accessibility().unwrap_or_default();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_stranger_signs_up_and_calls_an_api() {
    let (Some(smtp), Some(mut browser)) = (Smtp::start(), Browser::start()) else { return };
    let stage = stage(Some(&smtp), json!({}));
    let mut tab = browser.tab();
    tab.open_page(&stage.page(""));
    tab.see("Orders and articles");
    tab.clicks = 0;
    tab.click("a", "Sign up");
    tab.fill("Your name", "Ada");
    tab.fill("Mail address", "ada@example.com");
    expect_accessible(&mut tab);
    tab.click("button", "Send the link");
    tab.see("Look into your mail");
    let link = smtp.link("ada@example.com");
    // A click in the mail program.
    tab.clicks += 1;
    tab.open_page(&link);
    tab.fill("Password", PASSWORD);
    expect_accessible(&mut tab);
    tab.click("button", "Create the account");
    tab.click("a", "Shop");
    tab.click("button", "Choose Free");
    tab.click("dialog button", "Get a key");
    tab.wait("document.querySelector('[data-key]')");
    expect_accessible(&mut tab);
    tab.screenshot("portal-key");
    let key = tab.eval("document.querySelector('[data-key]').innerText").as_str().expect("the key").to_owned();
    assert_eq!(call(&stage.gateway, "/shop/", &key).status, 200);
    tab.click("button", "Call it now");
    tab.see("The gateway answered with status 200.");
    assert!(tab.clicks <= CLICKS_MAX, "{} clicks", tab.clicks);
    tab.click("button", "Done");
    tab.see("New key");
    assert_eq!(tab.eval(&format!("document.body.innerText.includes({})", json!(key))), json!(false), "a key is shown once");
    expect_accessible(&mut tab);
    let asked = "performance.getEntriesByType('resource').map((one) => new URL(one.name).origin).filter((origin) => origin !== location.origin)";
    assert_eq!(
        tab.eval(asked),
        json!([format!("http://127.0.0.1:{}", stage.gateway.port)]),
        "of others, the gateway alone is asked"
    );
    assert!(tab.complaints.is_empty(), "{:#?}", tab.complaints);
}

#[test]
fn approval_suspension_and_another_plan_take_effect_with_the_next_request() {
    let stage = stage(None, json!({}));
    let mut ada = stage.invited("ada@example.com");
    let grant = ada.granted("large");
    assert_eq!(ada.call("POST", &format!("{grant}/keys"), &json!({})).status, 409, "nobody has approved");
    let place = grant.replace("/api/", "/tyk/portal/");
    let waiting = stage.control("GET", "/tyk/portal/requests?state=requested", &json!({}));
    assert_eq!(waiting.as_array().map(Vec::len), Some(1), "{waiting}");
    stage.control("PATCH", &place, &json!({"state": "approved"}));
    let (key, _) = ada.key(&grant);
    assert_eq!(call(&stage.gateway, "/shop/", &key).status, 200);
    stage.control("PATCH", &place, &json!({"state": "suspended"}));
    assert_eq!(call(&stage.gateway, "/shop/", &key).status, 403);
    stage.control("PATCH", &place, &json!({"state": "approved"}));
    let statuses: Vec<u16> = (0..3).map(|_| call(&stage.gateway, "/shop/", &key).status).collect();
    assert!(statuses.contains(&429), "two in a minute: {statuses:?}");
    stage.control("PATCH", &place, &json!({"plan": "free"}));
    // What the smaller plan has used up counts for as long as one request of the larger one takes.
    eventually("the larger plan", || call(&stage.gateway, "/shop/", &key).status == 200);
    let developers = stage.control("GET", "/tyk/portal/developers", &json!({}));
    let id = developers[0]["id"].as_str().expect("an id");
    stage.control("PATCH", &format!("/tyk/portal/developers/{id}"), &json!({"suspended": true}));
    assert_eq!(call(&stage.gateway, "/shop/", &key).status, 403);
    assert_eq!(ada.call("GET", "/api/applications", &json!({})).status, 401);
    stage.control("PATCH", &format!("/tyk/portal/developers/{id}"), &json!({"suspended": false}));
    eventually("it is served again", || call(&stage.gateway, "/shop/", &key).status == 200);
    stage.control("DELETE", &format!("/tyk/portal/developers/{id}"), &json!({}));
    assert_eq!(call(&stage.gateway, "/shop/", &key).status, 403);
}

#[test]
fn a_key_is_rotated_without_a_failed_request() {
    let stage = stage(None, json!({}));
    let mut ada = stage.invited("ada@example.com");
    let grant = ada.granted("free");
    let (old, id) = ada.key(&grant);
    let (stop, stopped) = channel::<()>();
    let (switch, switched) = channel::<String>();
    std::thread::scope(|scope| {
        let gateway = &stage.gateway;
        let first = old.clone();
        let load = scope.spawn(move || {
            let (mut key, mut statuses) = (first, Vec::new());
            while stopped.try_recv().is_err() {
                key = switched.try_recv().unwrap_or(key);
                statuses.push(call(gateway, "/shop/", &key).status);
            }
            statuses
        });
        let made = ada.made(&format!("{grant}/keys/{id}/rotate"), &json!({"overlap_s": 3600}));
        let new = made["key"].as_str().expect("a key").to_owned();
        assert_eq!(call(gateway, "/shop/", &old).status, 200, "both work");
        switch.send(new.clone()).expect("the load goes on");
        assert_eq!(call(gateway, "/shop/", &new).status, 200);
        stop.send(()).expect("the load goes on");
        let statuses = load.join().expect("the load");
        assert!(!statuses.is_empty() && statuses.iter().all(|status| *status == 200), "{statuses:?}");
    });
    let made = ada.key(&grant);
    let ended = ada.made(&format!("{grant}/keys/{}/rotate", made.1), &json!({"overlap_s": 0}));
    assert_eq!(call(&stage.gateway, "/shop/", &made.0).status, 401, "without an overlap, the old key ends at once");
    assert_eq!(call(&stage.gateway, "/shop/", ended["key"].as_str().expect("a key")).status, 200);
}

#[test]
fn gateways_on_one_redis_serve_one_portal() {
    let server = Server::start(&[]);
    let (first, second) = (stage(None, on(&server)), stage(None, on(&server)));
    let mut ada = first.invited("ada@example.com");
    let grant = ada.granted("large");
    // The same person at the other gateway, whose cookie it is as well.
    let mut there = Caller { cookie: ada.cookie.clone(), ..Caller::at(second.portal, "127.0.0.1") };
    second.control("PATCH", &grant.replace("/api/", "/tyk/portal/"), &json!({"state": "approved"}));
    let (key, id) = there.key(&grant);
    assert_eq!(call(&first.gateway, "/shop/", &key).status, 200);
    let developers = second.control("GET", "/tyk/portal/developers", &json!({}));
    let developer = format!("/tyk/portal/developers/{}", developers[0]["id"].as_str().expect("an id"));
    second.control("PATCH", &developer, &json!({"suspended": true}));
    assert_eq!(ada.call("GET", "/api/applications", &json!({})).status, 401, "out at both");
    for stage in [&first, &second] {
        eventually("the key is refused", || call(&stage.gateway, "/shop/", &key).status == 403);
    }
    first.control("PATCH", &developer, &json!({"suspended": false}));
    let signed_in = there.call("POST", "/api/session", &json!({"mail": "ada@example.com", "password": PASSWORD}));
    assert_eq!(signed_in.status, 200, "{signed_in}");
    ada.cookie.clone_from(&there.cookie);
    assert_eq!(ada.call("DELETE", &format!("{grant}/keys/{id}"), &json!({})).status, 200);
    eventually("the key is gone", || call(&second.gateway, "/shop/", &key).status == 403);
}

/// Every page, at the width of a desk and of a telephone, light and dark: nothing is cut off, and axe finds nothing. The pictures are for people.
#[test]
fn every_page_fits_every_screen() {
    let Some(mut browser) = Browser::start() else { return };
    let stage = stage(None, json!({}));
    let mut ada = stage.invited("ada@example.com");
    let grant = ada.granted("free");
    let (key, _) = ada.key(&grant);
    assert_eq!(call(&stage.gateway, "/shop/", &key).status, 200);
    let application = grant.split('/').nth(3).expect("an id").to_owned();
    let mut tab = browser.tab();
    let outside = [
        ("home", ""),
        ("product", "#/products/shop"),
        ("page", "#/pages/start"),
        ("search", "#/search"),
        ("sign-in", "#/sign-in"),
        ("sign-up", "#/sign-up"),
        ("forgotten", "#/forgotten"),
        ("password", "#/password/x"),
        ("welcome", "#/welcome/x"),
        ("missing", "#/none"),
    ];
    look_at(&mut tab, &stage, &outside);
    tab.open_page(&stage.page("#/sign-in"));
    tab.fill("Mail address", "ada@example.com");
    tab.fill("Password", PASSWORD);
    tab.click("button", "Sign in");
    tab.see("Ada");
    let (application, document) = (format!("#/applications/{application}"), "#/products/shop/apis/shop");
    let inside = [
        ("applications", "#/applications"),
        ("application", &application),
        ("invoices", "#/invoices"),
        ("document", document),
        ("teams", "#/teams"),
        ("account", "#/account"),
    ];
    look_at(&mut tab, &stage, &inside);
    assert!(tab.complaints.is_empty(), "{:#?}", tab.complaints);
}

fn look_at(tab: &mut Tab, stage: &Stage, views: &[(&str, &str)]) {
    for (name, view) in views {
        for (width, height) in [(1280, 800), (375, 740)] {
            for dark in [false, true] {
                tab.screen(width, height, dark);
                tab.open_page(&stage.page(view));
                tab.wait("document.querySelector('main h1, main .empty, main .note')");
                let is_cut = "document.documentElement.scrollWidth > innerWidth";
                assert_eq!(tab.eval(is_cut), json!(false), "{name} at {width}");
                let shade = if dark { "dark" } else { "light" };
                tab.screenshot(&format!("portal-{name}-{width}-{shade}"));
                expect_accessible(tab);
            }
        }
    }
}

#[test]
fn the_keyboard_alone_gets_a_key() {
    let Some(mut browser) = Browser::start() else { return };
    let stage = stage(None, json!({}));
    stage.invited("ada@example.com");
    let mut tab = browser.tab();
    tab.open_page(&stage.page("#/sign-in"));
    tab.wait("document.activeElement?.name === 'mail'");
    tab.write("ada@example.com");
    tab.key("Tab", "");
    tab.write(PASSWORD);
    tab.key("Enter", "\r");
    tab.see("Orders and articles");
    follow(&mut tab, "Shop");
    tab.see("Choose Free");
    follow(&mut tab, "Choose Free");
    tab.wait("document.querySelector('dialog button[type=submit]:not(:disabled)')");
    follow(&mut tab, "Get a key");
    tab.wait("document.querySelector('[data-key]')");
    tab.key("Escape", "");
    tab.see("New key");
}

/// Goes to what has this text with the key Tab, and presses Enter.
#[track_caller]
pub(crate) fn follow(tab: &mut Tab, text: &str) {
    for _ in 0..60 {
        tab.key("Tab", "");
        if tab.eval("document.activeElement?.innerText?.trim() ?? ''") == json!(text) {
            tab.key("Enter", "\r");
            return;
        }
    }
    panic!("Tab does not lead to {text:?}");
}

#[test]
fn without_a_portal_its_endpoints_say_so() {
    let gateway = Gateway::start(json!({}), []);
    let answer = gateway.control("GET", "/tyk/portal/products", "");
    assert_eq!(answer.status, 404, "{answer}");
    assert!(answer.text().contains("tollgate.portal.listen"), "{answer}");
}
