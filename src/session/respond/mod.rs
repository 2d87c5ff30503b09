//! Answers the requests of `upbeat msg` (the private socket).

mod clients;
mod event_stream;
mod frame_log_requests;
mod layers;
mod layouts;
mod outputs;
mod pick_window;
mod statistics;
mod windows;
mod workspaces;

use std::path::PathBuf;

use super::{ExitStatus, reload, virtual_outputs};
use crate::bindings::ShortcutAction;
use crate::config::OutputMode;
use crate::guard::panic_guard;
use crate::input::{action_availability, actions};
use crate::ipc::injected_input::device_events;
use crate::ipc::{RequestOutcome, Respond, Ticket, screenshot};
use crate::output::clients::rules;
use crate::output::power;
use crate::render::Renderer;
use crate::shell::end_session_question;
use crate::state::State;
use upbeat_record::ipc::message::event::Event;
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_record::ipc::message::{OutputOrWindow, Request, Response};
use upbeat_timing::id::{OutputId, WindowId};
use upbeat_timing::pacing::PacingWish;
use upbeat_timing::time::Clock;

pub use event_stream::SentState;
pub(super) use outputs::focused as focused_output;

/// An answer, or a sentence that says why the request failed.
type ResponseOrReason = Result<Response, String>;

impl Respond for State {
    fn respond(&mut self, request: Request, ticket: &Ticket<'_>) -> RequestOutcome {
        RequestOutcome::Answer(match request {
            Request::Version => Ok(version(self)),
            Request::Outputs => {
                Ok(Response::Outputs { outputs: outputs::all(self), disabled: outputs::disabled(self) })
            }
            Request::Windows => Ok(Response::Windows { windows: windows::all(self) }),
            Request::Clients => {
                let (clients, ended) = (clients::all(self), clients::ended(self));
                Ok(Response::Clients { clients, bugs: panic_guard::count(), ended })
            }
            Request::Workspaces => Ok(Response::Workspaces { workspaces: workspaces::all(self) }),
            Request::Workspace(order) => workspaces::switch_or_move(self, &order),
            Request::Events => return RequestOutcome::Follow(event_stream::initial_state(self)),
            Request::Layers => Ok(Response::Layers { layers: layers::all(self) }),
            Request::Keyboard => Ok(Response::Keyboard { keyboard: layouts::all(self) }),
            Request::SetLayout { layout } => layouts::set(self, layout),
            Request::Act { action } => run_action(self, &action),
            Request::Focus { window } => focus(self, window),
            Request::Close { window } => close(self, window),
            Request::PickWindow => return pick_window::begin(self, ticket),
            Request::Stats => Ok(statistics::all(self)),
            Request::WhyLate { target, limit } => statistics::why_late(self, target.as_ref(), limit),
            Request::Screenshot { output, path } => return take_screenshot(self, output, path, ticket),
            Request::Record { path } => return frame_log_requests::begin_or_end(self, path, ticket),
            Request::SetPacing { target, pacing } => set_pacing(self, &target, pacing),
            Request::AddOutput { mode, connector, monitor } => outputs::plug_in(self, mode, connector, monitor),
            Request::RemoveOutput { output } => virtual_outputs::unplug(self, &output).map(|()| Response::Done),
            Request::SetMode { output, mode } => return set_mode(self, &output, mode, ticket),
            Request::SetScale { output, scale } => outputs::set_scale(self, &output, scale),
            Request::SetPosition { output, x, y } => outputs::set_position(self, &output, (x, y)),
            Request::SetTransform { output, transform } => outputs::set_transform(self, &output, &transform),
            Request::SetVrr { output, on, slowest } => return outputs::set_vrr(self, &output, (on, slowest), ticket),
            Request::SetPower { output, on } => set_power(self, &output, on),
            Request::Input { events } => Ok(inject(self, &events)),
            Request::Reload => {
                reload::request_reload(self, Some(ticket.completion()));
                return RequestOutcome::Pending;
            }
            Request::Quit => {
                self.session.end(ExitStatus::SUCCESS);
                Ok(Response::Done)
            }
        })
    }

    fn take_events(&mut self) -> Vec<Event> {
        event_stream::changes(self)
    }
}

