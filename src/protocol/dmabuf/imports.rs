//! Dmabufs that the renderer is importing, and the answers to their clients.

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
use crate::guard::{self, SharedResources};
use crate::state::State;
use crate::surface::device_buffers::DeviceBuffers;

/// Why a buffer is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum DmabufRefusal {
    #[error("its rows do not lie within its memory")]
    Bounds,
    #[error("its memory cannot be used: {0}")]
    Memory(#[from] std::io::Error),
    #[error("the renderer cannot read it: {0}")]
    Renderer(String),
}

/// The renderer's answer: number of the import, and its error.
type DmabufImportResult = (u64, Result<(), String>);

/// The imports in progress.
#[derive(Debug, Default)]
pub(super) struct PendingDmabufImports {
    pending: HashMap<u64, PendingDmabufImport>,
    last: u64,
    /// Channel for the renderer's answers; `None` until the global is offered.
    answers: Option<Sender<DmabufImportResult>>,
    /// The request that Smithay is handling.
    pub(in crate::protocol) request: Option<DmabufImportRequest>,
}

/// A request to create a buffer.
#[derive(Debug)]
pub(super) struct DmabufImportRequest {
    params: ZwpLinuxBufferParamsV1,
    client: ClientId,
    /// The request is `create_immed`: the client has its `wl_buffer` already.
    is_immediate: bool,
    /// Descriptors that count for the client as long as the buffer lives.
    shares: SharedResources,
}

/// A buffer that the renderer is importing.
#[derive(Debug)]
pub(super) struct PendingDmabufImport {
    pub(in crate::protocol) request: DmabufImportRequest,
    pub(in crate::protocol) notifier: ImportNotifier,
    pub(in crate::protocol) dmabuf: Dmabuf,
    pub(in crate::protocol) memory: DeviceMemory,
}

impl DmabufImportRequest {
    pub fn new(params: &ZwpLinuxBufferParamsV1, client: &Client, is_immediate: bool, shares: SharedResources) -> Self {
        DmabufImportRequest { params: params.clone(), client: client.id(), is_immediate, shares }
    }

    /// Sends the client that the buffer is refused.
    pub fn refuse(&self, notifier: ImportNotifier, refusal: &DmabufRefusal) {
        let more = self.params.client().and_then(|client| guard::warning_allowed(&client, "buffer"));
        more.into_iter().for_each(|more| tracing::info!(more, %refusal, "a client's buffer is refused"));
        if !self.is_immediate || self.params.is_alive() {
            return notifier.failed();
        }
        // The error must name an object that is alive, and clients mostly destroy the params right away.
        if let Ok(buffer) = notifier.successful::<State>() {
            buffer.post_error(Error::InvalidWlBuffer, refusal.to_string());
        }
    }

    /// Sends the client that it may use the buffer. Returns whether the client has the buffer.
    fn accept(&self, notifier: ImportNotifier) -> bool {
        // Without its params object the client could not be told of the buffer, and would not know that its id is in
        // use.
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

impl PendingDmabufImports {
    /// Receives the renderer's answers.
    pub fn receive_results(state: &mut State) {
        let (answers, heard) = channel::channel::<DmabufImportResult>();
        let listens = state.loop_handle.insert_source(heard, |event, (), state| {
            if let channel::Event::Msg((number, result)) = event {
                answered(state, number, result);
            }
        });
        match listens {
            Ok(_) => state.protocols.dmabuf.imports.answers = Some(answers),
            Err(error) => tracing::error!(%error, "the renderer's answers about clients' buffers are not received"),
        }
    }

    /// Drops the imports of clients that are gone.
    pub fn forget_gone(&mut self, memories: &mut DeviceBuffers, is_there: impl Fn(ClientId) -> bool) {
        let gone = |import: &PendingDmabufImport| !is_there(import.request.client.clone());
        let numbers: Vec<u64> = self.pending.iter().filter(|(_, import)| gone(import)).map(|(n, _)| *n).collect();
        // Smithay requires an answer, although the client is gone.
        for PendingDmabufImport { notifier, dmabuf, .. } in
            numbers.iter().filter_map(|number| self.pending.remove(number))
        {
            memories.end_import_test(&dmabuf);
            notifier.failed();
        }
    }
}

/// Makes the renderer import a buffer, and remembers the request to answer.
pub(super) fn begin(state: &mut State, import: PendingDmabufImport) {
    let State { outputs, protocols, surfaces, .. } = state;
    surfaces.device_buffers_mut().begin_import_test(&import.dmabuf);
    let imports = &mut protocols.dmabuf.imports;
    imports.last += 1;
    let (number, dmabuf) = (imports.last, import.dmabuf.clone());
    imports.pending.insert(number, import);
    let drawn = outputs.render_ping();
    match (outputs.renderer_mut(), imports.answers.clone()) {
        (Some(renderer), Some(answers)) => {
            // If the receiver is gone, the session is ending and needs no answer.
            let answer = move |result| drop(answers.send((number, result)));
            renderer.try_source(&dmabuf, drawn, Box::new(answer));
        }
        // Tests without a renderer accept every buffer.
        _ => answered(state, number, Ok(())),
    }
}

fn answered(state: &mut State, number: u64, result: Result<(), String>) {
    let State { protocols, surfaces, .. } = state;
    // The client may be gone by now.
    let Some(import) = protocols.dmabuf.imports.pending.remove(&number) else { return };
    let PendingDmabufImport { request, notifier, dmabuf, memory } = import;
    match result {
        Ok(()) => {
            // A plane would show an inverted buffer upside down.
            if request.accept(notifier) && !dmabuf.y_inverted() {
                surfaces.device_buffers_mut().insert(&dmabuf, memory);
            }
        }
        Err(error) => request.refuse(notifier, &DmabufRefusal::Renderer(error)),
    }
    surfaces.device_buffers_mut().end_import_test(&dmabuf);
}
