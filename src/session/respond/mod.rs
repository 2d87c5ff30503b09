//! Answers the requests of `upbeat msg` (the private socket).

mod clients;
mod layers;
mod layouts;
mod news;
mod outputs;
mod picking;
mod record;
mod statistics;
mod windows;
mod workspaces;

use std::path::PathBuf;

use super::{ExitStatus, outputs as virtual_outputs, reload};
use crate::bindings::{Action, NoSuchAction};
use crate::config::OutputMode;
use crate::guard::floor;
use crate::input::acting;
use crate::ipc::input::device_events;
use crate::ipc::{Met, Respond, Ticket, screenshot};
use crate::output::clients::rules;
use crate::output::power;
use crate::render::Renderer;
use crate::shell::question;
use crate::state::State;
use upbeat_record::ipc::message::event::Event;
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_record::ipc::message::{Request, Response, Target};
use upbeat_timing::id::{OutputId, WindowId};
use upbeat_timing::pacing::PacingWish;
use upbeat_timing::time::Clock;

pub use news::Told;
pub(super) use outputs::focused as focused_output;

/// An answer, or a sentence that says why the request failed.
type Answered = Result<Response, String>;

impl Respond for State {
    fn respond(&mut self, request: Request, ticket: &Ticket<'_>) -> Met {
        Met::Now(match request {
            Request::Version => Ok(version(self)),
            Request::Outputs => Ok(Response::Outputs { outputs: outputs::all(self) }),
            Request::Windows => Ok(Response::Windows { windows: windows::all(self) }),
            Request::Clients => {
                let (clients, ended) = (clients::all(self), clients::ended(self));
                Ok(Response::Clients { clients, bugs: floor::count(), ended })
            }
            Request::Workspaces => Ok(Response::Workspaces { workspaces: workspaces::all(self) }),
            Request::Workspace(order) => workspaces::follow(self, &order),
            Request::Events => return Met::Follows(news::all(self)),
            Request::Layers => Ok(Response::Layers { layers: layers::all(self) }),
            Request::Keyboard => Ok(Response::Keyboard { keyboard: layouts::all(self) }),
            Request::SetLayout { layout } => layouts::set(self, layout),
            Request::Act { action } => act(self, &action),
            Request::Focus { window } => focus(self, window),
            Request::Close { window } => close(self, window),
            Request::PickWindow => return picking::begin(self, ticket),
            Request::Stats => Ok(statistics::all(self)),
            Request::WhyLate { target, limit } => statistics::why_late(self, target.as_ref(), limit),
            Request::Screenshot { output, path } => return take_screenshot(self, output, path, ticket),
            Request::Record { path } => return record::begin_or_end(self, path, ticket),
            Request::SetPacing { target, pacing } => set_pacing(self, &target, pacing),
            Request::AddOutput { mode } => add_output(self, mode),
            Request::RemoveOutput { output } => virtual_outputs::unplug(self, &output).map(|()| Response::Done),
            Request::SetMode { output, mode } => return set_mode(self, &output, mode, ticket),
            Request::SetScale { output, scale } => outputs::set_scale(self, &output, scale),
            Request::SetPosition { output, x, y } => outputs::set_position(self, &output, (x, y)),
            Request::SetTransform { output, transform } => outputs::set_transform(self, &output, &transform),
            Request::SetVrr { output, on, slowest } => return outputs::set_vrr(self, &output, (on, slowest), ticket),
            Request::SetPower { output, on } => set_power(self, &output, on),
            Request::Input { events } => Ok(inject(self, &events)),
            Request::Reload => {
                reload::begin(self, Some(ticket.completion()));
                return Met::Later;
            }
            Request::Quit => {
                self.session.end(ExitStatus::SUCCESS);
                Ok(Response::Done)
            }
        })
    }

    fn news(&mut self) -> Vec<Event> {
        news::changes(self)
    }
}

/// Runs the action of a keyboard shortcut.
fn act(state: &mut State, action: &str) -> Answered {
    let action: Action = action.parse().map_err(|error: NoSuchAction| error.to_string())?;
    if action == Action::EndSession {
        question::place_to_ask(state)
            .map_err(|unseen| format!("{unseen}; `upbeat msg quit` ends it without asking"))?;
    }
    acting::run(state, &action);
    Ok(Response::Done)
}

fn focus(state: &mut State, window: WindowId) -> Answered {
    windows::client_of(state, window)?;
    crate::shell::activate(state, Some(window));
    Ok(Response::Done)
}

fn close(state: &mut State, window: WindowId) -> Answered {
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
        renderer: state.outputs.renderer().map_or("none", Renderer::word).to_owned(),
        x11: state.session.satellite.about(),
    }
}

fn take_screenshot(state: &State, output: Option<String>, path: PathBuf, ticket: &Ticket<'_>) -> Met {
    if !path.is_absolute() {
        return Met::refused(format!("an absolute path was expected, not {}", path.display()));
    }
    let id = match output {
        Some(name) => find_output(state, &name),
        None => outputs::focused(state).ok_or_else(|| "there is no output".to_owned()),
    };
    let output = match id {
        Ok(id) => state.outputs.by_id(id),
        Err(sentence) => return Met::refused(sentence),
    };
    let Some(output) = output else { return Met::refused("the output is gone") };
    let name = output.output().name();
    if !output.may_be_captured(state.shell.lock().covers()) {
        return Met::refused(format!("{name} is being locked"));
    }
    match output.picture(&state.shell, true) {
        Some(shot) => {
            screenshot::write((shot, crate::output::turn_of(output.output())), name, path, ticket.completion());
            Met::Later
        }
        None => Met::refused(format!("{name} shows nothing: it is dark")),
    }
}

fn set_pacing(state: &mut State, target: &Target, pacing: PacingWish) -> Answered {
    match target {
        Target::Output(name) => {
            let id = find_output(state, name)?;
            rules::set_output_wish(state, id, pacing);
        }
        Target::Window(number) => {
            let client = windows::client_of(state, *number)?;
            rules::set_client_wish(state, client, pacing);
        }
    }
    Ok(Response::Done)
}

fn add_output(state: &mut State, mode: OutputMode) -> Answered {
    let id = virtual_outputs::plug_in(state, Some(mode)).map_err(|error| format!("{error:#}"))?;
    Ok(Response::Outputs { outputs: outputs::one(state, id).into_iter().collect() })
}

fn set_mode(state: &mut State, name: &str, mode: OutputMode, ticket: &Ticket<'_>) -> Met {
    let asked = find_output(state, name).and_then(|_| virtual_outputs::set_mode(state, name, mode));
    outputs::answer_later(state, asked, ticket)
}

fn set_power(state: &mut State, name: &str, on: bool) -> Answered {
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
        format!("there is no output called {name}; {}", there_is(&names))
    })
}

/// Lists names in a sentence: `there are A, B and C`.
fn there_is(names: &[String]) -> String {
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
    fn what_there_is_is_said_in_words() {
        let names = ["A", "B", "C"].map(str::to_owned);
        assert_eq!(there_is(&names[..0]), "there are none");
        assert_eq!(there_is(&names[..1]), "there is A");
        assert_eq!(there_is(&names), "there are A, B and C");
    }
}