/// Runs the action of a keyboard shortcut. Refuses an action that would have no effect now, with the reason.
fn run_action(state: &mut State, action: &str) -> ResponseOrReason {
    let action = ShortcutAction::from_words(action)?;
    if let Some(workspace) = action.workspace() {
        state.shell.workspaces().find(workspace).map_err(|error| error.to_string())?;
    }
    if action == ShortcutAction::EndSession {
        end_session_question::place_to_ask(state)
            .map_err(|unseen| format!("{unseen}; `upbeat msg quit` ends it without asking"))?;
    }
    if let Some(reason) = action_availability::why_unavailable(state, &action) {
        return Err(reason.to_owned());
    }
    actions::run(state, &action);
    Ok(Response::Done)
}

fn focus(state: &mut State, window: WindowId) -> ResponseOrReason {
    windows::client_of(state, window)?;
    crate::shell::activate(state, Some(window));
    Ok(Response::Done)
}

fn close(state: &mut State, window: WindowId) -> ResponseOrReason {
    windows::client_of(state, window)?;
    crate::shell::close(state, window);
    Ok(Response::Done)
}

fn version(state: &State) -> Response {
    let identity = &state.session.identity;
    Response::Version {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        wayland_display: identity.socket.clone(),
        backend: identity.backend.to_string(),
        renderer: state.outputs.renderer().map_or("none", Renderer::command_line_name).to_owned(),
        x11: state.session.satellite.about(),
    }
}

fn take_screenshot(state: &State, output: Option<String>, path: PathBuf, ticket: &Ticket<'_>) -> RequestOutcome {
    if !path.is_absolute() {
        return RequestOutcome::refused(format!("an absolute path was expected, not {}", path.display()));
    }
    let id = match output {
        Some(name) => find_output(state, &name),
        None => outputs::focused(state).ok_or_else(|| "there is no output".to_owned()),
    };
    let output = match id {
        Ok(id) => state.outputs.by_id(id),
        Err(sentence) => return RequestOutcome::refused(sentence),
    };
    let Some(output) = output else { return RequestOutcome::refused("the output is gone") };
    let name = output.output().name();
    if !output.may_be_captured(state.shell.lock().covers()) {
        return RequestOutcome::refused(format!("{name} is being locked"));
    }
    match output.picture(&state.shell, true) {
        Some(shot) => {
            screenshot::write((shot, crate::output::turn_of(output.output())), name, path, ticket.completion());
            RequestOutcome::Pending
        }
        None => RequestOutcome::refused(format!("{name} shows nothing: it is dark")),
    }
}

fn set_pacing(state: &mut State, target: &OutputOrWindow, pacing: PacingWish) -> ResponseOrReason {
    match target {
        OutputOrWindow::Output(name) => {
            let id = find_output(state, name)?;
            rules::set_output_wish(state, id, pacing);
        }
        OutputOrWindow::Window(number) => {
            let client = windows::client_of(state, *number)?;
            rules::set_client_wish(state, client, pacing);
        }
    }
    Ok(Response::Done)
}

fn set_mode(state: &mut State, name: &str, mode: OutputMode, ticket: &Ticket<'_>) -> RequestOutcome {
    let asked = find_output(state, name).and_then(|_| virtual_outputs::set_mode(state, name, mode));
    outputs::answer_later(state, asked, ticket)
}

fn set_power(state: &mut State, name: &str, on: bool) -> ResponseOrReason {
    let id = find_output(state, name)?;
    power::set(state, id, on);
    Ok(Response::Done)
}

fn inject(state: &mut State, events: &[InputEvent]) -> Response {
    let now = state.clock.now();
    for event in events.iter().flat_map(|event| device_events(*event, now)) {
        crate::input::handle(state, event);
    }
    Response::Done
}

/// Finds an output by name. The error is a sentence that lists the outputs.
fn find_output(state: &State, name: &str) -> Result<OutputId, String> {
    crate::output::hotplug::by_name(state, name).ok_or_else(|| {
        let names: Vec<String> = state.outputs.iter().map(smithay::output::Output::name).collect();
        format!("there is no output called {name}; {}", list_sentence(&names))
    })
}

/// Lists names in a sentence: `there are A, B and C`.
fn list_sentence(names: &[String]) -> String {
    match names {
        [] => "there are none".to_owned(),
        [name] => format!("there is {name}"),
        [names @ .., last] => format!("there are {} and {last}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_in_a_sentence() {
        let names = ["A", "B", "C"].map(str::to_owned);
        assert_eq!(list_sentence(&names[..0]), "there are none");
        assert_eq!(list_sentence(&names[..1]), "there is A");
        assert_eq!(list_sentence(&names), "there are A, B and C");
    }
}
