// Pages that a first visit does not need.
export { ApiDocument } from "./document";
export { GuidePage } from "./guide";
export { Costs, InvoicesPage } from "./invoices";
export { Markdown } from "./markdown";
export { Search } from "./search";
export { Teams } from "./teams";
