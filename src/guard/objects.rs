//! Counts a client's objects where libwayland makes and ends them.
//!
//! Most objects are made inside Smithay, by dozens of requests; libwayland tells of each of them, and of its end.

#![expect(unsafe_code, reason = "libwayland's listeners are C structs in lists")]

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_void};
use std::sync::Arc;

use smithay::reexports::wayland_protocols::ext::data_control::v1::server::ext_data_control_offer_v1::ExtDataControlOfferV1;
use smithay::reexports::wayland_protocols::wp::primary_selection::zv1::server::zwp_primary_selection_offer_v1::ZwpPrimarySelectionOfferV1;
use smithay::reexports::wayland_protocols_wlr::data_control::v1::server::zwlr_data_control_offer_v1::ZwlrDataControlOfferV1;
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::backend::protocol::Interface;
use smithay::reexports::wayland_server::protocol::wl_data_offer::WlDataOffer;
use smithay::reexports::wayland_server::{Client, DisplayHandle, Resource};
use wayland_sys::common::wl_list;
use wayland_sys::server::{wl_client, wl_listener, wl_notify_func_t, wl_resource};
use wayland_sys::{ffi_dispatch, server::*};

use super::account::{Account, Held};
use super::ended;
use super::kinds::Kind;
use super::offence;

#[link(name = "wayland-server")]
unsafe extern "C" {
    fn wl_client_add_resource_created_listener(client: *mut wl_client, listener: *mut wl_listener);
}

/// In libwayland's lists while its client is connected.
#[repr(C)]
struct Watch {
    /// First: a pointer to it is one to all of this.
    made: wl_listener,
    gone: wl_listener,
    client: Client,
    account: Arc<Account>,
}

/// In an object's list until it ends.
#[repr(C)]
struct Counted {
    gone: wl_listener,
    account: Arc<Account>,
    kind: Kind,
    /// Its client's name for it.
    number: u32,
    /// What its client has for as long as it or another that shares it lives.
    shares: Shares,
}

/// What several objects of a client share and no object is: given back with the last of them.
pub type Shares = Vec<Arc<Held>>;

