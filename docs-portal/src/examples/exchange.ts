/** The URL of the API in the examples. The server of the site replaces it with the URL of the installation. */
export const exampleApiUrl = "http://127.0.0.1:4000";

/** The content of an example file. `reply` is the response. The request is absent if pages show only the response. */
export interface ExampleHttpExchange {
  request?: { method: string; path: string; headers: Record<string, string | undefined>; body?: unknown };
  /** The body is a text, such as CSV, if it is not JSON. */
  reply: { status: number; headers: Record<string, string | undefined>; body: unknown };
}
