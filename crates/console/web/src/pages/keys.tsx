export function Keys() { return null; }
export function KeyTable(_: { fixed: Record<string, string> }) { return null; }
