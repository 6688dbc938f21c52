//! Lists are well formed, and the list of an MLP is what it always was.

mod gradients;
mod lists;
mod shadow;
