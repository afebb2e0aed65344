//! The commands that talk to a running gateway: its address, its secret, and how its answers and errors are shown. The files of the
//! resources have the requests.

mod apis;
mod audit;
mod cache;
mod certs;
mod change_answer;
mod clients;
mod configuration;
mod connection;
mod document;
mod history;
mod import;
mod keys;
mod login;
mod policies;
mod prove;
mod replay;
mod replay_command;
mod rollback;
mod serving;
mod session;
mod span;
mod spend;
mod status;
mod table;
mod tokens;

use crate::visible;
use clap::{Args, Subcommand};
pub(crate) use connection::{GatewayAddress, GatewayConnection};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
pub use prove::{Proof, ProofPlan, ProofRequest, prove};
use serde_json::Value;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tollgate_model::config::GatewayConfig;
use tollgate_model::json_document;

/// All but the unreserved characters of RFC 3986.
const RESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The requests to a gateway.
#[derive(Debug, Subcommand)]
pub enum CliRequest {
    /// Create, list, show, change and delete keys.
    Keys(About<keys::KeyCommand>),
    /// Create, list, show and delete policies.
    Policies(About<policies::PolicyCommand>),
    /// Add, list, show and delete API definitions.
    Apis(About<apis::Apis>),
    /// Add, list, show and delete certificates.
    Certs(About<certs::Certs>),
    /// Create, list, show and delete clients of the OAuth 2.0 server.
    Clients(About<clients::ClientCommand>),
    /// Purge cached responses, and show what the response cache holds and did.
    Cache(About<cache::CacheCommand>),
    /// Write the configuration of APIs into a directory: definitions, policies, certificates, OAuth clients, templates of keys.
    Dump(configuration::DumpCommand),
    /// Show in what a gateway differs from a directory.
    Diff(configuration::DiffCommand),
    /// Make a gateway's configuration that of a directory, as one change.
    Sync(configuration::SyncCommand),
    /// Show which recorded or live requests another configuration would answer differently.
    Replay(replay_command::ReplayCommand),
    /// List the revisions of the configuration, or go back to one.
    Rollback(rollback::RollbackCommand),
    /// Show who changed what, when and from where.
    History(history::HistoryCommand),
    /// Make, list and revoke tokens for automation.
    Tokens(About<tokens::TokenCommand>),
    /// Check audit files: whether a line was changed, removed or put in.
    Audit(audit::AuditOptions),
    /// Sign in at a provider of OpenID Connect; commands then call the gateway as you.
    Login(login::LoginCommand),
    /// End the sign-in for a gateway.
    Logout(GatewayOptions),
    /// Show what language models cost, by model, provider, key and more.
    Spend(spend::SpendCommand),
    /// Reload definitions and policies, and report errors in them.
    Reload(GatewayOptions),
    /// Show whether the gateway is up and ready, and what it serves.
    #[command(visible_alias = "health")]
    Status {
        /// Only check readiness and report it by the exit code, for probes
        #[arg(long)]
        ready: bool,
        /// Show the targets of APIs with rules for them: healthy or why not, load, latency, ejections, retries and their budget
        #[arg(long, conflicts_with = "ready")]
        upstreams: bool,
        #[allow(missing_docs)] // a comment would be taken for help
        #[command(flatten)]
        gateway: GatewayOptions,
    },
}

/// A command about one kind of resource, and the gateway that it is for.
#[derive(Debug, Args)]
pub struct About<C: Subcommand> {
    #[command(subcommand)]
    command: C,
    #[command(flatten)]
    gateway: GatewayOptions,
}

/// The gateway to talk to, and how.
#[derive(Debug, Args)]
pub struct GatewayOptions {
    /// URL of the control API [default: TOLLGATE_URL, else the address in the configuration, else http://127.0.0.1:8080]
    #[arg(long, global = true, value_name = "URL", help_heading = "Gateway")]
    url: Option<String>,
    /// File with the secret or a token, - for standard input [default: TOLLGATE_SECRET, TYK_GW_SECRET, your sign-in with tollgate login,
    /// secret of the configuration, else the one that the gateway generated in its data directory]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Gateway")]
    secret_file: Option<PathBuf>,
    /// The gateway's configuration file, which has its address and secret
    #[arg(long, short = 'c', global = true, value_name = "FILE", help_heading = "Gateway")]
    conf: Option<PathBuf>,
    /// Accept any certificate from an https gateway
    #[arg(long, global = true, help_heading = "Gateway")]
    insecure: bool,
    /// Seconds to wait for an answer
    #[arg(long, global = true, value_name = "S", default_value_t = 30, help_heading = "Gateway")]
    timeout: u64,
    /// Print the gateway's answers as JSON
    #[arg(long, global = true, help_heading = "Gateway")]
    json: bool,
}

