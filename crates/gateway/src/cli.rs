//! The command line as typed.

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use ipnet::IpNet;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use tollgate_client::TopOptions;
use tollgate_observe::logs::LogFormat;

/// An API gateway that serves Tyk's API definitions, keys and control API from one binary.
#[derive(Debug, Parser)]
#[command(
    name = "tollgate",
    version,
    propagate_version = true,
    disable_version_flag = true,
    args_conflicts_with_subcommands = true
)]
#[command(after_help = "Without a command, tollgate runs the gateway. The environment variables TYK_GW_* and TOLLGATE_* override \
                        the configuration file; NO_COLOR disables colours. Commands that talk to a running gateway exit with 0 on \
                        success, 1 if the gateway refuses, 2 for a wrong command line, 3 if it does not answer, 4 if the secret is \
                        missing or wrong.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<CliCommand>,
    #[command(flatten)]
    run: RunOptions,
    /// Print the version
    #[arg(long, short = 'v', short_alias = 'V', global = true, action = ArgAction::Version)]
    version: Option<bool>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Run the gateway (the default).
    #[command(visible_alias = "start")]
    Run(RunOptions),
    /// Run the gateway for the Gateway API of a Kubernetes cluster.
    Kubernetes(KubernetesOptions),
    /// Print the version, and check that the program is one of a release.
    Version(VersionOptions),
    /// Check configuration files and API definitions, and report errors and fields without effect.
    #[command(visible_alias = "lint")]
    Check(CheckOptions),
    /// Print the JSON Schema of a document, or the OpenAPI description of the control API.
    Schema(SchemaOptions),
    /// Show a running gateway: requests, latency, rejections, busiest APIs and keys.
    Top(TopOptions),
    /// Turn the configuration of another gateway into one of this gateway, and compare both.
    Import(Box<MoveOptions>),
    /// Copy keys and quotas from one store to another
    Migrate(MigrateOptions),
    /// Make bundles of plugins.
    #[command(subcommand)]
    Bundle(BundleCommand),
    /// Run a small upstream for trying things out: /json/valid, /echo, /delay/100ms, /size/64k and more.
    Mock(MockOptions),
    /// Print the completion script of a shell.
    Completions(CompletionsOptions),
    /// Print the manual page, or write a page for each command.
    Man(ManOptions),
    #[command(flatten)]
    Ask(Box<tollgate_client::CliRequest>),
}

/// Options of `version`.
#[derive(Debug, Args)]
#[command(
    after_help = "With --verify, the exit code is 0 if the file of this program is in the list and the list is signed with the release key. A program \
                        that somebody changed can print anything: check one that you do not trust yet with minisign and sha256sum."
)]
pub(crate) struct VersionOptions {
    /// The release's list of sums, SHA256SUMS, with its signature SHA256SUMS.minisig beside it
    #[arg(long, value_name = "FILE")]
    pub verify: Option<PathBuf>,
    /// File with the public key of minisign that signed the list [default: the release key in the program]
    #[arg(long, value_name = "FILE", requires = "verify")]
    pub key: Option<PathBuf>,
}

/// Options of `run`. They override the environment, which overrides the file.
#[derive(Debug, Default, Args)]
pub(crate) struct RunOptions {
    /// Configuration file, JSON or YAML [default: ./tyk.conf, ~/.config/tyk/tyk.conf or /etc/tyk/tyk.conf, else built-in settings]
    #[arg(long, short = 'c', value_name = "FILE")]
    pub conf: Option<PathBuf>,
    /// Port to listen on; 0 picks a free one [default: listen_port of the configuration, 8080]
    #[arg(long, short = 'p', value_name = "N")]
    pub port: Option<u16>,
    /// Address to listen on [default: listen_address of the configuration, all addresses]
    #[arg(long, value_name = "IP")]
    pub listen_address: Option<IpAddr>,
    /// Format of the log, which goes to standard error [default: log_format of the configuration, plain]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
    /// Log more: every rejection and every failed exchange
    #[arg(long)]
    pub debug: bool,
    /// Flags of Tyk that are accepted and have no effect.
    #[command(flatten)]
    pub without_effect: WithoutEffect,
}

