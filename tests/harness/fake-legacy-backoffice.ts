import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The way in which the backoffice fails to return a till. */
export type FakeBackofficeFault =
  | "timeout"
  | "error"
  | "invalid"
  | "redirect"
  | "wrong till"
  | "connection reset"
  | "endless";

/** A V1 till in the format that `POST /v1/tills/` accepts. */
export interface FakeBackofficeTill {
  application: string;
  legacyId: number;
  tillJson: { client_id: string; server_id: number | null };
}

/** A running fake of the legacy backoffice, whose HTTP server is in the process of the test. */
export interface FakeLegacyBackoffice {
  url: string;
  token: string;
  tills: Map<number, FakeBackofficeTill>;
  /** The faults by server id of the till. Tests can change them at any time. */
  faults: Map<number, FakeBackofficeFault>;
  /** The numbers of the list pages that return status 500. */
  faultyPages: Set<number>;
  /** The number of requests for each till, by server id. */
  requestCountByServerId: Map<number, number>;
  stop(): Promise<void>;
}

interface FakeLegacyBackofficeOptions {
  tills?: Iterable<FakeBackofficeTill>;
  faults?: Iterable<[number, FakeBackofficeFault]>;
  /** Maximum number of tills per page, even if a request specifies a larger page size. */
  maxPageSize?: number;
}

/**
 * Starts a fake legacy backoffice on a free port. It supports `GET /tills?page=N&size=100`, which lists tills, and
 * `GET /tills/{serverId}`, which returns a till. Both require its bearer token.
 */
export async function startFakeLegacyBackoffice({
  tills = [],
  faults = [],
  maxPageSize = 100,
}: FakeLegacyBackofficeOptions = {}): Promise<FakeLegacyBackoffice> {
  const tillsByServerId = new Map<number, FakeBackofficeTill>();
  for (const till of tills) tillsByServerId.set(till.tillJson.server_id ?? tillsByServerId.size + 1, till);
  const token = "legacy-backoffice-token";
  const state = {
    token,
    tills: tillsByServerId,
    faults: new Map(faults),
    faultyPages: new Set<number>(),
    requestCountByServerId: new Map(),
  };

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://backoffice");
    const [, serverId] = /^\/tills\/(\d+)$/.exec(pathname) ?? [];
    if (request.headers.authorization !== `Bearer ${token}`) sendJson(response, 401, {});
    else if (serverId) respondWithTill(response, state, Number(serverId));
    else if (pathname === "/tills") {
      const size = Math.min(Number(searchParams.get("size") ?? maxPageSize), maxPageSize);
      respondWithPage(response, state, { page: Number(searchParams.get("page") ?? 1), size });
    } else sendJson(response, 404, {});
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

type FakeBackofficeState = Pick<FakeLegacyBackoffice, "tills" | "faults" | "faultyPages" | "requestCountByServerId">;

function respondWithPage(
  response: ServerResponse,
  { tills, faultyPages }: FakeBackofficeState,
  { page, size }: { page: number; size: number },
): void {
  if (faultyPages.has(page)) {
    sendJson(response, 500, {});
    return;
  }
  const listed = [...tills].slice((page - 1) * size, page * size);
  const data = listed.map(([serverId, { legacyId }]) => ({ serverId, legacyId }));
  sendJson(response, 200, { data, nextPage: page * size < tills.size ? page + 1 : null });
}

function respondWithTill(
  response: ServerResponse,
  { tills, faults, requestCountByServerId }: FakeBackofficeState,
  serverId: number,
): void {
  requestCountByServerId.set(serverId, (requestCountByServerId.get(serverId) ?? 0) + 1);
  const till = tills.get(serverId);
  if (!till) sendJson(response, 404, {});
  else faultResponders[faults.get(serverId) ?? "none"](response, till);
}

const faultResponders: Record<
  FakeBackofficeFault | "none",
  (response: ServerResponse, till: FakeBackofficeTill) => void
> = {
  none: (response, till) => sendJson(response, 200, till),
  timeout: () => {},
  error: (response) => sendJson(response, 500, { error: "out of order" }),
  invalid: (response, till) =>
    sendJson(response, 200, { ...till, tillJson: { ...till.tillJson, client_id: "no uuid" } }),
  redirect: (response) => response.writeHead(302, { location: "/elsewhere" }).end(),
  "wrong till": (response, { tillJson, ...till }) =>
    sendJson(response, 200, { ...till, tillJson: { ...tillJson, server_id: (tillJson.server_id ?? 0) + 1_000_000 } }),
  "connection reset": (response, till) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": 1_000_000 });
    response.write(JSON.stringify(till), () => response.destroy());
  },
  endless: (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const chunk = Buffer.alloc(1024 * 1024, " ");
    const writeChunks = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on("drain", writeChunks);
    writeChunks();
  },
};

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Returns environment variables that configure this backoffice for POPINA, and no backoffice for JALIA. */
export function buildFakeLegacyBackofficeVariables({ url, token }: FakeLegacyBackoffice): Record<string, string> {
  return { LEGACY_POPINA_URL: url, LEGACY_POPINA_TOKEN: token, LEGACY_TIMEOUT_SECONDS: "1" };
}
