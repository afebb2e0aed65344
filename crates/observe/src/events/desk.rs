//! All handlers of events, and the thread that they share. A handler outlives reloads that do not change it: its queue, its figures and what it
//! has sent lately stay.

use super::EventSinks;
use super::handler::{EventAction, EventSink, HandlerFigures};
use super::recent::RecentEntries;
use super::script::{EventScript, EventScripts, HandlerSources};
use super::template::{EventTemplate, TemplateFault};
use super::webhook::{Webhook, WebhookClients};
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tollgate_model::config::GatewayConfig;
use tollgate_model::events::{EventHandler, EventHandlerMeta, EventHandlers, EventKind, HandlerAction};
use tollgate_model::{Level, Problem};
use tollgate_outbound::ExternalServices;
use tollgate_tls::Library;

/// Seconds in which the same event is sent once, without `event_timeout`. Tyk would never send it again.
const USUAL_TIMEOUT_S: u64 = 60;

/// Tyk's name of the file with the template for webhooks without one.
const DEFAULT_TEMPLATE: &str = "default_webhook.json";

/// How long the last events may take when the gateway stops.
const LAST_EVENTS_TIME: Duration = Duration::from_secs(2);

/// All handlers.
#[derive(Clone, Default)]
pub struct EventDesk(Arc<Desk>);

#[derive(Default)]
struct Desk {
    worker: Arc<Worker>,
    sinks: Mutex<HashMap<SinkKey, Weak<EventSink>>>,
    /// The operator's own template for webhooks without one.
    default_template: Option<Arc<EventTemplate>>,
}

/// What makes two handlers the same.
#[derive(PartialEq, Eq, Hash)]
struct SinkKey {
    api: String,
    handler: EventHandler,
    template: Option<blake3::Hash>,
}

/// The thread of all handlers, started when the first one has an event.
#[derive(Default)]
struct Worker {
    /// Proxies and certificates on the way to receivers.
    services: ExternalServices,
    /// Where certificates with an identifier are.
    library: OnceLock<Arc<Library>>,
    started: OnceLock<Option<(Handle, Arc<WebhookClients>)>>,
}

impl Worker {
    fn get(&self) -> Option<(Handle, Arc<WebhookClients>)> {
        let start = || {
            let started = start(&self.services, self.library.get());
            started.inspect_err(|error| tracing::error!(error, "no thread for events: they are dropped")).ok()
        };
        self.started.get_or_init(start).clone()
    }
}

