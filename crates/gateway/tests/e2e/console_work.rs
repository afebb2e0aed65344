//! An operator's work in the console, in a real browser: an API and a key by clicks alone, a refusal explained, a definition changed with and
//! without mistakes, two editors at once.

use serde_json::{Value, json};

use crate::console_pages::{expect_no_complaints, go, open_signed_in, stored};
use crate::harness::browser::{Browser, Tab};
use crate::harness::{Gateway, Upstream, api, reply};
use crate::keys::{call, create, session_for};

/// Clicks from the first page to a key that serves.
const CLICKS: usize = 5;

fn upstream_saying(text: &'static str) -> Upstream {
    Upstream::start(move |_| reply("200 OK", &["Content-Type: text/plain"], text))
}

/// An API, a key with a limit, and the reload in between: what a published benchmark of Tyk does with an editor, curl and a restart.
#[test]
fn clicks_alone_make_an_api_and_a_key_that_is_refused_explained_and_revoked() {
    let Some(mut browser) = Browser::start() else { return };
    let upstream = upstream_saying("from the shop");
    let gateway = Gateway::start(json!({}), []);
    let mut tab = open_signed_in(&mut browser, &gateway, "");
    tab.see("There is no API yet.");
    tab.screenshot("first-page");

    tab.clicks = 0;
    tab.click("a", "Make the first");
    tab.fill("Name", "Shop");
    tab.fill("Upstream", &upstream.url());
    tab.click("button", "Make the API");
    tab.click("a", "Make a key for it");
    tab.fill("Alias", "acme");
    tab.fill("Requests", "2");
    tab.click("button", "Make the key");
    tab.wait("document.querySelector('[data-test=secret]')");
    tab.screenshot("key-made");
    let key = tab.eval("document.querySelector('[data-test=secret]').innerText").as_str().expect("the key").to_owned();
    tab.click("button", "Done");
    assert_eq!(tab.clicks, CLICKS);
    let guide = include_str!("../../../../docs/console.md");
    assert!(guide.contains("take five clicks"), "the guide says how many clicks it takes");
    assert_eq!(tab.eval(&format!("document.body.innerText.includes({})", json!(key))), json!(false), "a key is shown once");

    let statuses: Vec<u16> = (0..3).map(|turn| call(&gateway, &format!("/shop/turn-{turn}"), &key).status).collect();
    assert_eq!(statuses, [200, 200, 429]);
    assert_eq!(call(&gateway, "/shop/", "another").status, 403);

    go(&mut tab, "#/live");
    tab.click("button", "GET /shop/turn-2");
    tab.see("This key has used up its rate.");
    tab.see("Limit: 2 per 1 min, of the key. Nothing was left.");
    tab.wait("/The next request passes at|It has passed again since/.test(document.body.innerText)");
    tab.see("Refused by\nKeyLimits");
    tab.screenshot("refusal-explained");

    // From the refusal to its key.
    tab.click("dialog a", "acme");
    tab.wait("location.hash.startsWith('#/keys/') && document.querySelector('h1')?.innerText === 'acme'");
    tab.screenshot("key");
    tab.click("button", "Deactivate");
    tab.wait("document.querySelector('.page-head .badge')?.innerText === 'inactive'");
    assert_eq!(call(&gateway, "/shop/", &key).status, 403);
    tab.click("button", "Activate");
    tab.wait("document.querySelector('.page-head .badge')?.innerText === 'active'");
    tab.click("button", "Extend");
    tab.click("dialog button", "Extend");
    tab.see("Valid until 20");
    tab.click("button", "Revoke");
    tab.see("cannot be undone");
    tab.click("dialog button", "Revoke");
    tab.see("The key is revoked.");
    let refused = call(&gateway, "/shop/", &key);
    assert_eq!((refused.status, refused.text().contains("disallowed")), (403, true), "{refused}");
    expect_no_complaints(&tab);
}

