import { randomUUID } from "node:crypto";
import type { Principal } from "@pragma/contracts/principal";
import { createLogger } from "../observability/logger.ts";
import { createPrometheusMetrics } from "../observability/metrics.ts";
import { startService } from "../service/start-service.ts";
import { createServiceRegistry } from "../service-calls/service-registry.ts";
import { buildTestIncomingRequest } from "./incoming-request.ts";
import { createIdempotencyTestService } from "./things-service.ts";

/** The argument of the process, as JSON. */
export interface CrashingRequestOptions {
  /** The step of the request at which the process kills itself. */
  crashesAt: string;
  principal: Principal;
  key: string;
  body: object;
}

// The main module of a process that handles one request and kills itself with SIGKILL before the response.
const { crashesAt, principal, key, body } = JSON.parse(process.argv[2] ?? "") as CrashingRequestOptions;
const service = createIdempotencyTestService((step) => {
  if (step === crashesAt) process.kill(process.pid, "SIGKILL");
});
const { fetch } = await startService(service, {
  environment: process.env,
  log: createLogger({ name: "crashing-request", level: "silent" }),
  metrics: createPrometheusMetrics(),
  registry: createServiceRegistry(process.env),
});
const headers = { "content-type": "application/json", "idempotency-key": key };
await fetch(new Request("http://pragma.test/v1/things/", { method: "POST" }), {
  incoming: buildTestIncomingRequest({ method: "POST", headers, body: [Buffer.from(JSON.stringify(body))] }),
  requestIdentity: { principal, requestId: randomUUID(), traceparent: undefined, origin: "http://pragma.test" },
});
