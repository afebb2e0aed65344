//! A server that is a child process, and speaks over its standard input and output: a message in each line. It is started when it is first
//! needed, and again when it has ended, each time after a longer pause. Many clients share it: requests get ids of our own.

use crate::answer::{Answer, LinkFault, MESSAGE_BYTES_MAX, Messages, StreamMessage, WAITING_MAX};
use crate::health::ProcessFigures;
use crate::last_words::{LastWords, with_words};
use crate::lines::{Line, Lines};
use crate::memory::ServerMemory;
use crate::message::{RpcError, code, is_request, is_response, method, notification, request, set, text};
use crate::process::ProcessGroup;
use crate::reading::read;
use crate::terms::CommandTerms;
use crate::unasked::{UNASKED, Unasked};
use crate::version::LEGACY;
use crate::weight::weight;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::pin::pin;
use std::process::Stdio;
use std::sync::{Arc, Mutex as PlainMutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::{Mutex, Notify, mpsc};
use tokio::time::{Instant, timeout};
use tollgate_clock::unix_s;
use tollgate_outbound::Holder;

/// Requests that wait for a process.
const QUEUED_MAX: usize = 256;
/// Pauses before it is started again.
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// A process that lives so long has started well.
const WELL: Duration = Duration::from_secs(60);
/// Where its programs are, unless its environment says so.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Time to begin: a program may have to be loaded first.
const START_MAX: Duration = Duration::from_secs(50);
/// Lines that wait until the process reads them.
const LINES_MAX: usize = 16;
/// How long what a process has written is read after its end.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// A child process, running or not.
pub(crate) struct CommandServer {
    terms: CommandTerms,
    /// For the log.
    name: String,
    time_max: Duration,
    process: Mutex<ProcessState>,
    /// Tells that its lists have changed.
    pub changed: Arc<Notify>,
    figures: Arc<PlainMutex<ProcessFigures>>,
    memory: ServerMemory,
}

#[derive(Default)]
struct ProcessState {
    running: Option<RunningProcess>,
    /// When it may be started.
    not_before: Option<Instant>,
    pause: Duration,
}

#[derive(Clone)]
struct RunningProcess {
    requests: mpsc::Sender<Posted>,
    capabilities: Arc<Value>,
    since: Instant,
}

/// A message for the process.
struct Posted {
    message: Value,
    /// Receives what belongs to a request, and whose memory that takes.
    answers: Option<(mpsc::Sender<StreamMessage>, Option<Holder>)>,
}

/// A request that the process works on.
struct Waiting {
    id: Value,
    progress: Option<Value>,
    answers: mpsc::Sender<StreamMessage>,
    holder: Option<Holder>,
}

impl CommandServer {
    pub(crate) fn new(terms: CommandTerms, name: String, time_max: Duration, memory: ServerMemory) -> Self {
        CommandServer { terms, name, time_max, process: Mutex::default(), changed: Arc::default(), figures: Arc::default(), memory }
    }

    /// How the process does.
    pub(crate) fn figures(&self) -> ProcessFigures {
        lock(&self.figures).clone()
    }

    /// What the process says that it can do.
    pub(crate) async fn capabilities(&self) -> Result<Arc<Value>, LinkFault> {
        Ok(self.running().await?.capabilities)
    }

    /// Sends a message.
    pub(crate) async fn send(&self, message: &Value, holder: Option<Holder>) -> Result<Answer, LinkFault> {
        let process = self.running().await?;
        let gone = || LinkFault::Unreachable("the process has ended".to_owned());
        if !is_request(message) {
            let posted = Posted { message: message.clone(), answers: None };
            process.requests.send_timeout(posted, self.time_max).await.map_err(|_| gone())?;
            return Ok(Answer { session: None, messages: Messages::None });
        }
        let (answers, mut received) = mpsc::channel(WAITING_MAX);
        let posted = Posted { message: message.clone(), answers: Some((answers, holder)) };
        process.requests.send_timeout(posted, self.time_max).await.map_err(|_| gone())?;
        // Most requests have one message as their answer.
        let first = timeout(self.time_max, received.recv()).await;
        let first = first.map_err(|_| LinkFault::Unreachable(format!("no answer within {:?}", self.time_max)))?.ok_or_else(gone)?;
        if is_response(&first.message) {
            return Ok(Answer { session: None, messages: Messages::One(first) });
        }
        let (sender, stream) = mpsc::channel(WAITING_MAX);
        tokio::spawn(async move {
            let mut next = Some(first);
            while let Some(message) = next {
                let is_last = is_response(&message.message);
                if sender.send(message).await.is_err() || is_last {
                    return;
                }
                next = received.recv().await;
            }
        });
        Ok(Answer { session: None, messages: Messages::Stream(stream) })
    }

    /// The process; started if it does not run.
    async fn running(&self) -> Result<RunningProcess, LinkFault> {
        let mut state = self.process.lock().await;
        if let Some(running) = state.running.as_ref().filter(|running| !running.requests.is_closed()) {
            return Ok(running.clone());
        }
        if state.running.take().is_some_and(|ended| ended.since.elapsed() >= WELL) {
            state.pause = Duration::ZERO;
        }
        if let Some(not_before) = state.not_before.filter(|not_before| *not_before > Instant::now()) {
            let left = not_before.duration_since(Instant::now());
            return Err(LinkFault::Unreachable(format!("the process has ended, and is started again in {left:.1?}")));
        }
        state.pause = (state.pause * 2).clamp(PAUSE_MIN, PAUSE_MAX);
        state.not_before = Some(Instant::now() + state.pause);
        let words = LastWords::default();
        let started = timeout(START_MAX, self.start(&words)).await;
        match started.unwrap_or_else(|_| Err(format!("it did not begin within {START_MAX:?}"))) {
            Ok(running) => {
                state.running = Some(running.clone());
                Ok(running)
            }
            Err(why) => {
                let words = words.at_end().await;
                lock(&self.figures).note_end(unix_s(), &why, words);
                Err(LinkFault::Unreachable(format!("the process cannot be used: {why}")))
            }
        }
    }

    /// Why the process cannot be used, with what it wrote last, for people who look.
    pub(crate) fn explained(&self, why: &str) -> String {
        let figures = self.figures();
        if figures.running { why.to_owned() } else { with_words(why, &figures.words) }
    }

    async fn start(&self, words: &LastWords) -> Result<RunningProcess, String> {
        let (program, arguments) = self.terms.command.split_first().ok_or("there is no command")?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().env("PATH", PATH).envs(&self.terms.environment);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if !self.terms.directory.is_empty() {
            command.current_dir(&self.terms.directory);
        }
        let mut process =
            ProcessGroup::start(command, self.terms.bounds).map_err(|error| format!("{program:?} cannot be started: {error}"))?;
        let (Some(mut input), Some(output)) = (process.child.stdin.take(), process.child.stdout.take()) else {
            return Err("it has no standard input or output".to_owned());
        };
        if let Some(error) = process.child.stderr.take() {
            tokio::spawn(words.clone().read(error));
        }
        let mut output = Lines::new(output);
        let client = json!({"name": "tollgate", "version": env!("CARGO_PKG_VERSION")});
        // Nothing is offered that would make the process ask clients: they share it.
        let params = json!({"protocolVersion": LEGACY[0], "capabilities": {}, "clientInfo": client});
        write_line(&mut input, &line_of(&request(&json!(0), "initialize", params)), START_MAX).await?;
        let started_unix_s = unix_s();
        let begun = tokio::select! {
            begun = first_response(&mut output) => begun?,
            why = process.exceeded() => return Err(why),
        };
        let version = text(&begun, &["result", "protocolVersion"]).unwrap_or_default().to_owned();
        let capabilities = begun.get("result").and_then(|result| result.get("capabilities")).cloned();
        let capabilities = Arc::new(capabilities.ok_or_else(|| format!("it refused to begin: {begun}"))?);
        write_line(&mut input, &line_of(&notification("notifications/initialized", json!({}))), START_MAX).await?;
        let (requests, posted) = mpsc::channel(QUEUED_MAX);
        let (name, figures, time_max, changed) = (self.name.clone(), self.figures.clone(), self.time_max, self.changed.clone());
        let (memory, words) = (self.memory.clone(), words.clone());
        let restarts = lock(&figures).begin(started_unix_s, version);
        tokio::spawn(async move {
            let why = attend(process, input, output, posted, time_max, (&changed, &memory)).await;
            let words = words.at_end().await;
            tracing::warn!(server = name, why, words, "the process of an MCP server has ended");
            lock(&figures).finish(restarts, unix_s(), &why, words);
        });
        Ok(RunningProcess { requests, capabilities, since: Instant::now() })
    }
}

/// The response to the first request.
async fn first_response(output: &mut Lines<ChildStdout>) -> Result<Value, String> {
    loop {
        let message = output.message().await?.ok_or("it has ended")?;
        if is_response(&message) && message.get("id") == Some(&json!(0)) {
            return Ok(message);
        }
    }
}

fn lock(figures: &PlainMutex<ProcessFigures>) -> MutexGuard<'_, ProcessFigures> {
    figures.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves a process until it ends, and ends it when nobody needs it.
async fn attend(
    mut process: ProcessGroup,
    input: ChildStdin,
    output: Lines<ChildStdout>,
    posted: mpsc::Receiver<Posted>,
    time_max: Duration,
    (changed, memory): (&Notify, &ServerMemory),
) -> String {
    let (lines, queue) = mpsc::channel(LINES_MAX);
    // It is written to on a task of its own: a process that waits until its output is read reads nothing meanwhile.
    let mut writing = tokio::spawn(write_all(input, queue, time_max));
    let mut exchanging = pin!(exchange(lines, output, posted, (changed, memory)));
    let exceeded = process.exceeded();
    let why = tokio::select! {
        why = &mut exchanging => why,
        // Its output may go on in what it has started.
        status = process.child.wait() => match timeout(LAST_WORDS, &mut exchanging).await {
            Ok(why) => why,
            Err(_) => status.map_or_else(|error| error.to_string(), |status| format!("it has ended: {status}")),
        },
        why = &mut writing => why.unwrap_or_else(|error| error.to_string()),
        why = exceeded => {
            // It gets no time to use more.
            writing.abort();
            drop(process);
            return why;
        }
    };
    // Its input ends.
    writing.abort();
    process.end().await;
    why
}

/// Gives a process what is posted, and those who wait what it answers, until one side ends.
async fn exchange(
    lines: mpsc::Sender<Vec<u8>>,
    mut output: Lines<ChildStdout>,
    mut posted: mpsc::Receiver<Posted>,
    (changed, memory): (&Notify, &ServerMemory),
) -> String {
    let mut waiting: HashMap<u64, Waiting> = HashMap::new();
    let mut last_id = 0;
    let mut unasked = Unasked::default();
    // Those whose clients leave.
    let mut leaving = FuturesUnordered::new();
    loop {
        let next = async { Some((lines.reserve().await.ok()?, posted.recv().await?)) };
        tokio::select! {
            next = next => {
                let Some((room, Posted { mut message, answers })) = next else { return "nobody needs it".to_owned() };
                if let Some((answers, holder)) = answers {
                    last_id += 1;
                    let (left, which) = (answers.clone(), last_id);
                    leaving.push(async move {
                        left.closed().await;
                        which
                    });
                    let id = message.get_mut("id").map(|id| std::mem::replace(id, json!(last_id))).unwrap_or_default();
                    let token = message.get_mut("params").and_then(|params| params.get_mut("_meta")?.get_mut("progressToken"));
                    let progress = token.map(|token| std::mem::replace(token, json!(last_id)));
                    waiting.insert(last_id, Waiting { id, progress, answers, holder });
                }
                room.send(line_of(&message));
            }
            Some(which) = leaving.next(), if !leaving.is_empty() => {
                if waiting.remove(&which).is_some() {
                    let told = json!({"requestId": which, "reason": "nobody waits for the answer"});
                    let _ = lines.try_send(line_of(&notification("notifications/cancelled", told)));
                }
            }
            line = output.next() => {
                let bytes = match line {
                    Err(why) => return why,
                    Ok(None) => return "its output ended".to_owned(),
                    // A line that is no message is a fault of the process; others may be none.
                    Ok(Some(Line::Text(text))) => match read(text) {
                        Ok(message) if method(&message).ends_with("/list_changed") => {
                            changed.notify_one();
                            text.len()
                        }
                        Ok(message) => if answer(message, &mut waiting, &lines, memory) { 0 } else { text.len() },
                        Err(_) => text.len(),
                    },
                    Ok(Some(Line::TooLong { bytes, id })) => {
                        let why = format!("the response has more than {} MiB", MESSAGE_BYTES_MAX >> 20);
                        let error = RpcError::new(code::UNAVAILABLE, why).response(&id.into());
                        if answer(error, &mut waiting, &lines, memory) { 0 } else { bytes }
                    }
                };
                if unasked.add(bytes) {
                    return UNASKED.to_owned();
                }
            }
        }
    }
}

/// Gives a message of the process to those who wait for it. Says whether somebody has.
fn answer(mut message: Value, waiting: &mut HashMap<u64, Waiting>, lines: &mpsc::Sender<Vec<u8>>, memory: &ServerMemory) -> bool {
    if is_request(&message) {
        let id = message.get("id").cloned().unwrap_or_default();
        let response = match method(&message) {
            "ping" => crate::message::result(&id, json!({})),
            _ => RpcError::new(code::METHOD_NOT_FOUND, "the client does not support it").response(&id),
        };
        // A process that asks more than it reads gets no answers.
        let _ = lines.try_send(line_of(&response));
        return false;
    }
    if is_response(&message) {
        // A response that nobody has asked for is dropped.
        let asked = message.get("id").and_then(Value::as_u64).and_then(|id| waiting.remove(&id));
        let Some(asked) = asked else { return false };
        let (message, room) = match memory.room_now(asked.holder.as_ref(), weight(&message)) {
            Ok(room) => {
                set(&mut message, "id", asked.id);
                (message, room)
            }
            Err(why) => (RpcError::new(code::UNAVAILABLE, why).response(&asked.id), None),
        };
        let _ = asked.answers.try_send(StreamMessage { event_id: None, message, room });
        return true;
    }
    let token = message.get("params").and_then(|params| params.get("progressToken")).and_then(Value::as_u64);
    let Some(asked) = token.and_then(|token| waiting.get(&token)) else { return false };
    if let Some(params) = message.get_mut("params") {
        set(params, "progressToken", asked.progress.clone().unwrap_or_default());
    }
    // Progress that a slow client has no room for is left out, and there is always room for the response.
    if let Ok(room) = memory.room_now(asked.holder.as_ref(), weight(&message))
        && asked.answers.capacity() > 1
    {
        let _ = asked.answers.try_send(StreamMessage { event_id: None, message, room });
    }
    true
}

/// Writes lines until there are no more; then says why.
async fn write_all(mut input: ChildStdin, mut lines: mpsc::Receiver<Vec<u8>>, time_max: Duration) -> String {
    while let Some(line) = lines.recv().await {
        if let Err(why) = write_line(&mut input, &line, time_max).await {
            return why;
        }
    }
    "nobody needs it".to_owned()
}

fn line_of(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

async fn write_line(input: &mut ChildStdin, line: &[u8], time_max: Duration) -> Result<(), String> {
    let written = async {
        input.write_all(line).await?;
        input.flush().await
    };
    match timeout(time_max, written).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(format!("its input cannot be written: {error}")),
        Err(_) => Err("it does not read its input".to_owned()),
    }
}
