import { setFlagsFromString } from "node:v8";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { numberFromEnv, readConfig } from "@pragma/runtime/config/runtime-config";
import { createErrorResponse } from "@pragma/runtime/http/error-response";
import { startHttpServer } from "@pragma/runtime/http/http-server";
import { toFetchResponse } from "@pragma/runtime/http/route-response";
import { type ProcessComponent, type ProcessDependencies, runProcess } from "@pragma/runtime/process/run-process";
import { startService } from "@pragma/runtime/service/start-service";
import { createInternalRequestVerifier } from "@pragma/runtime/service-calls/internal-request-signing";
import { createServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import { z } from "zod";
import { loadServiceDefinition, serviceEntries } from "./definitions.ts";

// Bodies lie outside of the heap, but V8 counts them as its growth, and a heap that itself hardly grows it lets grow by
// a tenth: it would look through all of it after every third large till, a third of till-ingest's CPU (bench, row d).
// 300 % is the most by which it lets any heap grow.
setFlagsFromString("--heap-growing-percent=300");

const processRoles = [...serviceNames, "gateway"] as const;
const processRoleConfig = z.object({
  /** What this process is; everything in one process when it is not given. */
  SERVICE: z.enum(processRoles).optional(),
  PORT: numberFromEnv(0, 65_535).optional(),
});

const { SERVICE: role, PORT: port } = readConfig(processRoleConfig, process.env);

await runProcess(role ?? "pragma", async (base, started) => {
  const registry = createServiceRegistry(base.environment);
  if (role === undefined) {
    for (const name of serviceNames) {
      const service = await startService(await loadServiceDefinition(name), { ...base, registry });
      registry.registerLocalService(name, service.fetch);
      started(service);
    }
  }
  if (role === undefined || role === "gateway") {
    const { startGateway } = await import("@pragma/gateway/main");
    started(await startGateway({ ...base, registry }));
  } else started(await startStandaloneService(role, base));
});

/** One service behind a port of its own, for callers that sign their requests. */
async function startStandaloneService(name: ServiceName, base: ProcessDependencies): Promise<ProcessComponent> {
  const verify = createInternalRequestVerifier(base.environment, name);
  const registry = createServiceRegistry(base.environment);
  const service = await startService(await loadServiceDefinition(name), { ...base, registry });
  const log = base.log.child({ service: name });
  const server = await startHttpServer(
    (request, bindings) => {
      try {
        return service.fetch(request, { ...bindings, caller: verify(bindings.incoming) });
      } catch (error) {
        const requestId = request.headers.get("x-request-id") ?? "unknown";
        log.warn({ err: error, requestId, path: bindings.incoming.url }, "refused a request that is not signed");
        return toFetchResponse(createErrorResponse(error, { requestId, log }), request.method);
      }
    },
    { port: port ?? serviceEntries[name].defaultPort },
  );
  log.info({ port: server.port }, "listening");
  return {
    ...service,
    drain: () => server.drain(),
    async stop() {
      await server.stop();
      await service.stop();
    },
  };
}
