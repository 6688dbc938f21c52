//! Tests, by behaviour.

mod checks;
mod choices;
mod clearing;
mod clock;
mod judging;
mod missing;
mod phases;
mod pool;
mod projects;
mod random;
mod recalls;
mod turnover;
mod views;
mod voting;
