//! A peer of a swarm: it trains on data of its own, and mixes now and then what it has with what another one has.
//!
//! - [`peer`] is one peer: it joins, announces, and takes turns of training and mixing;
//! - [`service`] is what it serves, [`contact`] how it asks others, [`wire`] what they say to each other;
//! - [`standing`] is what it knows of the others, `Deadlines` of the transport how long it waits for them;
//! - [`ticket`] and [`journal`] are what a payer promises, and what a maker keeps of that;
//! - [`models`], [`learner`] and [`position`] are what it has, computes and must not forget;
//! - [`outer`] is what a peer does where all of them take outer steps together;
//! - [`privacy`] is what a peer that hides its rows may give away;
//! - [`board`] is what it sees and does on chain, and [`chain`] the chain as that;
//! - [`open`] makes a swarm of a file, [`claim`] claims what a model is better by, and [`watch`] shows slices and
//!   challenges false counts for whoever opened it.
//!
//! Nobody waits for anybody. A peer asks others in the background whether they are there, draws among those that
//! answered, and goes on without whoever does not answer in the time that others take. Nothing but the folder and
//! the chain is remembered, and each turn looks at both: a peer that was killed goes on where it was.
//!
//! A model that comes late is used late: what came of it stays, and once all of it is here it is mixed like any
//! other, for a ticket that names what the peer has by then. It has no smaller weight for that. The weights of
//! late updates (`docs/mixing.md`) are for movements that are added up, of which one that begins with an old
//! model pushes the new one in a direction that may be passed; here two whole models are averaged, and the mean is
//! taken only where it gets more of the peer's own rows right.

pub mod board;
pub mod chain;
pub mod claim;
pub mod contact;
pub mod journal;
pub mod learner;
mod mixing;
pub mod models;
pub mod open;
pub mod outer;
mod paying;
pub mod peer;
pub mod position;
pub mod privacy;
pub mod service;
pub mod standing;
mod telling;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod ticket;
mod training;
pub mod watch;
pub mod wire;
