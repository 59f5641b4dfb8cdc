//! A webhook goes in, a row comes out: the real executables over the real services.

mod alerts;
mod consumers;
mod dead_letters;
mod duplicates;
mod embedded;
mod embedded_disk;
mod embedded_kill;
mod embedded_mixed;
mod embedded_read_only;
mod kill;
mod late_worker;
mod lifecycle;
mod native_source;
mod outbox;
mod outbox_embedded;
mod outcomes;
mod poison;
mod quarantine;
mod send;
mod traces;
mod volume;
