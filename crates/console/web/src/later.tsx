// Pages that a first visit does not need, in a file of their own.
export { ApiPage } from "./pages/api";
export { Certificates } from "./pages/certificates";
export { Clients } from "./pages/clients";
export { KeyPage } from "./pages/key";
export { Models } from "./pages/models";
export { Policies } from "./pages/policies";
export { PortalPlace } from "./pages/portal";
export { System } from "./pages/system";
