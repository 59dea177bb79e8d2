//! Prints the reference of the command line: `docs/cli.md`.

fn main() {
    print!("{}", oomph::write_reference());
}
