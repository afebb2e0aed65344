//! Random texts and numbers, of the randomness that the caller of the template gives. All are fit for secrets; sprig's `randInt` and
//! `shuffle` are not.

use crate::arguments::{Function, FunctionResult, hosted, int, text};
use crate::host::TemplateHost;
use crate::value::Value;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use data_encoding::HEXLOWER;

/// Maximum length of a random text. The longest keys have some thousand bytes, and a body may say how many it wants.
const RANDOM_BYTES_MAX: usize = 64 << 10;
/// Maximum length of a text to shuffle, in bytes: each character takes a random number.
const SHUFFLED_BYTES_MAX: usize = 64 << 10;

const DIGITS: &str = "0123456789";
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LETTERS_AND_DIGITS: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// The printable characters of ASCII.
const PRINTABLE: &str = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";

pub(super) static FUNCTIONS: &[Function] = &[
    hosted("randAlphaNum", 1, 1, |given, host| chosen(given, LETTERS_AND_DIGITS, host)),
    hosted("randAlpha", 1, 1, |given, host| chosen(given, LETTERS, host)),
    hosted("randNumeric", 1, 1, |given, host| chosen(given, DIGITS, host)),
    hosted("randAscii", 1, 1, |given, host| chosen(given, PRINTABLE, host)),
    hosted("randBytes", 1, 1, |given, host| {
        let count = usize::try_from(int(given, 0)?).map_err(|_| "a number of bytes below zero")?;
        let mut bytes = vec![0; fitting(count)?];
        host.fill_random(&mut bytes)?;
        Ok(STANDARD.encode(bytes).into())
    }),
    hosted("randInt", 2, 2, |given, host| {
        let (least, end) = (int(given, 0)?, int(given, 1)?);
        let count = end.checked_sub(least).and_then(|count| u64::try_from(count).ok()).filter(|count| *count > 0);
        let offset = RandomSource::new(host).below(count.ok_or("invalid argument to Intn")?)?;
        Ok(least.wrapping_add(offset.cast_signed()).into())
    }),
    hosted("uuidv4", 0, 0, |_, host| uuid(host)),
    hosted("shuffle", 1, 1, |given, host| {
        let text = text(given, 0)?;
        if text.len() > SHUFFLED_BYTES_MAX {
            return Err(format!("a text of more than {SHUFFLED_BYTES_MAX} bytes"));
        }
        let mut characters: Vec<char> = text.chars().collect();
        let mut source = RandomSource::new(host);
        for last in (1..characters.len()).rev() {
            let other = usize::try_from(source.below(last as u64 + 1)?).unwrap_or(last);
            characters.swap(last, other);
        }
        Ok(characters.into_iter().collect::<String>().into())
    }),
];

fn fitting(count: usize) -> Result<usize, String> {
    if count > RANDOM_BYTES_MAX { Err(format!("more than {RANDOM_BYTES_MAX} random characters")) } else { Ok(count) }
}

/// So many characters of a set. As in sprig, a number below zero makes none.
fn chosen(given: &[Value], set: &str, host: &dyn TemplateHost) -> FunctionResult {
    let count = fitting(usize::try_from(int(given, 0)?).unwrap_or(0))?;
    let mut source = RandomSource::new(host);
    let mut out = String::with_capacity(count);
    for _ in 0..count {
        let at = usize::try_from(source.below(set.len() as u64)?).unwrap_or(0);
        out.extend(set.as_bytes().get(at).map(|byte| char::from(*byte)));
    }
    Ok(out.into())
}

fn uuid(host: &dyn TemplateHost) -> FunctionResult {
    let mut bytes = [0; 16];
    host.fill_random(&mut bytes)?;
    // Version 4, and the variant of RFC 9562.
    let bits = u128::from_be_bytes(bytes) & !(0xf << 76) & !(0x3 << 62) | (4 << 76) | (2 << 62);
    let digits = HEXLOWER.encode(&bits.to_be_bytes());
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| digits.get(part).unwrap_or_default());
    Ok(parts.join("-").into())
}

/// Random numbers, taken from the host in blocks.
struct RandomSource<'h> {
    host: &'h dyn TemplateHost,
    block: [u8; 512],
    at: usize,
}

impl<'h> RandomSource<'h> {
    fn new(host: &'h dyn TemplateHost) -> Self {
        RandomSource { host, block: [0; 512], at: 512 }
    }

    fn number(&mut self) -> Result<u64, String> {
        if self.at == self.block.len() {
            self.host.fill_random(&mut self.block)?;
            self.at = 0;
        }
        let bytes = self.block.get(self.at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
        self.at += 8;
        Ok(u64::from_le_bytes(bytes))
    }

    /// A number below another one, each as likely as any other.
    fn below(&mut self, end: u64) -> Result<u64, String> {
        // The first numbers would come up once more often than the others.
        let first = end.wrapping_neg() % end.max(1);
        loop {
            let number = self.number()?;
            if number >= first {
                return Ok(number % end.max(1));
            }
        }
    }
}
