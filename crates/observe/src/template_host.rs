//! What templates take from the gateway: its clock, the system's randomness and its time zones.

use jiff::tz::TimeZone;
use tollgate_gotemplate::TemplateHost;

/// The gateway as the host of all templates.
pub struct GatewayTemplateHost;

impl TemplateHost for GatewayTemplateHost {
    fn unix_ns(&self) -> i128 {
        i128::from(tollgate_clock::unix_ns())
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), String> {
        aws_lc_rs::rand::fill(bytes).map_err(|_| "the system has no random bytes".to_owned())
    }

    fn local_zone(&self) -> TimeZone {
        TimeZone::system()
    }

    fn zone(&self, name: &str) -> Option<TimeZone> {
        TimeZone::get(name).ok()
    }
}
