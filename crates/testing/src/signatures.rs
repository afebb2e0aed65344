//! Signed requests as clients make them.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::time::{Duration, SystemTime};

pub fn date(offset_s: i64) -> String {
    let now = SystemTime::now();
    let apart = Duration::from_secs(offset_s.unsigned_abs());
    httpdate::fmt_http_date(if offset_s < 0 { now - apart } else { now + apart })
}

pub fn signature(algorithm: hmac::Algorithm, text: &str) -> String {
    STANDARD.encode(hmac::sign(&hmac::Key::new(algorithm, b"the shared secret"), text.as_bytes()).as_ref())
}
