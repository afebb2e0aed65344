//! The server of a federation: the upstream, within this process, of its API. The data path has checked each request, and treats the server like
//! any other upstream. A core connects to it over a socket pair.

use crate::decided_call::DecidedCall;
use crate::federated::{Asked, FederatedServer};
use crate::federated_call::FederatedCall;
use crate::memory::bytes_of_call;
use crate::message::{RpcError, code, is_request, text};
use crate::reading::{ReadFault, read};
use crate::relay::{ErrorCode, ReplyBody, empty_reply, json_reply};
use crate::version::{META_VERSION, MODERN};
use crate::weight::weight;
use crate::{client_stream, legacy, modern};
use http::header::{CONTENT_TYPE, ORIGIN};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use serde_json::Value;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use tollgate_mcp::Call;
use tollgate_outbound::CallerLine;

/// Largest body of a request. The data path has its own limit.
const BODY_BYTES_MAX: usize = 8 << 20;

impl FederatedServer {
    /// Opens a connection to it.
    ///
    /// # Errors
    /// The system has no more sockets.
    pub fn connect(self: &Arc<Self>) -> io::Result<UnixStream> {
        self.state.outside.client.connect_within("federated MCP server", self, Self::respond)
    }

    async fn respond(self: Arc<Self>, request: Request<Incoming>) -> Response<ReplyBody> {
        let number = CallerLine::read(request.headers()).call;
        let recorded = number.and_then(|number| self.state.outside.calls.find(number));
        let response = self.respond_and_note(request, recorded.clone()).await;
        if let (Some(recorded), Some(ErrorCode(code))) = (recorded, response.extensions().get()) {
            recorded.note(*code);
        }
        response
    }

    /// The same; errors in events are noted in `recorded`.
    async fn respond_and_note(
        self: Arc<Self>,
        request: Request<Incoming>,
        recorded: Option<Arc<FederatedCall>>,
    ) -> Response<ReplyBody> {
        let (head, body) = request.into_parts();
        let caller = CallerLine::read(&head.headers).key_digest.to_owned();
        if !self.takes_origin(&head.headers) {
            let error = RpcError::new(code::INVALID_REQUEST, "this origin may not call").response(&Value::Null);
            return json_reply(StatusCode::FORBIDDEN, &error);
        }
        let mut asked = Asked {
            headers: head.headers,
            caller,
            is_closed: false,
            capabilities: Value::Null,
            message: Value::Null,
            room: None,
            recorded,
        };
        match head.method {
            Method::GET => return client_stream::listen(&self, &asked).await,
            Method::DELETE => return legacy::end(&self, &asked).await,
            Method::POST => {}
            _ => return empty_reply(StatusCode::METHOD_NOT_ALLOWED),
        }
        if !is_json(&asked.headers) {
            let error = RpcError::new(code::INVALID_REQUEST, "the content type must be application/json").response(&Value::Null);
            return json_reply(StatusCode::UNSUPPORTED_MEDIA_TYPE, &error);
        }
        let Ok(body) = Limited::new(body, BODY_BYTES_MAX).collect().await else {
            let error = RpcError::new(code::INVALID_REQUEST, "the body is too large, or was cut").response(&Value::Null);
            return json_reply(StatusCode::BAD_REQUEST, &error);
        };
        let body = body.to_bytes();
        asked.message = match read(&body) {
            Ok(message @ Value::Object(_)) => message,
            read => {
                let (code, why) = match read {
                    Err(ReadFault::NotJson(_)) => (code::PARSE, "parse error"),
                    Err(ReadFault::TooHeavy) => (code::INVALID_REQUEST, "the message takes too much memory"),
                    Ok(_) => (code::INVALID_REQUEST, "invalid request"),
                };
                return json_reply(StatusCode::BAD_REQUEST, &RpcError::new(code, why).response(&Value::Null));
            }
        };
        let id = asked.id();
        if is_request(&asked.message) && !(id.is_string() || id.is_i64() || id.is_u64()) {
            let error = RpcError::new(code::INVALID_REQUEST, "the id must be a string or an integer");
            return json_reply(StatusCode::BAD_REQUEST, &error.response(&Value::Null));
        }
        let decided = DecidedCall::of(CallerLine::read(&asked.headers).rest);
        asked.is_closed = decided.is_closed;
        if let Some(decided) = decided.of_head
            && !Call::read(&body).is_ok_and(|call| call.is_some_and(|call| call.to_header() == decided))
        {
            let error = RpcError::new(code::HEADER_MISMATCH, "the head names another call than the body");
            return json_reply(StatusCode::BAD_REQUEST, &error.response(&asked.id()));
        }
        let Some(room) = self.state.messages.take(asked.holder(&self), bytes_of_call(weight(&asked.message))) else {
            let error = RpcError::new(code::UNAVAILABLE, "too many large messages at one time");
            return json_reply(StatusCode::SERVICE_UNAVAILABLE, &error.response(&asked.id()));
        };
        asked.room = Some(room);
        let has_version = text(&asked.message, &["params", "_meta", META_VERSION]).is_some();
        match has_version || asked.header("mcp-protocol-version") == Some(MODERN) {
            true => modern::respond(&self, asked).await,
            false => legacy::respond(&self, asked).await,
        }
    }

    /// Whether a web page of the request's origin may call: pages of the same host, and of those that the definition names.
    fn takes_origin(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(ORIGIN) else { return true };
        let Ok(origin) = origin.to_str() else { return false };
        let named = self.state.terms.origins.iter().any(|allowed| allowed == origin || allowed == "*");
        let host = CallerLine::read(headers).host;
        named || origin.split_once("://").is_some_and(|(_, own)| Some(own) == host)
    }
}

/// Whether a request says once, and clearly, that its body is JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let mut lines = headers.get_all(CONTENT_TYPE).iter();
    lines.next().is_some_and(|line| tollgate_mcp::is_json_type(line.as_bytes())) && lines.next().is_none()
}
