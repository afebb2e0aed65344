//! One request to one provider. Nothing goes to the client until the provider's answer has begun, so that another can be asked.

use crate::answer::{AnswerBody, fault, stream, tell_source, tell_usage, whole};
use crate::asked::{AnswerBounds, Asked, Translation};
use crate::failure::{Failure, FailureKind};
use crate::figures::LlmOutcome;
use crate::holdings::{Holdings, Outlook};
use crate::lane_times::LlmOperation;
use crate::llm_server::LlmServer;
use crate::mask::Mask;
use crate::pool::PoolKey;
use crate::relay::Relay;
use crate::report::likely_tokens;
use crate::routes::Way;
use crate::surface::Surface;
use crate::tally::Tally;
use crate::terms::ProviderTerms;
use crate::tries::Trip;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Response};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Bytes, Incoming};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tollgate_clock::{unix_ms, unix_ns, unix_s};
use tollgate_llm::{
    AnswerContext, AnswerFormat, Ask, Fault, FaultKind, Price, ProviderCredential, ProviderRequest, RateLimits, Usage, UsageReader,
};
use tollgate_outbound::{Call, CallLimits, ClientCore};

/// Largest whole answer.
const ANSWER_BYTES_MAX: usize = 32 << 20;
/// Largest answer that tells an error, and how long it may take.
const ERROR_BYTES_MAX: usize = 256 << 10;
const ERROR_TIME_MAX: Duration = Duration::from_secs(10);

/// A provider's answer that is a success.
pub(crate) struct Success<'a> {
    pub asked: &'a Asked,
    pub provider: &'a ProviderTerms,
    pub body: Incoming,
    pub translation: Translation,
    pub tally: Tally,
    /// For the first token of a stream, and for a whole answer.
    pub deadlines: (Instant, Instant),
}

impl LlmServer {
    /// Asks a provider.
    pub(crate) async fn attempt(&self, trip: &Trip<'_>, way: &Way, key: &PoolKey) -> Result<Response<AnswerBody>, Failure> {
        let Some(tokens) = &key.tokens else { return self.attempt_with(trip, way, key, &key.terms).await };
        let token = tokens.token(&self.client, &self.terms.tls).await?;
        let provider = key.terms.with_credential(ProviderCredential::Bearer(token.clone()));
        let attempted = self.attempt_with(trip, way, key, &provider).await;
        if attempted.as_ref().is_err_and(|failure| failure.kind == FailureKind::UnknownKey) {
            tokens.forget(&token).await;
        }
        attempted
    }

    async fn attempt_with(
        &self,
        trip: &Trip<'_>,
        way: &Way,
        key: &PoolKey,
        provider: &ProviderTerms,
    ) -> Result<Response<AnswerBody>, Failure> {
        let (asked, model) = (trip.asked, trip.model(way));
        let price = self.prices.of(model);
        let holdings = self.hold(trip, way, price).await?;
        let bounds = AnswerBounds { api: self.terms.output_tokens_max, budget: holdings.output_max() };
        let made = asked.request_for(provider, model, bounds, unix_s());
        let (request, translation) = made.map_err(Failure::unsupported)?;
        let operation = LlmOperation::of(&asked.surface);
        let report = asked.report.attempt(provider, model, (operation, &way.figures.model));
        let prompt_likely = matches!(operation, LlmOperation::Chat | LlmOperation::Embeddings).then(|| likely_tokens(&asked.body));
        let mut tally = Tally::new(way.figures.clone(), price.cloned(), holdings, (report, prompt_likely));
        tally.told = Some(asked.usage.clone());
        let began = Instant::now();
        let last = began + provider.time_max;
        let first = self.terms.first_token_max.filter(|_| asked.streams()).map_or(last, |max| last.min(began + max));
        tally.is_sent = true;
        key.figures.send();
        let ticket = key.rooms.send(model, trip.need, self.now_ms());
        let response = self.open(provider, request, (first - began, asked.core.as_ref().filter(|_| asked.streams()))).await;
        let response = response.inspect_err(|failure| {
            tally.outcome = failure.outcome();
            // One that is late may have answered all the same.
            tally.is_sent = failure.fault.kind == FaultKind::Timeout;
        });
        let response = match response {
            Err(failure) => return Err(self.late(failure, trip, way, began.elapsed())),
            Ok(response) => response,
        };
        let (head, body) = response.into_parts();
        let limits = RateLimits::read(texts(&head.headers), unix_ms());
        let rests_ms = key.rooms.learn(model, ticket, &limits, head.status.as_u16() == 429, self.now_ms());
        rests_ms.into_iter().for_each(|wait_ms| self.tell_rest(key, model, wait_ms));
        tally.is_sent = head.status.is_success();
        let mut answered = if head.status.is_success() {
            let deadlines = (first, last);
            tally.health = self.healths.get(way.provider).map(|healths| healths.noted(model));
            let success = Success { asked, provider, body, translation, tally, deadlines };
            let answered = match &asked.surface {
                Surface::Media(_) => success.media(&head.headers).await,
                _ if asked.streams() => success.stream(&head.headers).await,
                _ => success.whole().await,
            };
            let answered = answered.map_err(|failure| self.late(failure, trip, way, began.elapsed()))?;
            self.note_time(trip, way, began.elapsed());
            answered
        } else {
            refusal(asked, provider, (head.status.as_u16(), &head.headers, body), &translation, tally).await?
        };
        tell_source(&mut answered, &provider.name, model);
        Ok(answered)
    }

