//! What a server answers, as far as it is shown.

use reqwest::Response;

/// How much of an answer is read.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The beginning of the body.
pub(super) async fn body(mut response: Response) -> reqwest::Result<Vec<u8>> {
    let mut body = Vec::new();
    while body.len() < ANSWER_BYTES_MAX
        && let Some(chunk) = response.chunk().await?
    {
        body.extend_from_slice(&chunk);
    }
    body.truncate(ANSWER_BYTES_MAX);
    Ok(body)
}
