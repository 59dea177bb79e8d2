"""`python -m oomph`: replaces this process by the installed `oomph` command."""

import os
import pathlib
import signal
import subprocess
import sys
import sysconfig

PACKAGE = pathlib.Path(__file__).resolve().parent


def list_candidates() -> list[pathlib.Path]:
    """The files that may be the command: a checkout's build first, then the installation's scripts."""
    checkout = PACKAGE.parent.parent
    is_checkout = (checkout / "crates/oomph/Cargo.toml").is_file()
    # `pip install --target` puts scripts into `bin`, beside the package.
    beside = checkout / "target/release" if is_checkout else PACKAGE.parent / "bin"
    schemes = [sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")]
    name = "oomph.exe" if os.name == "nt" else "oomph"
    return [folder / name for folder in [beside, *(pathlib.Path(sysconfig.get_path("scripts", scheme)) for scheme in schemes)]]


def main() -> None:
    """Starts the command with this process's arguments; exit status 2 if there is no command."""
    candidates = list_candidates()
    command = next((path for path in candidates if os.access(path, os.X_OK)), None)
    if command is None:
        places = "\n".join(f"  {path}" for path in candidates)
        hint = "`make build` builds it in a checkout, `pip install .` builds and installs it; both need Rust"
        print(f"error: the `oomph` command is missing; expected one of\n{places}\nhint: {hint}", file=sys.stderr)
        sys.exit(2)
    if os.name == "nt":
        # `execv` of Windows starts a second process, and ends this one before. Ctrl-C reaches both, and is the command's.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.exit(subprocess.run([command, *sys.argv[1:]], check=False).returncode)
    os.execv(command, [str(command), *sys.argv[1:]])


if __name__ == "__main__":
    main()
