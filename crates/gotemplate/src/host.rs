//! What a rendering takes from its caller: the crate has no clock, no randomness and no files of its own.

use jiff::tz::TimeZone;

/// The surroundings of a rendering.
pub trait TemplateHost {
    /// The time of `now`, in nanoseconds since 1970.
    fn unix_ns(&self) -> i128;

    /// Fills a buffer with unpredictable bytes.
    ///
    /// # Errors
    /// Why there are none.
    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), String>;

    /// The zone of the machine, in which `date` prints.
    fn local_zone(&self) -> TimeZone;

    /// The zone with a name of the time zone database, such as `Europe/Berlin`.
    fn zone(&self, name: &str) -> Option<TimeZone>;
}