/// Variables with the secret, which come before a sign-in.
const SECRET_VARIABLES: [&str; 2] = ["TOLLGATE_SECRET", "TYK_GW_SECRET"];

/// Why a command failed. Each kind has its exit code, for scripts.
#[derive(Debug)]
pub(crate) enum CommandFailure {
    /// The gateway refused, or something local is wrong: 1.
    Refused(String),
    /// The command line is invalid: 2, as for all wrong options.
    Usage(String),
    /// No answer: 3.
    Unreachable(String),
    /// The secret is missing or wrong: 4.
    Secret(String),
    /// There are differences, which were shown: 5.
    Differs,
    /// Someone else changed what was to be changed: 6.
    Conflict(String),
    /// Requests would be answered differently, which was shown: 7.
    AnsweredDifferently,
    /// The change is made, but not all gateways have confirmed that they serve it, which was shown: 8.
    NotConfirmed,
}

impl CommandFailure {
    fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            CommandFailure::Refused(_) => 1,
            CommandFailure::Usage(_) => 2,
            CommandFailure::Unreachable(_) => 3,
            CommandFailure::Secret(_) => 4,
            CommandFailure::Differs => 5,
            CommandFailure::Conflict(_) => 6,
            CommandFailure::AnsweredDifferently => 7,
            CommandFailure::NotConfirmed => 8,
        })
    }
}

impl std::error::Error for CommandFailure {}

impl fmt::Display for CommandFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandFailure::Refused(text)
            | CommandFailure::Usage(text)
            | CommandFailure::Unreachable(text)
            | CommandFailure::Secret(text)
            | CommandFailure::Conflict(text) => f.write_str(text),
            CommandFailure::Differs => f.write_str("there are differences"),
            CommandFailure::AnsweredDifferently => f.write_str("requests would be answered differently"),
            CommandFailure::NotConfirmed => f.write_str("not all gateways have confirmed the change"),
        }
    }
}

/// Makes the TLS settings for a gateway; `true` accepts any certificate.
pub type TlsOf = fn(bool) -> Result<rustls::ClientConfig, String>;

/// Sends the request and prints the answer.
pub fn ask(request: CliRequest, tls: TlsOf) -> ExitCode {
    match print_answer(request, tls) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure @ (CommandFailure::Differs | CommandFailure::AnsweredDifferently | CommandFailure::NotConfirmed)) => {
            failure.exit_code()
        }
        Err(failure) => {
            eprintln!("tollgate: {}", visible::text(&failure.to_string()));
            failure.exit_code()
        }
    }
}

