//! A real browser, Chromium, driven over its DevTools protocol: pages are opened, clicked, typed into and looked at as a person does.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine;
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use super::eventually;

const PROGRAM: &str = "/usr/bin/chromium";
/// How long a page may take; browsers on a busy machine are slow.
const PAGE_PATIENCE: Duration = Duration::from_secs(60);

/// A browser, as one test uses it: its pages and their cookies are its own, and go with it. The process is one for all tests.
pub(crate) struct Browser {
    port: u16,
    control: Tab,
}

/// The process that all tests share; starting one takes seconds.
static PROCESS: Mutex<Option<Process>> = Mutex::new(None);

struct Process {
    child: Child,
    port: u16,
    path: String,
    /// Nothing drops a `static`: this waits for the end of the tests, however that comes.
    _guard: Child,
}

impl Process {
    fn start() -> Process {
        let profile = tempfile::tempdir().expect("a folder for the profile").keep();
        let child = Command::new(PROGRAM)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"])
            .args(["--hide-scrollbars", "--remote-debugging-port=0", "--no-first-run", "--disable-extensions"])
            // Pages of tests that run at the same time must not be slowed down as tabs in the background.
            .args([
                "--disable-renderer-backgrounding",
                "--disable-background-timer-throttling",
                "--disable-backgrounding-occluded-windows",
            ])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("Chromium starts");
        let mut shell = Command::new("sh");
        shell.args(["-c", "cat > /dev/null; kill -KILL \"$0\"; sleep 1; rm -rf \"$1\""]).arg(child.id().to_string()).arg(&profile);
        let guard = shell.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("sh");
        let told = profile.join("DevToolsActivePort");
        let mut lines = String::new();
        eventually("Chromium names its port", || {
            lines = fs::read_to_string(&told).unwrap_or_default();
            lines.lines().count() >= 2
        });
        let port = lines.lines().next().and_then(|line| line.parse().ok()).expect("a port");
        let path = lines.lines().nth(1).expect("a path").to_owned();
        Process { child, port, path, _guard: guard }
    }
}

impl Browser {
    /// `None` if Chromium is not installed.
    pub(crate) fn start() -> Option<Browser> {
        if !Path::new(PROGRAM).exists() {
            super::skip("there is no Chromium");
            return None;
        }
        let mut process = PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
        if process.as_mut().is_some_and(|running| running.child.try_wait().is_ok_and(|ended| ended.is_some())) {
            *process = None;
        }
        let running = process.get_or_insert_with(Process::start);
        Some(Browser { port: running.port, control: Tab::open(running.port, &running.path) })
    }

    /// A page with cookies of its own.
    pub(crate) fn tab(&mut self) -> Tab {
        let context =
            self.control.command("Target.createBrowserContext", json!({"disposeOnDetach": true}))["browserContextId"].clone();
        let target = self.control.command("Target.createTarget", json!({"url": "about:blank", "browserContextId": context}));
        let id = target["targetId"].as_str().expect("a target").to_owned();
        let mut tab = Tab::open(self.port, &format!("/devtools/page/{id}"));
        for domain in ["Page", "Runtime", "Log"] {
            tab.command(&format!("{domain}.enable"), json!({}));
        }
        tab.command("Browser.setPermission", json!({"permission": {"name": "clipboard-write"}, "setting": "granted"}));
        tab.screen(1280, 800, false);
        tab
    }
}

/// One page.
pub(crate) struct Tab {
    socket: WebSocket<TcpStream>,
    last: u64,
    /// Exceptions, messages of the browser such as violations of the page's policy, and dialogs.
    pub complaints: Vec<String>,
    /// Clicks so far.
    pub clicks: usize,
}

impl Tab {
    fn open(port: u16, path: &str) -> Tab {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the browser listens");
        stream.set_read_timeout(Some(PAGE_PATIENCE)).expect("a time limit");
        let (socket, _) = tungstenite::client(format!("ws://127.0.0.1:{port}{path}"), stream).expect("the browser answers");
        Tab { socket, last: 0, complaints: Vec::new(), clicks: 0 }
    }

