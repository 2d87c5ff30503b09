mod depth;
mod early;
mod finished;
mod phase;
mod rendered;
