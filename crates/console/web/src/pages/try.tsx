export function TryIt(_: { id: string; definition: any; close: () => void }) { return null; }
