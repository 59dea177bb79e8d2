//! Progress of a call: what the command says on its standard error, and a sign of life in between.

use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};

/// The time between two notifications without news.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(2);
/// The start of the lines that tell of progress (`effects/log_lines.rs` of the binary).
const PREFIX: &str = "oomph: ";

/// Sends the progress of a call, if the client asked for it.
pub(crate) struct CallProgress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    since: Instant,
    sent_seconds: f64,
    news: String,
}

impl CallProgress {
    /// Begins a call.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> CallProgress {
        CallProgress {
            peer: context.peer.clone(),
            token: context.meta.get_progress_token(),
            since: Instant::now(),
            sent_seconds: 0.0,
            news: String::new(),
        }
    }

    /// Sends news.
    pub(crate) async fn tell(&mut self, news: &str) {
        news.clone_into(&mut self.news);
        self.repeat().await;
    }

    /// Sends the last news again, with the time so far.
    pub(crate) async fn repeat(&mut self) {
        let Some(token) = self.token.clone() else { return };
        let elapsed = self.since.elapsed();
        // The protocol demands that the number rises.
        self.sent_seconds = elapsed.as_secs_f64().max(self.sent_seconds + 0.001);
        let message = format!("{}, {} s so far", self.news, elapsed.as_secs());
        let progress = ProgressNotificationParam::new(token, self.sent_seconds).with_message(message);
        // A client that has left needs no progress; the transport ends the call.
        let _: Result<(), rmcp::ServiceError> = self.peer.notify_progress(progress).await;
    }
}

/// The news in a line of standard error: `step 2, backward, train.py:41`. `None` for warnings and errors.
pub(crate) fn find_news(line: &str) -> Option<&str> {
    let news = line.strip_prefix(PREFIX)?;
    let time = news.strip_suffix(" s so far").and_then(|rest| rest.rsplit_once(", "));
    Some(time.filter(|(_, seconds)| seconds.parse::<u64>().is_ok()).map_or(news, |(news, _)| news))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_is_a_line_of_progress_without_its_time() {
        let cases = [
            ("oomph: runs train.py: step 2, backward, 10 s so far", Some("runs train.py: step 2, backward")),
            ("oomph: 5 dry runs, now x, 1 s so far", Some("5 dry runs, now x")),
            ("oomph: stops, and reports what was seen", Some("stops, and reports what was seen")),
            ("oomph: a, few s so far", Some("a, few s so far")),
            ("warning: x", None),
            ("error: oomph: x", None),
            ("", None),
        ];
        for (line, expected) in cases {
            assert_eq!(find_news(line), expected, "{line}");
        }
    }
}
