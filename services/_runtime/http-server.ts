import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";

/** An HTTP server that is listening. */
export interface HttpServer {
  port: number;
  server: Server;
  /** Takes no more connections, lets requests that are running finish, and closes idle connections. */
  stop(): Promise<void>;
}

/** How long requests that are running may take to finish when the server stops, in milliseconds. */
const drainTime = 20_000;

/** Listens on `port` (0 for a free one). Rejects with a clear message when it is taken. */
export async function listen(
  fetch: (request: Request, bindings: { incoming: unknown; outgoing: unknown }) => Promise<Response> | Response,
  { port, hostname = "0.0.0.0" }: { port: number; hostname?: string },
): Promise<HttpServer> {
  const server = createAdaptorServer({
    fetch: fetch as Parameters<typeof createAdaptorServer>[0]["fetch"],
    overrideGlobalObjects: false,
    serverOptions: {
      keepAliveTimeout: 75_000,
      headersTimeout: 20_000,
      requestTimeout: 120_000,
      maxHeaderSize: 32 * 1024,
    },
  }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "EADDRINUSE" ? new Error(`Port ${port} is taken: stop what uses it, or choose another.`) : error,
      ),
    );
    server.listen(port, hostname, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    server,
    stop: () =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), drainTime);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}
