//! A plugin that does what a request's header tells it: `X-Pre`, `X-Auth`, `X-Key`, `X-Post` and `X-Response` hold commands, with `;;`
//! between them.

use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{Action, ContextType, LogLevel};

proxy_wasm::main! {{
    // Rust's own message reads like a panic of the gateway, which every test looks for.
    std::panic::set_hook(Box::new(|panic| {
        let why = panic.payload_as_str().unwrap_or_default();
        proxy_wasm::hostcalls::log(LogLevel::Critical, &format!("the plugin fails: {why}")).unwrap();
    }));
    proxy_wasm::set_root_context(|_| Box::new(Told));
}}

struct Told;

impl Context for Told {}

impl RootContext for Told {
    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }

    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(Call))
    }
}

struct Call;

impl Context for Call {}

impl HttpContext for Call {
    fn on_http_request_headers(&mut self, _: usize, is_all: bool) -> Action {
        if is_all { self.run() } else { Action::Pause }
    }

    fn on_http_request_body(&mut self, _: usize, _: bool) -> Action {
        self.run()
    }

    fn on_http_response_headers(&mut self, _: usize, is_all: bool) -> Action {
        if is_all { self.run() } else { Action::Pause }
    }

    fn on_http_response_body(&mut self, _: usize, _: bool) -> Action {
        self.run()
    }
}

impl Call {
    fn property(&self, path: &str) -> Option<String> {
        let value = self.get_property(path.split('/').collect())?;
        Some(String::from_utf8(value).unwrap_or_else(|bytes| format!("{:?}", bytes.into_bytes())))
    }

    fn run(&mut self) -> Action {
        let hook = self.property("tollgate/hook").unwrap_or_default();
        let header = match hook.as_str() {
            "pre" => "X-Pre",
            "auth_check" => "X-Auth",
            "post_key_auth" => "X-Key",
            "post" => "X-Post",
            _ => "X-Response",
        };
        let told = self.get_http_request_header(header).unwrap_or_default();
        for command in told.split(";;").filter(|command| !command.is_empty()) {
            if let Some(action) = self.obey(command, hook == "response") {
                return action;
            }
        }
        Action::Continue
    }

    fn obey(&mut self, command: &str, is_response: bool) -> Option<Action> {
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        let (name, value) = rest.split_once('=').unwrap_or((rest, ""));
        match (verb, is_response) {
            ("set", false) => self.set_http_request_header(name, Some(value)),
            ("set", true) => self.set_http_response_header(name, Some(value)),
            ("add", false) => self.add_http_request_header(name, value),
            ("add", true) => self.add_http_response_header(name, value),
            ("remove", false) => self.set_http_request_header(name, None),
            ("remove", true) => self.set_http_response_header(name, None),
            ("inject", false) => self.set_http_request_header(name, Some("1\r\nX-Injected: 1")),
            ("inject", true) => self.set_http_response_header(name, Some("1\r\nX-Injected: 1")),
            ("only", false) => self.set_http_request_headers(vec![(name, value)]),
            ("body", false) => self.set_http_request_body(0, usize::MAX, rest.as_bytes()),
            ("body", true) => self.set_http_response_body(0, usize::MAX, rest.as_bytes()),
            ("append", false) => self.set_http_request_body(usize::MAX, 0, rest.as_bytes()),
            ("prepend", false) => self.set_http_request_body(0, 0, rest.as_bytes()),
            ("property", _) => self.set_property(name.split('/').collect(), Some(value.as_bytes())),
            ("reply", _) => {
                let (status, body) = rest.split_once(' ').unwrap_or((rest, ""));
                let headers = vec![("X-Plugin", "1"), ("X-Plugin", "2")];
                self.send_http_response(status.parse().unwrap(), headers, Some(body.as_bytes()));
                return Some(Action::Pause);
            }
            ("show", _) => return Some(self.show(rest, is_response)),
            ("time", _) => {
                let time = self.get_current_time().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs().to_string();
                self.send_http_response(200, vec![], Some(time.as_bytes()));
                return Some(Action::Pause);
            }
            ("log", _) => (0..rest.parse().unwrap()).for_each(|line| {
                proxy_wasm::hostcalls::log(LogLevel::Warn, &format!("line {line}\nforged")).unwrap();
            }),
            ("print", _) => println!("{rest}"),
            ("huge", _) => self.set_http_request_header("X-Huge", Some(&"x".repeat(rest.parse().unwrap()))),
            ("eat", _) => {
                let mut eaten: Vec<Vec<u8>> = Vec::new();
                loop {
                    eaten.push(vec![1; 1 << 20]);
                }
            }
            ("spin", _) => spin(),
            ("panic", _) => panic!("as told"),
            ("pause", _) => return Some(Action::Pause),
            ("tick", _) => proxy_wasm::hostcalls::set_tick_period(std::time::Duration::from_secs(1)).unwrap(),
            other => panic!("{other:?} is no command"),
        }
        None
    }

    /// Answers with a property, with all headers or with the body.
    fn show(&self, what: &str, is_response: bool) -> Action {
        let text = match (what, is_response) {
            ("headers", false) => lines(self.get_http_request_headers()),
            ("headers", true) => lines(self.get_http_response_headers()),
            ("body", false) => String::from_utf8(self.get_http_request_body(0, usize::MAX >> 1).unwrap_or_default()).unwrap(),
            ("body", true) => String::from_utf8(self.get_http_response_body(0, usize::MAX >> 1).unwrap_or_default()).unwrap(),
            (path, _) => self.property(path).unwrap_or_else(|| "none".to_owned()),
        };
        self.send_http_response(200, vec![], Some(text.as_bytes()));
        Action::Pause
    }
}

fn lines(headers: Vec<(String, String)>) -> String {
    headers.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
}

fn spin() {
    let mut number = 0u64;
    loop {
        number = std::hint::black_box(number.wrapping_add(1));
    }
}
