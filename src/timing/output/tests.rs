mod depth;
mod early;
mod finished;
