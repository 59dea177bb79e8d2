//! Prints the table of environment variables of ARCHITECTURE.md:
//!
//! ```text
//! cargo run -p wire --example variables
//! ```

use wire::variable;

fn main() {
    println!("| variable | who reads it | meaning |\n|---|---|---|");
    for row in variable::ALL {
        let readers: Vec<&str> = row.readers.iter().map(|reader| reader.name()).collect();
        println!("| `{}` | {} | {} |", row.name, readers.join(", "), row.meaning);
    }
}
