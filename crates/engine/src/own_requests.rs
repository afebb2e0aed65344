//! Requests that the gateway sends to itself on behalf of a client. Each gets its own connection inside the core, over a pipe, so that every rule for
//! a client's request applies to it. Nothing goes over the network.

use crate::connection::Connection;
use crate::core::Core;
use crate::kept_bodies::Room;
use crate::pipe::{Pipe, PipeReader};
use crate::service::{ClientInfo, OwnExchange, OwnFault, OwnRequests, OwnResponse, OwnWatch};
use crate::stream::Stream;
use std::rc::{Rc, Weak};
use tollgate_http::{Body, BodyReader, HeaderStorage, Response};

/// Bytes that the gateway may add to the head of an upstream's response.
const OWN_LINES_BYTES_MAX: usize = 64 * 1024;

/// The listener_index to a core. It does not keep the core alive.
pub(crate) struct CoreEntrance(Weak<Core>);

impl CoreEntrance {
    pub(crate) fn new(core: &Rc<Core>) -> Rc<Self> {
        Rc::new(CoreEntrance(Rc::downgrade(core)))
    }
}

impl OwnRequests for CoreEntrance {
    fn send_watched(&self, client: ClientInfo, request: Vec<u8>, to_head: bool, bytes_max: usize, watch: OwnWatch) -> OwnExchange {
        let core = self.0.upgrade();
        Box::pin(async move {
            let core = core.ok_or(OwnFault::Closed)?;
            let (near, far) = Pipe::new();
            let room = Room::none(&core.kept_bodies);
            let head_bytes_max = core.limits.head_bytes_max + OWN_LINES_BYTES_MAX;
            let client = ClientInfo { is_own: true, ..client };
            // A separate task: it needs the buffers of the core, which the connection that waits for this response has borrowed.
            tokio::task::spawn_local(Box::pin(Connection::of_stream(core, Stream::Pipe(far), client, None)));
            let Pipe { reader, mut writer } = near;
            let reader = ResponseReader { reader, bytes: Vec::new() };
            let mut receiving = std::pin::pin!(reader.read(to_head, (head_bytes_max, bytes_max), room, watch));
            let sending = async {
                // A connection that responds early may not read the whole request.
                let _ = writer.write_all(&request).await;
            };
            tokio::select! {
                biased;
                response = &mut receiving => response,
                () = sending => receiving.await,
            }
        })
    }
}

struct ResponseReader {
    reader: PipeReader,
    /// Received bytes that are not used yet.
    bytes: Vec<u8>,
}

/// A response head that borrows nothing.
struct OwnHead {
    status: u16,
    headers: Vec<(String, Vec<u8>)>,
    body: Body,
}

impl ResponseReader {
    async fn read(
        mut self,
        to_head: bool,
        (head_bytes_max, bytes_max): (usize, usize),
        mut room: Room,
        mut watch: OwnWatch,
    ) -> Result<OwnResponse, OwnFault> {
        let head = self.head(to_head, head_bytes_max).await?;
        let mut reader = BodyReader::new(head.body);
        let mut body = Vec::new();
        loop {
            let known = body.len();
            reader.decode(&self.bytes, &mut body).map_err(|_| OwnFault::Closed)?;
            body.get(known..).filter(|piece| !piece.is_empty()).into_iter().for_each(&mut watch);
            if body.len() > bytes_max {
                return Err(OwnFault::TooLarge);
            }
            if !room.reserve(body.capacity()) {
                return Err(OwnFault::NoRoom);
            }
            if reader.is_done() {
                break;
            }
            self.bytes = self.more().await;
            if self.bytes.is_empty() {
                if head.body == Body::UntilClose {
                    break;
                }
                return Err(OwnFault::Closed);
            }
        }
        Ok(OwnResponse::new(head.status, head.headers, body, room))
    }

    /// Reads the final head. Interim responses are dropped.
    async fn head(&mut self, to_head: bool, bytes_max: usize) -> Result<OwnHead, OwnFault> {
        loop {
            if let Some(head) = self.take_head(to_head)? {
                if head.status >= 200 {
                    return Ok(head);
                }
                continue;
            }
            let more = self.more().await;
            self.bytes.extend_from_slice(&more);
            if more.is_empty() || self.bytes.len() > bytes_max {
                return Err(OwnFault::Closed);
            }
        }
    }

    fn take_head(&mut self, to_head: bool) -> Result<Option<OwnHead>, OwnFault> {
        let mut lines = HeaderStorage::new();
        let Some(response) = Response::parse(&self.bytes, to_head, &mut lines).map_err(|_| OwnFault::Closed)? else {
            return Ok(None);
        };
        let headers = response.headers.iter().map(|(name, value)| (name.to_owned(), value.to_vec())).collect();
        let (head, used) = (OwnHead { status: response.status, headers, body: response.body }, response.head_len);
        self.bytes.drain(..used);
        Ok(Some(head))
    }

    async fn more(&mut self) -> Vec<u8> {
        std::future::poll_fn(|cx| self.reader.poll_take(cx)).await
    }
}