    /// Notes how fast an answer was.
    fn note_time(&self, trip: &Trip<'_>, way: &Way, after: Duration) {
        let (Some(healths), now_ms) = (self.healths.get(way.provider), self.now_ms()) else { return };
        let health = healths.noted(trip.model(way));
        if !trip.asked.streams() {
            health.note_whole(after, now_ms);
        } else if health.note_first_token(after, self.terms.slow.as_ref(), now_ms) {
            let (api, model) = (&self.terms.api, trip.model(way));
            let provider = self.terms.providers.get(way.provider).map_or("", |provider| provider.name.as_str());
            tracing::warn!(api, provider, model, "a model is passed over for a while: its first tokens come late");
        }
    }

    /// Another target was faster. What is not there in time is late, whenever it would have come.
    pub(crate) fn note_overtaken(&self, trip: &Trip<'_>, way: &Way, after: Duration) {
        if self.terms.slow.is_some_and(|slow| after > slow.first_token_max) {
            self.note_time(trip, way, after);
        }
    }

    /// A failure; one that is late is also slow.
    fn late(&self, failure: Failure, trip: &Trip<'_>, way: &Way, after: Duration) -> Failure {
        if failure.fault.kind == FaultKind::Timeout {
            self.note_time(trip, way, after);
        }
        failure
    }

    /// Takes what a request may cost of its budgets.
    async fn hold(&self, trip: &Trip<'_>, way: &Way, price: Option<&Price>) -> Result<Holdings, Failure> {
        let (asked, model, budgets) = (trip.asked, trip.model(way), &trip.budgets);
        if budgets.is_empty() || matches!(asked.surface, Surface::CountTokens(_)) {
            return Ok(Holdings::default());
        }
        let strict = budgets.iter().find(|budget| budget.is_strict());
        if let (Surface::Media(call), Some(budget)) = (&asked.surface, strict) {
            let (path, name) = (call.path(), &budget.rule.name);
            let why = format!("{path} has no bound in tokens or dollars, which the budget `{name}` needs");
            return Err(Failure::unsupported(Fault::new(FaultKind::InvalidRequest, why)));
        }
        let outlook = asked.outlook(model, self.terms.output_tokens_max, strict.is_some());
        let mut outlook = outlook.map_err(|refused| Failure::unsupported(refused.fault()))?;
        if let Some(tokenizer) = self.terms.tokenizers.of(model) {
            outlook.prompt = asked.counted(model, tokenizer).await.unwrap_or(outlook.prompt);
        }
        let output_usual = self.healths.get(way.provider).and_then(|healths| healths.of(model)?.lengths.usual_max());
        Holdings::take(budgets, Outlook { output_usual, ..outlook }, price).await
    }

