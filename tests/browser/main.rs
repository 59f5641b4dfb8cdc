//! The operators' page of the real executable, in a real browser.

mod access;
mod browser;
mod chromedriver;
mod comfort;
mod discarding;
mod letters;
mod looking;
mod page_world;
mod replaying;
