//! An answer as it is kept: in the one form, so that it can be played as a stream or sent whole, whichever its next client wants.

use crate::answer::{AnswerBody, stream, tell_source, tell_usage, whole};
use crate::asked::Asked;
use crate::attempt::context;
use crate::surface::Surface;
use http::Response;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use tollgate_llm::{Ask, Reply, replayed};

/// A kept answer, and who gave it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeptAnswer {
    pub provider: String,
    pub model: String,
    pub content: KeptContent,
}

/// What was answered.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeptContent {
    Reply(Reply),
    /// Of other calls than conversations: the body.
    Body(String),
}

impl KeptAnswer {
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// The response for a client; `None` if its API cannot say this.
    pub(crate) fn response(&self, asked: &Asked) -> Option<Response<AnswerBody>> {
        let mut response = match (&self.content, &asked.surface) {
            (KeptContent::Body(body), Surface::Embeddings(_)) => whole(200, body.clone().into_bytes()),
            (KeptContent::Reply(reply), Surface::Talk(api)) => {
                let mut ask = asked.ask(*api).map_or_else(|_| Ask::default(), |ask| Ask::clone(ask));
                ask.include_usage = asked.passed.include_usage || !asked.passed.stream;
                let answer = context(&ask);
                if asked.streams() {
                    let (mut writer, mut events) = (api.stream(answer), Vec::new());
                    replayed(reply).iter().for_each(|event| writer.write(event, &mut events));
                    let body = Full::new(Bytes::from(events)).map_err(|never: Infallible| match never {});
                    stream(body.boxed_unsync())
                } else {
                    let mut response = whole(200, api.write_reply(reply, &answer).ok()?);
                    tell_usage(&mut response, &reply.usage);
                    response
                }
            }
            _ => return None,
        };
        tell_source(&mut response, &self.provider, &self.model);
        Some(response)
    }
}