fn print_answer(request: CliRequest, tls: TlsOf) -> Result<(), CommandFailure> {
    match request {
        CliRequest::Keys(About { command, gateway }) => keys::run(command, &Gateway::new(&gateway, tls)?),
        CliRequest::Policies(About { command, gateway }) => policies::run(command, &Gateway::new(&gateway, tls)?),
        CliRequest::Apis(About { command, gateway }) => apis::run(command, &Gateway::new(&gateway, tls)?),
        CliRequest::Certs(About { command, gateway }) => certs::run(command, &Gateway::new(&gateway, tls)?),
        CliRequest::Clients(About { command, gateway }) => clients::run(command, &Gateway::new(&gateway, tls)?),
        CliRequest::Tokens(About { command, gateway }) => tokens::run(command, &Gateway::new(&gateway, tls)?),
        CliRequest::Cache(About { command, gateway }) => cache::run(command, &Gateway::new(&gateway, tls)?),
        CliRequest::Dump(command) => configuration::dump(&command, tls),
        CliRequest::Diff(command) => configuration::diff(&command, tls),
        CliRequest::Sync(command) => configuration::sync(&command, tls),
        CliRequest::Replay(command) => replay_command::run(&command, tls),
        CliRequest::Rollback(command) => rollback::run(&command, tls),
        CliRequest::History(command) => history::run(&command, tls),
        CliRequest::Audit(options) => audit::run(options),
        CliRequest::Login(command) => login::login(&command, tls),
        CliRequest::Logout(gateway) => login::logout(&gateway, tls),
        CliRequest::Spend(command) => spend::run(&command, tls),
        CliRequest::Reload(gateway) => status::reload(&Gateway::new(&gateway, tls)?),
        CliRequest::Status { upstreams: true, gateway, .. } => status::upstreams(&Gateway::new(&gateway, tls)?),
        CliRequest::Status { ready: true, gateway, .. } => status::ready(&Gateway::new(&gateway, tls)?),
        CliRequest::Status { gateway, .. } => status::status(&Gateway::new(&gateway, tls)?),
    }
}

/// A gateway to talk to.
pub(crate) struct Gateway {
    connection: GatewayConnection,
    secret: Option<String>,
    /// Whether that is a person's sign-in.
    is_signed_in: bool,
    /// Names of the health and readiness endpoints.
    health_names: [String; 2],
    /// Whether answers are printed as received.
    json: bool,
    tls: TlsOf,
    timeout: Duration,
}

impl Gateway {
    fn new(options: &GatewayOptions, tls: TlsOf) -> Result<Self, CommandFailure> {
        let (gateway, config) = Gateway::anonymous(options, tls)?;
        let sign_in = sign_in(gateway.connection.address(), options.secret_file.as_deref(), tls)?;
        let is_signed_in = sign_in.is_some();
        let secret = match sign_in {
            Some(token) => Some(token),
            None => secret(options.secret_file.as_deref(), &config)?,
        };
        Ok(Gateway { secret, is_signed_in, ..gateway })
    }

    /// A gateway that is not told who calls, and the configuration that says where it is.
    fn anonymous(options: &GatewayOptions, tls: TlsOf) -> Result<(Self, GatewayConfig), CommandFailure> {
        let is_complete = options.conf.is_none() && options.secret_file.is_some();
        let url = options.url.clone().or_else(|| std::env::var("TOLLGATE_URL").ok().filter(|url| !url.is_empty()));
        let config = match &url {
            // Nothing is left to look up in the configuration.
            Some(_) if is_complete => GatewayConfig::default(),
            _ => configuration(options.conf.clone().or_else(GatewayConfig::default_file).as_deref())?,
        };
        let address = match url {
            Some(url) => GatewayAddress::parse(&url)
                .map_err(|reason| CommandFailure::Usage(format!("{url} is no address of a gateway: {reason}")))?,
            None => GatewayAddress::of(&config),
        };
        let gateway = Gateway {
            connection: GatewayConnection::new(address, options.insecure, tls, Duration::from_secs(options.timeout.max(1)))?,
            tls,
            timeout: Duration::from_secs(options.timeout.max(1)),
            secret: None,
            is_signed_in: false,
            health_names: [config.health_check_endpoint_name.clone(), config.readiness_check_endpoint_name.clone()],
            json: options.json,
        };
        Ok((gateway, config))
    }

    /// The same gateway, with at least this time for an answer.
    fn waiting_for(mut self, time: Duration) -> Self {
        self.connection.wait_for(time);
        self
    }

    /// Status and document of an answer, whatever the status.
    fn ask(&self, method: &str, path: &str, body: Option<Vec<u8>>) -> Result<(u16, Value), CommandFailure> {
        let (status, text) = self.connection.ask(method, path, self.secret.as_deref(), body)?;
        let document: Value = json_document::from_slice(&text).unwrap_or_else(|_| String::from_utf8_lossy(&text).trim().into());
        let message = document.get("message").and_then(Value::as_str).unwrap_or_default();
        if status == 403 && message.starts_with("Attempted administrative access") {
            let address = self.connection.address();
            return Err(CommandFailure::Secret(match &self.secret {
                Some(_) if self.is_signed_in => {
                    format!(
                        "your sign-in for the gateway at {address} has ended, or lets you in no more (tollgate login begins a new one)"
                    )
                }
                Some(_) => format!("the gateway at {address} does not accept this secret (--secret-file names another)"),
                None => format!(
                    "the gateway at {address} wants its secret: name its configuration with --conf, or a file with --secret-file, set \
                     TOLLGATE_SECRET, or sign in with tollgate login"
                ),
            }));
        }
        Ok((status, document))
    }

