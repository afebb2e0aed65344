use super::coders::CoderMemory;
use super::*;
use flate2::read::MultiGzDecoder;
use std::io::Read;
use tollgate_engine::CoderStep;

const ALL: [(CompressionEncoding, [u8; 3]); 2] = [(CompressionEncoding::Gzip, [1, 2, 6]), (CompressionEncoding::Br, [1, 3, 4])];

fn decoded(encoding: CompressionEncoding, coded: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    match encoding {
        CompressionEncoding::Gzip => MultiGzDecoder::new(coded).read_to_end(&mut bytes),
        CompressionEncoding::Br => brotli_decompressor::Decompressor::new(coded, 4096).read_to_end(&mut bytes),
    }
    .expect("a whole stream");
    bytes
}

/// What a client can read of a stream that goes on.
fn readable(encoding: CompressionEncoding, coded: &[u8]) -> Vec<u8> {
    crate::coding::open_beginning(coders::name(encoding).as_bytes(), coded, usize::MAX >> 1)
}

/// A sequence of numbers that looks random, and is the same in each run.
struct SeededNumbers(u64);

impl SeededNumbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// Bodies that compress well, hardly, and not at all.
fn bodies(numbers: &mut SeededNumbers) -> Vec<Vec<u8>> {
    let words = (0..9_000).flat_map(|_| format!("word{} ", numbers.below(300)).into_bytes()).collect();
    let noise = (0..70_000).map(|_| u8::try_from(numbers.below(256)).unwrap()).collect();
    vec![Vec::new(), b"x".to_vec(), vec![b' '; 300_000], words, noise]
}

#[test]
fn whatever_the_cuts_the_client_reads_the_same_body() {
    let mut numbers = SeededNumbers(7);
    for body in bodies(&mut numbers) {
        for (encoding, levels) in ALL {
            for level in levels {
                let mut coder = CoderMemory::default().coder(encoding, level).unwrap();
                let (mut coded, mut at) = (Vec::new(), 0);
                while at < body.len() {
                    let most = [1, 100, coder.slice_bytes()][numbers.below(3)];
                    let slice = &body[at..body.len().min(at + 1 + numbers.below(most))];
                    let step = if numbers.below(8) == 0 { CoderStep::Flush } else { CoderStep::More };
                    coder.code(slice, step, &mut coded).unwrap();
                    at += slice.len();
                    if step == CoderStep::Flush && numbers.below(8) == 0 {
                        assert_eq!(readable(encoding, &coded).len(), at, "a flush leaves nothing behind");
                    }
                }
                assert!(body.is_empty() || readable(encoding, &coded).len() <= at);
                coder.code(&[], CoderStep::End, &mut coded).unwrap();
                assert!(decoded(encoding, &coded) == body, "{encoding:?} {level} {}", body.len());
            }
        }
    }
}

#[test]
fn the_last_slice_may_come_with_the_end() {
    for (encoding, levels) in ALL {
        let mut coder = CoderMemory::default().coder(encoding, levels[0]).unwrap();
        let mut coded = Vec::new();
        coder.code(b"one ", CoderStep::More, &mut coded).unwrap();
        coder.code(b"two", CoderStep::End, &mut coded).unwrap();
        assert_eq!(decoded(encoding, &coded), b"one two");
    }
}

#[test]
fn a_stream_without_its_end_is_not_whole() {
    let mut coder = CoderMemory::default().coder(CompressionEncoding::Gzip, 2).unwrap();
    let mut coded = Vec::new();
    coder.code(b"one", CoderStep::Flush, &mut coded).unwrap();
    assert_eq!(readable(CompressionEncoding::Gzip, &coded), b"one");
    assert!(MultiGzDecoder::new(&*coded).read_to_end(&mut Vec::new()).is_err());
}

#[test]
fn memory_for_compressors_is_bounded_and_comes_back() {
    let memory = CoderMemory::default();
    let all: Vec<_> = std::iter::from_fn(|| memory.coder(CompressionEncoding::Gzip, 1)).take(1_000).collect();
    assert!((100..200).contains(&all.len()), "{}", all.len());
    assert!(memory.coder(CompressionEncoding::Br, 1).is_none());
    drop(all);
    assert!(memory.coder(CompressionEncoding::Br, 1).is_some());
}

#[test]
fn patterns_of_types() {
    for (pattern, name, is_it) in [
        ("text/*", "text/plain", true),
        ("text/*", "text", false),
        ("*+json", "application/problem+json", true),
        ("*+json", "application/json", false),
        ("*", "", true),
        ("application/json", "application/json", true),
        ("application/json", "application/json5", false),
        ("a*b*c", "aXbYc", true),
        ("a*b*c", "abc", true),
        ("a*b*c", "acb", false),
        ("a*a", "a", false),
    ] {
        assert_eq!(Glob::new(pattern).is_match(name), is_it, "{pattern} {name}");
    }
}

#[test]
fn weights_that_cannot_be_read_say_nothing() {
    let ours = [(CompressionEncoding::Gzip, 2)];
    for (line, is_accepted) in [
        ("gzip;q=0.001", true),
        ("gzip;Q=1", true),
        ("gzip ; q=0.5", true),
        ("gzip;level=9;q=0", false),
        ("gzip;q=1.000", true),
        ("gzip;q=0.0001", false),
        ("gzip;q=1.001", false),
        ("gzip;q=", false),
        ("gzip;q=x", false),
        ("gzip;q=-1", false),
        ("gzip;q=0.", false),
        (",,gzip,", true),
        ("gzip2", false),
    ] {
        assert_eq!(accepted(&mut std::iter::once(line.as_bytes()), &ours).is_some(), is_accepted, "{line}");
    }
    let long = "x,".repeat(40) + "gzip";
    assert!(accepted(&mut std::iter::once(long.as_bytes()), &ours).is_none(), "nobody reads a list without an end");
}
