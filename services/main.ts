import { setFlagsFromString } from "node:v8";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { numberFromEnv, readConfig } from "@pragma/runtime/config";
import { replyToError } from "@pragma/runtime/error-reply";
import { listen } from "@pragma/runtime/http-server";
import { responseOf } from "@pragma/runtime/reply";
import { type ProcessBase, type ProcessPart, runProcess } from "@pragma/runtime/run-process";
import { createServiceRegistry } from "@pragma/runtime/service-registry";
import { createRequestVerifier } from "@pragma/runtime/signed-request";
import { startService } from "@pragma/runtime/start-service";
import { z } from "zod";
import { definitionOf, services } from "./definitions.ts";

// Bodies lie outside of the heap, but V8 counts them as its growth, and a heap that itself hardly grows it lets grow by
// a tenth: it would look through all of it after every third large till, a third of till-ingest's CPU (bench, row d).
// 300 % is the most by which it lets any heap grow.
setFlagsFromString("--heap-growing-percent=300");

const roles = [...serviceNames, "gateway"] as const;
const roleConfig = z.object({
  /** What this process is; everything in one process when it is not given. */
  SERVICE: z.enum(roles).optional(),
  PORT: numberFromEnv(0, 65_535).optional(),
});

const { SERVICE: role, PORT: port } = readConfig(roleConfig, process.env);

await runProcess(role ?? "pragma", async (base, started) => {
  const registry = createServiceRegistry(base.environment);
  if (role === undefined) {
    for (const name of serviceNames) {
      const service = await startService(await definitionOf(name), { ...base, registry });
      registry.add(name, service.fetch);
      started(service);
    }
  }
  if (role === undefined || role === "gateway") {
    const { startGateway } = await import("@pragma/gateway/main");
    started(await startGateway({ ...base, registry }));
  } else started(await startAlone(role, base));
});

/** One service behind a port of its own, for callers that sign their requests. */
async function startAlone(name: ServiceName, base: ProcessBase): Promise<ProcessPart> {
  const verify = createRequestVerifier(base.environment, name);
  const registry = createServiceRegistry(base.environment);
  const service = await startService(await definitionOf(name), { ...base, registry });
  const log = base.log.child({ service: name });
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
    { port: port ?? services[name].port },
  );
  log.info({ port: server.port }, "listening");
  return {
    ...service,
    retire: () => server.retire(),
    async stop() {
      await server.stop();
      await service.stop();
    },
  };
}
