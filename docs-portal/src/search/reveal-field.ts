import type { ClientModule } from "@docusaurus/types";

/*
 * Scrolls to a field of a reference page when the fragment of the URL names it, such as `#field=priceList`. The search
 * leads to such URLs. Fields have no ids, because the same name can occur many times on a page.
 */

/** The elements that contain only the name of a field or parameter. */
const fieldNames = ".openapi-schema__property, .openapi-parameters__name, [data-field]";
const retryIntervalMs = 100;
const maxRetries = 30;

const revealFieldModule: ClientModule = {
  onRouteDidUpdate({ location: { hash } }) {
    const name = /^#field=(.+)$/.exec(hash)?.[1];
    if (name !== undefined) revealField(decodeURIComponent(name), hash);
  },
};

export default revealFieldModule;

/** Repeats the search for the field, because parts of the page appear only after it has been loaded. */
function revealField(name: string, hash: string, retries = 0): void {
  if (window.location.hash !== hash) return;
  const field = [...document.querySelectorAll<HTMLElement>(fieldNames)].find(
    (element) => element.dataset.field === name || element.textContent?.trim() === name,
  );
  if (field === undefined) {
    if (retries < maxRetries) setTimeout(() => revealField(name, hash, retries + 1), retryIntervalMs);
    return;
  }
  for (let parent = field.parentElement; parent !== null; parent = parent.parentElement)
    if (parent instanceof HTMLDetailsElement) parent.open = true;
  field.scrollIntoView({ block: "center" });
  field.classList.add("revealed-field");
  // Screen readers and the Tab key continue at the field.
  field.tabIndex = -1;
  field.focus({ preventScroll: true });
}