    /// The document of an answer, or the refusal.
    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, CommandFailure> {
        accepted(self.ask(method, path, body.map(|body| body.to_string().into_bytes()))?)
    }

    fn get(&self, path: &str) -> Result<Value, CommandFailure> {
        self.call("GET", path, None)
    }

    /// The document at a path, `None` if it does not exist.
    fn find(&self, path: &str) -> Result<Option<Value>, CommandFailure> {
        match self.ask("GET", path, None)? {
            (404, _) => Ok(None),
            answer => accepted(answer).map(Some),
        }
    }

    /// Prints an answer as received if `--json` is set, otherwise what `show` makes of it.
    fn print(&self, answer: &Value, show: impl FnOnce() -> String) {
        print(&if self.json { answer.to_string() } else { show() });
    }
}

fn accepted((status, document): (u16, Value)) -> Result<Value, CommandFailure> {
    if (200..300).contains(&status) {
        return Ok(document);
    }
    let message = document.get("message").and_then(Value::as_str).or(document.as_str()).unwrap_or_default();
    Err(CommandFailure::Refused(match message {
        "" => format!("the gateway answers with status {status}"),
        message => format!("{message} (status {status})"),
    }))
}

/// Writes text to standard output; it is not an error if the reader is gone.
pub(crate) fn print(text: &str) {
    let text = text.trim_end();
    if !text.is_empty() {
        let _ = writeln!(std::io::stdout(), "{}", visible::text(text));
    }
}

fn configuration(file: Option<&Path>) -> Result<GatewayConfig, CommandFailure> {
    GatewayConfig::load(file, std::env::vars()).map(|(config, _)| config).map_err(|problems| {
        let errors: Vec<String> = problems.iter().filter(|problem| problem.is_error()).map(ToString::to_string).collect();
        CommandFailure::Refused(format!("the configuration is not usable\n{}", errors.join("\n")))
    })
}

/// What a person calls the gateway at this address with; `None` if they are not signed in, or a secret is given.
fn sign_in(address: &GatewayAddress, file: Option<&Path>, tls: TlsOf) -> Result<Option<String>, CommandFailure> {
    let is_told = |name: &&str| std::env::var(name).is_ok_and(|text| !text.is_empty());
    if file.is_some() || SECRET_VARIABLES.iter().any(is_told) {
        return Ok(None);
    }
    login::identity_token(&address.to_string(), tls)
}

/// The secret in a file, else the sign-in for this gateway, else the secret of the configuration.
pub(crate) fn secret_of(
    address: &GatewayAddress,
    file: Option<&Path>,
    conf: Option<&Path>,
    tls: TlsOf,
) -> Result<Option<String>, CommandFailure> {
    match sign_in(address, file, tls)? {
        Some(token) => Ok(Some(token)),
        None if file.is_some() => secret(file, &GatewayConfig::default()),
        None => secret(None, &configuration(conf.map(Path::to_owned).or_else(GatewayConfig::default_file).as_deref())?),
    }
}

fn secret(file: Option<&Path>, config: &GatewayConfig) -> Result<Option<String>, CommandFailure> {
    if let Some(file) = file {
        let text = document::read(file)?;
        let text = String::from_utf8_lossy(&text).trim().to_owned();
        return if text.is_empty() { Err(CommandFailure::Secret(format!("{} is empty", file.display()))) } else { Ok(Some(text)) };
    }
    if !config.secret.is_empty() {
        return Ok(Some(config.secret.clone()));
    }
    let made = std::fs::read_to_string(config.made_secret_file());
    Ok(made.ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()))
}

/// A text as one segment of a path, or as a value of a query.
fn segment(text: &str) -> String {
    utf8_percent_encode(text, &RESERVED).to_string()
}
