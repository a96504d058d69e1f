/**
 * The gateway without what it is for: its own app and forwarder, with one principal for everybody in place of the key,
 * no limit and no log. What it costs less than the gateway is what key, limit and log cost.
 */
import { setFlagsFromString } from "node:v8";
import { principalSchema } from "@pragma/contracts/principal";
import { createGatewayApp } from "@pragma/gateway/app";
import { cors } from "@pragma/gateway/cors";
import { servedDocument } from "@pragma/gateway/documents";
import { createForwarder } from "@pragma/gateway/forward";
import { type GatewayMiddleware, requestId } from "@pragma/gateway/gateway-request";
import { headerLimits } from "@pragma/gateway/header-limits";
import { listen } from "@pragma/runtime/http-server";
import { createLogger } from "@pragma/runtime/logger";
import { createServiceRegistry } from "@pragma/runtime/service-registry";

const { PRINCIPAL = "", PORT } = process.env;
// As the product does.
setFlagsFromString("--heap-growing-percent=300");

const key = { principal: principalSchema.parse(JSON.parse(PRINCIPAL)), rateLimit: null, isRevoked: false };
const pass: GatewayMiddleware = async (_context, next) => next();
const document = servedDocument("{}");
const forwarder = createForwarder(createServiceRegistry(process.env), { responseMs: 30_000, streamMs: 120_000 });

const app = createGatewayApp({
  requestId: requestId({ proxies: { trustedProxies: 0, publicUrl: undefined }, onDone() {} }),
  headerLimits,
  addressLimit: pass,
  cors: cors(["*"]),
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
await listen((request, bindings) => app.fetch(request, bindings), { port: Number(PORT) });