/// Options of `kubernetes`, beside those of `run`.
#[derive(Debug, Args)]
#[command(
    after_help = "The gateway serves the Gateways of every GatewayClass that names the controller, and writes the status of all objects that it \
                        serves. Each Gateway gets an address of its own, which this machine must have. Definitions of app_path are served too, at \
                        listen_port, which is bound to 127.0.0.1 unless the configuration or --listen-address says otherwise."
)]
pub(crate) struct KubernetesOptions {
    #[command(flatten)]
    pub run: RunOptions,
    /// File with the way to the API server [default: KUBECONFIG, ~/.kube/config, or that of the pod]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Network whose addresses Gateways get, such as 10.0.0.0/24; may be repeated
    #[arg(long, value_name = "CIDR", required = true, value_delimiter = ',')]
    pub addresses: Vec<IpNet>,
    /// The controllerName of the GatewayClasses that are served
    #[arg(long, value_name = "NAME", default_value = "tollgate.dev/gateway-controller", alias = "gateway-class-controller-name")]
    pub controller_name: String,
    /// Namespace whose objects are served; may be repeated [default: all]
    #[arg(long = "namespace", value_name = "NAME", value_delimiter = ',')]
    pub namespaces: Vec<String>,
    /// Namespace of the Lease that says which of several controllers writes statuses [default: that of the pod or of the kubeconfig]
    #[arg(long, value_name = "NAME")]
    pub lease_namespace: Option<String>,
    /// Serve, and write nothing to the API server: another process without this flag writes statuses
    #[arg(long)]
    pub data_plane_only: bool,
    #[command(flatten)]
    pub ingress: IngressFlags,
}

/// Options of `kubernetes` about Ingresses.
#[derive(Debug, Args)]
pub(crate) struct IngressFlags {
    /// Class whose Ingresses are served, whatever its controller is, such as nginx; may be repeated
    #[arg(long = "ingress-class", value_name = "NAME", value_delimiter = ',')]
    pub ingress_classes: Vec<String>,
    /// The controller of the IngressClasses that are served
    #[arg(long, value_name = "NAME", default_value = "tollgate.dev/ingress-controller")]
    pub ingress_controller: String,
    /// Serve Ingresses without a class too
    #[arg(long)]
    pub ingress_without_class: bool,
    /// Address of Ingresses [default: one of --addresses]
    #[arg(long, value_name = "IP")]
    pub ingress_address: Option<IpAddr>,
    /// Port of Ingresses
    #[arg(long, value_name = "PORT", default_value_t = 80)]
    pub ingress_http_port: u16,
    /// Port of Ingresses with TLS
    #[arg(long, value_name = "PORT", default_value_t = 443)]
    pub ingress_https_port: u16,
    /// Secret whose certificate hosts without one of their own have
    #[arg(long, value_name = "NAMESPACE/NAME")]
    pub ingress_default_certificate: Option<String>,
    /// Service for requests that no Ingress gets
    #[arg(long, value_name = "NAMESPACE/NAME:PORT")]
    pub ingress_default_backend: Option<String>,
    /// Serve Services of type ExternalName: whoever may write Services reaches what the gateway can reach
    #[arg(long)]
    pub ingress_external_names: bool,
}

/// Flags that service files for Tyk may contain.
#[derive(Debug, Default, Args)]
pub(crate) struct WithoutEffect {
    #[arg(long, hide = true)]
    memprofile: bool,
    #[arg(long, hide = true)]
    cpuprofile: bool,
    #[arg(long, hide = true)]
    blockprofile: bool,
    #[arg(long, hide = true)]
    mutexprofile: bool,
    #[arg(long, hide = true)]
    httpprofile: bool,
    #[arg(long, hide = true)]
    log_instrumentation: bool,
}

impl WithoutEffect {
    /// The flags that were given.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        let flags = [
            (self.memprofile, "--memprofile"),
            (self.cpuprofile, "--cpuprofile"),
            (self.blockprofile, "--blockprofile"),
            (self.mutexprofile, "--mutexprofile"),
            (self.httpprofile, "--httpprofile"),
            (self.log_instrumentation, "--log-instrumentation"),
        ];
        flags.into_iter().filter_map(|(is_given, name)| is_given.then_some(name))
    }
}

/// Options of `mock`.
#[derive(Debug, Args)]
pub(crate) struct MockOptions {
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:9090")]
    pub listen: SocketAddr,
}

/// Options of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Configuration files, API definitions, or directories of definitions [default: the configuration and its app_path]
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Configuration to check definitions against [default: the first among FILE, else the one that run finds]
    #[arg(long, short = 'c', value_name = "FILE")]
    pub conf: Option<PathBuf>,
    /// Warn of examples and defaults of OpenAPI documents that do not fit their schemas
    #[arg(long)]
    pub examples: bool,
}

/// Options of `schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaOptions {
    /// What to describe
    #[arg(value_name = "DOCUMENT")]
    pub document: SchemaName,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaName {
    /// An API definition
    Api,
    /// A policy
    Policy,
    /// The session of a key
    Key,
    /// The configuration of the gateway
    Config,
    /// The control API, as OpenAPI
    ControlApi,
}

/// Options of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsOptions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Options of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManOptions {
    /// Existing directory for a page of each command; without it, the page of tollgate is printed
    #[arg(value_name = "DIRECTORY")]
    pub directory: Option<PathBuf>,
}

