/*
 * The URLs in the published OpenAPI documents and examples. An installation replaces them by its own.
 */

/** The URL of the API. */
export const publishedApiUrl = "http://127.0.0.1:4000";

/** The URL of the documentation, also of every installation that does not set `DOCS_URL`. */
export const defaultDocsUrl = "https://docs.pragma.example/docs";
