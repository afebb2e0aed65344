// A text that a person saves as a file.

export function saveFile(name: string, text: string, type = "text/csv"): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  // Some browsers read it after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
