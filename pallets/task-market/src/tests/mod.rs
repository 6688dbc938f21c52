//! Tests, by behaviour.

mod agenda;
mod agreement;
mod applying;
mod claims;
mod deadlines;
mod deeds;
mod disputes;
mod divergence;
mod early_stop;
mod fates;
mod invariants;
mod late;
mod listings;
mod looks;
mod lottery;
mod money;
mod pools;
mod posted;
mod posting;
mod price;
mod thinning;
mod views;
