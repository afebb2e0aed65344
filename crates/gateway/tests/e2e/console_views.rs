//! Every page of the console in a real browser: in both themes, on a wide screen and on a phone, checked by axe-core; and with names, paths, agents
//! and keys that attack whoever looks at them. Screenshots stay in `target/console-screenshots`.

use serde_json::{Value, json};

use crate::certs::made;
use crate::console_pages::{expect_no_complaints, go, open_signed_in};
use crate::harness::browser::{Browser, Tab};
use crate::harness::oauth::{policy, provider, with_policies};
use crate::harness::{Gateway, Setup, Upstream, api, reply, request};
use crate::keys::{call, create, session_for};

/// Each page and dialog: its name, its view, and what is on it once it is complete.
const VIEWS: [(&str, &str, &str); 23] = [
    (
        "overview",
        "#/",
        "document.querySelector('.verdict') && document.querySelector('.canvas canvas') && document.body.innerText.includes('Needs attention')",
    ),
    ("apis", "#/apis", "document.querySelectorAll('tbody tr').length >= 4"),
    ("api-new", "#/apis?new=1", "document.querySelector('dialog input')"),
    ("api-live", "#/apis/shop", "document.querySelector('.canvas canvas')"),
    ("api-definition", "#/apis/shop/definition", "document.querySelector('.code')?.shadowRoot?.querySelector('.cm-line')"),
    ("api-chain", "#/apis/a/chain", "document.querySelector('tbody th')?.innerText.includes('1')"),
    ("api-versions", "#/apis/shop/versions", "document.querySelector('tbody tr')"),
    ("api-keys", "#/apis/a/keys", "document.querySelectorAll('tbody tr').length >= 2"),
    ("api-usage", "#/apis/a/usage", "document.querySelector('tbody tr')"),
    ("keys", "#/keys", "document.querySelectorAll('tbody tr').length >= 3"),
    ("key-new", "#/keys?new=1", "document.querySelector('dialog .choices label')"),
    ("policies", "#/policies", "document.querySelector('tbody tr')"),
    ("policy", "#/policies?open=gold", "document.querySelector('dialog .choices label')"),
    ("clients", "#/clients", "document.querySelector('tbody tr')"),
    ("client-new", "#/clients?new=1", "document.querySelector('dialog select option')"),
    (
        "certificates",
        "#/certificates",
        "document.querySelectorAll('tbody tr').length >= 2 && document.body.innerText.includes('From an issuer') && document.body.innerText.includes('wanted')",
    ),
    ("usage", "#/usage", "document.querySelector('tbody tr') && document.querySelector('.canvas canvas')"),
    ("live", "#/live", "document.querySelector('tbody tr')"),
    ("top", "#/usage?last=now&split=path", "document.body.innerText.includes('Busiest by path')"),
    ("system", "#/system", "document.body.innerText.includes('Up since') && document.querySelectorAll('tbody tr').length >= 3"),
    ("system-problems", "#/system/problems", "document.querySelector('tbody tr')"),
    ("system-changes", "#/system/changes", "document.querySelector('tbody tr')"),
    ("system-users", "#/system/users", "document.querySelector('tbody tr')"),
];

