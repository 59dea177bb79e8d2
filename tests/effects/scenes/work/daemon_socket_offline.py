"""`check --offline` of a program that sends "shutdown" to a real daemon's Unix socket in its folder, as a stream and as a datagram."""

# /// expect
# commands = "check"
# guards = "both"
# why = '`--offline`: "Refuse every connection of the program to others, in the first run too"; the list of harms, 5: a dry run reaches other processes. A datagram under `functions` is documented as not refused and counts only under namespaces'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    second = other("""
os.chdir(sys.argv[1])
stream = socket.socket(socket.AF_UNIX); stream.bind("stream"); stream.listen(9)
gram = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); gram.bind("gram")
def take(name, receive):
    while True: print("GOT", name, receive(), flush=True)
threading.Thread(target=take, args=("stream", lambda: stream.accept()[0].recv(100)), daemon=True).start()
print("ready", flush=True)
take("gram", lambda: gram.recv(100))
""", WORK)
    program("""
step()
def stream():
    s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect("stream"); s.sendall(b"shutdown")
def gram():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendto(b"shutdown", "gram")
attempt("stream", stream)
attempt("gram", gram)
step(); step()
""")
    Check(options=["--offline"]).acted("stream", "gram")
    time.sleep(0.5)
    got = [l for l in second.text().splitlines() if l.startswith("GOT") and "shutdown" in l and not (GUARD and "gram" in l)]
    expect(not got, f"the daemon got {len(got)} messages: {got}")


main(scene)
