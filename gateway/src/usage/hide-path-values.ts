import { failedRequestTextLimits } from "@pragma/contracts/usage";

/** What replaces a value that can be personal data or a secret. */
export const hiddenText = "{hidden}";
/** UUIDs, days and the numbers of files, by which a developer finds what was requested. Longer numbers can be of phones. */
const idPattern = /^(?:s?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{1,3}|\d{4}-\d{2}-\d{2})$/i;
const wordPattern = /^[a-z][a-z0-9-]{0,31}$/;
/** The version and the resource, such as `/v1/order`, in which a developer looks for a typing error. */
const resourceParts = 2;

/** Returns the fixed parts of all paths in an OpenAPI document, such as `replay`. Reads its text, which is faster than JSON. */
export function listPathWords(openapi: string): ReadonlySet<string> {
  const paths = [...openapi.matchAll(/"(\/[^"\s]*)":/g)].map(([, path = ""]) => path);
  return new Set(paths.flatMap((path) => path.split("/").filter((part) => !part.includes("{"))));
}

/**
 * Returns the path of a failed request as it may be stored. Parts that are neither an id nor a word of the API's paths can
 * be personal data or secrets, so they are replaced.
 */
export function hidePathValues(path: string, knownWords: ReadonlySet<string>): string {
  const parts = path.split("/").slice(1, 12);
  const shown = parts.map((part, index) => {
    const isShown =
      part === "" || idPattern.test(part) || knownWords.has(part) || (index < resourceParts && wordPattern.test(part));
    return isShown ? part : hiddenText;
  });
  return `/${shown.join("/")}`.slice(0, failedRequestTextLimits.path);
}
