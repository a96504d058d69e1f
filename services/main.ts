import { setFlagsFromString } from "node:v8";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { docsConfigSchema, integerEnvSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { createLoggedErrorResponse } from "@pragma/runtime/http/error-response";
import { startHttpServer } from "@pragma/runtime/http/http-server";
import { toFetchResponse } from "@pragma/runtime/http/route-response";
import {
  type ProcessComponent,
  type ProcessContext,
  readRequestDrainTimeoutMs,
  runProcessUntilSignal,
} from "@pragma/runtime/process/run-process";
import { startService } from "@pragma/runtime/service/start-service";
import { createInternalRequestVerifier } from "@pragma/runtime/service-calls/internal-request-signing";
import { createServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import { z } from "zod";
import { loadServiceDefinition, serviceLoadersAndDefaultPorts } from "./definitions.ts";

// V8 counts request bodies as heap growth although they are outside the heap. By default, V8 collects a heap of stable
// size after 10% of growth. For large tills, this meant a collection after every third till, which used a third of
// till-ingest's CPU time (bench, row d). 300% is the maximum that V8 accepts.
setFlagsFromString("--heap-growing-percent=300");

const processRoles = [...serviceNames, "gateway"] as const;
const processRoleConfig = z.object({
  /** The service that this process runs, or `gateway`. By default, the process runs all services and the gateway. */
  SERVICE: z.enum(processRoles).optional(),
  PORT: integerEnvSchema(0, 65_535).optional(),
});

/**
 * The milliseconds after which a connection to a service closes. The gateway keeps its connections open, so without a
 * maximum, new instances of a service would get requests only when the load rises.
 */
const maxConnectionAgeMs = 5_000;

const { SERVICE: role, PORT: port } = readConfigFromEnvironment(processRoleConfig, process.env);

await runProcessUntilSignal(role ?? "pragma", async (base, onStarted) => {
  const registry = createServiceRegistry(base.environment);
  if (role === undefined) {
    for (const name of serviceNames) {
      const service = await startService(await loadServiceDefinition(name), { ...base, registry });
      registry.registerLocalService(name, service.fetch);
      onStarted(service);
    }
  }
  if (role === undefined || role === "gateway") {
    const { startGateway } = await import("@pragma/gateway/main");
    onStarted(await startGateway({ ...base, registry }));
  } else onStarted(await startStandaloneService(role, base));
});

/** Starts one service on its own port. The service accepts only signed requests from the gateway and other services. */
async function startStandaloneService(name: ServiceName, base: ProcessContext): Promise<ProcessComponent> {
  const verify = createInternalRequestVerifier(base.environment, name);
  const registry = createServiceRegistry(base.environment);
  const { DOCS_URL: docsUrl } = readConfigFromEnvironment(docsConfigSchema, base.environment);
  const service = await startService(await loadServiceDefinition(name), { ...base, registry });
  const log = base.log.child({ service: name });
  const server = await startHttpServer(
    (request, bindings) => {
      try {
        return service.fetch(request, { ...bindings, requestIdentity: verify(bindings.incoming) });
      } catch (error) {
        const requestId = request.headers.get("x-request-id") ?? "unknown";
        log.warn({ err: error, requestId, path: bindings.incoming.url }, "rejected an unsigned request");
        return toFetchResponse(createLoggedErrorResponse(error, { requestId, log, docsUrl }), request.method);
      }
    },
    {
      port: port ?? serviceLoadersAndDefaultPorts[name].defaultPort,
      drainTimeoutMs: readRequestDrainTimeoutMs(base.environment),
      docsUrl,
      maxConnectionAgeMs,
    },
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
