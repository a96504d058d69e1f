import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { type Dispatcher, errors } from "undici";

/** The response of a service. The body is whole if it is small, otherwise a stream. */
export interface UpstreamResponse {
  statusCode: number;
  headers: IncomingHttpHeaders;
  body: Buffer | Readable;
}

interface UpstreamOptions {
  /** Aborted when the client no longer waits for the response. */
  signal: AbortSignal;
  /** Returns whether to wait for the whole body, because it is small. */
  isBuffered(statusCode: number, headers: IncomingHttpHeaders): boolean;
}

/**
 * Sends a request and returns its response, when its body has arrived if it is buffered, otherwise when its headers have
 * arrived. `Dispatcher.request` makes a stream for every body, which small ones do not need.
 */
export function requestUpstream(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { signal, isBuffered }: UpstreamOptions,
): Promise<UpstreamResponse> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let stream: Readable | undefined;
    let response: Omit<UpstreamResponse, "body">;
    let abort: (() => void) | undefined;
    const end = () => {
      if (abort) signal.removeEventListener("abort", abort);
      abort = undefined;
    };
    dispatcher.dispatch(request, {
      onRequestStart(controller) {
        abort = () => controller.abort(signal.reason);
        if (signal.aborted) return abort();
        signal.addEventListener("abort", abort, { once: true });
      },
      onResponseStart(controller, statusCode, headers) {
        if (statusCode < 200) return;
        response = { statusCode, headers };
        if (isBuffered(statusCode, headers)) return;
        stream = new Readable({
          read: () => controller.resume(),
          destroy(error, callback) {
            // The connection cannot be used again if the client has not read the body.
            if (abort) controller.abort(error ?? new errors.RequestAbortedError());
            callback(error);
          },
        });
        resolve({ ...response, body: stream });
      },
      onResponseData(controller, chunk) {
        if (!stream) chunks.push(chunk);
        else if (!stream.push(chunk)) controller.pause();
      },
      onResponseEnd() {
        end();
        if (stream) return void stream.push(null);
        const [only] = chunks;
        resolve({ ...response, body: chunks.length === 1 && only ? only : Buffer.concat(chunks) });
        chunks = [];
      },
      onResponseError(_controller, error) {
        end();
        if (stream) stream.destroy(error);
        else reject(error);
      },
    });
  });
}
