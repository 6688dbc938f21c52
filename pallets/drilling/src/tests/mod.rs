//! Tests, by behaviour.

mod checks;
mod clearing;
mod clock;
mod judging;
mod phases;
mod pool;
mod projects;
mod random;
mod turnover;
mod views;
mod voting;
