//! A Wayland connection without libwayland: it sends raw bytes and descriptors, and parses only the needed parts of the
//! answer.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{ErrorKind, IoSlice, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use wayland_backend::protocol::{ArgumentType, Interface};

use crate::descriptors::{self, Afterwards};
use crate::interfaces;
use crate::script::{Argument, ByteChange, ObjectName, RawRequest};

/// Bytes that libwayland reads at once on the server's side; and the descriptors that go with them.
const MOST_BYTES: usize = 3_500;
const MOST_FILES: usize = 20;
/// Ids from here on are allocated by the compositor.
const GIVEN: u32 = 0xff00_0000;
/// Serials that are remembered.
const SERIALS: usize = 16;
/// How many other ends of sent descriptors are kept open.
const OTHER_ENDS: usize = 8;
/// Bytes that are read at once.
const ROOM: usize = 1 << 16;

#[derive(Clone, Debug)]
pub struct WireObject {
    pub id: u32,
    pub interface: &'static Interface,
    pub version: u32,
}

/// Objects of one interface, the newest last.
pub struct InterfaceObjects {
    pub interface: &'static Interface,
    pub names: Vec<ObjectName>,
}

pub struct RawConnection {
    stream: UnixStream,
    out: Vec<u8>,
    files: Vec<(OwnedFd, Afterwards)>,
    other_ends: Vec<OwnedFd>,
    pub objects: BTreeMap<ObjectName, WireObject>,
    /// The same objects, by interface.
    pub families: BTreeMap<&'static str, InterfaceObjects>,
    ids: BTreeMap<u32, (&'static Interface, u32, ObjectName)>,
    free: Vec<u32>,
    next: u32,
    pub globals: Vec<(u32, String, u32)>,
    given: BTreeMap<&'static str, u32>,
    serials: Vec<u32>,
    configures: BTreeMap<u32, u32>,
    /// Received events: interface and name.
    pub received_events: BTreeSet<(&'static str, &'static str)>,
    /// The protocol error that ended the client: interface, code and message.
    pub error: Option<(String, u32, String)>,
    pub gone: bool,
    /// Requests since the last count.
    pub request_count: u64,
}

impl RawConnection {
    pub fn new(stream: UnixStream) -> Self {
        stream.set_nonblocking(true).unwrap();
        let mut wire = RawConnection {
            stream,
            out: Vec::new(),
            files: Vec::new(),
            other_ends: Vec::new(),
            objects: BTreeMap::new(),
            families: BTreeMap::new(),
            ids: BTreeMap::new(),
            free: Vec::new(),
            next: 2,
            globals: Vec::new(),
            given: BTreeMap::new(),
            serials: Vec::new(),
            configures: BTreeMap::new(),
            received_events: BTreeSet::new(),
            error: None,
            gone: false,
            request_count: 0,
        };
        wire.know(ObjectName::Display, 1, interfaces::display(), 1);
        let registry = wire.new_id();
        wire.know(ObjectName::Registry, registry, interfaces::registry(), 1);
        wire.message(1, 1, &registry.to_ne_bytes());
        wire
    }

    fn know(&mut self, name: ObjectName, id: u32, interface: &'static Interface, version: u32) {
        self.ids.insert(id, (interface, version, name.clone()));
        let family =
            self.families.entry(interface.name).or_insert_with(|| InterfaceObjects { interface, names: Vec::new() });
        family.names.push(name.clone());
        self.objects.insert(name, WireObject { id, interface, version });
    }

    fn forget(&mut self, name: &ObjectName) {
        let Some(object) = self.objects.remove(name) else { return };
        let Some(family) = self.families.get_mut(object.interface.name) else { return };
        family.names.retain(|known| known != name);
    }

    /// Objects of an interface, the newest last.
    pub fn family(&self, interface: &str) -> &[ObjectName] {
        self.families.get(interface).map_or(&[], |family| &family.names)
    }

