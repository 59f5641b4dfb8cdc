#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| adapters::fuzzing::run("native", data));
