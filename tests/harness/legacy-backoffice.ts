import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What goes wrong with a till when it is asked for. */
export type LegacyFault = "no answer" | "error" | "invalid" | "redirect" | "other till" | "broken off" | "endless";

/** A till of the older format, as `POST /v1/tills/` takes it. */
export interface OlderTill {
  application: string;
  legacyId: number;
  tillJson: { client_id: string; server_id: number | null };
}

/** A backoffice that runs in this process. */
export interface LegacyBackoffice {
  url: string;
  token: string;
  tills: Map<number, OlderTill>;
  /** Faults on demand, by the server id of the till; changes count at once. */
  faults: Map<number, LegacyFault>;
  /** Pages of the list that are answered 500. */
  faultyPages: Set<number>;
  /** How often each till was asked for. */
  asked: Map<number, number>;
  stop(): Promise<void>;
}

interface StartLegacyBackoffice {
  tills?: Iterable<OlderTill>;
  faults?: Iterable<[number, LegacyFault]>;
  /** Of what size pages are at most, whatever is asked for. */
  largestPage?: number;
}

/**
 * A pretend legacy backoffice on a free port: `GET /tills?page=N&size=100` lists, `GET /tills/{serverId}` gives a till,
 * to whoever sends its token as a bearer token.
 */
export async function startLegacyBackoffice({
  tills = [],
  faults = [],
  largestPage = 100,
}: StartLegacyBackoffice = {}): Promise<LegacyBackoffice> {
  const held = new Map<number, OlderTill>();
  for (const till of tills) held.set(till.tillJson.server_id ?? held.size + 1, till);
  const token = "legacy-backoffice-token";
  const state = { token, tills: held, faults: new Map(faults), faultyPages: new Set<number>(), asked: new Map() };

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://backoffice");
    const [, serverId] = /^\/tills\/(\d+)$/.exec(pathname) ?? [];
    if (request.headers.authorization !== `Bearer ${token}`) answer(response, 401, {});
    else if (serverId) answerTill(response, state, Number(serverId));
    else if (pathname === "/tills") {
      const size = Math.min(Number(searchParams.get("size") ?? largestPage), largestPage);
      answerPage(response, state, { page: Number(searchParams.get("page") ?? 1), size });
    } else answer(response, 404, {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    ...state,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type State = Pick<LegacyBackoffice, "tills" | "faults" | "faultyPages" | "asked">;

function answerPage(
  response: ServerResponse,
  { tills, faultyPages }: State,
  { page, size }: { page: number; size: number },
): void {
  if (faultyPages.has(page)) {
    answer(response, 500, {});
    return;
  }
  const listed = [...tills].slice((page - 1) * size, page * size);
  const data = listed.map(([serverId, { legacyId }]) => ({ serverId, legacyId }));
  answer(response, 200, { data, nextPage: page * size < tills.size ? page + 1 : null });
}

function answerTill(response: ServerResponse, { tills, faults, asked }: State, serverId: number): void {
  asked.set(serverId, (asked.get(serverId) ?? 0) + 1);
  const till = tills.get(serverId);
  if (!till) answer(response, 404, {});
  else faulty[faults.get(serverId) ?? "none"](response, till);
}

const faulty: Record<LegacyFault | "none", (response: ServerResponse, till: OlderTill) => void> = {
  none: (response, till) => answer(response, 200, till),
  "no answer": () => {},
  error: (response) => answer(response, 500, { error: "out of order" }),
  invalid: (response, till) => answer(response, 200, { ...till, tillJson: { ...till.tillJson, client_id: "no uuid" } }),
  redirect: (response) => response.writeHead(302, { location: "/elsewhere" }).end(),
  "other till": (response, { tillJson, ...till }) =>
    answer(response, 200, { ...till, tillJson: { ...tillJson, server_id: (tillJson.server_id ?? 0) + 1_000_000 } }),
  "broken off": (response, till) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": 1_000_000 });
    response.write(JSON.stringify(till), () => response.destroy());
  },
  endless: (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const chunk = Buffer.alloc(1024 * 1024, " ");
    const pour = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on("drain", pour);
    pour();
  },
};

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
