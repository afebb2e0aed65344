//! Three hooks in one module. `name` of a hook chooses one of them.

use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{Action, ContextType};

proxy_wasm::main! {{
    proxy_wasm::set_root_context(|_| Box::new(Hello::default()));
}}

/// The plugin itself: made when it is loaded.
#[derive(Default)]
struct Hello {
    hook: String,
}

impl Context for Hello {}

impl RootContext for Hello {
    fn on_configure(&mut self, _: usize) -> bool {
        let name = self.get_property(vec!["plugin_name"]).unwrap_or_default();
        self.hook = String::from_utf8(name).unwrap_or_default();
        // The gateway tells whoever loads the definition.
        matches!(self.hook.as_str(), "add_header" | "check_password" | "sign_response")
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }

    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        match self.hook.as_str() {
            "check_password" => Some(Box::new(CheckPassword)),
            "sign_response" => Some(Box::new(SignResponse)),
            _ => Some(Box::new(AddHeader)),
        }
    }
}

/// `pre`: the upstream sees one more header.
struct AddHeader;

impl Context for AddHeader {}

impl HttpContext for AddHeader {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        self.set_http_request_header("X-Hello", Some("from Rust"));
        Action::Continue
    }
}

/// `auth_check`: whoever knows the password is a caller with a rate limit.
struct CheckPassword;

impl Context for CheckPassword {}

impl HttpContext for CheckPassword {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        if self.get_http_request_header("Authorization").as_deref() != Some("open sesame") {
            self.send_http_response(403, vec![], Some(b"Not authorised"));
            return Action::Pause;
        }
        self.set_property(vec!["tollgate", "session"], Some(br#"{"rate": 100, "per": 1}"#));
        self.set_property(vec!["tollgate", "token"], Some(b"ali-baba"));
        Action::Continue
    }
}

/// `response`: the client sees one more header.
struct SignResponse;

impl Context for SignResponse {}

impl HttpContext for SignResponse {
    fn on_http_response_headers(&mut self, _: usize, _: bool) -> Action {
        self.set_http_response_header("X-Bye", Some("from Rust"));
        Action::Continue
    }
}
