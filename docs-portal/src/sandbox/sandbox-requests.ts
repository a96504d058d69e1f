/** A sandbox as `POST /v1/sandboxes` returns it, in the fields that the page shows. */
export interface CreatedSandbox {
  apiKey: string;
  location: { name: string; currencyCode: string };
  /** ISO 8601. */
  expiresAt: string;
}

/** How far the sandbox is filled. */
export interface SandboxProgress {
  done: number;
  total: number;
}

export interface SandboxReport {
  /** ISO 8601. */
  startedAt: string;
  /** In minor units of the location's currency. */
  totalSales: number;
}

/** @throws `Error` with a sentence for the reader. */
export async function createSandbox(server: string): Promise<CreatedSandbox> {
  const response = await fetch(`${server}/v1/sandboxes`, { method: "POST" }).catch(() => {
    throw new Error(`${server} does not respond. Start the API, or enter its URL in the form of an operation.`);
  });
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  throw new Error(body.detail ?? `${server} responded with the status ${response.status}.`);
}

class ResponseError extends Error {
  readonly status: number;

  constructor(url: string, status: number) {
    super(`${url} responded with the status ${status}.`);
    this.status = status;
  }
}

/** Returns whether the API no longer accepts the key: the sandbox was deleted or has expired, or the key was revoked. */
export function isKeyRejected(error: unknown): boolean {
  return error instanceof ResponseError && error.status === 401;
}

/** @throws `Error` if the API does not return the body; `ResponseError` if it responds with an error. */
async function getJson<Body>(url: string, { key, signal }: { key: string; signal: AbortSignal }): Promise<Body> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` }, signal });
  if (!response.ok) throw new ResponseError(url, response.status);
  return response.json();
}

const pollMs = 500;

/** Reports the progress until the sandbox is filled, and its newest report as soon as there is one and at the end. */
export async function followFilling(
  { server, key, signal }: { server: string; key: string; signal: AbortSignal },
  on: { progress(progress: SandboxProgress): void; newestReport(report: SandboxReport): void },
): Promise<void> {
  let hasReport = false;
  for (;;) {
    const { state, progress } = await getJson<{ state: string; progress: SandboxProgress }>(
      `${server}/v1/sandboxes/current`,
      { key, signal },
    );
    on.progress(progress);
    if (!hasReport || state === "ready") {
      const { data } = await getJson<{ data: SandboxReport[] }>(`${server}/v2/reports?size=1`, { key, signal });
      if (data[0]) on.newestReport(data[0]);
      hasReport = data.length > 0;
    }
    if (state === "ready" && hasReport) return;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
