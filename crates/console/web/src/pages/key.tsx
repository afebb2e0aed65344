export function KeyPage() { return null; }