    /// Sends a request, and waits for the head of the answer.
    async fn open(
        &self,
        provider: &ProviderTerms,
        request: ProviderRequest,
        (time_max, core): (Duration, Option<&ClientCore>),
    ) -> Result<Response<Incoming>, Failure> {
        let url = format!("{}{}", provider.origin, request.path_and_query);
        let headers: Vec<(String, String)> = request.headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let limits = CallLimits { time_max, body_bytes_max: ANSWER_BYTES_MAX };
        let call = Call::of_texts(request.method, &url, &headers, request.body, &self.terms.tls, limits);
        let call =
            call.map_err(|_| Failure::new(FaultKind::Server, "the provider cannot be asked", "its URL or key cannot be sent"))?;
        self.client.open(core, call).await.map_err(|error| {
            let is_late = matches!(error, tollgate_outbound::CallFault::Timeout(_));
            let kind = if is_late { FaultKind::Timeout } else { FaultKind::Server };
            let told = if is_late { "the provider took too long" } else { "the provider cannot be reached" };
            Failure::new(kind, told, error.to_string())
        })
    }
}

impl Success<'_> {
    /// A stream, from its first token on.
    async fn stream(self, headers: &HeaderMap) -> Result<Response<AnswerBody>, Failure> {
        let kind = headers.get(CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()).to_ascii_lowercase());
        if !kind.is_some_and(|kind| kind.contains("event-stream") || kind.contains("eventstream")) {
            return Err(self.no_stream().await);
        }
        let Success { asked, provider, body, translation, tally, deadlines: (first, _) } = self;
        let silence = (tally, provider.time_max);
        let relay = match translation {
            Translation::Talk(ask, api) => Relay::translated(body, provider, (api, context(&ask)), silence),
            Translation::None { hides_usage } => {
                let include_usage = asked.passed.include_usage;
                let ask = Ask { model: asked.passed.model.clone(), include_usage, ..Ask::default() };
                Relay::passed(body, provider, (asked.form, context(&ask)), hides_usage, silence)
            }
            // There is no stream of embeddings, nor of a number.
            Translation::Embeddings(_) | Translation::Count => {
                return Err(Failure::unsupported(Fault::new(FaultKind::InvalidRequest, "no stream")));
            }
        };
        Ok(stream(relay.begin(first).await?.into_body()))
    }

    async fn whole(mut self) -> Result<Response<AnswerBody>, Failure> {
        let (_, last) = self.deadlines;
        let body = match read(&mut self.body, ANSWER_BYTES_MAX, last).await {
            Ok(body) => body,
            Err(why) => return Err(self.broken(why)),
        };
        if Mask::new(self.provider).finds(&body) {
            return Err(self.broken("the provider's answer has the gateway's credential in it"));
        }
        if matches!(self.asked.surface, Surface::Talk(_)) {
            self.tally.text_bytes = body.len() as u64;
        }
        let written = match &self.translation {
            Translation::None { .. } if !is_object(&body) => {
                // It has answered, if in a form that nobody asked for, and lets that be paid.
                self.tally.usage = self.usage(&body, true);
                return Err(self.broken("the provider answered no JSON"));
            }
            Translation::None { .. } => {
                let usage = self.usage(&body, false);
                Ok((body.to_vec(), usage))
            }
            Translation::Talk(ask, api) => {
                let reply = self.provider.provider.reply(200, &body, ANSWER_BYTES_MAX);
                self.tally.stop = reply.as_ref().ok().map(|reply| reply.stop);
                if let Ok(reply) = &reply {
                    self.tally.text_bytes = reply.text_bytes();
                }
                reply.and_then(|reply| Ok((api.write_reply(&reply, &context(ask))?, Some(reply.usage))))
            }
            Translation::Count => self.provider.provider.count_reply(200, &body, ANSWER_BYTES_MAX).map(|body| (body, None)),
            Translation::Embeddings(ask) => {
                self.provider.provider.embedding_reply(200, &body, ANSWER_BYTES_MAX, ask).map(|(body, usage)| (body, Some(usage)))
            }
        };
        match written {
            Ok((body, usage)) => {
                (self.tally.outcome, self.tally.usage) = (LlmOutcome::Ok, usage);
                let mut response = whole(200, body);
                if let Some(usage) = usage {
                    tell_usage(&mut response, &usage);
                }
                Ok(response)
            }
            Err(fault) => {
                let failure = Failure::of_fault(fault);
                self.tally.outcome = failure.outcome();
                Err(failure)
            }
        }
    }

    /// The provider answers with something else than a stream. It has answered all the same, and lets that be paid.
    async fn no_stream(mut self) -> Failure {
        let (_, last) = self.deadlines;
        if let Ok(body) = read(&mut self.body, ANSWER_BYTES_MAX, last).await {
            self.tally.text_bytes = body.len() as u64;
            let usage = self.usage(&body, false);
            self.tally.usage = usage.or_else(|| Some(self.provider.provider.reply(200, &body, ANSWER_BYTES_MAX).ok()?.usage));
        }
        self.broken("the provider answered no stream of events")
    }

    /// What an answer took that passes.
    fn usage(&mut self, body: &[u8], is_stream: bool) -> Option<Usage> {
        let format = match self.asked.surface {
            Surface::Talk(_) | Surface::Embeddings(_) => AnswerFormat::from(self.asked.form),
            _ => return None,
        };
        let mut reader = UsageReader::new(format, is_stream);
        reader.push(body);
        self.tally.stop = reader.stop();
        if matches!(self.asked.surface, Surface::Talk(_)) {
            self.tally.text_bytes = reader.text_bytes();
        }
        reader.usage()
    }

    pub(crate) fn broken(&mut self, why: &str) -> Failure {
        self.tally.outcome = LlmOutcome::Failed;
        Failure::new(FaultKind::Server, why, why)
    }
}

