//! Bundles of plugins: fetched from their server, checked, and kept on disk for the next start. A bundle that can't be fetched is tried again
//! in the background; whoever loads definitions is told when it is there.

use data_encoding::HEXLOWER;
use http::Uri;
use md5::{Digest as _, Md5};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;
use tollgate_model::bounded_file;
use tollgate_model::config::GatewayConfig;
use tollgate_model::readable_files::ReadableFiles;
use tollgate_outbound::{Call, CallClient, LazyCallClient};
use tollgate_plugin::bundle::{ArchivedFile, Bundle, Manifest, VerifyingKey};
use tollgate_tls::TlsRules;

/// Largest archive.
const ARCHIVE_BYTES_MAX: usize = 64 << 20;
/// Time for one attempt to fetch a bundle, as in Tyk. Loading waits for one attempt.
const FETCH_MAX: Duration = Duration::from_secs(5);
/// The wait before the first attempt in the background, and the longest; it doubles in between.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(60);
/// Name of the manifest.
const MANIFEST: &str = "manifest.json";

/// The bundles of a gateway.
pub struct BundleStore {
    is_on: bool,
    base_url: String,
    /// Those that may be bundles, if `base_url` is a directory.
    files: ReadableFiles,
    tls: TlsRules,
    trusts_kept: bool,
    key: Result<Option<VerifyingKey>, String>,
    directory: PathBuf,
    /// Grows when a bundle has been fetched in the background.
    generation: AtomicU64,
    /// Bundles that are tried again.
    missing: Mutex<BTreeSet<String>>,
    /// Called when one of them is there.
    fetched: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

/// A bundle on disk.
pub struct KeptBundle {
    pub directory: PathBuf,
    pub manifest: Manifest,
}

impl BundleStore {
    /// The bundles of a configuration.
    pub fn new(config: &GatewayConfig) -> Self {
        let path = &config.public_key_path;
        let named = |why: String| format!("public_key_path: {} {why}", path.display());
        let key = match path.as_os_str().is_empty() {
            true => Ok(None),
            false => fs::read(path)
                .map_err(|error| format!("can't be read: {error}"))
                .and_then(|pem| VerifyingKey::from_pem(&pem))
                .map(Some)
                .map_err(named),
        };
        BundleStore {
            is_on: config.enable_bundle_downloader,
            base_url: config.bundle_base_url.clone(),
            files: config.bundle_files(),
            tls: TlsRules { insecure: config.bundle_insecure_skip_verify, ..TlsRules::default() },
            trusts_kept: config.skip_verify_existing_plugin_bundle,
            key,
            directory: config.middleware_path.join("bundles"),
            generation: AtomicU64::new(0),
            missing: Mutex::default(),
            fetched: OnceLock::new(),
        }
    }

    /// Calls `notify` when a bundle that was missing is there.
    pub fn on_fetched(&self, notify: impl Fn() + Send + Sync + 'static) {
        // Set once, at the start.
        let _ = self.fetched.set(Box::new(notify));
    }

    /// Grows when a missing bundle has come: definitions are compiled again then.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The bundle with this name: the one that is kept, or else the server's. Blocks while it is fetched.
    pub fn get(self: &Arc<Self>, name: &str, client: &LazyCallClient) -> Result<KeptBundle, String> {
        let directory = self.directory.join(hashed(name));
        let kept = directory.join(MANIFEST).is_file().then(|| self.kept(&directory));
        if let Some(Ok(manifest)) = kept {
            return Ok(KeptBundle { directory, manifest });
        }
        let was_broken = kept.and_then(Result::err).map(|why| format!("{}: {why}; ", directory.display())).unwrap_or_default();
        if !self.is_on {
            return Err(format!("{was_broken}bundles are not fetched: enable_bundle_downloader is off"));
        }
        match self.fetch_once(name, client) {
            Ok(manifest) => Ok(KeptBundle { directory, manifest }),
            Err(why) => {
                self.try_again(name, client);
                Err(format!("{was_broken}{why}; it is tried again"))
            }
        }
    }

    fn key(&self) -> Result<Option<&VerifyingKey>, String> {
        self.key.as_ref().map(Option::as_ref).map_err(String::clone)
    }

    /// The bundle on disk, checked.
    fn kept(&self, directory: &Path) -> Result<Manifest, String> {
        let read = |name: &str| fs::read(directory.join(name)).map_err(|error| format!("{name}: {error}"));
        let manifest = Manifest::parse(&read(MANIFEST)?)?;
        if self.trusts_kept {
            return Ok(manifest);
        }
        let listed = manifest.file_list.iter();
        let files = listed.map(|name| Ok(ArchivedFile { name: name.clone(), content: read(name)? }));
        let bundle = Bundle { files: files.collect::<Result<_, String>>()?, manifest };
        bundle.check(self.key()?)?;
        Ok(bundle.manifest)
    }

