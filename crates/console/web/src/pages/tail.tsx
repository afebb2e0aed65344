export function Tail() { return null; }
