//! Guards of answers, whole or as a stream. What was taken out of the request is put back.

use super::answer_guards::AnswerGuards;
use super::stream::GuardedStream;
use super::verdict::Verdict;
use crate::answer::{AnswerBody, Pieces, fault};
use crate::asked::Asked;
use crate::figures::GuardOutcome;
use crate::guards::{Guard, GuardCheck, ModerationTerms, Placeholders, Refused, Scanner, SchemaWatch, TextState, refusal};
use crate::llm_server::LlmServer;
use crate::surface::Surface;
use http::Response;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use std::convert::Infallible;
use std::sync::Arc;
use tollgate_llm::{AnswerRecorder, ClientApi, Fault, FaultKind, Part, answer_schema, answer_texts, spliced, text_at};

/// Largest answer that is collected before it goes on, and largest event of one that goes on as it comes.
const ANSWER_BYTES_MAX: usize = 32 << 20;
/// Whole answers of more bytes are looked at on threads of their own.
const BRIEF_BYTES_MAX: usize = 64 << 10;

impl LlmServer {
    /// The guards of the answer to a request; `None` if there is nothing to do.
    ///
    /// # Errors
    /// A guard cannot do its work.
    pub(crate) fn answer_guards(&self, asked: &Asked, placeholders: &Arc<Placeholders>) -> Result<Option<AnswerGuards>, Refused> {
        let Surface::Talk(api) = asked.surface else { return Ok(None) };
        let guards = &self.guards.answer;
        if guards.is_empty() && placeholders.is_empty() {
            return Ok(None);
        }
        let (mut schema, mut moderation) = (None, Vec::new());
        for guard in guards {
            guard.figures.add(GuardOutcome::Checked);
            match &guard.terms.check {
                GuardCheck::Schema => match answer_schema(api, &asked.body).map(|schema| SchemaWatch::new(&schema)) {
                    None => {}
                    Some(Ok(watch)) => schema = Some((guard.clone(), watch)),
                    Some(Err(_)) => {
                        guard.figures.add(GuardOutcome::Failed);
                        if guard.refuses() && !guard.terms.dry_run {
                            let why = ": its schema cannot be checked";
                            let told = Fault::new(FaultKind::InvalidRequest, refusal::told(guard, "request", why).message);
                            return Err(Refused { guard: guard.clone(), fault: told });
                        }
                    }
                },
                GuardCheck::Moderation(_) => moderation.push(guard.clone()),
                _ => {}
            }
        }
        let scanner = Scanner::new(&self.terms.api, guards.clone(), self.guards.hold.clone(), placeholders.clone());
        let (streams, model, alias) = (asked.streams(), asked.passed.model.clone(), asked.facts.alias.clone());
        let report = asked.report.clone();
        Ok(Some(AnswerGuards { api, scanner, schema, moderation, alias, report, streams, model }))
    }

    /// An answer as it may go to its client.
    pub(crate) async fn guard_answer(
        self: &Arc<Self>,
        guards: Option<AnswerGuards>,
        answer: Response<AnswerBody>,
    ) -> Response<AnswerBody> {
        let Some(guards) = guards.filter(|_| answer.status() == 200) else { return answer };
        let form = guards.api;
        if guards.streams && !guards.collects() {
            return answer.map(|body| GuardedStream::new(self.clone(), guards, body).into_body());
        }
        let (head, body) = answer.into_parts();
        let body = match Limited::new(body, ANSWER_BYTES_MAX).collect().await {
            Ok(body) => body.to_bytes(),
            Err(_) => return fault(form, &Fault::new(FaultKind::Server, "the provider's answer is too large, or broke off"), None),
        };
        match guards.streams {
            true => self.guard_collected(guards, Response::from_parts(head, body)).await,
            false => self.guard_whole(guards, Response::from_parts(head, body)).await,
        }
    }

    /// A stream that waits until somebody else has judged all of it.
    async fn guard_collected(self: &Arc<Self>, mut guards: AnswerGuards, answer: Response<Bytes>) -> Response<AnswerBody> {
        let texts = texts_of(guards.api, true, answer.body());
        if let Err(refused) = self.moderated(&guards.moderation, &guards.alias, texts).await {
            return refused.response(guards.api);
        }
        guards.moderation.clear();
        answer.map(|body| GuardedStream::new(self.clone(), guards, full(body)).into_body())
    }

