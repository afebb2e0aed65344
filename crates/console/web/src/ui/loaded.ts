// Something that a page fetches: the old value stays while a new one comes, or does not.

import { useEffect, useRef, useState } from "preact/hooks";

export interface Loaded<T> { value: T | null; failure: unknown; waiting: boolean; again: () => void; at: number | null; replace: (value: T) => void }

export function useLoaded<T>(fetch: () => Promise<T>, depends: unknown[]): Loaded<T> {
  const [state, set] = useState<{ value: T | null; failure: unknown; waiting: boolean; at: number | null }>({ value: null, failure: null, waiting: true, at: null });
  const [turn, again] = useState(0);
  const first = useRef<unknown>(depends[0]);
  useEffect(() => {
    let gone = false;
    // Another thing, not a newer state of the same.
    if (first.current !== depends[0]) { first.current = depends[0]; set({ value: null, failure: null, waiting: true, at: null }); }
    fetch().then((value) => { if (!gone) set({ value, failure: null, waiting: false, at: Date.now() / 1000 }); }, (failure) => { if (!gone) set((old) => ({ ...old, failure, waiting: false })); });
    return () => { gone = true; };
  }, [...depends, turn]);
  return { ...state, again: () => again((old) => old + 1), replace: (value) => set({ value, failure: null, waiting: false, at: Date.now() / 1000 }) };
}
