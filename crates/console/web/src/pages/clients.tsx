export function Clients() { return null; }
