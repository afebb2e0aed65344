//! A corpus of inputs and its mutations, the same in every run. Also used by the tests of the documents.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Pieces with a meaning in HTTP or JSON, which random bytes would rarely hit.
const PIECES: [&str; 40] = [
    "\r\n",
    "\n",
    "\r",
    "\r\n\r\n",
    "\0",
    " ",
    "\t",
    ":",
    ";",
    ",",
    "0",
    "0\r\n\r\n",
    "f",
    "ffffffffffffffff",
    "-1",
    "Content-Length: 5\r\n",
    "Content-Length: 0\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: gzip\r\n",
    "Connection: close\r\n",
    "Connection: x-a, upgrade\r\n",
    "Host: h\r\n",
    "HTTP/1.0",
    "HTTP/1.1",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 204 \r\n",
    "GET / HTTP/1.1\r\n",
    "http://h/",
    "\u{7f}",
    "\u{80}",
    "{",
    "}",
    "[",
    "\"",
    "null",
    "1e999",
    "\\u0000",
    "\"proxy\":",
    "\"versions\":{",
    "true",
];

/// Inputs by file name.
pub(crate) struct Corpus(Vec<(String, Vec<u8>)>);

impl Corpus {
    pub(crate) fn read(target: &str) -> Corpus {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
        let mut inputs: Vec<(String, Vec<u8>)> = fs::read_dir(&folder)
            .expect("the corpus is part of the repository")
            .map(|entry| entry.expect("a file").path())
            .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read(&path).expect("an input")))
            .collect();
        inputs.sort();
        assert!(!inputs.is_empty());
        Corpus(inputs)
    }

    /// Gives `check` every input, then `count` mutations. The input that fails is printed.
    pub(crate) fn each_and_mutated(&self, count: usize, check: fn(&[u8])) {
        for (name, input) in &self.0 {
            run(name, input, check);
        }
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        for number in 0..count {
            let (name, input) = &self.0[random.below(self.0.len())];
            let mut input = input.clone();
            for _ in 0..=random.below(4) {
                self.mutate(&mut input, &mut random);
            }
            run(&format!("mutation {number}, of {name}"), &input, check);
        }
    }

    fn mutate(&self, input: &mut Vec<u8>, random: &mut Random) {
        let at = random.below(input.len() + 1);
        let end = (at + random.below(16)).min(input.len());
        match random.below(7) {
            0 => input.truncate(at),
            1 => drop(input.drain(at..end)),
            2 => {
                let copy = input[at..end].to_vec();
                input.splice(at..at, copy);
            }
            3 | 4 => drop(input.splice(at..at, PIECES[random.below(PIECES.len())].bytes())),
            5 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            _ => {
                let other = &self.0[random.below(self.0.len())].1;
                input.truncate(at);
                input.extend_from_slice(&other[random.below(other.len() + 1)..]);
            }
        }
    }
}

fn run(name: &str, input: &[u8], check: fn(&[u8])) {
    if catch_unwind(AssertUnwindSafe(|| check(input))).is_err() {
        panic!("{name}: {:?}", String::from_utf8_lossy(input));
    }
}

/// Marsaglia's xorshift: enough to choose places, and the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end.max(1) as u64).unwrap_or(0)
    }
}
