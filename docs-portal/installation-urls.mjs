/** The URL of the documentation in the built files. */
export const builtSiteUrl = "https://docs.pragma.example";
/** The URL of the API in the built files. */
export const builtApiUrl = "http://127.0.0.1:4000";
/** The URL of the API in the examples of the OpenAPI document. */
const exampleApiUrl = "https://api.pragma.example";

/**
 * Returns the URLs that replace those in the built files. Without `DOCS_URL`, the site's URL is that of the request.
 * Without `PUBLIC_URL`, the URLs of the API are not replaced. A URL is undefined if it is unknown or invalid.
 * @param {{ DOCS_URL?: string | undefined, PUBLIC_URL?: string | undefined }} environment
 * @param {{ host?: string | undefined, forwardedProto?: string | undefined }} request
 */
export function getInstallationUrls({ DOCS_URL, PUBLIC_URL }, { host, forwardedProto }) {
  const protocol = forwardedProto === "https" ? "https" : "http";
  return {
    site: getOrigin(DOCS_URL) ?? (host === undefined ? undefined : getOrigin(`${protocol}://${host}`)),
    api: getOrigin(PUBLIC_URL),
  };
}

/**
 * Returns the text with the URLs of the installation.
 * @param {string} text
 * @param {{ site: string | undefined, api: string | undefined }} urls
 */
export function replaceBuiltUrls(text, { site, api }) {
  const withSite = site === undefined ? text : text.replaceAll(builtSiteUrl, site);
  return api === undefined ? withSite : withSite.replaceAll(builtApiUrl, api).replaceAll(exampleApiUrl, api);
}

/** @param {string | undefined} url */
function getOrigin(url) {
  return url && URL.canParse(url) ? new URL(url).origin : undefined;
}
