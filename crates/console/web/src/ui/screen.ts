// What the screen is like: narrow or not, light or dark, with the user's choice.

import { effect, signal } from "@preact/signals";

const phone = matchMedia("(max-width: 719px)");
export const narrow = signal(phone.matches);
phone.addEventListener("change", () => { narrow.value = phone.matches; });

const night = matchMedia("(prefers-color-scheme: dark)");
export type Theme = "light" | "dark" | "system";
export const theme = signal<Theme>((localStorage.getItem("theme") as Theme) ?? "system");
export const dark = signal(night.matches);
const update = () => { dark.value = theme.value === "dark" || (theme.value === "system" && night.matches); };
night.addEventListener("change", update);
effect(() => {
  localStorage.setItem("theme", theme.value);
  update();
  document.documentElement.dataset.theme = dark.value ? "dark" : "light";
});
