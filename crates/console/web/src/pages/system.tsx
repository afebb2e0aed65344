export function System() { return null; }