    fn new_id(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    fn message(&mut self, id: u32, opcode: u16, body: &[u8]) {
        let size = (body.len() + 8) as u32;
        self.out.extend(id.to_ne_bytes());
        self.out.extend((size << 16 | u32::from(opcode)).to_ne_bytes());
        self.out.extend(body);
    }

    /// Queues a request if all objects that it names exist. Returns whether they do.
    pub fn queue_request(&mut self, request: &RawRequest) -> bool {
        if self.gone {
            return false;
        }
        let Some(object) = self.objects.get(&request.to).cloned() else { return false };
        let Some(description) = object.interface.requests.get(usize::from(request.opcode)) else { return false };
        let mut body = Vec::new();
        let (mut files, mut made) = (Vec::new(), None);
        for argument in &request.arguments {
            match argument {
                Argument::Word(word) => body.extend(word.to_ne_bytes()),
                Argument::Serial(back) => body.extend(self.serial(*back).to_ne_bytes()),
                Argument::Configure => {
                    let serial = self.configures.get(&object.id).copied().unwrap_or_default();
                    body.extend(serial.to_ne_bytes());
                }
                Argument::Text(None) => body.extend(0_u32.to_ne_bytes()),
                Argument::Text(Some(text)) => {
                    let bytes: Vec<u8> = text.bytes().filter(|byte| *byte != 0).chain([0]).collect();
                    array(&mut body, &bytes);
                }
                Argument::Bytes(bytes) => array(&mut body, bytes),
                Argument::File(kind) => files.push(descriptors::make(*kind)),
                Argument::Object(None) => body.extend(0_u32.to_ne_bytes()),
                Argument::Object(Some(name)) => {
                    let Some(other) = self.objects.get(name) else { return false };
                    body.extend(other.id.to_ne_bytes());
                }
                Argument::New(name) => {
                    let id = self.new_id();
                    body.extend(id.to_ne_bytes());
                    made = description.child_interface.map(|child| (*name, id, child, object.version));
                }
                Argument::Bind(interface, version, name) => {
                    let all: Vec<_> = self.globals.iter().filter(|(_, known, _)| known == interface).collect();
                    let [_, ..] = all[..] else { return false };
                    let (number, ..) = all[*name as usize % all.len()];
                    let Some(known) = interfaces::global(interface) else { return false };
                    body.extend(number.to_ne_bytes());
                    array(&mut body, &interface.bytes().chain([0]).collect::<Vec<_>>());
                    body.extend(version.to_ne_bytes());
                    let id = self.new_id();
                    body.extend(id.to_ne_bytes());
                    made = Some((*name, id, known, *version));
                }
            }
        }
        if self.out.len() + body.len() + 8 > MOST_BYTES || self.files.len() + files.len() > MOST_FILES {
            self.send();
        }
        self.files.extend(files);
        self.message(object.id, request.opcode, &body);
        if description.is_destructor {
            self.forget(&request.to);
        }
        if let Some((name, id, interface, version)) = made {
            self.know(ObjectName::Made(name), id, interface, version);
        }
        self.request_count += 1;
        true
    }

    /// The last configure serial of `name`.
    pub fn configure_of(&self, name: &ObjectName) -> Option<u32> {
        self.configures.get(&self.objects.get(name)?.id).copied()
    }

    fn serial(&self, back: u32) -> u32 {
        self.serials.iter().rev().nth(back as usize).copied().unwrap_or(back)
    }

    /// Changes a byte or word of the unsent requests.
    pub fn mangle(&mut self, at: u32, change: ByteChange) {
        if self.out.is_empty() {
            return;
        }
        let at = at as usize % self.out.len();
        match change {
            ByteChange::Flip(bits) => self.out[at] ^= bits,
            ByteChange::Word(word) => {
                let at = at & !3;
                self.out[at..at + 4].copy_from_slice(&word.to_ne_bytes());
            }
            ByteChange::Insert(word) => _ = self.out.splice(at..at, word.to_ne_bytes()),
            ByteChange::Remove(bytes) => _ = self.out.drain(at..self.out.len().min(at + bytes as usize)),
        }
    }

    /// Sends the queued requests. A full socket drops them; any other error, or a partial write, counts as the end
    /// of the client.
    pub fn send(&mut self) {
        let out = std::mem::take(&mut self.out);
        let files = std::mem::take(&mut self.files);
        let borrowed: Vec<_> = files.iter().map(|(file, _)| file.as_fd()).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FILES))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !borrowed.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(&borrowed));
        }
        if !out.is_empty() && !self.gone {
            let sent = sendmsg(&self.stream, &[IoSlice::new(&out)], &mut ancillary, SendFlags::NOSIGNAL);
            if sent != Ok(out.len()) {
                self.gone |= !matches!(sent, Err(rustix::io::Errno::AGAIN));
            }
        }
        for (file, afterwards) in files {
            match afterwards {
                Afterwards::Nothing => {}
                Afterwards::Truncate => rustix::fs::ftruncate(&file, 0).unwrap(),
                Afterwards::Keep(other_end) => self.other_ends.push(other_end),
            }
        }
        self.other_ends.drain(..self.other_ends.len().saturating_sub(OTHER_ENDS));
    }

    /// Reads and parses the events.
    pub fn receive(&mut self) {
        let mut bytes = Vec::with_capacity(ROOM);
        match (&self.stream).read_to_end(&mut bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            _ => self.gone = true,
        }
        // The compositor sends whole messages.
        let mut rest = &bytes[..];
        while let [a, b, c, d, e, f, g, h, ..] = *rest {
            let (id, word) = (u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h]));
            let size = ((word >> 16) as usize).max(8);
            let Some(body) = rest.get(8..size) else { break };
            self.hear(id, (word & 0xffff) as usize, body);
            rest = &rest[size..];
        }
    }

    fn hear(&mut self, id: u32, opcode: usize, body: &[u8]) {
        match (id, opcode) {
            (1, 0) => {
                let of = self.ids.get(&word(body, 0)).map_or("?", |(interface, ..)| interface.name);
                let said = String::from_utf8_lossy(&body[12..]).trim_end_matches('\0').to_owned();
                self.error = Some((of.to_owned(), word(body, 1), said));
                self.gone = true;
            }
            (1, 1) => {
                let ended = word(body, 0);
                let known = if ended < GIVEN { self.ids.remove(&ended) } else { None };
                if let Some((_, _, name)) = known {
                    self.free.push(ended);
                    self.forget(&name);
                }
            }
            _ => self.hear_object(id, opcode, body),
        }
    }

    fn hear_object(&mut self, id: u32, opcode: usize, body: &[u8]) {
        let Some((interface, version, name)) = self.ids.get(&id).cloned() else { return };
        let Some(event) = interface.events.get(opcode) else { return };
        self.received_events.insert((interface.name, event.name));
        if interface.name == "wl_registry" && opcode == 0 {
            let length = word(body, 1) as usize;
            let name = String::from_utf8_lossy(&body[8..8 + length - 1]).into_owned();
            let version = word(&body[8 + length.next_multiple_of(4)..], 0);
            return self.globals.push((word(body, 0), name, version));
        }
        if interface.name == "wl_registry" {
            return self.globals.retain(|(number, ..)| *number != word(body, 0));
        }
        let is_configure = matches!(
            (interface.name, event.name),
            ("xdg_surface" | "ext_session_lock_surface_v1" | "zwlr_layer_surface_v1", "configure")
                | ("zwlr_output_manager_v1", "done")
        );
        let is_serial = matches!(
            (interface.name, event.name),
            ("wl_pointer", "enter" | "button")
                | ("wl_keyboard", "enter" | "key")
                | ("wl_touch", "down")
                | ("wl_data_device", "enter")
        );
        if is_serial || is_configure {
            self.serials.push(word(body, 0));
            self.serials.drain(..self.serials.len().saturating_sub(SERIALS));
        }
        if is_configure {
            self.configures.insert(id, word(body, 0));
        }
        let mut at = 0;
        for kind in event.signature {
            match kind {
                ArgumentType::Fd => continue,
                ArgumentType::Str(_) | ArgumentType::Array => at += (word(&body[at..], 0) as usize).next_multiple_of(4),
                ArgumentType::NewId => {
                    let Some(child) = event.child_interface else { return };
                    let count = self.given.entry(child.name).or_default();
                    *count += 1;
                    let name = ObjectName::Given(child.name.to_owned(), *count);
                    self.know(name, word(&body[at..], 0), child, version);
                }
                _ => {}
            }
            at += 4;
        }
        if event.is_destructor {
            self.forget(&name);
        }
    }
}

fn word(body: &[u8], place: usize) -> u32 {
    body.get(4 * place..4 * place + 4).map_or(0, |word| u32::from_ne_bytes(word.try_into().unwrap()))
}

fn array(body: &mut Vec<u8>, bytes: &[u8]) {
    body.extend((bytes.len() as u32).to_ne_bytes());
    body.extend(bytes);
    body.resize(body.len().next_multiple_of(4), 0);
}
