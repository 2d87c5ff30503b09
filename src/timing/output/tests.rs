mod depth;
mod early;
mod finished;
mod rendered;
