//! The console with 10,000 APIs and 100,000 keys: lists of any length, with only the rows in sight in the document.

use std::fmt::Write;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::console_pages::{expect_no_complaints, go, open_signed_in};
use crate::harness::browser::{Browser, Tab};
use crate::harness::{Setup, api};
use crate::keys::session_for;
use crate::servers::Server;

const APIS: usize = 10_000;
const KEYS: usize = 100_000;
/// Rows in the document at most: those in sight on an 800 pixels high screen, and some on either side.
const ROWS_MAX: u64 = 160;

fn key(number: usize) -> String {
    format!("default{number:032x}")
}

/// A data directory with the keys: made in a Redis, where that takes a second, and moved from there.
fn keys_in(folder: &std::path::Path) -> serde_json::Value {
    let server = Server::start(&[]);
    let mut commands = String::new();
    for number in 0..KEYS {
        let (name, value) = (
            format!("apikey-{}", key(number)),
            session_for(
                &[&format!("api-{:05}", number % APIS)],
                json!({"alias": format!("customer {number:06}"), "rate": 10, "per": 1}),
            )
            .to_string(),
        );
        write!(commands, "*3\r\n$3\r\nSET\r\n${}\r\n{name}\r\n${}\r\n{value}\r\n", name.len(), value.len()).unwrap();
    }
    let input = folder.join("commands");
    std::fs::write(&input, commands).unwrap();
    let pipe = Command::new("redis-cli")
        .args(["-p", &server.port.to_string(), "--pipe"])
        .stdin(std::fs::File::open(&input).unwrap())
        .stdout(Stdio::null())
        .status();
    assert!(pipe.expect("redis-cli runs").success());
    let conf = json!({"hash_keys": false, "tollgate": {"data_dir": folder.join("data")}});
    let mut both = conf.clone();
    both["storage"] = json!({"host": "127.0.0.1", "port": server.port});
    both = crate::shared_keys::patient(both);
    let path = folder.join("both.conf");
    std::fs::write(&path, both.to_string()).unwrap();
    let moved = Command::new(env!("CARGO_BIN_EXE_tollgate"))
        .args(["migrate", "--from", "redis", "--to", "embedded", "--conf"])
        .arg(&path)
        .output()
        .expect("it runs");
    assert!(moved.status.success(), "{}", String::from_utf8_lossy(&moved.stderr));
    conf
}

fn rows(tab: &mut Tab) -> u64 {
    tab.eval("document.querySelectorAll('tbody tr:not(.space)').length").as_u64().unwrap_or_default()
}

/// Scrolls to the end until it has come, and looks at how many rows the document holds meanwhile.
fn scroll_through(tab: &mut Tab, pages: usize) {
    for _ in 0..pages {
        let before = tab.eval("document.documentElement.scrollHeight");
        tab.eval("scrollTo(0, document.documentElement.scrollHeight)");
        tab.wait(&format!("document.documentElement.scrollHeight > {before}"));
        let rows = rows(tab);
        assert!((10..=ROWS_MAX).contains(&rows), "{rows} rows");
    }
}

#[test]
fn ten_thousand_apis_and_a_hundred_thousand_keys_are_listed_searched_and_opened() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let conf = keys_in(folder.path());
    let apis =
        (0..APIS).map(|number| api(&format!("api-{number:05}"), &format!("/api-{number:05}/"), "http://127.0.0.1:1/").with_keys());
    let gateway = apis.fold(Setup::new(conf), Setup::api).start();
    let mut tab = open_signed_in(&mut browser, &gateway, "#/apis");

    tab.wait("document.querySelector('h1')?.innerText.includes('10,000')");
    tab.wait("document.querySelectorAll('tbody tr').length >= 50");
    scroll_through(&mut tab, 5);
    tab.see("loaded of 10,000");
    tab.screenshot("ten-thousand-apis");
    tab.fill("Filter APIs", "09999");
    tab.wait(
        "document.querySelectorAll('tbody tr').length === 1 && document.querySelector('tbody')?.innerText.includes('api-09999')",
    );
    tab.key("j", "");
    tab.click("tbody a", "api-09999");
    tab.wait("location.hash === '#/apis/api-09999' && document.querySelector('h1')?.innerText.startsWith('api-09999')");

    go(&mut tab, "#/keys");
    tab.wait("document.querySelector('h1')?.innerText.includes('100,000')");
    tab.wait("document.querySelectorAll('tbody tr').length >= 50");
    scroll_through(&mut tab, 5);
    tab.see("loaded of 100,000");
    tab.screenshot("hundred-thousand-keys");
    // A whole key finds itself at once; an alias is searched for from page to page, without a click.
    tab.fill("Search keys", &key(77_777));
    tab.wait("document.querySelectorAll('tbody tr').length === 1 && document.querySelector('tbody')?.innerText.includes('customer 077777')");
    tab.fill("Search keys", "customer 0123");
    tab.wait(
        "document.querySelectorAll('tbody tr').length >= 3 && document.querySelector('tbody')?.innerText.includes('customer 0123')",
    );
    // All that match, not only those that are loaded, after their number was typed.
    tab.eval("document.querySelector('[aria-label=\"Select all that are shown\"]').click()");
    tab.click("button", "Choose all that match");
    tab.click(".bulk button", "Deactivate");
    tab.wait("document.querySelector('dialog h2')?.innerText.startsWith('Deactivate') && document.querySelector('dialog input[inputmode=numeric]')");
    let count = tab.eval("document.querySelector('dialog h2').innerText.replace(/\\D/g, '')");
    let count = count.as_str().expect("a number").to_owned();
    assert!(count.parse::<u64>().is_ok_and(|count| count > 100), "{count}");
    tab.fill("Type", &count);
    tab.click("dialog button", "Deactivate");
    tab.see(&format!("{count} keys changed."));
    tab.click("tbody a", "customer 0123");
    tab.wait("document.querySelector('h1')?.innerText.startsWith('customer 0123')");
    tab.see("10 per 1 s");
    // On a phone they are cards.
    tab.screen(360, 740, false);
    go(&mut tab, "#/keys");
    tab.wait("document.querySelectorAll('tbody tr').length >= 50");
    scroll_through(&mut tab, 3);
    tab.screenshot("hundred-thousand-keys-phone");
    // The search over everything.
    tab.screen(1280, 800, false);
    tab.key("/", "/");
    tab.wait("document.activeElement?.type === 'search' && document.querySelector('dialog')");
    tab.write("api-04321");
    tab.wait("document.querySelector('[role=option]')?.innerText.includes('api-04321')");
    tab.key("Enter", "\r");
    tab.wait("location.hash === '#/apis/api-04321'");
    expect_no_complaints(&tab);
}
