import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { ApiError } from "@pragma/contracts/errors";
import type { Upstream } from "@pragma/runtime/upstream";
import type { Exchange } from "./exchange.ts";
import { requestHeaders } from "./forwarded-headers.ts";
import { requestOf } from "./request-of.ts";
import { sendResponse } from "./send-response.ts";
import { openUpload } from "./upload.ts";
import type { ProgressWatch } from "./watch-progress.ts";

/** Hands a request to a service in this process, as it would come over HTTP, and sends its reply. */
export async function forwardDirect(
  exchange: Exchange,
  { upstream, principalToken, watch }: { upstream: Upstream; principalToken: string; watch: ProgressWatch },
): Promise<void> {
  const gone = new AbortController();
  const upload = exchange.body && openUpload(exchange.body);
  const request = requestOf(exchange, {
    headers: requestHeaders(exchange, principalToken),
    body: upload && (Readable.toWeb(upload) as NodeReadableStream<Uint8Array>),
    signal: gone.signal,
  });
  await new Promise<void>((resolve, reject) => {
    const giveUp = (error: Error) => {
      gone.abort(error);
      reject(error);
    };
    const progress = watch.begin(exchange, () =>
      giveUp(new ApiError("upstream_timeout", { detail: "The service took too long. Try again in a moment." })),
    );
    exchange.whenGone(() => giveUp(new Error("The client went away.")));
    exchange.body?.on("data", () => progress.made());
    exchange.welcomeBody();
    upstream(request)
      .then((response) => {
        if (!gone.signal.aborted) return sendResponse(exchange, response, { progress, signal: gone.signal });
        return response.body?.cancel();
      })
      .then(resolve, reject)
      .finally(() => {
        progress.stop();
        upload?.destroy();
        exchange.whenGone(undefined);
      });
  });
}
