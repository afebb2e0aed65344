export function Certificates() { return null; }
