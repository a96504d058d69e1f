/**
 * The gateway's app and forwarder, with one fixed principal instead of API keys, and without rate limits and logging.
 * The gateway's additional CPU time is the cost of API keys, rate limits and logging.
 */
import { setFlagsFromString } from "node:v8";
import { principalSchema } from "@pragma/contracts/principal";
import { createGatewayApp } from "@pragma/gateway/app";
import { createServiceForwarder } from "@pragma/gateway/forwarding/service-forwarder";
import { headerLimitMiddleware } from "@pragma/gateway/limits/header-limits";
import { createCorsMiddleware } from "@pragma/gateway/server/cors";
import { createGatewayRequest, type GatewayMiddleware } from "@pragma/gateway/server/gateway-request";
import { startHttpServer } from "@pragma/runtime/http/http-server";
import { createLogger } from "@pragma/runtime/observability/logger";
import { createServiceRegistry } from "@pragma/runtime/service-calls/service-registry";

const { PRINCIPAL = "", PORT } = process.env;
// Set as in the gateway, so that both collect garbage equally often.
setFlagsFromString("--heap-growing-percent=300");

const key = {
  principal: principalSchema.parse(JSON.parse(PRINCIPAL)),
  rateLimit: null,
  isRevoked: false,
  expiresAt: null,
};
const passThrough: GatewayMiddleware = async (_context, next) => next();
const document = { body: Buffer.from("{}"), etag: "document" };
const forwarder = createServiceForwarder(createServiceRegistry(process.env), {
  responseTimeoutMs: 30_000,
  streamIdleTimeoutMs: 120_000,
  connectWaitMs: 0,
});

const app = createGatewayApp({
  requestId: createGatewayRequest({ proxies: { trustedProxies: 0, publicUrl: undefined }, onFinished() {} }),
  headerLimits: headerLimitMiddleware,
  addressLimit: passThrough,
  cors: createCorsMiddleware(["*"]),
  async checkKey({ var: { request } }, next) {
    request.key = key;
    return next();
  },
  allowAnonymous: passThrough,
  findCachedKey: () => undefined,
  trackStream: passThrough,
  forwardTo: forwarder.forwardTo,
  mcp: passThrough,
  listServices: async () => [],
  listQuotas: () => Promise.resolve({ quotas: [], unreachableServices: [] }),
  documents: { openapi: document, full: document, asyncapi: document },
  docsUrl: "http://docs.example",
  log: createLogger({ name: "minimal-gateway", level: "silent" }),
});
await startHttpServer((request, bindings) => app.fetch(request, bindings), { port: Number(PORT) });
