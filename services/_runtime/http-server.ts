import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createAdaptorServer } from "@hono/node-server";

/** An HTTP server that is listening. */
export interface HttpServer {
  port: number;
  server: Server;
  /** From now on each connection is closed with the reply that comes next on it. */
  retire(): void;
  /** Takes no more connections, lets requests that are running finish, and closes idle connections. */
  stop(): Promise<void>;
}

/** Times and sizes that every server of this product keeps to. */
export const serverOptions = {
  keepAliveTimeout: 75_000,
  headersTimeout: 20_000,
  requestTimeout: 120_000,
  maxHeaderSize: 32 * 1024,
};

/** How long requests that are running may take to finish when the server stops, in milliseconds. */
const drainTime = 20_000;
/** How often a stopping server closes the connections that became idle, in milliseconds. */
const sweepTime = 50;

/** Serves `fetch` on `port` (0 for a free one). Rejects with a clear message when it is taken. */
export async function listen(
  fetch: (request: Request, bindings: { incoming: unknown; outgoing: unknown }) => Promise<Response> | Response,
  { port, hostname = "0.0.0.0" }: { port: number; hostname?: string },
): Promise<HttpServer> {
  const server = createAdaptorServer({
    fetch: fetch as Parameters<typeof createAdaptorServer>[0]["fetch"],
    overrideGlobalObjects: false,
    serverOptions,
  }) as Server;
  server.on("request", takeAbandonedBody);
  return startListening(server, { port, hostname });
}

/**
 * Takes what is left of a body off the connection when it was answered before it was read to its end: the next request
 * is found behind it. The stream that was reading it has paused it, and would again.
 */
function takeAbandonedBody(incoming: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.once("finish", () => {
    if (incoming.readableEnded) return;
    incoming.removeAllListeners("data");
    incoming.resume();
  });
}

interface ListenOptions {
  port: number;
  hostname?: string;
  /** Whether a connection is at work that has brought node:http no request. */
  isBusy?: (socket: Socket) => boolean;
}

/** Lets a server listen on `port` (0 for a free one). Rejects with a clear message when it is taken. */
export async function startListening(
  server: Server,
  { port, hostname = "0.0.0.0", isBusy = () => false }: ListenOptions,
): Promise<HttpServer> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "EADDRINUSE" ? new Error(`Port ${port} is taken: stop what uses it, or choose another.`) : error,
      ),
    );
    server.listen(port, hostname, resolve);
  });
  const silent = silentConnections(server);
  return {
    port: (server.address() as AddressInfo).port,
    server,
    retire() {
      server.prependListener("request", (_, outgoing: ServerResponse) => {
        outgoing.shouldKeepAlive = false;
      });
    },
    stop: () => drain(server, silent, isBusy),
  };
}

/** Connections that have brought node:http no request; it does not count them as idle. */
function silentConnections(server: Server): Set<Socket> {
  const silent = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  server.on("request", ({ socket }: IncomingMessage) => silent.delete(socket));
  return silent;
}

function drain(server: Server, silent: Set<Socket>, isBusy: (socket: Socket) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const closeIdle = () => {
      server.closeIdleConnections();
      for (const socket of silent) if (!isBusy(socket)) socket.destroy();
    };
    closeIdle();
    const deadline = setTimeout(() => {
      server.closeAllConnections();
      for (const socket of silent) socket.destroy();
    }, drainTime);
    // A connection that was busy when the server closed stays open, idle, once it is done.
    const sweep = setInterval(closeIdle, sweepTime);
    server.close(() => {
      clearTimeout(deadline);
      clearInterval(sweep);
      resolve();
    });
  });
}