/// The answer of a provider that refuses: what another could do better is a failure, the rest is for the client.
async fn refusal(
    asked: &Asked,
    provider: &ProviderTerms,
    (status, headers, mut body): (u16, &HeaderMap, Incoming),
    translation: &Translation,
    mut tally: Tally,
) -> Result<Response<AnswerBody>, Failure> {
    let text = read(&mut body, ERROR_BYTES_MAX, Instant::now() + ERROR_TIME_MAX).await.unwrap_or_default();
    let text = if Mask::new(provider).finds(&text) { Bytes::new() } else { text };
    let told = match translation {
        Translation::Embeddings(ask) => provider.provider.embedding_reply(status, &text, ERROR_BYTES_MAX, ask).err(),
        _ => provider.provider.reply(status, &text, ERROR_BYTES_MAX).err(),
    };
    let told = told.unwrap_or_else(|| Fault::new(FaultKind::Server, format!("the provider answered with status {status}")));
    let failure = match status {
        401 => Failure::of_credential(FailureKind::UnknownKey, "status 401".to_owned()),
        402 | 403 => Failure::of_credential(FailureKind::Denied, format!("status {status}")),
        429 => {
            let wait_ms = RateLimits::read(texts(headers), unix_ms()).retry_after_ms;
            let (why, reason) = (told_status(status), told_status(status));
            Failure { kind: FailureKind::RateLimited, wait_ms, is_of_head: true, why, reason, ..Failure::of_fault(told) }
        }
        404 | 405 | 409..=428 | 400 | 406 | 407 | 430..=499 => {
            tally.outcome = LlmOutcome::Refused;
            tally.reason = told_status(status);
            let passes = matches!(translation, Translation::None { .. }) && text.trim_ascii_start().first() == Some(&b'{');
            return Ok(if passes { whole(status, text.to_vec()) } else { fault(asked.form, &told, None) });
        }
        408 | 500..=599 => {
            let (why, reason) = (told_status(status), told_status(status));
            Failure { kind: FailureKind::Failed, why, reason, ..Failure::of_fault(told) }
        }
        _ => Failure::new(FaultKind::Server, "the provider's answer is none", format!("status {status}")),
    };
    tally.outcome = failure.outcome();
    Err(failure)
}

/// Whether a body may be a whole JSON object, and is no page and no beginning.
fn is_object(body: &[u8]) -> bool {
    let body = body.trim_ascii();
    body.starts_with(b"{") && body.ends_with(b"}")
}

/// What records and the log say of it.
fn told_status(status: u16) -> String {
    format!("the provider answered with status {status}")
}

/// Reads a body of at most so many bytes.
async fn read(body: &mut Incoming, bytes_max: usize, deadline: Instant) -> Result<Bytes, &'static str> {
    match timeout_at(deadline, Limited::new(body, bytes_max).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(_)) => Err("the provider's answer is too large, or broke off"),
        Err(_) => Err("the provider's answer took too long"),
    }
}

fn texts(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
}

pub(crate) fn context(ask: &Ask) -> AnswerContext {
    // Ids of answers need no secrecy; without randomness, the time tells them apart.
    let id = getrandom::u64().unwrap_or_default();
    AnswerContext::new(ask, unix_s(), format!("{id:016x}{:x}", unix_ns()))
}
