//! A webhook goes in, a row comes out: the real executables over the real services.

mod duplicates;
mod embedded;
mod embedded_disk;
mod embedded_kill;
mod embedded_mixed;
mod embedded_read_only;
mod kill;
mod lifecycle;
mod native_source;
mod outcomes;
mod traces;
mod volume;
