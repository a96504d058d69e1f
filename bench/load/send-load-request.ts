import { type Dispatcher, Pool } from "undici";

export interface LoadRequest {
  path: string;
  headers: Record<string, string>;
  method?: "GET" | "POST";
  body?: string;
}

/** What asking costs the generator counts against nobody: replies are counted, not kept. */
export interface LoadResponse {
  status: number;
  bytes: number;
}

const poolsByOrigin = new Map<string, Pool>();

/** The connections to an origin: kept from job to job, one request at a time on each. */
export function getConnectionPool(origin: string, connections: number): Pool {
  const name = `${origin} ${connections}`;
  const known = poolsByOrigin.get(name);
  if (known) return known;
  const pool = new Pool(origin, { connections, pipelining: 1, keepAliveTimeout: 60_000 });
  poolsByOrigin.set(name, pool);
  return pool;
}

export function sendLoadRequest(
  pool: Pool,
  { path, headers, method = "GET", body }: LoadRequest,
): Promise<LoadResponse> {
  return new Promise((resolve, reject) => {
    const handler: Dispatcher.DispatchHandler = {
      onResponseStart(_controller, status) {
        response.status = status;
      },
      onResponseData(_controller, chunk) {
        response.bytes += chunk.length;
      },
      onResponseEnd: () => resolve(response),
      onResponseError: (_controller, error) => reject(error),
      onRequestStart() {},
    };
    const response: LoadResponse = { status: 0, bytes: 0 };
    pool.dispatch({ path, method, headers, body: body ?? null }, handler);
  });
}

/** Asks for something that must be there. */
export async function sendSuccessfulLoadRequest(pool: Pool, question: LoadRequest): Promise<void> {
  const { status, bytes } = await sendLoadRequest(pool, question);
  if (status !== 200 || bytes === 0) throw new Error(`GET ${question.path} answered ${status} with ${bytes} bytes.`);
}
