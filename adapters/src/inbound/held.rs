//! A body of an answer that is given before the request was read to its end.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, MessageBody};
use bytes::Bytes;

/// An answer's body that holds on to the request's until it is sent. While it is held, the server knows that
/// the request was not read to its end, and closes the connection after a short while of reading it away. If
/// it were let go, an endless chunked body would be read away for ever.
pub struct Held<P> {
    content: Option<Bytes>,
    _payload: P,
}

impl<P> Held<P> {
    /// `content`, holding on to `payload`.
    pub const fn new(content: Bytes, payload: P) -> Self {
        Self { content: Some(content), _payload: payload }
    }
}

impl<P: Unpin> MessageBody for Held<P> {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        let length = self.content.as_ref().map_or(0, Bytes::len);
        BodySize::Sized(u64::try_from(length).unwrap_or(u64::MAX))
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        Poll::Ready(self.content.take().map(Ok))
    }
}
