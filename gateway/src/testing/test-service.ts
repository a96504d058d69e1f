import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { ApiError, toProblemDetails } from "@pragma/contracts/errors";
import { RequestBodyMemoryReservation } from "@pragma/runtime/admission/request-body-memory";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { createVerifiedBodyStream, hasRequestBody, readRequestBody } from "@pragma/runtime/http/read-body";
import type { ServiceAppFetch, ServiceHonoBindings } from "@pragma/runtime/http/request-identity";
import { bodySignatureBytes } from "@pragma/runtime/service-calls/body-signature";

/** Counters that the test service updates and that tests read. */
export interface TestServiceCounters {
  abortedRequests: number;
  /** The number of chunks that were read from the endless response. */
  pulledChunks: number;
}

/** Returns a service for tests. The last segment of the request's path selects how it responds. */
export function createControlledTestService(observations: TestServiceCounters): ServiceAppFetch {
  const behaviors: Record<string, (request: Request, bindings?: ServiceHonoBindings) => Promise<Response> | Response> =
    {
      json: ({ method }) =>
        new Response(method === "HEAD" ? null : '{"é":1}', {
          headers: { "content-type": "application/json; charset=utf-8", etag: '"abc"', "cache-control": "private" },
        }),
      created: () => Response.json({}, { status: 201, headers: { location: "/v2/reports/1" } }),
      empty: () => new Response(null, { status: 204 }),
      unchanged: () => new Response(null, { status: 304, headers: { etag: '"abc"' } }),
      nothing: () => new Response("", { headers: { "content-type": "text/plain" } }),
      bytes: () => new Response(Buffer.from([0, 1, 254, 255]), { headers: { "content-type": "application/x-bytes" } }),
      gzip: () =>
        new Response(gzipSync("text"), {
          headers: { "content-type": "text/plain", "content-encoding": "gzip" },
        }),
      cookies: () =>
        new Response("x", {
          headers: [
            ["set-cookie", "a=1"],
            ["set-cookie", "b=2"],
            ["content-type", "text/plain"],
          ],
        }),
      missing: (request) => problemResponse(request, new ApiError("report_not_found")),
      count: async (request, bindings) => {
        const hash = createHash("sha256");
        let bytes = 0;
        for await (const chunk of openBody(bindings)) {
          hash.update(chunk);
          bytes += chunk.byteLength;
        }
        const length = Number(request.headers.get("content-length") ?? Number.NaN);
        const signatureBytes = bindings?.requestIdentity?.createBodyVerifier ? bodySignatureBytes : 0;
        return Response.json({ bytes, hash: hash.digest("hex"), length: length - signatureBytes });
      },
      till: async (request, { incoming, requestIdentity } = {}) => {
        const memoryReservation = new RequestBodyMemoryReservation("test");
        try {
          const bytes = incoming && (await readRequestBody(incoming, { ...requestIdentity, memoryReservation }));
          return Response.json({ bytes: bytes?.byteLength });
        } catch (error) {
          if (error instanceof ApiError) return problemResponse(request, error);
          throw error;
        } finally {
          memoryReservation.release();
        }
      },
      refuse: (request) => problemResponse(request, new ApiError("unsupported_media_type")),
      echo: (_, bindings) =>
        new Response(Readable.toWeb(openBody(bindings)) as ReadableStream, {
          headers: { "content-type": "application/x-bytes" },
        }),
      endless: () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              observations.pulledChunks++;
              controller.enqueue(new Uint8Array(64 * 1024));
            },
          }),
          { headers: { "content-type": "application/x-bytes" } },
        ),
      slowly: () => streamResponse(["one", "two", "three"], { pauseMs: 60, type: "text/plain" }),
      stream: () => streamResponse(["data: 1\n\n", "data: 2\n\n"], { pauseMs: 1_500, type: "text/event-stream" }),
      broken: () =>
        streamResponse(["begun"], {
          pauseMs: 20,
          type: "text/plain",
          end: (controller) => controller.error(new Error("broken")),
        }),
      stalled: () => streamResponse(["begun"], { pauseMs: 0, type: "text/plain", end: () => {} }),
      hang: (request) =>
        new Promise((resolve) => {
          request.signal.addEventListener("abort", () => {
            observations.abortedRequests++;
            resolve(new Response(null, { status: 204 }));
          });
        }),
    };
  return async (request, bindings) => {
    const name = new URL(request.url).pathname.split("/").at(-1) ?? "";
    return behaviors[name]?.(request, bindings) ?? problemResponse(request, new ApiError("route_not_found"));
  };
}

/** Returns the body of a request from a gateway in this process or another one. */
function openBody({ incoming, requestIdentity }: ServiceHonoBindings = {}): Readable {
  const hasBody = incoming && hasRequestBody(incoming);
  return hasBody ? createVerifiedBodyStream(incoming, requestIdentity?.createBodyVerifier) : Readable.from([]);
}

function problemResponse(request: Request, error: ApiError): Response {
  const body = toProblemDetails(error, request.headers.get("x-request-id") ?? "");
  return new Response(JSON.stringify(body), {
    status: error.status,
    headers: { "content-type": "application/problem+json", ...error.headers },
  });
}

function streamResponse(
  texts: string[],
  {
    pauseMs,
    type,
    end = (controller) => controller.close(),
  }: { pauseMs: number; type: string; end?: (controller: ReadableStreamDefaultController) => void },
): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    async start(controller) {
      for (const text of texts) {
        controller.enqueue(encoder.encode(text));
        await sleep(pauseMs);
      }
      end(controller);
    },
  });
  return new Response(body, { headers: { "content-type": type } });
}
