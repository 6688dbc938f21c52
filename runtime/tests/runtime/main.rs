//! Tests of the whole runtime, in one binary: every further binary would link the SDK again.

mod calls;
mod certificate;
mod chain;
mod court;
mod drilling;
mod federation;
mod finality;
mod hooks;
mod jobs;
mod layout;
mod length;
mod offences;
mod periods;
mod presets;
mod sets;
mod stints;
mod storage;
mod swarm;
mod tasks;