/// The text of the editor, and whether it is there at all.
fn editor_text(tab: &mut Tab) -> String {
    tab.wait("document.querySelector('.code')?.shadowRoot?.querySelector('.cm-line')");
    tab.eval(
        "[...document.querySelector('.code').shadowRoot.querySelectorAll('.cm-line')].map((line) => line.textContent).join('\\n')",
    )
    .as_str()
    .expect("a text")
    .to_owned()
}

#[test]
fn a_mistake_is_shown_at_its_line_and_field_and_a_save_can_be_undone() {
    let Some(mut browser) = Browser::start() else { return };
    let (first, second) = (upstream_saying("first"), upstream_saying("second"));
    // A member that the model does not know, a number beyond what JavaScript holds, and a layout of its own: none of it may be lost.
    let definition = api("shop", "/shop/", &first.url()).set("config_data", json!({"limit": 9_007_199_254_740_993_u64}));
    let gateway = Gateway::start(json!({}), [definition]);
    let mut tab = open_signed_in(&mut browser, &gateway, "#/apis/shop/definition");
    editor_text(&mut tab);
    tab.wait("document.querySelector('.editor-bar .badge')?.innerText === 'valid'");

    // A wrong value, typed into the form, is told at the field and at its line.
    tab.fill("Upstream", "no-address");
    tab.see("must be an absolute URL");
    tab.wait("document.querySelector('.field.invalid input')?.value === 'no-address'");
    tab.wait("/Line \\d+, \\$\\.proxy\\.target_url/.test(document.querySelector('.problems button')?.innerText)");
    let told = tab.eval("document.querySelector('.problems button').innerText").as_str().unwrap_or_default().to_owned();
    let line: usize = told.trim_start_matches("Line ").split(',').next().and_then(|number| number.parse().ok()).expect("a line");
    tab.click(".problems button", &told);
    tab.wait("document.querySelector('.code').shadowRoot.querySelector('.cm-lintRange-error')");
    let marked = tab.eval(
        "(() => { const root = document.querySelector('.code').shadowRoot; return [root.querySelector('.cm-lintRange-error').closest('.cm-line').textContent, \
         root.querySelector('.cm-activeLineGutter.cm-gutterElement:not(:empty)')?.textContent ?? '']; })()",
    );
    assert!(marked[0].as_str().is_some_and(|text| text.contains("no-address")), "{marked}");
    assert!(line > 1);
    tab.wait("[...document.querySelectorAll('button')].find((one) => one.innerText === 'Save').disabled");
    tab.screenshot("definition-mistake");

    // What is no JSON is told where it stops being JSON; the form has nothing to show meanwhile.
    tab.eval("document.querySelector('.code').shadowRoot.querySelector('.cm-content').focus()");
    // Changes that follow one another within 0.7 s are one step of undo.
    std::thread::sleep(std::time::Duration::from_millis(900));
    tab.write("\"");
    tab.see("The text is not JSON at the moment");
    tab.screenshot("definition-broken");
    tab.click("button", "Undo");
    tab.wait("document.querySelector('.field.invalid input')?.value === 'no-address'");
    assert_eq!(stored(&gateway, "shop")["proxy"]["target_url"], first.url());

    // Corrected, it saves after a look at the difference, and serves at once.
    tab.fill("Upstream", &second.url());
    tab.wait("document.querySelector('.editor-bar .badge')?.innerText === 'valid'");
    tab.click("button", "Save");
    tab.see("Save these changes?");
    let difference = tab.eval("[...document.querySelectorAll('.diff .add, .diff .del')].map((row) => row.innerText.trim())");
    assert_eq!(difference.as_array().map(Vec::len), Some(2), "one line is taken away and one added: {difference}");
    tab.screenshot("definition-save");
    tab.click("dialog button", "Save");
    tab.see("Undo this save");
    assert_eq!(gateway.get("/shop/").text(), "second");
    assert_eq!(stored(&gateway, "shop")["config_data"]["limit"], json!(9_007_199_254_740_993_u64), "no number is rounded");
    tab.click("button", "Undo this save");
    tab.wait("!document.body.innerText.includes('Undo this save')");
    assert_eq!(gateway.get("/shop/").text(), "first");
    expect_no_complaints(&tab);
}

