//! The commit itself: the planes with what they show, the mode and the gamma ramp where those are new.

use smithay::backend::drm::{PlaneConfig, PlaneState};

use super::Flipper;
use crate::backend::drm::plane_config::whole;
use crate::backend::drm::refusal::{is_passing, of_kernel, refusal};
use crate::backend::drm::request;
use crate::backend::plane::Planes;
use crate::backend::{CursorPlane, DisplayEvent, SubmitError};

impl Flipper {
    /// Commits the planes; without the cursor's if the driver does not like that one.
    pub(super) fn commit(
        &mut self,
        primary: Option<PlaneConfig<'_>>,
        cursor: Option<&CursorPlane>,
        planes: &Planes,
    ) -> Result<(), SubmitError> {
        let Some(client) = self.client.states(planes, self.modeset) else {
            return Err(SubmitError::Unsupported("a plane for a client's buffer"));
        };
        let with_cursor = [self.planes(primary.clone(), cursor), client.clone()].concat();
        let Err(error) = self.flip(with_cursor) else {
            self.client.committed(&client);
            return Ok(());
        };
        if !planes.is_empty() && !is_passing(&error) {
            // Not the cursor's fault, as far as anybody can tell.
            self.client.refused(planes);
            return Err(error);
        }
        let Some(images) = self.cursor.take() else { return Err(error) };
        let is_whole = primary.is_some();
        let without = [self.planes(primary, None), client.clone()].concat();
        if is_whole && self.surface.test_state(without.clone(), self.modeset).is_ok() && !is_passing(&error) {
            tracing::warn!(output = self.name, %error, "the cursor plane is refused: the cursor is drawn from now on");
            let _ = self.surface.clear_plane(images.plane);
            self.events.push_back(DisplayEvent::Changed);
            self.flip(without)?;
            self.client.committed(&client);
            return Ok(());
        }
        self.cursor = Some(images);
        Err(error)
    }

    fn flip(&mut self, planes: Vec<PlaneState<'_>>) -> Result<(), SubmitError> {
        if self.modeset || self.surface.commit_pending() {
            self.surface.commit(planes, true).map_err(|error| refusal(&error))?;
            self.modeset = false;
            return Ok(());
        }
        if let Some(gamma) = &mut self.gamma
            && let Some(told) = gamma.to_tell()
        {
            match request::flip_with(&self.surface, &planes, told) {
                Ok(()) => {
                    gamma.told();
                    return Ok(());
                }
                Err(error) => {
                    let error = of_kernel(&error, &error);
                    if is_passing(&error) {
                        return Err(error);
                    }
                    // A frame without it tells whose fault it is.
                    tracing::warn!(output = self.name, %error, "the gamma ramp is refused");
                    gamma.told();
                }
            }
        }
        self.surface.page_flip(planes, true).map_err(|error| refusal(&error))
    }

    fn planes<'a>(&mut self, primary: Option<PlaneConfig<'a>>, cursor: Option<&CursorPlane>) -> Vec<PlaneState<'a>> {
        let primary = primary.map(|config| PlaneState { handle: self.surface.plane(), config: Some(config) });
        let cursor = self.cursor.as_mut().map(|images| PlaneState {
            handle: images.plane,
            config: cursor.map(|cursor| whole(images.framebuffer(cursor), images.size, (cursor.x, cursor.y))),
        });
        primary.into_iter().chain(cursor).collect()
    }
}