    async fn guard_whole(self: &Arc<Self>, guards: AnswerGuards, answer: Response<Bytes>) -> Response<AnswerBody> {
        let form = guards.api;
        if !guards.moderation.is_empty() {
            let texts = texts_of(form, false, answer.body());
            if let Err(refused) = self.moderated(&guards.moderation, &guards.alias, texts).await {
                return refused.response(form);
            }
        }
        let (head, body) = answer.into_parts();
        let scanned = match body.len() <= BRIEF_BYTES_MAX {
            true => scan_whole(guards, &body),
            false => {
                let scanning = tokio::task::spawn_blocking(move || scan_whole(guards, &body));
                match scanning.await {
                    Ok(scanned) => scanned,
                    Err(_) => return fault(form, &Fault::new(FaultKind::Server, "the answer cannot be checked"), None),
                }
            }
        };
        match scanned {
            Ok(body) => Response::from_parts(head, full(body)),
            Err(refused) => refused.response(form),
        }
    }

    /// Asks all that judge texts of an answer.
    pub(super) async fn moderated(&self, guards: &[Arc<Guard>], alias: &str, texts: Vec<String>) -> Result<(), Refused> {
        for guard in guards {
            let GuardCheck::Moderation(terms) = &guard.terms.check else { continue };
            let fault = match terms.verdict(self, alias, "answer", texts.clone()).await {
                Verdict::Fine => continue,
                Verdict::Flagged if guard.matches(&self.terms.api, "answer") => refusal::told(guard, "answer", ""),
                Verdict::Flagged => continue,
                Verdict::Unknown => {
                    guard.figures.add(GuardOutcome::Failed);
                    if !is_strict(terms) || guard.terms.dry_run {
                        continue;
                    }
                    refusal::silent(guard)
                }
            };
            if guard.refuses() {
                return Err(Refused { guard: guard.clone(), fault });
            }
        }
        Ok(())
    }
}

fn is_strict(terms: &ModerationTerms) -> bool {
    terms.refuses_on_failure
}

fn full(body: Bytes) -> AnswerBody {
    Full::new(body).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// What an answer says.
fn texts_of(api: ClientApi, is_stream: bool, body: &[u8]) -> Vec<String> {
    let mut recorder = AnswerRecorder::new(api, is_stream, ANSWER_BYTES_MAX);
    recorder.push(body);
    match recorder.end() {
        Some(reply) => reply
            .parts
            .into_iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text),
                Part::ToolCall(call) => Some(call.arguments),
                Part::Reasoning(part) => Some(part.text),
                _ => None,
            })
            .collect(),
        // An answer that the one form does not have: all its texts.
        None if !is_stream => answer_texts(body).iter().map(|place| text_at(body, &place.range).into_owned()).collect(),
        None => super::stream::texts_of_events(body, ANSWER_BYTES_MAX),
    }
}

fn scan_whole(guards: AnswerGuards, body: &Bytes) -> Result<Bytes, Refused> {
    let AnswerGuards { api, mut scanner, schema, .. } = guards;
    let mut changes = Vec::new();
    for place in answer_texts(body) {
        let text = text_at(body, &place.range);
        scanner.count(text.len())?;
        let new = scanner.advance(&mut TextState::default(), &text, place.kind, true)?;
        if *new != *text {
            changes.push((place.range, new));
        }
    }
    let body = if changes.is_empty() { body.clone() } else { Bytes::from(spliced(body, &changes)) };
    if let Some((guard, mut watch)) = schema {
        let mut recorder = AnswerRecorder::new(api, false, ANSWER_BYTES_MAX);
        recorder.push(&body);
        let parts = recorder.end().map(|reply| reply.parts).unwrap_or_default();
        let fits = parts.iter().try_for_each(|part| match part {
            Part::Text(text) => watch.push(text),
            _ => Ok(()),
        });
        if fits.and_then(|()| watch.end()).is_err() && scanner.matches(&guard) && guard.refuses() {
            let fault = refusal::told(&guard, "answer", ": it does not fit the schema of its request");
            return Err(Refused { guard, fault });
        }
    }
    Ok(body)
}