#[test]
fn the_slower_of_two_editors_sees_the_conflict_and_loses_nothing() {
    let Some(mut browser) = Browser::start() else { return };
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("shop", "/shop/", &upstream.url())]);
    let user = json!({"name": "ann", "role": "editor", "password": "a long enough password"}).to_string();
    assert_eq!(gateway.control("POST", "/tyk/users", &user).status, 200);
    let mut slow = open_signed_in(&mut browser, &gateway, "#/apis/shop/definition");
    editor_text(&mut slow);
    let mut fast = browser.tab();
    fast.open_page(&crate::console_pages::page(&gateway, "#/apis/shop/definition"));
    fast.fill("Name", "ann");
    fast.fill("Password", "a long enough password");
    fast.click("button", "Sign in");
    editor_text(&mut fast);

    let save = |tab: &mut Tab, name: &str| {
        tab.fill("Name", name);
        tab.wait("[...document.querySelectorAll('button')].some((one) => one.innerText === 'Save' && !one.disabled)");
        tab.click("button", "Save");
        tab.click("dialog button", "Save");
    };
    save(&mut fast, "The name of Ann");
    fast.see("Undo this save");
    save(&mut slow, "The other name");
    slow.see("Somebody else saved first");
    slow.see("ann changed this definition");
    slow.see("The name of Ann");
    slow.see("The other name");
    slow.screenshot("conflict");
    assert_eq!(stored(&gateway, "shop")["name"], "The name of Ann", "nothing was overwritten");
    slow.click("dialog button", "Keep mine and compare");
    slow.click("button", "Save");
    slow.wait("document.querySelector('dialog .diff .del')?.innerText.includes('The name of Ann')");
    slow.click("dialog button", "Save");
    slow.see("Undo this save");
    assert_eq!(stored(&gateway, "shop")["name"], "The other name");
    for tab in [&fast, &slow] {
        expect_no_complaints(tab);
    }
}

#[test]
fn many_keys_are_found_chosen_and_changed_together() {
    let Some(mut browser) = Browser::start() else { return };
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("shop", "/shop/", &upstream.url()).with_keys()]);
    let keys: Vec<String> = ["north", "north", "south"]
        .iter()
        .map(|alias| create(&gateway, &session_for(&["shop"], json!({"alias": alias, "expires": 2_000_000_000}))))
        .collect();
    let mut tab = open_signed_in(&mut browser, &gateway, "#/keys");
    tab.wait("document.querySelectorAll('tbody tr').length === 3");
    tab.fill("Search keys", "north");
    tab.wait("document.querySelectorAll('tbody tr').length === 2");
    tab.eval("document.querySelector('[aria-label=\"Select all that are shown\"]').click()");
    tab.see("2 chosen");
    tab.click(".bulk button", "Revoke");
    tab.see("Revoke 2 keys?");
    tab.wait("document.querySelectorAll('dialog tbody tr').length === 2");
    tab.screenshot("keys-bulk");
    tab.click("dialog button", "Revoke 2");
    tab.see("2 keys changed.");
    let statuses: Vec<u16> = keys.iter().map(|key| call(&gateway, "/shop/", key).status).collect();
    assert_eq!(statuses, [403, 403, 200]);

    // A whole key finds itself. It is a secret: it is in no address, neither of the page nor of a call.
    tab.fill("Search keys", &keys[2]);
    tab.wait("document.querySelectorAll('tbody tr').length === 1 && document.querySelector('tbody')?.innerText.includes('south')");
    let asked = tab.eval("performance.getEntriesByType('resource').map((entry) => entry.name).concat(location.href)");
    assert!(!asked.to_string().contains(&keys[2]), "{asked}");
    expect_no_complaints(&tab);
}

