// The way of a link, or of code, to the clipboard.

/** Copy the text of a field; where that is not allowed, leave it selected. Return what to say. */
export async function copyField(field, copied) {
  field.focus();
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    return copied;
  } catch {
    // A page of a file has no right to the clipboard, but what is selected may be copied.
    return document.execCommand("copy") ? copied : "Press Ctrl+C.";
  }
}

/** Return the code that shows this page within another.
 *
 * A file and a server of studies cannot be shown there, so their code names the file beside it.
 */
export function embedCode(address, hash, title, hosted) {
  const frame = document.createElement("iframe");
  const looks = { src: `${hosted ? address : "explorer.html"}${hash}`, title };
  for (const [name, value] of Object.entries({ ...looks, width: "100%", height: 760 })) {
    frame.setAttribute(name, value);
  }
  return frame.outerHTML;
}
