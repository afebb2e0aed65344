//! The static table (RFC 7541 appendix A).

/// Entries by index, starting at 1.
const STATIC: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// The highest index of this table; higher ones refer to the dynamic table.
pub(super) const STATIC_ENTRIES: usize = STATIC.len();

/// Name and value of an entry.
#[inline]
pub(super) fn static_entry(index: usize) -> Option<(&'static [u8], &'static [u8])> {
    let (name, value) = STATIC.get(index.wrapping_sub(1))?;
    Some((name.as_bytes(), value.as_bytes()))
}

/// The index of a frequent name, in lower case.
#[inline]
pub(super) fn static_name(name: &[u8]) -> Option<usize> {
    let candidates = BY_LENGTH.get(name.len())?.iter().map(|index| usize::from(*index));
    candidates.take_while(|index| *index > 0).find(|index| static_entry(*index).is_some_and(|(known, _)| known == name))
}

/// Length of the longest name, and maximum number of names of the same length.
const NAME_BYTES_MAX: usize = 27;
const NAMES_OF_LENGTH_MAX: usize = 6;

/// The indices of regular names by length, padded with zeros.
static BY_LENGTH: [[u8; NAMES_OF_LENGTH_MAX]; NAME_BYTES_MAX + 1] = by_length();

#[allow(clippy::indexing_slicing)] // evaluated by the compiler, which checks it
const fn by_length() -> [[u8; NAMES_OF_LENGTH_MAX]; NAME_BYTES_MAX + 1] {
    let mut table = [[0; NAMES_OF_LENGTH_MAX]; NAME_BYTES_MAX + 1];
    let mut index = 0;
    while index < STATIC.len() {
        let name = STATIC[index].0.as_bytes();
        if name[0] != b':' {
            let mut place = 0;
            while table[name.len()][place] != 0 {
                place += 1;
            }
            table[name.len()][place] = index as u8 + 1;
        }
        index += 1;
    }
    table
}
