//! Peers that bring their updates over links: what `tools/swarm/links` starts.
//!
//! [`alone`] trains one round alone, says how long it takes and what strict mixing costs, and leaves the model and
//! its movement in a [`movement`] file. [`peer`] is one peer in a process of its own: it waits as long as training
//! takes, moves its copy as that file says, and does all the rest of a round for real. Peers [`talk`] over the
//! transport that workers have. The script says which updates count, in the place of a chain ([`word`]).

pub mod alone;
mod inbox;
mod movement;
pub mod peer;
mod standing;
mod talk;
mod word;