/// An offer of data that was made: for whom, of which interface, and its number.
pub type Offer = (ClientId, &'static Interface, u32);

thread_local! {
    static OFFERS: RefCell<Vec<Offer>> = const { RefCell::new(Vec::new()) };
    /// The object that was made last, if it lives.
    static NEWEST: Cell<*mut Counted> = const { Cell::new(std::ptr::null_mut()) };
    /// Something has ended since this was asked for.
    static ENDED: Cell<bool> = const { Cell::new(false) };
}

/// The object of `kind` that the request makes that is being met has a part in `shares`. libwayland makes it before the
/// request is met, and nothing else in between.
pub fn share_newest(kind: Kind, shares: &Shares) {
    // SAFETY: it is forgotten when it ends, on this thread, which does nothing else with it meanwhile.
    let newest = unsafe { NEWEST.get().as_mut() };
    if let Some(newest) = newest.filter(|newest| newest.kind == kind) {
        newest.shares.extend_from_slice(shares);
    }
}

/// The number of the object of `kind` that the request has made that is being met.
pub fn number_of_newest(kind: Kind) -> Option<u32> {
    // SAFETY: it is forgotten when it ends, on this thread, which does nothing else with it meanwhile.
    let newest = unsafe { NEWEST.get().as_ref() };
    newest.filter(|newest| newest.kind == kind).map(|newest| newest.number)
}

/// What `object` has a part in.
pub fn shares_of(object: &impl Resource) -> Shares {
    with_counted(object, |counted| counted.shares.clone())
}

/// `object` has a part in these, too.
pub fn share(object: &impl Resource, shares: &Shares) {
    with_counted(object, |counted| counted.shares.extend_from_slice(shares));
}

fn with_counted<T: Default>(object: &impl Resource, act: impl FnOnce(&mut Counted) -> T) -> T {
    let resource = object.id().as_ptr();
    if resource.is_null() || !object.is_alive() {
        return T::default();
    }
    // SAFETY: the object lives, and a listener with this function is the first field of a `Counted`, which nobody else
    // looks at meanwhile.
    unsafe {
        let gone = ffi_dispatch!(wayland_server_handle(), wl_resource_get_destroy_listener, resource, object_gone);
        if gone.is_null() { T::default() } else { act(&mut *gone.cast::<Counted>()) }
    }
}

/// Whether a client or an object of one has ended since the last call, on this thread. Not those that end with an event of
/// ours, several in each frame: nobody but their client has anything to do with them.
pub(super) fn take_ended() -> bool {
    ENDED.take()
}

/// The offers of data that were made on this thread since the last call. Some may be gone.
pub fn take_offers() -> Vec<Offer> {
    OFFERS.take()
}

fn note_offer(client: &Client, class: &str, number: u32) {
    let known = [
        WlDataOffer::interface(),
        ZwpPrimarySelectionOfferV1::interface(),
        ZwlrDataControlOfferV1::interface(),
        ExtDataControlOfferV1::interface(),
    ];
    if let Some(interface) = known.into_iter().find(|interface| interface.name == class) {
        OFFERS.with_borrow_mut(|offers| offers.push((client.id(), interface, number)));
    }
}

const fn listener(notify: wl_notify_func_t) -> wl_listener {
    wl_listener { link: wl_list { prev: std::ptr::null_mut(), next: std::ptr::null_mut() }, notify }
}

/// Counts what `client`, which has just connected, makes.
pub(super) fn watch(display: &DisplayHandle, client: &Client, account: &Arc<Account>) {
    let Some(resource) = offence::display_of(display, &client.id()) else { return };
    let resource = resource.as_ptr();
    if resource.is_null() {
        return;
    }
    let (client, account) = (client.clone(), account.clone());
    let watch = Watch { made: listener(made), gone: listener(client_gone), client, account };
    let watch = Box::into_raw(Box::new(watch));
    // SAFETY: the client has just been made, so its display object lives; the listeners stay where they are until
    // `client_gone` takes them out.
    unsafe {
        let client = ffi_dispatch!(wayland_server_handle(), wl_resource_get_client, resource);
        wl_client_add_resource_created_listener(client, &raw mut (*watch).made);
        ffi_dispatch!(wayland_server_handle(), wl_client_add_destroy_listener, client, &raw mut (*watch).gone);
    }
}

/// Everybody who is connected, and what they have.
///
/// (`Handle::with_all_clients` of wayland-backend 0.3 takes the head of the list for a client, and does not end.)
pub(super) fn clients(display: &DisplayHandle) -> Vec<(Client, Arc<Account>)> {
    let mut clients = Vec::new();
    // SAFETY: the display lives as long as its handle, and nobody connects or leaves meanwhile.
    unsafe {
        let display = display.backend_handle().display_ptr();
        let head = ffi_dispatch!(wayland_server_handle(), wl_display_get_client_list, display);
        let mut link = (*head).next;
        while link != head {
            let client = ffi_dispatch!(wayland_server_handle(), wl_client_from_link, link);
            if let Some(watch) = watch_in(client) {
                clients.push((watch.client.clone(), watch.account.clone()));
            }
            link = (*link).next;
        }
    }
    clients
}

/// The account of a client that is connected.
///
/// # Safety
/// `client` is one of libwayland's, and it and its account are not used once it is gone.
pub(super) unsafe fn account_of<'a>(client: *mut wl_client) -> Option<&'a Arc<Account>> {
    // SAFETY: the caller says so.
    unsafe { watch_in(client).map(|watch| &watch.account) }
}

/// A client that is connected, and its account.
///
/// # Safety
/// As of [`account_of`].
pub(super) unsafe fn known<'a>(client: *mut wl_client) -> Option<(&'a Client, &'a Account)> {
    // SAFETY: the caller says so.
    unsafe { watch_in(client).map(|watch| (&watch.client, &*watch.account)) }
}

