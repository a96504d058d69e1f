/** The processes of an installation, as operators reach them on their ops ports. */
export interface OpsProcesses {
  /** What each process answers that knows the path, those that do not left out. */
  askEach(method: "GET" | "POST", path: string, body?: unknown): Promise<unknown[]>;
}

/** `urls` are ops ports, e.g. `http://reporting:4090`; the token is what those processes have as OPS_TOKEN. */
export function opsProcesses(urls: string[], token: string | undefined): OpsProcesses {
  async function ask(url: string, method: string, path: string, body: unknown): Promise<unknown> {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((cause: Error) => {
      throw new Error(
        `${url} cannot be reached: ${cause.cause instanceof Error ? cause.cause.message : cause.message}`,
      );
    });
    if (response.status === 404) return undefined;
    const text = await response.text();
    if (!response.ok) throw new Error(`${url}${path} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  return {
    async askEach(method, path, body) {
      const answers = await Promise.all(urls.map((url) => ask(url, method, path, body)));
      return answers.filter((answer) => answer !== undefined);
    },
  };
}
