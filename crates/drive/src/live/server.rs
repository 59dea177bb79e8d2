//! A server of one text, for Prometheus and people.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::start_thread;

/// The longest time for one question.
const PATIENCE: Duration = Duration::from_millis(500);
/// The longest request: more than any client's headers.
const LONGEST: usize = 16 << 10;

/// Answers questions while this value lives.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    text: Mutex<String>,
    is_over: AtomicBool,
}

impl Server {
    pub(crate) fn start(listener: TcpListener) -> io::Result<Server> {
        let (address, shared) = (listener.local_addr()?, Arc::new(Shared::default()));
        let of_thread = Arc::clone(&shared);
        let thread = start_thread(move || serve(&listener, &of_thread))?;
        Ok(Server { address, shared, thread: Some(thread) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn set_text(&self, text: String) {
        *self.shared.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // The thread waits for a connection. Without one it ends with oomph.
        let woken = TcpStream::connect_timeout(&self.address, PATIENCE);
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, shared: &Shared) {
    for connection in listener.incoming() {
        if shared.is_over.load(Ordering::SeqCst) {
            return;
        }
        let text = || shared.text.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // A client that goes away is no error of the program's.
        let _ = connection.and_then(|connection| answer(connection, text));
    }
}

fn answer(mut connection: TcpStream, text: impl Fn() -> String) -> io::Result<()> {
    connection.set_read_timeout(Some(PATIENCE))?;
    connection.set_write_timeout(Some(PATIENCE))?;
    let request = read_request(&mut connection)?;
    let mut words = request.split_ascii_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = path.split('?').next().unwrap_or_default();
    let (status, body) = match (method, path) {
        ("GET" | "HEAD", "/metrics") => ("200 OK", text()),
        ("GET" | "HEAD", _) => ("404 Not Found", "the figures are at /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "expected GET\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let shown = if method == "HEAD" { "" } else { &body };
    connection.write_all((head + shown).as_bytes())
}

/// Reads up to the end of the headers; rest and body do not matter.
fn read_request(connection: &mut TcpStream) -> io::Result<String> {
    let (mut request, mut buffer, started) = (Vec::new(), [0; 1024], Instant::now());
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = connection.read(&mut buffer)?;
        request.extend_from_slice(&buffer[..count]);
        if count == 0 || request.len() > LONGEST || started.elapsed() > PATIENCE {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&request).into_owned())
}
