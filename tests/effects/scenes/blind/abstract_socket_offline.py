"""`check --offline` of a program that talks to a real process's abstract sockets (stream, seqpacket) and to its TCP and IPv6 ports on lo, and
adds an address to lo with `ip`."""

# /// expect
# commands = "check"
# guards = "both"
# why = '`--offline`: "Refuse every connection of the program to others, in the first run too"; the list of harms, 5: "`ip addr add` on lo stayed"'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    second = other("""
name = "\\0" + sys.argv[1]
def serve(s):
    s.listen(9)
    def loop():
        while True:
            c, _ = s.accept(); print("GOT", s.family.name, s.type.name, c.recv(100), flush=True); c.close()
    threading.Thread(target=loop, daemon=True).start()
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
    s = socket.socket(socket.AF_UNIX, kind); s.bind(name + kind.name); serve(s)
four = socket.socket(); four.bind(("127.0.0.1", 0)); serve(four)
print("ready", four.getsockname()[1], flush=True)
time.sleep(1000)
""", MARK)
    port = int(second.text().split()[1])
    addresses = lambda: subprocess.run(["ip", "-o", "addr", "show", "lo"], capture_output=True, text=True).stdout.count("10.52.")
    UNDO.append(lambda: subprocess.run(["ip", "addr", "del", "10.52.0.9/32", "dev", "lo"], capture_output=True))
    program(f"""
step()
def say_to(kind):
    s = socket.socket(socket.AF_UNIX, kind); s.settimeout(5); s.connect("\\0{MARK}" + kind.name); s.send(b"shutdown")
attempt("abstract", lambda: say_to(socket.SOCK_STREAM))
attempt("packets", lambda: say_to(socket.SOCK_SEQPACKET))
def tcp(): s = socket.create_connection(("127.0.0.1", {port}), timeout=5); s.sendall(b"shutdown")
attempt("tcp", tcp)
attempt("by bash", lambda: os.system("bash -c 'echo shutdown > /dev/tcp/127.0.0.1/{port}'"))
attempt("address", lambda: os.system("ip addr add 10.52.0.9/32 dev lo"))
step(); step()
""")
    before = addresses()
    Check(options=["--offline"]).acted("abstract", "packets", "tcp", "by bash", "address")
    time.sleep(0.5)
    got = [l for l in second.text().splitlines() if "shutdown" in l]
    expect(not got and addresses() == before, f"the process got {len(got)} messages: {got}; addresses added to lo: {addresses() - before}")


main(scene)
