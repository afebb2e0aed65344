//! Real nginx as an upstream.

use std::fs;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::eventually;
use crate::servers::free_port;

/// A running nginx with one server and one process.
pub(crate) struct Nginx {
    pub port: u16,
    child: Child,
    dir: TempDir,
}

impl Nginx {
    /// Starts nginx with these directives in its one server.
    pub(crate) fn start(directives: &str) -> Nginx {
        Nginx::start_at(free_port(), "", directives)
    }

    /// The same on this port, with directives beside the server.
    pub(crate) fn start_at(port: u16, beside: &str, directives: &str) -> Nginx {
        let dir = tempfile::tempdir().unwrap();
        let (path, root) = (dir.path().display(), dir.path().join("root"));
        fs::create_dir(&root).unwrap();
        fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let text = format!(
            "daemon off; master_process off; pid {path}/pid; error_log {path}/error.log;
             events {{ worker_connections 512; }}
             http {{
               access_log off; default_type text/plain;
               client_body_temp_path {path}/body; proxy_temp_path {path}/proxy; fastcgi_temp_path {path}/fastcgi;
               uwsgi_temp_path {path}/uwsgi; scgi_temp_path {path}/scgi;
               {beside}
               server {{ listen 127.0.0.1:{port}; root {path}/root; {directives} }}
             }}"
        );
        let conf = dir.path().join("nginx.conf");
        fs::write(&conf, text).unwrap();
        let child = Command::new("nginx")
            .args(["-e", "stderr", "-c"])
            .arg(&conf)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx is installed (Debian package nginx-light)");
        eventually("nginx listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Nginx { port, child, dir }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn file(&self, name: &str, content: &[u8]) {
        fs::write(self.dir.path().join("root").join(name), content).unwrap();
    }
}

impl Nginx {
    /// Kills it, without a word to its connections.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