/// What watches a client that is connected.
unsafe fn watch_in<'a>(client: *mut wl_client) -> Option<&'a Watch> {
    // SAFETY: a listener with this function is the second field of a `Watch`.
    unsafe {
        let gone = ffi_dispatch!(wayland_server_handle(), wl_client_get_destroy_listener, client, client_gone);
        (!gone.is_null()).then(|| &*watch_of(gone))
    }
}

/// The watch that `gone` is a field of.
unsafe fn watch_of(gone: *mut wl_listener) -> *mut Watch {
    // SAFETY: the caller says so.
    unsafe { gone.byte_sub(std::mem::offset_of!(Watch, gone)).cast() }
}

/// The client has a new object.
unsafe extern "C" fn made(listener: *mut wl_listener, object: *mut c_void) {
    let object = object.cast::<wl_resource>();
    // SAFETY: the listener is the first field of a `Watch` that lives until `client_gone`; the object has just been made,
    // and its class is a string that the program has for ever.
    unsafe {
        let Watch { account, client, .. } = &*listener.cast::<Watch>();
        let class = CStr::from_ptr(ffi_dispatch!(wayland_server_handle(), wl_resource_get_class, object));
        let class = class.to_str().unwrap_or_default();
        let kind = Kind::of_interface(class);
        let number = ffi_dispatch!(wayland_server_handle(), wl_resource_get_id, object);
        if kind == Kind::Offers {
            note_offer(client, class, number);
        }
        let (gone, account) = (self::listener(object_gone), account.clone());
        let counted = Box::new(Counted { gone, account, kind, number, shares: Shares::new() });
        let counted = Box::into_raw(counted);
        NEWEST.set(counted);
        ffi_dispatch!(wayland_server_handle(), wl_resource_add_destroy_listener, object, &raw mut (*counted).gone);
        if (*counted).account.take(kind, 1) && (*counted).account.begin_end() {
            let client = ffi_dispatch!(wayland_server_handle(), wl_resource_get_client, object);
            let display = ffi_dispatch!(wayland_server_handle(), wl_client_get_object, client, offence::DISPLAY);
            let reason = offence::sentence(kind, (*counted).account.most(kind));
            let text = CString::new(reason.as_str()).unwrap_or_default();
            ended::note(ended::process_of(client), reason);
            ffi_dispatch!(
                wayland_server_handle(),
                wl_resource_post_error,
                display,
                offence::NO_MEMORY,
                c"%s".as_ptr(),
                text.as_ptr()
            );
        }
    }
}

unsafe extern "C" fn object_gone(listener: *mut wl_listener, _: *mut c_void) {
    // SAFETY: it is the first field of a `Counted` that `made` left; it is out of the list, and nobody has it after this.
    let counted = unsafe {
        ffi_dispatch!(wayland_server_handle(), wl_list_remove, &raw mut (*listener).link);
        Box::from_raw(listener.cast::<Counted>())
    };
    if std::ptr::eq(NEWEST.get(), &raw const *counted) {
        NEWEST.set(std::ptr::null_mut());
    }
    if !matches!(counted.kind, Kind::Callbacks | Kind::Feedbacks) {
        ENDED.set(true);
    }
    counted.account.give_back(counted.kind, 1);
}

unsafe extern "C" fn client_gone(listener: *mut wl_listener, _: *mut c_void) {
    ENDED.set(true);
    // SAFETY: it is the second field of a `Watch` that `watch` left; both of its listeners are in lists until now.
    unsafe {
        let watch = watch_of(listener);
        // Right after this libwayland closes the socket, whose number is another file's then. (Nobody else says so of a client
        // that ends with an error: the library's `ClientData::disconnected` does not come for it.)
        (*watch).account.is_gone();
        ffi_dispatch!(wayland_server_handle(), wl_list_remove, &raw mut (*watch).made.link);
        ffi_dispatch!(wayland_server_handle(), wl_list_remove, &raw mut (*watch).gone.link);
        drop(Box::from_raw(watch));
    }
}
