/** The URL of the documentation in the built files. */
export const builtSiteUrl = "https://docs.pragma.example";
/** The URL of the API in the built files. */
export const builtApiUrl = "http://127.0.0.1:4000";
/** The URL of the console in the built files. The pages show no console if the server removes it. */
const builtConsoleUrl = "https://console.pragma.example";
/** The URL of the API in the examples of the OpenAPI document. */
const exampleApiUrl = "https://api.pragma.example";

/** @typedef {{ site: string, api: string | undefined, console: string | undefined }} InstallationUrls */

/** Restricts hosts more than URLs do, because the URLs become part of HTML and JavaScript. */
const originPattern = /^https?:\/\/[A-Za-z0-9.:[\]-]+$/;

/**
 * Returns the URLs that replace those in the built files. Without `PUBLIC_URL`, the URLs of the API are not replaced.
 * Without `CONSOLE_URL`, the installation has no console.
 *
 * No URL comes from a request, because a cache between the site and its readers could then send one reader the URLs
 * that another reader chose.
 * @param {{ DOCS_URL?: string | undefined, PUBLIC_URL?: string | undefined, CONSOLE_URL?: string | undefined }} environment
 * @param {string} defaultSiteUrl the URL of the site if `DOCS_URL` is missing or empty
 * @returns {InstallationUrls} origins
 * @throws `TypeError` if a URL is not an http: or https: URL, or has an unusual host.
 */
export function getInstallationUrls({ DOCS_URL, PUBLIC_URL, CONSOLE_URL }, defaultSiteUrl) {
  return {
    site: getOrigin("DOCS_URL", DOCS_URL || defaultSiteUrl),
    api: PUBLIC_URL ? getOrigin("PUBLIC_URL", PUBLIC_URL) : undefined,
    console: CONSOLE_URL ? getOrigin("CONSOLE_URL", CONSOLE_URL) : undefined,
  };
}

/**
 * Returns the text with the URLs of the installation.
 * @param {string} text
 * @param {InstallationUrls} urls
 */
export function replaceBuiltUrls(text, { site, api, console }) {
  const withSites = text.replaceAll(builtSiteUrl, site).replaceAll(builtConsoleUrl, console ?? "");
  return api === undefined ? withSites : withSites.replaceAll(builtApiUrl, api).replaceAll(exampleApiUrl, api);
}

/**
 * @param {string} name
 * @param {string} url
 */
function getOrigin(name, url) {
  const origin = URL.canParse(url) ? new URL(url).origin : "";
  if (!originPattern.test(origin)) throw new TypeError(`${name} must be an http: or https: URL`);
  return origin;
}
