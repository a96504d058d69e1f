/**
 * The baseline of a gateway in its own process: @fastify/http-proxy in front of the same reporting process, with the
 * key cache, rate limit and log of fastify-app.ts. It signs each request as the gateway does.
 */
import httpProxy from "@fastify/http-proxy";
import { createInternalRequestSigner } from "@pragma/runtime/service-calls/internal-request-signing";
import { createFastifyGatewayBaseline } from "./fastify-app.ts";

const { UPSTREAM = "", PORT } = process.env;
const { sign } = createInternalRequestSigner(process.env, "gateway", "reporting");
const app = await createFastifyGatewayBaseline();

await app.register(httpProxy, {
  upstream: UPSTREAM,
  disableRequestLogging: true,
  undici: { connections: 256, pipelining: 1, keepAliveTimeout: 60_000 },
  replyOptions: {
    rewriteRequestHeaders({ id, method, url, host, protocol, principal }, { authorization, ...headers }) {
      const origin = `${protocol}://${host}`;
      return {
        ...headers,
        ...sign({ method, target: url, requestId: id, traceparent: undefined, origin, principal }),
      };
    },
  },
});

await app.listen({ port: Number(PORT), host: "127.0.0.1" });
