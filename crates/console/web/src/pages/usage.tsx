export function Usage() { return null; }
export function UsageOf(_: { api: string }) { return null; }
