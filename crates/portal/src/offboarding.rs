//! Ends what developers have: suspended or removed, they are signed out, and their keys are refused from the next request on.

use crate::application::{AccessGrant, ApplicationId, GrantState, PortalApplication};
use crate::developer::Developer;
use crate::door::{KeyChange, PortalNotice};
use crate::operators::{DeveloperChange, LISTED_MAX, ShownDeveloper, shown};
use crate::portal::Portal;
use crate::refusal::PortalRefusal;

impl Portal {
    /// Suspends a developer, or lets them go on. Suspended, they are signed out, and the keys that they made are refused from the next request on.
    ///
    /// # Errors
    /// There is no such developer, or a key can't be changed.
    pub async fn suspend(&self, id: &str, change: DeveloperChange) -> Result<ShownDeveloper, PortalRefusal> {
        let is_suspended = change.suspended;
        let suspend = |old: Developer| {
            let session_epoch = old.session_epoch + u64::from(is_suspended);
            Ok(Developer { is_suspended, session_epoch, ..old })
        };
        let developer = self.change_developer(id, suspend).await?;
        for (grant, key) in self.keys_of(&developer).await? {
            // What an operator has suspended by itself stays so.
            let is_stopped = is_suspended || grant.state != GrantState::Approved;
            self.door.change_key(key, KeyChange::Suspended(is_stopped)).await?;
        }
        let what = if is_suspended { "developer_suspended" } else { "developer_restored" };
        self.tell(PortalNotice { what, developer: developer.mail.clone(), ..PortalNotice::default() });
        Ok(shown(&developer))
    }

    /// Removes a developer with the keys that they made. Applications of teams with other members stay.
    ///
    /// # Errors
    /// There is no such developer, or the store does not answer.
    pub async fn remove_developer(&self, id: &str) -> Result<(), PortalRefusal> {
        // From here on they can't make keys.
        let developer = self.change_developer(id, |old| Ok(Developer { is_suspended: true, ..old })).await?;
        for (_, key) in self.keys_of(&developer).await? {
            self.door.remove_key(key).await?;
        }
        for (application_id, application) in self.applications_of(&developer).await? {
            if self.members(&application_id.team).await?.iter().all(|member| member.id() == id) {
                for grant in application.grants.values() {
                    self.remove_keys(grant).await?;
                }
                self.documents.remove(&application_id.document()).await?;
            }
        }
        for identity in &developer.identities {
            self.documents.remove(identity).await?;
        }
        self.documents.remove(&Developer::document(id)).await?;
        self.tell(PortalNotice { what: "developer_removed", developer: developer.mail, ..PortalNotice::default() });
        Ok(())
    }

    /// The keys that a developer made, with their grants, in whatever team: nobody takes one along.
    async fn keys_of(&self, developer: &Developer) -> Result<Vec<(AccessGrant, String)>, PortalRefusal> {
        let id = developer.id();
        let mut keys = Vec::new();
        for (_, application) in self.listed(ApplicationId::ALL, usize::MAX).await? {
            for grant in application.grants.into_values() {
                let own: Vec<String> = grant.keys.iter().filter(|key| key.made_by == id).map(|key| key.listed_id.clone()).collect();
                keys.extend(own.into_iter().map(|key| (grant.clone(), key)));
            }
        }
        Ok(keys)
    }

    async fn applications_of(&self, developer: &Developer) -> Result<Vec<(ApplicationId, PortalApplication)>, PortalRefusal> {
        let mut applications = Vec::new();
        for team in developer.teams.keys() {
            applications.extend(self.listed(&ApplicationId::of_team(team), LISTED_MAX).await?);
        }
        Ok(applications)
    }

    /// All applications, up to the most that are listed.
    pub(crate) async fn applications(&self) -> Result<Vec<(ApplicationId, PortalApplication)>, PortalRefusal> {
        self.listed(ApplicationId::ALL, LISTED_MAX).await
    }

    pub(crate) async fn listed(&self, prefix: &str, most: usize) -> Result<Vec<(ApplicationId, PortalApplication)>, PortalRefusal> {
        let found = self.documents.list::<PortalApplication>(prefix, most).await?;
        let named = found.into_iter().filter_map(|(id, application)| Some((ApplicationId::of_document(&id)?, application)));
        Ok(named.collect())
    }
}
