/**
 * The gateway without what it is for: its own app and forwarder, with one principal for everybody in place of the key,
 * no limit and no log. What it costs less than the gateway is what key, limit and log cost.
 */
import { setFlagsFromString } from "node:v8";
import { principalSchema } from "@pragma/contracts/principal";
import { createGatewayApp } from "@pragma/gateway/app";
import { createServedDocument } from "@pragma/gateway/documents/openapi-documents";
import { createServiceForwarder } from "@pragma/gateway/forwarding/service-forwarder";
import { headerLimitMiddleware } from "@pragma/gateway/limits/header-limits";
import { corsMiddleware } from "@pragma/gateway/server/cors";
import { type GatewayMiddleware, gatewayRequestMiddleware } from "@pragma/gateway/server/gateway-request";
import { startHttpServer } from "@pragma/runtime/http/http-server";
import { createLogger } from "@pragma/runtime/observability/logger";
import { createServiceRegistry } from "@pragma/runtime/service-calls/service-registry";

const { PRINCIPAL = "", PORT } = process.env;
// As the product does.
setFlagsFromString("--heap-growing-percent=300");

const key = { principal: principalSchema.parse(JSON.parse(PRINCIPAL)), rateLimit: null, isRevoked: false };
const pass: GatewayMiddleware = async (_context, next) => next();
const document = createServedDocument("{}");
const forwarder = createServiceForwarder(createServiceRegistry(process.env), {
  responseTimeoutMs: 30_000,
  streamIdleTimeoutMs: 120_000,
});

const app = createGatewayApp({
  requestId: gatewayRequestMiddleware({ proxies: { trustedProxies: 0, publicUrl: undefined }, onFinished() {} }),
  headerLimits: headerLimitMiddleware,
  addressLimit: pass,
  cors: corsMiddleware(["*"]),
  async authenticate({ var: { request } }, next) {
    request.key = key;
    return next();
  },
  rateLimit: pass,
  trackStream: pass,
  forwardTo: forwarder.forwardTo,
  documents: { openapi: document, full: document },
  docsUrl: "http://docs.example",
  log: createLogger({ name: "bare-gateway", level: "silent" }),
});
await startHttpServer((request, bindings) => app.fetch(request, bindings), { port: Number(PORT) });
