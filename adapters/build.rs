//! Tells cargo that the embedded migrations are part of the source: a new folder is no change to a file that
//! the compiler reads.

fn main() {
    println!("cargo:rerun-if-changed=../migrations");
}