#[test]
fn policies_say_how_many_keys_a_change_concerns() {
    let Some(mut browser) = Browser::start() else { return };
    let upstream = Upstream::ok();
    let (conf, _folder) = crate::harness::oauth::with_policies(json!({}), &[]);
    let gateway = Gateway::start(conf, [api("shop", "/shop/", &upstream.url()).with_keys()]);
    let mut tab = open_signed_in(&mut browser, &gateway, "#/policies?new=1");
    tab.fill("Name", "Gold");
    tab.fill("Requests", "1");
    tab.click("dialog label", "shop");
    tab.wait("[...document.querySelectorAll('dialog button')].some((one) => one.innerText === 'Make the policy' && !one.disabled)");
    tab.click("dialog button", "Make the policy");
    tab.see("Policy saved.");
    let key = create(&gateway, &json!({"org_id": "default", "apply_policies": ["gold"], "alias": "member"}));
    let statuses: Vec<u16> = (0..2).map(|_| call(&gateway, "/shop/", &key).status).collect();
    assert_eq!(statuses, [200, 429]);

    tab.click("tbody a", "Gold");
    tab.wait("document.querySelector('dialog footer')?.innerText.includes('1 key\\n')");
    tab.fill("Requests", "1000");
    tab.wait("[...document.querySelectorAll('dialog button')].some((one) => one.innerText === 'Save' && !one.disabled)");
    tab.click("dialog button", "Save");
    tab.see("1 key has this policy.");
    tab.screenshot("policy-save");
    tab.click("dialog button", "Save");
    tab.see("It applies to 1 key");
    assert_eq!(call(&gateway, "/shop/", &key).status, 200);

    // The wizard makes a key of it, and shows what is in effect before.
    go(&mut tab, "#/keys?new=1");
    tab.click("dialog button", "from policies");
    tab.click("dialog label", "Gold");
    tab.see("In effect: 1 API (shop), 1,000 per 60 s");
    tab.click("button", "Make the key");
    tab.wait("document.querySelector('[data-test=secret]')");
    let key: Value = tab.eval("document.querySelector('[data-test=secret]').innerText");
    assert_eq!(call(&gateway, "/shop/", key.as_str().expect("a key")).status, 200);
    expect_no_complaints(&tab);
}

#[test]
fn a_tried_request_shows_what_each_step_decided_and_what_went_upstream() {
    let Some(mut browser) = Browser::start() else { return };
    let upstream = upstream_saying("from the shop");
    let gateway = Gateway::start(json!({}), [api("shop", "/shop/", &upstream.url()).with_keys()]);
    let key = create(&gateway, &session_for(&["shop"], json!({"rate": 1, "per": 60})));
    let mut tab = open_signed_in(&mut browser, &gateway, "#/apis/shop/chain");
    tab.wait("[...document.querySelectorAll('tbody th')].some((step) => step.innerText.includes('TokenAuth'))");
    tab.click("button", "Try it");
    tab.fill("Path", "/shop/things?x=1");
    tab.click("dialog button", "Send");
    tab.see("refused by TokenAuth");
    assert_eq!(upstream.requests(), 0);

    tab.fill("Key (Authorization)", &key);
    tab.fill("Headers, one a line", "X-Asked: by the console");
    tab.click("dialog button", "Send");
    tab.see("What went upstream");
    tab.see("from the shop");
    let decisions = tab.eval("[...document.querySelectorAll('.steps li')].map((step) => step.innerText)");
    assert!(
        decisions.as_array().is_some_and(
            |steps| steps.len() >= 2 && steps.iter().all(|step| step.as_str().is_some_and(|text| text.contains("passed on")))
        ),
        "{decisions}"
    );
    let seen = upstream.last();
    assert_eq!((seen.target.as_str(), seen.header("x-asked")), ("/things?x=1", Some("by the console")));
    tab.screenshot("try-it");
    // It counts like any other request.
    tab.click("dialog button", "Send");
    tab.see("refused by KeyLimits");
    assert_eq!(call(&gateway, "/shop/", &key).status, 429);
    expect_no_complaints(&tab);
}