/// Options of `import`.
#[derive(Debug, Args)]
#[command(
    after_help = "Reads nginx.conf, Kong's declarative file (decK), apisix.yaml, krakend.json, haproxy.cfg, a Caddyfile, or a dynamic file of Traefik. Only what the \
                  configuration names is read. With --prove, nothing is written: safe requests go to both gateways, and what differs is shown as by `replay`.\n\
                  Exit codes: 0 all that protects is carried over, and no answer differs; 1 something failed; 2 the command line is wrong; 7 an answer differs; 9 \
                  something that protects acts otherwise, which the report says first. Examples:\n  tollgate import nginx.conf                 only the report\n  \
                  tollgate import kong.yaml --out gateway\n  tollgate import nginx.conf --prove http://127.0.0.1:80 http://127.0.0.1:8080 --upstream 127.0.0.1:9001\n  \
                  tollgate import --prove http://127.0.0.1:80 http://127.0.0.1:8080 --requests access.log"
)]
pub(crate) struct MoveOptions {
    /// The configuration
    #[arg(value_name = "FILE", required_unless_present = "requests")]
    pub file: Option<PathBuf>,
    /// The gateway that it is for [default: found by the file's name and content]
    #[arg(long, value_name = "GATEWAY", value_parser = ["nginx", "kong", "apisix", "krakend", "haproxy", "caddy", "traefik"])]
    pub from: Option<String>,
    /// Directory to write: configuration, definitions, policies, and keys in its data directory [default: only the report is made]
    #[arg(long, value_name = "DIR", conflicts_with = "prove")]
    pub out: Option<PathBuf>,
    /// Write into a directory that has something already, and replace files
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Form of the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub report: ReportFormat,
    /// Send the same safe requests to both gateways and show what differs
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"])]
    pub prove: Vec<String>,
    /// Most requests to each
    #[arg(long, value_name = "N", default_value_t = 1_000, requires = "prove")]
    pub record: usize,
    /// Recorded requests to send, beside those made of the configuration: access log, HAR, and what else `replay` reads
    #[arg(long, value_name = "FILE", requires = "prove")]
    pub requests: Option<PathBuf>,
    /// Play the upstream at this address, to compare what it gets; may be repeated
    #[arg(long = "upstream", value_name = "IP:PORT", requires = "prove")]
    pub upstreams: Vec<SocketAddr>,
    /// A header that may differ; may be repeated
    #[arg(long = "ignore-header", value_name = "NAME", requires = "prove")]
    pub ignored_headers: Vec<String>,
    /// The gateways may be on other machines
    #[arg(long, requires = "prove")]
    pub allow_remote: bool,
}

/// A form of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Options of `migrate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Both stores come from the configuration: tollgate.data_dir, which no running gateway may use meanwhile, and \
                        storage. Existing entries of the target are replaced; nothing is deleted. It is safe to run it again."
)]
pub(crate) struct MigrateOptions {
    /// The store to read
    #[arg(long, value_name = "STORE")]
    pub from: StoreName,
    /// The store to write
    #[arg(long, value_name = "STORE")]
    pub to: StoreName,
    /// Configuration file, found as `run` finds it
    #[arg(long, short = 'c', value_name = "FILE")]
    pub conf: Option<PathBuf>,
    /// Only report what would be copied
    #[arg(long)]
    pub dry_run: bool,
}

/// What is done with bundles.
#[derive(Debug, Subcommand)]
pub(crate) enum BundleCommand {
    /// Make a bundle from a manifest and the files that it lists.
    Build(BundleOptions),
}

/// Options of `bundle build`, with the names that they have in Tyk.
#[derive(Debug, Args)]
#[command(
    after_help = "Files are relative to the manifest. The signature is RSA with SHA-256; gateways check it with the public key of \
                        public_key_path."
)]
pub(crate) struct BundleOptions {
    /// The manifest
    #[arg(long, short = 'm', value_name = "FILE", default_value = "manifest.json")]
    pub manifest: PathBuf,
    /// The bundle to write
    #[arg(long, short = 'o', value_name = "FILE", default_value = "bundle.zip")]
    pub output: PathBuf,
    /// File with the private RSA key, in PEM, that signs the bundle
    #[arg(long, short = 'k', value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Accepted for Tyk's scripts: a bundle without --key is not signed
    #[arg(long, short = 'y')]
    pub skip_signing: bool,
}

/// A store that can be configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreName {
    /// The store in the data directory.
    Embedded,
    /// A server, one behind sentinels, or a cluster.
    Redis,
}

impl fmt::Display for StoreName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StoreName::Embedded => "embedded",
            StoreName::Redis => "redis",
        })
    }
}

impl Cli {
    /// The command; `run` if none was given.
    pub(crate) fn command(self) -> CliCommand {
        self.command.unwrap_or(CliCommand::Run(self.run))
    }
}
