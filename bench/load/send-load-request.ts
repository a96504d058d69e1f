import { type Dispatcher, Pool } from "undici";

export interface BenchLoadRequest {
  path: string;
  headers: Record<string, string>;
  method?: "GET" | "POST";
  body?: string | Buffer;
}

/** The status and size of a response. The body is discarded, so that the load generator needs little CPU time. */
export interface BenchLoadResponse {
  status: number;
  bytes: number;
}

const poolsByOrigin = new Map<string, Pool>();

/**
 * Returns the pool with this number of connections to an origin. All jobs share this pool. A connection sends one
 * request at a time.
 */
export function getBenchHttpConnectionPool(origin: string, connections: number): Pool {
  const name = `${origin} ${connections}`;
  const existing = poolsByOrigin.get(name);
  if (existing) return existing;
  const pool = new Pool(origin, { connections, pipelining: 1, keepAliveTimeout: 60_000 });
  poolsByOrigin.set(name, pool);
  return pool;
}

export function sendBenchLoadRequest(
  pool: Pool,
  { path, headers, method = "GET", body }: BenchLoadRequest,
): Promise<BenchLoadResponse> {
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
    const response: BenchLoadResponse = { status: 0, bytes: 0 };
    pool.dispatch({ path, method, headers, body: body ?? null }, handler);
  });
}

/** Sends a request. Rejects unless the response has status 200 and a body. */
export async function sendLoadRequestOrThrow(pool: Pool, request: BenchLoadRequest): Promise<void> {
  const { status, bytes } = await sendBenchLoadRequest(pool, request);
  if (status !== 200 || bytes === 0) throw new Error(`GET ${request.path} returned ${status} with ${bytes} bytes.`);
}
