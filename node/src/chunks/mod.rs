//! Chunks that the chain retains: where this node has them, what it shows of them in its blocks, and how
//! it comes to those that it lacks.
//!
//! A chunk is in the database for as long as the block that brought it has its body. A node that prunes
//! bodies, or came by warp sync, keeps chunks as files beside the database ([`store`]); [`keeper`] copies
//! what will be pruned, fetches what is missing from peers ([`fetch`]), drops what the chain retains no
//! more, and says what the node lacks. [`answers`] is what an author shows.

pub mod answers;
pub mod fetch;
pub mod keeper;
pub mod store;
