//! A webhook goes in, a row comes out: the real executables over the real services.

mod duplicates;
mod kill;
mod lifecycle;
mod native_source;
mod outcomes;
mod traces;
mod volume;
