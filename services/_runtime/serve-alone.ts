import { replyToError } from "./error-reply.ts";
import { type HttpServer, listen } from "./http-server.ts";
import type { Logger } from "./logger.ts";
import { responseOf } from "./reply.ts";
import type { RequestVerifier } from "./signed-request.ts";
import type { RunningService } from "./start-service.ts";

interface ServeAloneOptions {
  verify: RequestVerifier;
  log: Logger;
  port: number;
  hostname?: string;
}

/** Serves one service on a port of its own, to callers that sign their requests. */
export async function serveAlone(
  service: RunningService,
  { verify, log: processLog, port, hostname }: ServeAloneOptions,
): Promise<HttpServer> {
  const log = processLog.child({ service: service.name });
  const server = await listen(
    (request, bindings) => {
      try {
        return service.fetch(request, { ...bindings, caller: verify(bindings.incoming) });
      } catch (error) {
        const requestId = request.headers.get("x-request-id") ?? "unknown";
        log.warn({ err: error, requestId, path: bindings.incoming.url }, "refused a request that is not signed");
        return responseOf(replyToError(error, { requestId, log }), request.method);
      }
    },
    { port, ...(hostname !== undefined && { hostname }) },
  );
  log.info({ port: server.port }, "listening");
  return server;
}
