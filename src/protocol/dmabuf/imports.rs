//! Buffers that the renderer looks at now, and what their clients are told when it has.

use std::collections::HashMap;

use calloop::channel::{self, Sender};
use smithay::backend::allocator::dmabuf::Dmabuf;
use smithay::reexports::wayland_protocols::wp::linux_dmabuf::zv1::server::zwp_linux_buffer_params_v1::{
    Error, ZwpLinuxBufferParamsV1,
};
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::{Client, Resource};
use smithay::wayland::dmabuf::ImportNotifier;

use crate::backend::plane::DeviceMemory;
use crate::guard::{self, Shares};
use crate::state::State;
use crate::surface::memories::Memories;

/// Why a buffer is not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("its rows do not lie within its memory")]
    Bounds,
    #[error("its memory cannot be had: {0}")]
    Memory(#[from] std::io::Error),
    #[error("the renderer cannot read it: {0}")]
    Renderer(String),
}

/// What the renderer said of the import of this number.
type Answer = (u64, Result<(), String>);

/// All that is looked at now.
#[derive(Debug, Default)]
pub(super) struct Imports {
    pending: HashMap<u64, Import>,
    last: u64,
    /// Where answers go; `None` until the global is offered.
    answers: Option<Sender<Answer>>,
    /// The request that Smithay handles now.
    pub(in crate::protocol) request: Option<Request>,
}

/// Who asked, and how.
#[derive(Debug)]
pub(super) struct Request {
    params: ZwpLinuxBufferParamsV1,
    client: ClientId,
    /// The client has its buffer already.
    is_immediate: bool,
    /// What its client has as long as the buffer lives.
    shares: Shares,
}

/// One buffer on its way.
#[derive(Debug)]
pub(super) struct Import {
    pub(in crate::protocol) request: Request,
    pub(in crate::protocol) notifier: ImportNotifier,
    pub(in crate::protocol) dmabuf: Dmabuf,
    pub(in crate::protocol) memory: DeviceMemory,
}

impl Request {
    pub fn new(params: &ZwpLinuxBufferParamsV1, client: &Client, is_immediate: bool, shares: Shares) -> Self {
        Request { params: params.clone(), client: client.id(), is_immediate, shares }
    }

    /// Tells the client that the buffer is not taken.
    pub fn refuse(&self, notifier: ImportNotifier, refusal: &Refusal) {
        let more = self.params.client().and_then(|client| guard::complaint(&client, "buffer"));
        more.into_iter().for_each(|more| tracing::info!(more, %refusal, "a client's buffer is refused"));
        if !self.is_immediate || self.params.is_alive() {
            return notifier.failed();
        }
        // The error must name an object that is still there; the params as a rule are not.
        if let Ok(buffer) = notifier.successful::<State>() {
            buffer.post_error(Error::InvalidWlBuffer, refusal.to_string());
        }
    }

    /// Tells the client that it may use the buffer; says whether there is anybody who can.
    fn accept(&self, notifier: ImportNotifier) -> bool {
        // A buffer that nobody is told of would have a number that the client does not know to be used.
        if !self.is_immediate && !self.params.is_alive() {
            notifier.failed();
            return false;
        }
        let made = notifier.successful::<State>();
        if let (Ok(buffer), false) = (&made, self.is_immediate) {
            guard::share(buffer, &self.shares);
        }
        made.is_ok()
    }
}

impl Imports {
    /// Listens to the renderer.
    pub fn listen(state: &mut State) {
        let (answers, heard) = channel::channel::<Answer>();
        let listens = state.loop_handle.insert_source(heard, |event, (), state| {
            if let channel::Event::Msg((number, result)) = event {
                answered(state, number, result);
            }
        });
        match listens {
            Ok(_) => state.protocols.dmabuf.imports.answers = Some(answers),
            Err(error) => tracing::error!(%error, "the renderer's answers about clients' buffers are not heard"),
        }
    }

    /// Lets go of what clients asked for that are gone.
    pub fn forget_gone(&mut self, memories: &mut Memories, is_there: impl Fn(ClientId) -> bool) {
        let gone = |import: &Import| !is_there(import.request.client.clone());
        let numbers: Vec<u64> = self.pending.iter().filter(|(_, import)| gone(import)).map(|(n, _)| *n).collect();
        // Smithay wants to be told, though there is nobody to be told by it.
        for Import { notifier, dmabuf, .. } in numbers.iter().filter_map(|number| self.pending.remove(number)) {
            memories.looked_at(&dmabuf);
            notifier.failed();
        }
    }
}

/// Has the renderer look at a buffer, and remembers whom to tell.
pub(super) fn begin(state: &mut State, import: Import) {
    let State { outputs, protocols, surfaces, .. } = state;
    surfaces.memories_mut().look_at(&import.dmabuf);
    let imports = &mut protocols.dmabuf.imports;
    imports.last += 1;
    let (number, dmabuf) = (imports.last, import.dmabuf.clone());
    imports.pending.insert(number, import);
    let drawn = outputs.drawn();
    match (outputs.renderer_mut(), imports.answers.clone()) {
        (Some(renderer), Some(answers)) => {
            // Nobody listens any more: nobody wants to know.
            let answer = move |result| drop(answers.send((number, result)));
            renderer.try_source(&dmabuf, drawn, Box::new(answer));
        }
        // Tests of protocols alone have none that could refuse it.
        _ => answered(state, number, Ok(())),
    }
}

fn answered(state: &mut State, number: u64, result: Result<(), String>) {
    let State { protocols, surfaces, .. } = state;
    // Its client may have gone meanwhile.
    let Some(import) = protocols.dmabuf.imports.pending.remove(&number) else { return };
    let Import { request, notifier, dmabuf, memory } = import;
    match result {
        Ok(()) => {
            // A plane would show it upside down.
            if request.accept(notifier) && !dmabuf.y_inverted() {
                surfaces.memories_mut().insert(&dmabuf, memory);
            }
        }
        Err(error) => request.refuse(notifier, &Refusal::Renderer(error)),
    }
    surfaces.memories_mut().looked_at(&dmabuf);
}
