import { type Dispatcher, Pool } from "undici";

export interface Question {
  path: string;
  headers: Record<string, string>;
  method?: "GET" | "POST";
  body?: string;
}

/** What asking costs the generator counts against nobody: replies are counted, not kept. */
export interface Answer {
  status: number;
  bytes: number;
}

const pools = new Map<string, Pool>();

/** The connections to an origin: kept from job to job, one request at a time on each. */
export function poolOf(origin: string, connections: number): Pool {
  const name = `${origin} ${connections}`;
  const known = pools.get(name);
  if (known) return known;
  const pool = new Pool(origin, { connections, pipelining: 1, keepAliveTimeout: 60_000 });
  pools.set(name, pool);
  return pool;
}

export function ask(pool: Pool, { path, headers, method = "GET", body }: Question): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const handler: Dispatcher.DispatchHandler = {
      onResponseStart(_controller, status) {
        answer.status = status;
      },
      onResponseData(_controller, chunk) {
        answer.bytes += chunk.length;
      },
      onResponseEnd: () => resolve(answer),
      onResponseError: (_controller, error) => reject(error),
      onRequestStart() {},
    };
    const answer: Answer = { status: 0, bytes: 0 };
    pool.dispatch({ path, method, headers, body: body ?? null }, handler);
  });
}

/** Asks for something that must be there. */
export async function askGood(pool: Pool, question: Question): Promise<void> {
  const { status, bytes } = await ask(pool, question);
  if (status !== 200 || bytes === 0) throw new Error(`GET ${question.path} answered ${status} with ${bytes} bytes.`);
}
