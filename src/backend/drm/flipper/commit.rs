//! Commits: the plane states, with the mode and the gamma ramp where these are new.

use smithay::backend::drm::{PlaneConfig, PlaneState};

use super::Flipper;
use crate::backend::drm::atomic::CommitKind;
use crate::backend::drm::commit_error::is_transient;
use crate::backend::drm::gamma::Gamma;
use crate::backend::drm::messages::PipeMessage;
use crate::backend::drm::plane_config::whole;
use crate::backend::drm::planes::ShownPlanes;
use crate::backend::drm::test_commit_cache::PlaneTestKey;
use crate::backend::{CursorPlane, SubmitError};

impl Flipper {
    /// Makes a test commit with these clients' planes on top of the current state, and reports the result.
    pub fn test_planes(&mut self, key: PlaneTestKey, shown: ShownPlanes) {
        // Before the modeset there is no current state to test against.
        let can_tell = self.is_on && self.is_ours && !self.modeset;
        let tested = can_tell.then(|| match self.client.states(&shown, false) {
            Some(states) => self.crtc.commit(&states, None, CommitKind::TestFlip),
            None => Err(SubmitError::Unsupported("a plane for a client's buffer")),
        });
        if let Some(Err(error)) = &tested {
            tracing::debug!(output = self.name, %error, "planes cannot show this, so it is composed");
        }
        self.messages.push_back(PipeMessage::PlanesTested(key, tested.and_then(|tested| verdict(&tested))));
        // The client may have attached another buffer meanwhile, so this may be the last reference: drop it on
        // the main thread.
        self.messages.push_back(PipeMessage::Released(vec![shown], Vec::new()));
    }

    /// Commits the planes; if the driver refuses the cursor plane, without it.
    pub(super) fn commit(
        &mut self,
        primary: Option<PlaneConfig<'_>>,
        cursor: Option<&CursorPlane>,
        shown: &ShownPlanes,
    ) -> Result<(), SubmitError> {
        let Some(client) = self.client.states(shown, self.modeset) else {
            return Err(SubmitError::Unsupported("a plane for a client's buffer"));
        };
        let with_cursor = [self.planes(primary.clone(), cursor), client.clone()].concat();
        let Err(error) = self.flip(&with_cursor) else {
            self.client.committed(&client);
            return Ok(());
        };
        if !shown.planes.is_empty() && !is_transient(&error) {
            // The clients' planes are the likelier cause, so keep the cursor plane.
            self.messages.push_back(PipeMessage::PlanesRefused(shown.planes.clone()));
            return Err(error);
        }
        let Some(images) = self.cursor.take() else { return Err(error) };
        let is_whole = primary.is_some();
        let without = [self.planes(primary, None), client.clone()].concat();
        let test = if self.modeset { CommitKind::TestLight } else { CommitKind::TestFlip };
        if is_whole && !is_transient(&error) && self.crtc.commit(&without, None, test).is_ok() {
            self.crtc.clear_plane(images.plane);
            if let Err(error) = self.flip(&without) {
                // The commit fails without the cursor plane, too: it is not the cause.
                self.cursor = Some(images);
                return Err(error);
            }
            tracing::warn!(output = self.name, %error, "the cursor plane is refused: the cursor is drawn from now on");
            self.messages.push_back(PipeMessage::NoCursor);
            self.client.committed(&client);
            return Ok(());
        }
        self.cursor = Some(images);
        Err(error)
    }

    fn flip(&mut self, planes: &[PlaneState<'_>]) -> Result<(), SubmitError> {
        if self.modeset {
            return self.modeset_with(planes);
        }
        if let Some(gamma) = &mut self.gamma
            && let Some(ramp) = gamma.pending_property()
        {
            match self.crtc.commit(planes, Some(ramp), CommitKind::Flip) {
                Ok(()) => {
                    gamma.mark_committed();
                    return Ok(());
                }
                Err(error) if is_transient(&error) => return Err(error),
                Err(error) => {
                    // Commit again without the ramp: only if that succeeds was the ramp the cause.
                    tracing::warn!(output = self.name, %error, "the gamma ramp is refused");
                    gamma.mark_committed();
                }
            }
        }
        self.crtc.commit(planes, None, CommitKind::Flip)
    }

    /// Modeset, with the wanted gamma ramp: on a static screen the next flip may be minutes away.
    fn modeset_with(&mut self, planes: &[PlaneState<'_>]) -> Result<(), SubmitError> {
        if self.is_refused {
            return Err(SubmitError::Device("a fault on purpose".to_owned()));
        }
        let colours = self.gamma.as_ref().and_then(Gamma::pending_property);
        let mut lit = self.crtc.commit(planes, colours, CommitKind::Light);
        if let (Ok(()), Some(gamma)) = (&lit, &mut self.gamma) {
            gamma.mark_committed();
        } else if colours.is_some() && lit.as_ref().is_err_and(|error| !is_transient(error)) {
            // The ramp may be the cause. Try without it; the next flip then tests the ramp.
            lit = self.crtc.commit(planes, None, CommitKind::Light);
        }
        lit?;
        self.modeset = false;
        Ok(())
    }

    fn planes<'a>(&mut self, primary: Option<PlaneConfig<'a>>, cursor: Option<&CursorPlane>) -> Vec<PlaneState<'a>> {
        let handle = self.crtc.primary().handle;
        let primary = primary.map(|config| PlaneState { handle, config: Some(config) });
        let cursor = self.cursor.as_mut().map(|images| PlaneState {
            handle: images.plane,
            config: cursor.map(|cursor| whole(images.framebuffer(cursor), images.size, (cursor.x, cursor.y))),
        });
        primary.into_iter().chain(cursor).collect()
    }
}

/// Whether the driver accepts the tested planes; `None` if the error says nothing about them.
fn verdict(tested: &Result<(), SubmitError>) -> Option<bool> {
    match tested {
        Ok(()) => Some(true),
        Err(error) if is_transient(error) => None,
        Err(_) => Some(false),
    }
}