fn start(services: &ExternalServices, library: Option<&Arc<Library>>) -> Result<(Handle, Arc<WebhookClients>), String> {
    let none = Arc::default();
    let clients = Arc::new(WebhookClients::new(services, library.unwrap_or(&none))?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(8).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let handle = runtime.handle().clone();
    let run = move || runtime.block_on(std::future::pending::<()>());
    std::thread::Builder::new().name("events".to_owned()).spawn(run).map_err(|error| error.to_string())?;
    Ok((handle, clients))
}

impl EventDesk {
    /// A desk with the operator's default template, and its problems.
    pub fn new(config: &GatewayConfig) -> (Self, Vec<Problem>) {
        let worker = Worker {
            services: ExternalServices::new(&config.external_services, config.tollgate.redirect_networks()),
            ..Worker::default()
        };
        let worker = Arc::new(worker);
        let file = config.template_path.join(DEFAULT_TEMPLATE);
        let (default_template, problem) = match EventTemplate::load(&file) {
            Ok(template) => (Some(Arc::new(template)), None),
            // Most installations have none.
            Err(TemplateFault::Unreadable(_)) => (None, None),
            Err(TemplateFault::Wrong(why)) => (None, Some(format!("{why}; the built-in template is used instead"))),
        };
        let problems = problem.map(|message| Problem::new(Level::Warning, "", message).within(Some(&file)));
        (EventDesk(Arc::new(Desk { worker, sinks: Mutex::default(), default_template })), problems.into_iter().collect())
    }

    /// Takes the certificates that webhooks may need from here.
    pub fn use_certificates(&self, library: Arc<Library>) {
        // Set once at start.
        drop(self.0.worker.library.set(library));
    }

    /// The handlers of an API, `None` if there are none, with their problems; without an API, the gateway's own.
    /// `sources` has those in scripts and plugins.
    pub fn sinks(
        &self,
        api: Option<&str>,
        written: &EventHandlers,
        sources: HandlerSources<'_>,
    ) -> (Option<Arc<EventSinks>>, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut by_kind: Vec<(EventKind, Vec<Arc<EventSink>>)> = Vec::new();
        for (name, handlers) in &written.events {
            let Some(kind) =
                EventKind::from_name(name).filter(|kind| if api.is_some() { kind.is_of_api() } else { kind.is_of_gateway() })
            else {
                continue;
            };
            let is_called = |handler: &EventHandler| !handler.handler_meta.disabled && (api.is_none() || handler.is_usable());
            for (index, handler) in handlers.iter().enumerate().filter(|(_, handler)| is_called(handler)) {
                let at = format!("$.event_handlers.events.{name}[{index}].handler_meta");
                match self.sink((api.unwrap_or_default(), kind, sources), handler, &at, &mut problems) {
                    Some(sink) => match by_kind.iter_mut().find(|(own, _)| *own == kind) {
                        Some((_, sinks)) => sinks.push(sink),
                        None => by_kind.push((kind, vec![sink])),
                    },
                    None => continue,
                }
            }
        }
        let wants_request = by_kind.iter().flat_map(|(_, sinks)| sinks).any(|sink| sink.wants_request());
        let sinks = (!by_kind.is_empty()).then(|| Arc::new(EventSinks { by_kind, wants_request }));
        (sinks, problems)
    }

    /// The webhook of `monitor`, with its problems.
    pub fn monitor(&self, webhook: &EventHandlerMeta) -> (Option<Arc<EventSinks>>, Vec<Problem>) {
        let mut problems = Vec::new();
        let handler = EventHandler { handler_name: "eh_web_hook_handler".to_owned(), handler_meta: webhook.clone() };
        let kind = EventKind::TriggerExceeded;
        let sink = self.sink(("", kind, HandlerSources::default()), &handler, "$.monitor.configuration", &mut problems);
        let sinks = sink.map(|sink| Arc::new(EventSinks { by_kind: vec![(kind, vec![sink])], wants_request: false }));
        (sinks, problems)
    }

    /// The handler for one kind of event; `at` is the place of its settings.
    fn sink(
        &self,
        (api, kind, sources): (&str, EventKind, HandlerSources<'_>),
        handler: &EventHandler,
        at: &str,
        problems: &mut Vec<Problem>,
    ) -> Option<Arc<EventSink>> {
        let action = handler.action()?;
        let (mut template, mut script, mut plugin) = (None, None, None);
        match action {
            HandlerAction::Log => {}
            HandlerAction::Webhook => template = Some(self.template((kind, sources), handler, at, problems)?),
            HandlerAction::Script => script = Some(self.script(handler, sources, at, problems)?),
            HandlerAction::Plugin => plugin = Some(plugin_handler(handler, sources, at, problems)?),
        }
        let of_template = template.as_ref().map(|(template, _)| template.digest());
        let text = of_template.or_else(|| script.as_ref().map(|text| blake3::hash(text.as_bytes())));
        let key = SinkKey { api: api.to_owned(), handler: handler.clone(), template: text };
        let mut sinks = self.0.sinks.lock().unwrap_or_else(PoisonError::into_inner);
        sinks.retain(|_, sink| sink.strong_count() > 0);
        if let Some(known) = sinks.get(&key).and_then(Weak::upgrade) {
            return Some(known);
        }
        let made = match (script, sources.scripts, plugin) {
            (Some(text), Some(scripts), _) => self.make_script(api, handler, text, scripts),
            (_, _, Some(plugin)) => Ok(self.make_called(api, "plugin", handler, plugin)),
            _ => self.make(api, handler, template),
        };
        // An API is served without a handler that can't be called; the gateway's own handlers must be right.
        let (level, consequence) = if api.is_empty() { (Level::Error, "") } else { (Level::Warning, "; it is never called") };
        let problem = |(field, why)| Problem::new(level, format!("{at}.{field}"), format!("{why}{consequence}"));
        let made = made.map_err(|failure| problems.push(problem(failure))).ok()?;
        sinks.insert(key, Arc::downgrade(&made));
        Some(made)
    }

    fn make(
        &self,
        api: &str,
        handler: &EventHandler,
        template: Option<(Arc<EventTemplate>, bool)>,
    ) -> Result<Arc<EventSink>, (&'static str, String)> {
        let meta = &handler.handler_meta;
        let worker = self.0.worker.clone();
        let start = move || worker.get();
        let Some((template, is_json)) = template else {
            let figures = Arc::new(HandlerFigures::new(api, "log", String::new()));
            let action = EventAction::Log { prefix: meta.prefix.clone() };
            return Ok(Arc::new(EventSink::new(action, Duration::ZERO, figures, start)));
        };
        let time_max = Duration::from_secs(match u64::try_from(meta.event_timeout) {
            Ok(0) | Err(_) => USUAL_TIMEOUT_S,
            Ok(seconds) => seconds,
        });
        let webhook = Webhook::new(meta, template, is_json)?;
        let figures = Arc::new(HandlerFigures::new(api, "webhook", webhook.receiver()));
        let action = EventAction::Webhook(Box::new(webhook), Mutex::new(RecentEntries::new(time_max)));
        Ok(Arc::new(EventSink::new(action, time_max, figures, start)))
    }

    /// The text of a handler in JavaScript. `None` after a warning: the API is served without it.
    fn script(&self, handler: &EventHandler, sources: HandlerSources<'_>, at: &str, problems: &mut Vec<Problem>) -> Option<String> {
        let path = Path::new(&handler.handler_meta.path);
        let read = |path: PathBuf| std::fs::read_to_string(path).map_err(|error| error.to_string());
        let text = match sources.scripts {
            Some(_) => sources.admit(path).and_then(read).map_err(|why| told(path, &why)),
            None => Err("needs \"enable_jsvm\" in the configuration".to_owned()),
        };
        text.map_err(|why| problems.push(Problem::new(Level::Warning, format!("{at}.path"), format!("{why}; it is never called"))))
            .ok()
    }

    fn make_script(
        &self,
        api: &str,
        handler: &EventHandler,
        text: String,
        scripts: &dyn EventScripts,
    ) -> Result<Arc<EventSink>, (&'static str, String)> {
        let meta = &handler.handler_meta;
        let script = scripts.load(&meta.name, Path::new(&meta.path), text)?;
        Ok(self.make_called(api, "script", handler, script))
    }

    fn make_called(&self, api: &str, kind: &'static str, handler: &EventHandler, called: Box<dyn EventScript>) -> Arc<EventSink> {
        let worker = self.0.worker.clone();
        let figures = Arc::new(HandlerFigures::new(api, kind, handler.handler_meta.name.clone()));
        Arc::new(EventSink::new(EventAction::Script(called), Duration::ZERO, figures, move || worker.get()))
    }

    /// The template of a webhook, and whether it makes JSON.
    fn template(
        &self,
        (kind, sources): (EventKind, HandlerSources<'_>),
        handler: &EventHandler,
        at: &str,
        problems: &mut Vec<Problem>,
    ) -> Option<(Arc<EventTemplate>, bool)> {
        let path = PathBuf::from(&handler.handler_meta.template_path);
        let usual = || {
            let own = self.0.default_template.clone().filter(|template| template.check(kind).is_ok());
            Some((own.unwrap_or_else(EventTemplate::built_in), true))
        };
        if path.as_os_str().is_empty() {
            return usual();
        }
        let loaded = sources.admit(&path).map_err(TemplateFault::Unreadable).and_then(|path| EventTemplate::load(&path));
        let checked = loaded.and_then(|template| template.check(kind).map_err(TemplateFault::Wrong).map(|()| template));
        let mut problem = |level, why: &str| problems.push(Problem::new(level, format!("{at}.template_path"), told(&path, why)));
        match checked {
            Ok(template) => Some((Arc::new(template), path.extension().is_some_and(|extension| extension == "json"))),
            Err(TemplateFault::Unreadable(why)) => {
                problem(Level::Warning, &format!("{why}; the default template is used, as in Tyk"));
                usual()
            }
            Err(TemplateFault::Wrong(why)) => {
                problem(Level::Error, &why);
                None
            }
        }
    }

    /// What became of the events of all handlers.
    pub fn figures(&self) -> Vec<Arc<HandlerFigures>> {
        let sinks = self.0.sinks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut figures: Vec<_> = sinks.values().filter_map(Weak::upgrade).map(|sink| sink.figures().clone()).collect();
        figures.sort_by(|a, b| (&a.api, a.action, &a.receiver).cmp(&(&b.api, b.action, &b.receiver)));
        figures
    }

    /// Runs some work on the thread of the handlers.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some((runtime, _)) = self.0.worker.get() {
            runtime.spawn(work);
        }
    }

    /// Waits until all events are handled, for a short time.
    pub fn finish(&self) {
        let end = Instant::now() + LAST_EVENTS_TIME;
        let waiting = || self.figures().iter().map(|figures| figures.waiting.load(Ordering::Relaxed)).sum::<u64>();
        while waiting() > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
        let left = waiting();
        if left > 0 {
            tracing::warn!(events = left, "events are lost: their receivers do not answer");
        }
    }
}

fn told(file: &Path, why: &str) -> String {
    format!("{}: {why}", file.display())
}

impl fmt::Debug for EventDesk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventDesk")
    }
}

/// A handler in a plugin. `None` after a warning: the API is served without it.
fn plugin_handler(
    handler: &EventHandler,
    sources: HandlerSources<'_>,
    at: &str,
    problems: &mut Vec<Problem>,
) -> Option<Box<dyn EventScript>> {
    let found = sources.plugins.ok_or_else(|| "there are no plugins here".to_owned());
    let found = found.and_then(|plugins| plugins.handler(&handler.handler_meta.name));
    found
        .map_err(|why| problems.push(Problem::new(Level::Warning, format!("{at}.name"), format!("{why}; it is never called"))))
        .ok()
}