    /// One attempt, which the caller waits for.
    fn fetch_once(self: &Arc<Self>, name: &str, client: &LazyCallClient) -> Result<Manifest, String> {
        let url = self.url(name)?;
        let archive = match url.strip_prefix("file://") {
            Some(path) => self.read(Path::new(path))?,
            None => {
                let client = client.get().ok_or("the system has no thread to fetch it with")?;
                let (sender, receiver) = mpsc::channel();
                let (call, own) = (self.call(&url)?, client.clone());
                client.spawn(async move {
                    // The receiver may have stopped waiting.
                    let _ = sender.send(fetch(&own, call).await);
                });
                let late = |_| "no answer in time".to_owned();
                receiver.recv_timeout(FETCH_MAX + Duration::from_secs(1)).map_err(late)?.map_err(|why| format!("{url}: {why}"))?
            }
        };
        self.keep(name, &archive).map_err(|why| format!("{url}: {why}"))
    }

    fn url(&self, name: &str) -> Result<String, String> {
        if self.base_url.is_empty() {
            return Err("the configuration does not say where bundles are: bundle_base_url".to_owned());
        }
        let is_known = ["http://", "https://", "file://"].iter().any(|scheme| self.base_url.starts_with(scheme));
        if !is_known {
            return Err(format!("bundle_base_url is {:?}, which is no http, https or file URL", self.base_url));
        }
        // A definition names a bundle of this place, and no other place. Servers decode what stands for dots and slashes.
        let decoded = name.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/").replace("%5c", "\\");
        if decoded.split(['/', '\\']).any(|part| part == "..") {
            return Err(format!("{name:?} leads out of bundle_base_url"));
        }
        Ok(format!("{}/{}", self.base_url.trim_end_matches('/'), name.trim_start_matches('/')))
    }

    /// A bundle in the directory of bundles, with links followed first: what lies elsewhere is as if it were not there.
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        let path = self.files.admit(path).ok().filter(|path| path.exists()).ok_or("there is no such file below bundle_base_url")?;
        // Opening a pipe would wait for its writer.
        if !path.is_file() {
            return Err("it is no file".to_owned());
        }
        bounded_file::read(&path, ARCHIVE_BYTES_MAX as u64).map_err(|error| error.to_string())
    }

    fn call(&self, url: &str) -> Result<Call, String> {
        let uri: Uri = url.parse().map_err(|error| format!("{url} is no URL: {error}"))?;
        Ok(Call::get(uri, self.tls.clone(), FETCH_MAX, ARCHIVE_BYTES_MAX))
    }

    /// Checks an archive and unpacks it. Whoever looks sees the whole bundle or none.
    fn keep(&self, name: &str, archive: &[u8]) -> Result<Manifest, String> {
        let bundle = Bundle::read(archive, self.key()?)?;
        let place = self.directory.join(hashed(name));
        let unpacked = self.directory.join(format!(".{}.{}", hashed(name), std::process::id()));
        let written = unpack(&bundle, &unpacked).and_then(|()| {
            if place.exists() {
                fs::remove_dir_all(&place)?;
            }
            fs::rename(&unpacked, &place)
        });
        written.map_err(|error| {
            let _ = fs::remove_dir_all(&unpacked);
            format!("it can't be kept in {}: {error}", self.directory.display())
        })?;
        Ok(bundle.manifest)
    }

    /// Tries again in the background until the bundle is there.
    fn try_again(self: &Arc<Self>, name: &str, client: &LazyCallClient) {
        let (Some(client), Ok(url)) = (client.get(), self.url(name)) else { return };
        let is_new = self.missing.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        if !is_new {
            return;
        }
        let (store, name, own) = (self.clone(), name.to_owned(), client.clone());
        client.spawn(async move {
            let mut wait = RETRY_MIN;
            loop {
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(RETRY_MAX);
                let archive = match (url.strip_prefix("file://"), store.call(&url)) {
                    (Some(path), _) => store.read(Path::new(path)),
                    (None, Ok(call)) => fetch(&own, call).await,
                    (None, Err(why)) => Err(why),
                };
                match archive.and_then(|archive| store.keep(&name, &archive)) {
                    Ok(_) => break,
                    Err(why) => tracing::debug!(bundle = name, why, "a bundle of plugins is still missing"),
                }
            }
            store.missing.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
            store.generation.fetch_add(1, Ordering::AcqRel);
            tracing::info!(bundle = name, "a bundle of plugins that was missing is there");
            store.fetched.get().iter().for_each(|notify| notify());
        });
    }
}

async fn fetch(client: &CallClient, call: Call) -> Result<Vec<u8>, String> {
    let reply = client.call(call).await.map_err(|fault| fault.to_string())?;
    if reply.status.as_u16() != 200 {
        return Err(format!("its server answers with status {}", reply.status.as_u16()));
    }
    Ok(reply.body.to_vec())
}

/// The directory of a bundle, as Tyk calls it: MD5 of its name.
pub fn hashed(name: &str) -> String {
    HEXLOWER.encode(&Md5::digest(name.as_bytes()))
}

fn unpack(bundle: &Bundle, directory: &Path) -> std::io::Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory)?;
    }
    fs::create_dir_all(directory)?;
    for file in &bundle.files {
        // The names were checked: they stay below the directory.
        let path = directory.join(&file.name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, &file.content)?;
    }
    let manifest = serde_json::to_vec_pretty(&bundle.manifest).map_err(std::io::Error::other)?;
    fs::write(directory.join(MANIFEST), manifest)
}
