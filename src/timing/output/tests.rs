mod depth;
mod finished;