/// A gateway with something on each page.
fn busy_gateway() -> (Gateway, Upstream, tempfile::TempDir) {
    let upstream = Upstream::start(|seen| match seen.target.as_str() {
        "/broken" => reply("503 Not now", &[], "no"),
        _ => reply("200 OK", &["Content-Type: text/plain"], "ok"),
    });
    let gold = policy(json!({"name": "Gold", "quota_max": 1000, "quota_renewal_rate": 3600}));
    let (mut conf, folder) = with_policies(json!({"enable_analytics": true}), &[gold]);
    let tracked = |id: &str| api(id, &format!("/{id}/"), &upstream.url()).set("do_not_track", false);
    // Nobody listens at the port of this issuer.
    let issuer = json!({"directory": "http://127.0.0.1:9/dir", "agree_to_terms": true});
    conf["tollgate"]["acme"] = json!({"issuers": [issuer], "certificates": [{"names": ["shop.example.com", "www.example.com"]}]});
    let gateway = Setup::new(conf)
        .api(tracked("shop").set("name", "Shop").set("tags", json!(["eu", "critical"])))
        .api(tracked("a").with_keys().set("name", "Accounts"))
        .api(tracked("search"))
        .api(provider("login", &upstream))
        .file("broken.json", "{\"api_id\": \"broken\",\n \"name\": }")
        .start();
    let post = |target: &str, body: String| {
        let answer = gateway.control("POST", target, &body);
        assert_eq!(answer.status, 200, "{target}: {answer}");
    };
    for (name, year) in [("shop.test", 2090), ("partner.test", 2091)] {
        let (certificate, key) = made(name, year);
        post("/tyk/certs?org_id=default", format!("{certificate}{key}"));
    }
    post(
        "/tyk/oauth/clients/create",
        json!({"client_id": "mobile", "api_id": "login", "redirect_uri": "https://app.test/"}).to_string(),
    );
    post("/tyk/users", json!({"name": "vera", "role": "viewer", "password": "a long enough password"}).to_string());
    let acme = create(&gateway, &json!({"org_id": "default", "apply_policies": ["gold"], "alias": "acme"}));
    let slow = create(&gateway, &session_for(&["a"], json!({"alias": "slow", "rate": 1, "per": 60})));
    create(&gateway, &session_for(&["a"], json!({"alias": "ended", "expires": 1_700_000_000})));
    for turn in 0..10 {
        gateway.get(&format!("/shop/items/{turn}"));
        call(&gateway, "/a/", &acme);
        call(&gateway, "/a/", &slow);
    }
    gateway.get("/shop/broken");
    gateway.get("/a/");
    (gateway, upstream, folder)
}

fn show(tab: &mut Tab, view: &str, complete: &str) {
    go(tab, view);
    tab.wait(complete);
    // Figures arrive with the first sample of the stream.
    tab.wait("!document.querySelector('.connection')?.innerText.includes('No ')");
}