    pub(crate) fn command(&mut self, method: &str, params: Value) -> Value {
        self.answer(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn answer(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.last += 1;
        let id = self.last;
        self.socket
            .send(Message::text(json!({"id": id, "method": method, "params": params}).to_string()))
            .expect("the browser reads");
        loop {
            let Message::Text(text) = self.socket.read().unwrap_or_else(|error| panic!("no answer to {method}: {error}")) else {
                continue;
            };
            let mut message: Value = serde_json::from_str(&text).expect("JSON");
            if message["id"] == id {
                return if message["error"].is_null() { Ok(message["result"].take()) } else { Err(message["error"].take()) };
            }
            self.hear(&message);
        }
    }

    fn hear(&mut self, event: &Value) {
        let params = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => {
                let details = &params["exceptionDetails"];
                self.complaints.push(format!("exception: {} {}", details["text"], details["exception"]["description"]));
            }
            "Log.entryAdded" if params["entry"]["level"] == "error" && params["entry"]["source"] != "network" => {
                self.complaints.push(format!("{}", params["entry"]["text"]));
            }
            "Page.javascriptDialogOpening" => {
                self.complaints.push(format!("dialog: {}", params["message"]));
                self.last += 1;
                let accept = json!({"id": self.last, "method": "Page.handleJavaScriptDialog", "params": {"accept": true}});
                let _ = self.socket.send(Message::text(accept.to_string()));
            }
            _ => {}
        }
    }

    /// The value of an expression, after its promise.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        self.evaluated(expression).unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    /// The same, or why there is no value: the page may be gone.
    fn evaluated(&mut self, expression: &str) -> Result<Value, Value> {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true});
        let mut result = self.answer("Runtime.evaluate", params)?;
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        Ok(result["result"]["value"].take())
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub(crate) fn wait(&mut self, expression: &str) {
        let deadline = Instant::now() + PAGE_PATIENCE;
        // A page that goes while it is asked is followed by another one.
        while self.evaluated(&format!("!!({expression})")) != Ok(Value::Bool(true)) {
            if Instant::now() > deadline {
                let page = self.eval("location.href + '\\n' + document.body.innerText");
                self.screenshot("failed");
                panic!("never true: {expression}\n{}\n{:?}", page.as_str().unwrap_or_default(), self.complaints);
            }
            std::thread::sleep(Duration::from_millis(40));
        }
    }

    /// Waits for a text on the page.
    #[track_caller]
    pub(crate) fn see(&mut self, text: &str) {
        self.wait(&format!("document.body?.innerText.includes({})", json!(text)));
    }

    pub(crate) fn open_page(&mut self, address: &str) {
        self.command("Page.navigate", json!({"url": "about:blank"}));
        self.command("Page.navigate", json!({"url": address}));
        self.wait("document.readyState === 'complete'");
    }

