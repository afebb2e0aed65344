//! The compressors. Each works on slices that take a fraction of a millisecond also for the bodies that are worst for it, and the memory of
//! all of one core is bounded.

use brotli::CompressorWriter;
use brotli::enc::BrotliEncoderParams;
use flate2::{Compress, Compression, FlushCompress, Status};
use std::cell::Cell;
use std::io::Write;
use std::rc::Rc;
use tollgate_engine::{BodyCoder, BodyCut, CoderStep};
use tollgate_model::api::CompressionEncoding;

/// Memory of the compressors of one core. Further responses are sent as they are.
const BYTES_MAX: usize = 64 << 20;
/// What a compressor takes, measured.
const GZIP_BYTES: usize = 380 << 10;
const BROTLI_BYTES: usize = 1 << 20;
/// Size of brotli's window and blocks, in bits: larger ones take megabytes for each response.
const BROTLI_BITS: i32 = 16;
/// Bits of gzip's window: those that all readers know.
const GZIP_BITS: u8 = 15;
/// Output is made in pieces of this size.
const OUTPUT_BYTES: usize = 4 << 10;

/// The memory that the compressors of one core use.
#[derive(Default)]
pub(crate) struct CoderMemory(Rc<Cell<usize>>);

/// The memory of one compressor, until it is dropped.
struct TakenMemory {
    all: Rc<Cell<usize>>,
    bytes: usize,
}

impl CoderMemory {
    /// A compressor, if there is memory for it.
    pub(crate) fn coder(&self, encoding: CompressionEncoding, level: u8) -> Option<Box<dyn BodyCoder>> {
        Some(match encoding {
            CompressionEncoding::Gzip => {
                let _memory = self.take(GZIP_BYTES)?;
                let stream = Compress::new_gzip(Compression::new(u32::from(level)), GZIP_BITS);
                Box::new(GzipCoder { stream, level, _memory })
            }
            CompressionEncoding::Br => {
                let _memory = self.take(BROTLI_BYTES)?;
                let params = BrotliEncoderParams {
                    quality: i32::from(level),
                    lgwin: BROTLI_BITS,
                    lgblock: BROTLI_BITS,
                    ..BrotliEncoderParams::default()
                };
                let writer = CompressorWriter::with_params(Vec::new(), OUTPUT_BYTES, &params);
                Box::new(BrotliCoder { writer: Some(writer), level, _memory })
            }
        })
    }

    fn take(&self, bytes: usize) -> Option<TakenMemory> {
        let used = self.0.get() + bytes;
        (used <= BYTES_MAX).then(|| {
            self.0.set(used);
            TakenMemory { all: self.0.clone(), bytes }
        })
    }
}

impl Drop for TakenMemory {
    fn drop(&mut self) {
        self.all.set(self.all.get().saturating_sub(self.bytes));
    }
}

/// The name of an encoding in headers.
pub(super) fn name(encoding: CompressionEncoding) -> &'static str {
    match encoding {
        CompressionEncoding::Br => "br",
        CompressionEncoding::Gzip => "gzip",
    }
}

struct GzipCoder {
    stream: Compress,
    level: u8,
    _memory: TakenMemory,
}

impl BodyCoder for GzipCoder {
    /// Of two letters in random order, a core codes 50 MB in a second at level 1, 27 at level 4 and 19 at level 6.
    fn slice_bytes(&self) -> usize {
        match self.level {
            ..=1 => 16 << 10,
            2..=4 => 8 << 10,
            _ => 4 << 10,
        }
    }

    fn code(&mut self, mut bytes: &[u8], step: CoderStep, out: &mut Vec<u8>) -> Result<(), BodyCut> {
        let flush = match step {
            CoderStep::More => FlushCompress::None,
            CoderStep::Flush => FlushCompress::Sync,
            CoderStep::End => FlushCompress::Finish,
        };
        loop {
            out.reserve(OUTPUT_BYTES);
            let (read, room) = (self.stream.total_in(), out.capacity() - out.len());
            let before = out.len();
            let status = self.stream.compress_vec(bytes, out, flush).map_err(|_| BodyCut)?;
            let taken = usize::try_from(self.stream.total_in() - read).unwrap_or(usize::MAX);
            bytes = bytes.get(taken..).unwrap_or_default();
            // With room left it has written all that it had.
            let is_written = out.len() - before < room;
            match step {
                CoderStep::End if status == Status::StreamEnd => return Ok(()),
                CoderStep::End if taken == 0 && out.len() == before => return Err(BodyCut),
                CoderStep::End => {}
                CoderStep::More | CoderStep::Flush if bytes.is_empty() && is_written => return Ok(()),
                CoderStep::More | CoderStep::Flush => {}
            }
        }
    }
}

/// Compresses each slice to its end: brotli would otherwise collect a block of several slices and work on all of it at once.
struct BrotliCoder {
    writer: Option<CompressorWriter<Vec<u8>>>,
    level: u8,
    _memory: TakenMemory,
}

impl BodyCoder for BrotliCoder {
    /// Of two letters in random order, a core codes 65 MB in a second at level 1, 38 at level 3 and 24 at level 4.
    fn slice_bytes(&self) -> usize {
        if self.level < 4 { 16 << 10 } else { 8 << 10 }
    }

    fn code(&mut self, bytes: &[u8], step: CoderStep, out: &mut Vec<u8>) -> Result<(), BodyCut> {
        let writer = self.writer.as_mut().ok_or(BodyCut)?;
        if !bytes.is_empty() {
            writer.write_all(bytes).map_err(|_| BodyCut)?;
        }
        if step == CoderStep::End {
            out.append(&mut self.writer.take().ok_or(BodyCut)?.into_inner());
            return Ok(());
        }
        if !bytes.is_empty() {
            writer.flush().map_err(|_| BodyCut)?;
        }
        out.append(writer.get_mut());
        Ok(())
    }
}
