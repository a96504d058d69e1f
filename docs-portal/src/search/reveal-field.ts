import type { ClientModule } from "@docusaurus/types";

/*
 * Shows the field of a reference page to which the fragment of the URL leads: opens the folded objects around the field,
 * scrolls to the field and highlights it. The fragment is the id of the field, such as `#body.orderList.price`.
 */

const retryIntervalMs = 100;
const maxRetries = 30;

const revealFieldModule: ClientModule = {
  onRouteDidUpdate({ location: { hash } }) {
    if (/^#.+\../.test(hash)) revealField(hash);
  },
};

export default revealFieldModule;

/** Repeats the search for the field, because the next page appears only after it has been loaded. */
function revealField(hash: string, retries = 0): void {
  if (window.location.hash !== hash) return;
  const field = document.getElementById(hash.slice(1));
  if (field === null) {
    if (retries < maxRetries) setTimeout(() => revealField(hash, retries + 1), retryIntervalMs);
    return;
  }
  for (const revealed of document.querySelectorAll(".revealed-field")) revealed.classList.remove("revealed-field");
  for (let parent = field.parentElement; parent !== null; parent = parent.parentElement)
    if (parent instanceof HTMLDetailsElement) parent.open = true;
  // A field with many nested fields is higher than the window, so its beginning is shown.
  field.scrollIntoView({ block: field.offsetHeight > window.innerHeight / 2 ? "start" : "center" });
  field.classList.add("revealed-field");
  // Screen readers and the Tab key continue at the field.
  field.tabIndex = -1;
  field.focus({ preventScroll: true });
}