    /// Clicks the last visible element that a selector finds whose text or label is `text`, with a real mouse event.
    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str, text: &str) {
        self.click_within(selector, text, 5);
    }

    fn click_within(&mut self, selector: &str, text: &str, tries: usize) {
        let found = format!(
            "(() => {{ const all = [...document.querySelectorAll({})].filter((one) => one.checkVisibility() && !one.disabled); \
             const said = (one) => (one.innerText || one.getAttribute('aria-label') || '').trim(); \
             return all.findLast((one) => said(one) === {text}) ?? all.findLast((one) => said(one).startsWith({text})); }})()",
            json!(selector),
            text = json!(text),
        );
        self.wait(&found);
        // A page that is still being filled moves what is on it: people, too, wait until it stands still, and nothing lies over it.
        let place = self.eval(&format!(
            "(async () => {{ let last; for (let look = 0; look < 60; look++) {{ const one = {found}; if (one) {{ \
             one.scrollIntoView({{block: 'center', inline: 'center', behavior: 'instant'}}); const box = one.getBoundingClientRect(); \
             const place = [box.x + Math.min(box.width / 2, 40), box.y + box.height / 2]; const top = document.elementFromPoint(...place); \
             if (last && String(last) === String(place) && top && (one.contains(top) || top.contains(one))) {{ \
             window.wasClicked = false; addEventListener('click', ({{target}}) => {{ window.wasClicked = target === top || one.contains(target); }}, {{capture: true, once: true}}); return place; }} \
             last = place; }} await new Promise((done) => setTimeout(done, 50)); }} return last; }})()"
        ));
        self.click_at(&place[0], &place[1]);
        // What moves away in the last moment gets no click, and something else may: people try again.
        if self.evaluated("window.wasClicked") == Ok(Value::Bool(false)) && tries > 1 {
            self.clicks -= 1;
            self.click_within(selector, text, tries - 1);
        }
    }

    fn click_at(&mut self, x: &Value, y: &Value) {
        self.clicks += 1;
        for kind in ["mousePressed", "mouseReleased"] {
            self.command("Input.dispatchMouseEvent", json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}));
        }
    }

    /// Puts the focus on the input of a label and replaces its text.
    #[track_caller]
    pub(crate) fn fill(&mut self, label: &str, text: &str) {
        let found = format!(
            "[...document.querySelectorAll('input, textarea')].filter((one) => one.checkVisibility() && (one.getAttribute('aria-label') === {label} \
             || one.closest('label')?.querySelector('span')?.innerText.startsWith({label}))).at(-1)",
            label = json!(label)
        );
        self.wait(&found);
        self.eval(&format!("{found}.focus(), {found}.select()"));
        if text.is_empty() {
            self.key("Delete", "");
        } else {
            self.write(text);
        }
    }

    /// Types at the cursor.
    pub(crate) fn write(&mut self, text: &str) {
        self.command("Input.insertText", json!({"text": text}));
    }

    /// Presses a key; `text` is what it writes.
    pub(crate) fn key(&mut self, key: &str, text: &str) {
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "Tab" => 9,
            "Delete" => 46,
            "ArrowDown" => 40,
            " " => 32,
            _ => key.to_ascii_uppercase().bytes().next().map_or(0, u32::from),
        };
        let mut down = json!({"type": "keyDown", "key": key, "windowsVirtualKeyCode": code});
        if !text.is_empty() {
            down["text"] = json!(text);
        }
        self.command("Input.dispatchKeyEvent", down);
        self.command("Input.dispatchKeyEvent", json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code}));
    }

    pub(crate) fn screen(&mut self, width: u32, height: u32, dark: bool) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500});
        self.command("Emulation.setDeviceMetricsOverride", metrics);
        let theme = if dark { "dark" } else { "light" };
        self.command("Emulation.setEmulatedMedia", json!({"features": [{"name": "prefers-color-scheme", "value": theme}]}));
    }

    /// What axe-core, an independent checker of accessibility, finds wrong with the page as it is now: rule, impact and places. `None` if it
    /// is not installed.
    pub(crate) fn accessibility(&mut self) -> Option<Vec<String>> {
        if self.eval("typeof axe") == "undefined" {
            let source = target().join("test-npm/node_modules/axe-core/axe.min.js");
            let Ok(source) = fs::read_to_string(&source) else {
                super::skip("axe-core is not installed");
                return None;
            };
            self.eval(&format!("{source}; null"));
        }
        let found = self.eval(
            "axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations.map((one) => \
             `${one.id} (${one.impact}): ${one.nodes.slice(0, 4).map((node) => node.target.join(' ')).join('; ')}`))",
        );
        Some(found.as_array().expect("a list").iter().filter_map(|one| one.as_str().map(str::to_owned)).collect())
    }

    /// Keeps a picture of the page in `target/console-screenshots`.
    pub(crate) fn screenshot(&mut self, name: &str) {
        let picture = self.command("Page.captureScreenshot", json!({"format": "png"}));
        let bytes = base64::engine::general_purpose::STANDARD.decode(picture["data"].as_str().unwrap_or_default()).expect("base64");
        let folder = target().join("console-screenshots");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(format!("{name}.png")), bytes).expect("a picture");
    }
}

/// The target directory, where tools of the tests are installed.
pub(crate) fn target() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_tollgate")).ancestors().nth(2).expect("the target directory").to_owned()
}