#[test]
fn each_page_is_accessible_in_both_themes_on_wide_screens_and_phones() {
    let Some(mut browser) = Browser::start() else { return };
    let (gateway, _upstream, _folder) = busy_gateway();
    let mut tab = open_signed_in(&mut browser, &gateway, "");
    crate::statistics::wait_for(&gateway, "/tyk/usage?by=api&last=1h", |usage| {
        usage["rows"].as_array().is_some_and(|rows| !rows.is_empty())
    });
    tab.wait("document.body.innerText.includes('req') || document.querySelector('.figure strong')?.innerText !== '-/s'");
    let mut wrong = Vec::new();
    // Each theme and width is looked at; the checks of colours need one width, those of sizes one theme.
    for (width, height, is_dark, is_checked) in
        [(1280, 800, false, true), (360, 740, true, true), (1280, 800, true, false), (360, 740, false, false)]
    {
        tab.screen(width, height, is_dark);
        for (name, view, complete) in VIEWS {
            show(&mut tab, view, complete);
            let theme = if is_dark { "dark" } else { "light" };
            let place = format!("{name}-{theme}-{width}");
            tab.screenshot(&place);
            let beyond = tab.eval("document.documentElement.scrollWidth - innerWidth");
            if beyond.as_i64() > Some(0) {
                wrong.push(format!("{place}: {beyond} pixels wider than the screen"));
            }
            if is_checked {
                let Some(found) = tab.accessibility() else { return };
                wrong.extend(found.into_iter().map(|one| format!("{place}: {one}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // The check finds what there is to find.
    tab.eval("document.querySelector('main').append(document.createElement('button'))");
    assert!(tab.accessibility().is_some_and(|found| found.iter().any(|one| one.starts_with("button-name"))));
    expect_no_complaints(&tab);
}

/// Text that runs where it is taken for markup, reorders what is around it where it is obeyed, and is a formula where it begins a cell.
const HOSTILE: &str =
    "=cmd|'/C calc'!A0\u{202e}<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>\u{7}";

#[test]
fn hostile_names_paths_agents_and_keys_do_nothing() {
    let Some(mut browser) = Browser::start() else { return };
    let upstream = Upstream::ok();
    let rights = json!({"shop": {"api_id": "shop", "api_name": HOSTILE, "versions": ["Default"]}});
    let hostile_policy =
        json!({"id": "bad", "name": HOSTILE, "org_id": "default", "active": true, "rate": 10, "per": 60, "access_rights": rights});
    let (conf, _folder) = with_policies(json!({"enable_analytics": true}), &[hostile_policy]);
    let definition = api("shop", "/shop/", &upstream.url())
        .with_keys()
        .set("do_not_track", false)
        .set("name", HOSTILE)
        .set("tags", json!([HOSTILE]));
    let open = api("=open", "/open/", &upstream.url()).set("do_not_track", false).set("name", HOSTILE);
    let gateway = Gateway::start(conf, [definition, open]);
    let key = create(
        &gateway,
        &session_for(
            &["shop"],
            json!({"alias": HOSTILE, "rate": 1, "per": 60, "tags": [HOSTILE], "meta_data": {HOSTILE: HOSTILE}}),
        ),
    );
    let agent = "User-Agent: =1+1<script>document.title='owned'</script>";
    for _ in 0..2 {
        let line = format!("Authorization: {key}");
        gateway.send(request("GET", "/shop/%3Cimg%20src=x%20onerror=document.title='owned'%3E", &[&line, agent], ""));
        gateway.send(request("GET", "/open/=1+1%E2%80%AE", &[agent], ""));
        // No API is for it, and no one is signed in with it.
        gateway.send(request("GET", "/%3Cscript%3E", &[agent], ""));
        gateway.control("DELETE", "/tyk/apis/%3Cscript%3Edocument.title='owned'%3C%2Fscript%3E", "");
    }
    let mut tab = open_signed_in(&mut browser, &gateway, "");
    crate::statistics::wait_for(&gateway, "/tyk/usage?by=path&last=1h", |usage| {
        usage["rows"].as_array().is_some_and(|rows| rows.len() >= 2)
    });
    let id = gateway.control("GET", "/tyk/list/keys", "").json()["rows"][0]["id"].as_str().expect("a key").to_owned();
    let views = [
        ("#/", "document.querySelector('.verdict')", true),
        ("#/apis", "document.querySelectorAll('tbody tr').length === 2", true),
        ("#/apis/shop", "document.querySelector('h1')?.innerText.includes('cmd')", true),
        ("#/apis/shop/definition", "document.querySelector('.code')?.shadowRoot?.querySelector('.cm-line')", true),
        ("#/keys", "document.querySelectorAll('tbody tr').length === 1", true),
        (&format!("#/keys/{id}"), "document.querySelector('h1')?.innerText.includes('cmd')", true),
        ("#/policies", "document.querySelector('tbody tr')", true),
        ("#/policies?open=bad", "document.querySelector('dialog .choices label')", true),
        ("#/live", "document.querySelectorAll('tbody tr').length >= 1", true),
        ("#/usage?split=path", "document.querySelectorAll('tbody tr').length >= 2", false),
        ("#/system/changes", "document.querySelectorAll('tbody tr').length >= 1", false),
        // What is in the address is hostile as well.
        ("#/apis/%3Cimg%20src=x%20onerror=alert(1)%3E", "document.body.innerText.includes('There is no such API')", false),
        ("#/keys?q=%3Csvg%3E", "document.body.innerText.includes('No key matches')", false),
        ("#/live?cause=%3Cscript%3E", "document.querySelector('.chip')", false),
    ];
    let shown = "[document.body, ...[...document.querySelectorAll('*')].map((one) => one.shadowRoot)].some((root) => root?.textContent.includes('<img src=x'))";
    for (view, complete, shows_names) in views {
        show(&mut tab, view, complete);
        if shows_names {
            // Some of it comes with later figures.
            tab.wait(shown);
        }
        let found = tab.eval(
            "(() => { const all = (root) => [...root.querySelectorAll('*')].flatMap((one) => [one, ...(one.shadowRoot ? all(one.shadowRoot) : [])]); \
             const elements = all(document); const text = document.body.innerText + elements.map((one) => one.shadowRoot?.textContent ?? '').join(''); \
             return {made: elements.filter((one) => one.localName === 'img' || (one.localName === 'script' && !one.src) || [...one.attributes].some((attribute) => attribute.name.startsWith('on'))).length, \
             owned: /owned/.test(document.title) && !/cmd/.test(document.title), raw: /[\\u202e\\u0007]/.test(document.body.innerText), shown: text.includes('<img src=x')}; })()",
        );
        assert_eq!((&found["made"], &found["owned"], &found["raw"]), (&json!(0), &json!(false), &json!(false)), "{view}: {found}");
        assert_eq!(found["shown"] == true, shows_names, "{view}: {found}");
    }
    go(&mut tab, "#/live");
    tab.click("button", "GET /shop/");
    tab.see("=1+1<script>");
    tab.screenshot("hostile");
    tab.key("Escape", "");

    // In the file for spreadsheets, formulas are texts.
    go(&mut tab, "#/usage?split=path");
    tab.wait("document.querySelectorAll('tbody tr').length >= 2");
    tab.eval("window.files = []; const make = URL.createObjectURL; URL.createObjectURL = (blob) => { window.files.push(blob); return make.call(URL, blob); }; null");
    go(&mut tab, "#/usage?split=api");
    tab.wait("document.querySelector('tbody')?.innerText.includes('=open')");
    tab.click("button", "CSV");
    tab.wait("window.files.length === 1");
    let csv = tab.eval("window.files[0].text()");
    let text = csv.as_str().expect("a text");
    assert!(text.contains("\"'=open\",") && !text.lines().any(|line| line.starts_with('=')), "{text}");
    expect_no_complaints(&tab);
    let _: Value = tab.eval("null");
}

/// What opens over pages, by what opens it and how it is closed again.
#[test]
fn dialogs_are_accessible_in_both_themes() {
    let Some(mut browser) = Browser::start() else { return };
    let (gateway, _upstream, _folder) = busy_gateway();
    let mut tab = open_signed_in(&mut browser, &gateway, "");
    let mut wrong = Vec::new();
    let dialogs = [
        ("search", "#/", "button.search-box", "Search"),
        ("keyboard", "#/", "button.help", "?"),
        ("try-it", "#/apis/shop", "button", "Try it"),
        ("delete-api", "#/apis/shop", "button", "Delete this API"),
        ("why-refused", "#/live?cause=key_rate_limit", "tbody button", "GET /a/"),
        ("certificate", "#/certificates", "tbody a", "partner.test"),
        ("change", "#/system/changes", "tbody .badge", "create"),
        ("new-user", "#/system/users", "button", "Add a user"),
        ("client", "#/clients", "tbody td", "mobile"),
        ("key-extend", "#/keys?q=acme", "tbody a", "acme"),
    ];
    for is_dark in [false, true] {
        tab.screen(1280, 800, is_dark);
        for (name, view, selector, text) in dialogs {
            go(&mut tab, view);
            tab.click(selector, text);
            if name == "key-extend" {
                tab.click("button", "Extend");
            }
            tab.wait("document.querySelector('dialog[open]')");
            let theme = if is_dark { "dark" } else { "light" };
            tab.screenshot(&format!("dialog-{name}-{theme}"));
            let Some(found) = tab.accessibility() else { return };
            wrong.extend(found.into_iter().map(|one| format!("{name}-{theme}: {one}")));
            tab.key("Escape", "");
            tab.wait("!document.querySelector('dialog[open]')");
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    expect_no_complaints(&tab);
}

#[test]
fn on_a_phone_a_key_is_found_extended_and_revoked() {
    let Some(mut browser) = Browser::start() else { return };
    let (gateway, _upstream, _folder) = busy_gateway();
    let mut tab = open_signed_in(&mut browser, &gateway, "");
    tab.screen(360, 740, false);
    tab.wait("document.querySelector('.verdict')?.getBoundingClientRect().top < 200");
    tab.click("button", "Search everything");
    tab.wait("document.activeElement?.type === 'search'");
    tab.write("slow");
    tab.wait("document.querySelector('[role=option]')?.innerText.includes('slow')");
    tab.click("[role=option]", "slow");
    tab.wait("document.querySelector('h1')?.innerText === 'slow'");
    tab.click("button", "Extend");
    tab.click("dialog button", "Extend");
    // The key had no end.
    tab.see("Valid until 20");
    tab.screenshot("phone-key");
    tab.click("button", "Revoke");
    tab.click("dialog button", "Revoke");
    tab.see("The key is revoked.");
    go(&mut tab, "#/apis/shop/definition");
    tab.see("Definitions are read-only on narrow screens.");
    assert_eq!(tab.eval("document.documentElement.scrollWidth > innerWidth"), json!(false));
    expect_no_complaints(&tab);
}
